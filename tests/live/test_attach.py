#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold record` beside a `trifold run`: what is recorded, what is refused, and
that the running one is none the worse for it."""
import contextlib
import functools
import gzip
import os
import pty
import re
import select
import signal
import subprocess
import time

from accounts import Watcher
from chance import ALPHA, clump, fewest, most
from formats import firefox_threads, load
from live import (SUPERVISOR, TRIFOLD, CpuLog, Suite, burns, ends_with_us, parent_of, pids_of, ran_and_stolen, record,
                  say, scratch, wait_for, with_stolen)
from pprof import read_pprof
from targets import HEX64, by_name, cgroups, engine_files, functions, programs, running

suite = Suite()
HZ = 199
DONE = re.compile(r"taken by the running trifold; (\d+) samples? in this recording, (\d+) missed$",
                  re.M)


def hub():
    """symbolizerd's main process."""
    return next(p for p in pids_of("trifold-symbolizerd")
                if parent_of(p) in pids_of(SUPERVISOR))


def sealed_off(pid):
    """The process that reads the batches, the recorder's writer, may do nothing."""
    everybody = {p: parent_of(p) for p in pids_of("trifold")}
    owner = [p for p, of in everybody.items() if of == pid]
    writer = [p for p, of in everybody.items() if of in owner]
    assert len(owner) == len(writer) == 1, everybody
    with open(f"/proc/{writer[0]}/status") as f:
        now = dict(line.rstrip("\n").split(":\t", 1) for line in f)
    assert "0" not in now["Uid"].split() and now["Seccomp"] == "2", now
    assert int(now["CapEff"], 16) == int(now["CapPrm"], 16) == 0 and now["NoNewPrivs"] == "1"


@contextlib.contextmanager
def always_on(exact=True, sends=signal.SIGINT):
    """A running trifold; in the end its account is exact (and, if exact, nothing lost)."""
    with scratch() as tmp, open(os.path.join(tmp, "said"), "w+") as said:
        p = subprocess.Popen([TRIFOLD, "run", "--frequency", str(HZ), "--interval", "1",
                              "--no-page", "--output", os.path.join(tmp, "all.folded")],
                             stdout=subprocess.DEVNULL, stderr=said)
        try:
            wait_for(lambda: p.poll() is not None or
                     (Watcher.once() or {"hub.batches": 0})["hub.batches"] > 0)
            before = hub()
            yield p
            assert p.poll() is not None or not exact or hub() == before
        finally:
            if p.poll() is None:
                p.send_signal(sends)
            p.wait(60)
            said.seek(0)
            text = said.read()
        assert p.returncode == 0, text
        last = text.rstrip().splitlines()[-1]
        assert re.search(r"\d+ samples?, .* lost", last) and "difference" not in last, text
        assert not exact or ", none lost" in last, text


SHARED = []		# tests beside the same `trifold run`


def shared(fn):
    """A test beside the `trifold run` that all_beside_one() starts; the first of them calls all."""
    SHARED.append(fn)

    def judged():
        failure = all_beside_one().get(fn) or all_beside_one().get(None)
        if failure:
            raise failure
    judged.__doc__ = fn.__doc__
    suite.test(judged)
    return fn


@functools.cache
def all_beside_one():
    """{function: what went wrong}, None for the `trifold run` itself, which loses nothing by the recordings."""
    failures = {}
    try:
        with contextlib.ExitStack() as stack:
            with running("sh", "-c", "while :; do :; done"):	# an idle machine has no samples
                stack.enter_context(always_on())
            for fn in SHARED:
                begin = time.monotonic()
                try:
                    fn()
                except Exception as e:	# its test says so
                    failures[fn] = e
                say(f"{time.monotonic() - begin:.1f} s: {fn.__doc__}")
    except Exception as e:
        failures[None] = e
    return failures


def beside(out, *args, **more):
    """Record; (samples, missed, what was said)."""
    said = record(out, *args, **more)
    m = DONE.search(said)
    assert m, said
    return int(m[1]), int(m[2]), said


class OnTerminal:
    """`trifold record`, whose standard error is a terminal: it says when it records."""
    def __init__(self, *args):
        self.master, slave = pty.openpty()
        self.said = ""
        self.p = subprocess.Popen([TRIFOLD, "record", *args], stdin=subprocess.DEVNULL, stderr=slave,
                                  preexec_fn=ends_with_us)
        os.close(slave)

    def hears(self, pattern):
        def heard():
            if select.select([self.master], [], [], 0.05)[0]:
                with contextlib.suppress(OSError):	# its end
                    self.said += os.read(self.master, 4096).decode().replace("\r\n", "\n")
            return re.search(pattern, self.said)
        try:
            return wait_for(heard)
        except AssertionError as why:
            raise AssertionError(f"{why}, for {pattern}: {self.said}") from None

    def begins(self):
        self.hears("until Ctrl-C, beside the trifold that is running")
        return self

    def end(self, sends=None):
        """Its status; it ends by itself or by this signal."""
        if sends:
            self.p.send_signal(sends)
        self.hears(r"taken by the running trifold; .* missed.*\n")
        os.close(self.master)
        return self.p.wait(120)


def first(join=lambda: None):
    """Before a program's exec: it has a CPU before others, so that it has samples in a second."""
    def child():
        os.nice(-10)
        join()
    return child


def refused(status, pattern, *args, command="record", lines=1):
    r = subprocess.run([TRIFOLD, command, *args], capture_output=True, text=True, timeout=300)
    assert r.returncode == status, f"{args}: status {r.returncode}, want {status}: {r.stderr}"
    assert re.search(pattern, r.stderr), f"{args}: {r.stderr}"
    assert r.stderr.count("\n") == lines, f"{args}: {r.stderr}"


def times(path):
    """Of every sample of a Firefox profile, s."""
    d = load(path)
    return sorted((d["meta"]["startTime"] + ms) / 1000 for t in firefox_threads(path, d) for ms, _ in t.samples)


@shared
def some_seconds():
    """--duration, three at once: the system as much as the CPU time says, no more time than asked"""
    span, endings = 3, (".folded", ".pb.gz", ".firefox.json")
    with programs() as tmp, contextlib.ExitStack() as stack:
        cpu = stack.enter_context(CpuLog(pids_of("noise")[0]))
        outs = [os.path.join(tmp, "out" + e) for e in endings]
        t0 = time.time()
        recorders = [stack.enter_context(subprocess.Popen(
            [TRIFOLD, "record", "--output", out, "--duration", str(span)],
            stderr=subprocess.PIPE, text=True)) for out in outs]
        said = [r.communicate(timeout=300)[1] for r in recorders]
        t1 = time.time()
        found = [DONE.search(text) for text in said]
        assert all(found) and not any(r.returncode for r in recorders), said
        n = [int(m[1]) for m in found]
        assert all(int(m[2]) == 0 for m in found)
        names, samples, at = by_name(outs[0]), read_pprof(outs[1]), times(outs[2])
        with gzip.open(outs[1]) as f:
            account = re.search(rb"samples taken (\d+), delivered (\d+), of trifold itself 0, lost (\d+): "
                                rb"taken by the running trifold", f.read())
        assert "left" in functions(outs[0])
    want = HZ * cpu.between(at[0], at[-1])
    left = sum(k for _, frames, k in samples if any(f.startswith("left ") for f in frames))
    say(f"{n} samples, noise {names['noise']}, left {left}, {want:.0f} by CPU time, {t1 - t0:.1f} s")
    low, high = (clump(HZ) * bound(want / clump(HZ), ALPHA / 2) for bound in (fewest, most))
    for found in (names["noise"], left):	# by chance, and a tenth of a second at the ends
        assert low - HZ * 0.1 <= found <= high + HZ * 0.1, f"{found}: {low:.0f} to {high:.0f}"
    assert n == [sum(names.values()), sum(k for _, _, k in samples), len(at)]
    assert [int(x) for x in account.groups()] == [n[1], n[1], 0], account
    assert t0 < at[0] and at[-1] < t1 and span * 0.9 < at[-1] - at[0] <= span


@shared
def a_command():
    """-- COMMAND --all: while it runs, with its status; all of it and its neighbours"""
    with programs() as tmp:
        out, before = os.path.join(tmp, "out.folded"), ran_and_stolen()
        _, missed, said = beside(out, "--all", "--", os.path.join(tmp, "family"), "tree", "20")
        names, second = by_name(out), with_stolen(1, before, ran_and_stolen())
        r = subprocess.run([TRIFOLD, "record", "--output", out, "--all", "--", "sh", "-c",
                            "exit 3"], capture_output=True, text=True, timeout=300)
        assert r.returncode == 3, r.stderr
    assert re.search(r"^[\d.]+$", said, re.M) and missed == 0
    assert names.get("noise", 0) > 50
    for name in ("fam_grand", "fam_daemon"):
        got = names.get(name, 0) / HZ / second
        assert 0.7 < got < 1.3, f"{name}: {got:.2f}"


@shared
def processes():
    """--pid: one of two of the same name, until it ends, or Ctrl-C, or for some seconds"""
    with programs("twin") as tmp:
        exe, out = os.path.join(tmp, "twin"), os.path.join(tmp, "out.folded")
        with running(exe, "twin", "left", "600"), running(exe, "twin", "right", "600") as p:
            r = OnTerminal("--output", out, "--pid", str(p.pid)).begins()
            burns(1, p.pid)
            p.kill()
            assert r.end() == 0 and f"process {p.pid} has ended" in r.said, r.said
        assert set(by_name(out)) == {"twin"}
        assert "right" in functions(out) and "left" not in functions(out)
        with running(exe, "twin", "right", "600", before=first()) as p:
            r = OnTerminal("--output", out, "--pid", str(p.pid)).begins()
            sealed_off(r.p.pid)
            burns(1, p.pid)
            assert r.end(signal.SIGINT) == 0, r.said
            assert set(by_name(out)) == {"twin"} and "left" not in functions(out)
            for which in (("--pid", str(p.pid)), ("--name", "twin")):
                beside(out, *which, "--duration", "0.5")
                assert set(by_name(out)) == {"twin"}


@shared
def a_container():
    """--container: by the beginning of its ID, in the longest name that an engine gives, far below"""
    scope = f"kubepods-burstable-pod12345678-1234-1234-1234-123456789012.slice:cri-containerd:{HEX64}/1/2/3/4/5/6/7/8/9"
    with programs("inside") as tmp, cgroups(scope) as (_, join), \
            running(os.path.join(tmp, "inside"), "twin", "left", "600", before=first(join(scope))):
        out = os.path.join(tmp, "out.folded")
        beside(out, "--container", HEX64[:12], "--duration", "1")
        assert set(by_name(out)) == {"inside"}
        # batches have IDs, not names
        with engine_files() as (files, within):
            os.makedirs(f"{files}/nerdctl/1935db59/names/default")
            with open(f"{files}/nerdctl/1935db59/names/default/web", "w") as f:
                f.write(HEX64)
            os.remove(out)
            r = subprocess.run(within + [TRIFOLD, "record", "--output", out, "--container", "web",
                                         "--duration", "1"], capture_output=True, text=True,
                               timeout=300)
            assert r.returncode == 0, r.stderr
        assert set(by_name(out)) == {"inside"}


@shared
def a_unit():
    """--unit: a service, with .service or without; not a user's of that name, nor what another made below itself"""
    users, others = "user@7.service/app.slice/web.service", "other.service/web.service"
    with programs("inside", "users", "others") as tmp, \
            cgroups("web.service", users, others, end=".slice") as (_, join), \
            running(os.path.join(tmp, "users"), "twin", "left", "600", before=first(join(users))), \
            running(os.path.join(tmp, "others"), "twin", "left", "600", before=first(join(others))), \
            running(os.path.join(tmp, "inside"), "twin", "left", "600", before=first(join("web.service"))):
        out = os.path.join(tmp, "out.folded")
        for unit in ("web.service", "web"):
            beside(out, "--unit", unit, "--duration", "1")
            assert set(by_name(out)) == {"inside"}


@shared
def mistakes():
    """what batches cannot tell is refused, in one line that says what to do; run stays alone"""
    with scratch() as tmp, cgroups("some.scope"):
        out = os.path.join(tmp, "x.html")
        refused(1, "do not name a cgroup: use --unit, --container, --name or --pid, or stop", "--output", out, "--cgroup", "/",
                "--duration", "1")
        refused(1, "name services, but no other units", "--output", out, "--unit", "some.scope",
                "--duration", "1", lines=2)	# the first says where it is
        refused(1, "no cgroup here.*systemctl status", "--output", out, "--unit", "trifold-none")
        refused(1, "which command they belong to: add --all .* or stop", "--output", out, "--", "true")
        refused(1, f"samples at {HZ} Hz.*leave out --frequency", "--output", out, "--frequency",
                "20", "--duration", "1")
        refused(1, "another trifold is running", "--output", out, command="run")
        assert not os.listdir(tmp)
        said = subprocess.check_output([TRIFOLD, "record", "--help"], text=True)
        assert said.startswith("Usage: trifold record "), said
        beside(out, "--frequency", str(HZ), "--duration", "0.2")
        assert os.stat(out).st_size > 1000
        r = subprocess.run([TRIFOLD, "record", "--output", "/nonexistent/x.html", "--duration",
                            "1"], capture_output=True, text=True, timeout=300)
        assert r.returncode == 1 and "/nonexistent" in r.stderr, r.stderr


@suite.test
def beside_a_part():
    """beside a recording of some processes only there is nothing to be had"""
    with scratch() as tmp:
        r = OnTerminal("--output", f"{tmp}/a.folded", "--pid", str(os.getpid()))
        r.hears("until Ctrl-C")		# before that, one ends it and nothing is recorded
        refused(1, "samples a part of the system only", "--output", f"{tmp}/b.folded", "--duration", "1")
        r.p.send_signal(signal.SIGINT)
        r.hears(r"samples?, none lost")
        assert r.p.wait(120) == 0, r.said
        os.close(r.master)


@suite.test
def symbolizerd_dies():
    """symbolizerd is killed: the recording goes on with the next one, what is lost is said"""
    with programs() as tmp, always_on(exact=False):
        out = os.path.join(tmp, "out.firefox.json")
        r = OnTerminal("--output", out, "--duration", "600")
        r.hears(r"\r([2-9]|\d\d+) of 600 s")
        killed = time.time()
        os.kill(hub(), signal.SIGKILL)
        r.hears("is gone: waiting")
        r.hears("is back")
        back = time.time()
        burns(1, *pids_of("noise"))
        status = r.end(signal.SIGINT)
        say(r.said)
        assert status == 0, r.said
        lost = re.search(r"recording, 0 missed, (\d+) lost by it$", r.said, re.M)
        assert lost and int(lost[1]) > 0, r.said
        at = times(out)
        # those that the hub had are lost, and what the next one's first interval began with
        assert at[0] < killed and at[-1] > back and max(b - a for a, b in zip(at, at[1:])) < back - killed + 3


@suite.test
def it_ends_before():
    """the running trifold ends: there is what it had taken, and status 1"""
    with programs() as tmp:
        out = os.path.join(tmp, "out.folded")
        with always_on() as p:
            r = OnTerminal("--output", out, "--duration", "600")
            r.hears(r"\r\d+ of 600 s")
            burns(1, *pids_of("noise"))
            p.send_signal(signal.SIGINT)
            status = r.end()
        assert status == 1 and "ended, and with it the recording" in r.said, r.said
        assert by_name(out)["noise"] > HZ / 2


@shared
def on_a_terminal():
    """a terminal sees the time, and that it waits; Ctrl-C then: the file is there, and status 1"""
    with programs(noise=False) as tmp:
        out = os.path.join(tmp, "out.folded")
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(TRIFOLD, [TRIFOLD, "record", "--output", out, "--duration", "5"])
        seen, sent, end = "", False, time.time() + 300
        with contextlib.suppress(OSError):	# the end of a terminal
            while time.time() < end:
                seen += os.read(fd, 4096).decode()
                if not sent and "waiting up to 15 s for the last samples" in seen:
                    os.write(fd, b"\x03")
                    sent = True
        os.close(fd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        assert os.path.exists(out)
    say(seen)
    assert status == 1 and "not waiting for the last samples" in seen, seen
    assert re.search(r"\r[1-4] of 5 s   \d+ samples so far, 0 missed\x1b\[K", seen), seen


suite.run()
