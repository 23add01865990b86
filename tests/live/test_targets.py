#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold record` of a part of the system: a command, processes, a cgroup, a container."""
import contextlib
import json
import os
import pty
import re
import signal
import subprocess
import sys
import time

from accounts import Watcher, until_known
from chance import least
from live import (TRIFOLD, Skip, Suite, burns, folded, pids_of, ran_and_stolen, record, say, scratch, timed,
                  wait_for, with_stolen)
from targets import (HEX64, by_name, cgroups, engine_files, functions, hierarchy, programs, record_of, recording,
                     running)

suite = Suite()
HZ = 499


def refused(status, pattern, *args):
    r = subprocess.run([TRIFOLD, "record", "--output", "/nonexistent/x.html", *args],
                       capture_output=True, text=True, timeout=300)
    assert r.returncode == status, f"{args}: status {r.returncode}, want {status}: {r.stderr}"
    assert re.search(pattern, r.stderr), f"{args}: {r.stderr}"
    assert r.stderr.count("\n") == 1, f"{args}: {r.stderr}"


def since_1970(path):
    """[(s, frames root first)] of a Firefox profile's samples."""
    with open(path, encoding="utf-8") as f:
        begin = json.load(f)["meta"]["startTime"] / 1000
    return [(begin + at / 1000, frames) for at, frames in timed(path)]


@suite.test
def command():
    """a command: children, daemons, hundreds of short lives; and nothing beside it"""
    with programs() as tmp:
        out, before = os.path.join(tmp, "out.folded"), ran_and_stolen()
        said = record(out, "--frequency", str(HZ), "--",
                      os.path.join(tmp, "family"), "tree", "300")
        names, second = by_name(out), with_stolen(1, before, ran_and_stolen())
        cpu = second * float(re.search(r"^[\d.]+$", said, re.M)[0])
    total = sum(names.values())
    say(f"{total} samples of {cpu:.3f} s of CPU: {total / HZ / cpu:.3f}")
    assert 0.8 < total / HZ / cpu < 1.25
    # before its exec the command is a copy of the launcher
    assert set(names) <= {"family", "fam_grand", "fam_daemon", "fam_short", "trifold-launch"}
    assert names.get("trifold-launch", 0) <= 0.02 * HZ
    for name, seconds in (("fam_grand", 1), ("fam_daemon", 1), ("fam_short", 1.5)):
        got = names.get(name, 0) / HZ / (second * seconds)
        assert 0.7 < got < 1.3, f"{name}: {got:.2f} of its time"


@suite.test
def all_with_a_command():
    """--all: the whole system while the command runs; only then the page says how busy the machine was"""
    with programs() as tmp:
        out = os.path.join(tmp, "out.folded")
        with subprocess.Popen([TRIFOLD, "record", "--output", out, "--frequency", "199", "--all", "--", "sh", "-c",
                               "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as r:
            assert r.stdout.readline() == "\n"
            burns(0.5, *pids_of("noise"))
            r.communicate(timeout=300)
        assert r.returncode == 0
        names, cpus = by_name(out), []
        for more in (["--all"], []):
            record(os.path.join(tmp, "out.html"), *more, "--", "sleep", "0.3")
            with open(os.path.join(tmp, "out.html"), encoding="utf-8") as f:
                cpus.append(int(re.search(r'"cpus":(\d+)', f.read())[1]))
    assert names.get("noise", 0) > 50
    assert cpus == [os.cpu_count(), 0], cpus


@suite.test
def one_of_two_twins():
    """--pid: one of two of the same name, with its threads, until it ends"""
    with programs("twin") as tmp:
        exe, out = os.path.join(tmp, "twin"), os.path.join(tmp, "out.folded")
        with running(exe, "twin", "left", "600"), running(exe, "twin", "right", "600") as p:
            wait_for(lambda: len(os.listdir(f"/proc/{p.pid}/task")) == 3)
            tids = sorted(int(t) for t in os.listdir(f"/proc/{p.pid}/task"))
            refused(1, rf"--pid {tids[1]} is a thread of process {p.pid}: .* --pid {p.pid}$",
                    "--pid", str(tids[1]))
            with recording(out, "--frequency", "199", "--pid", str(p.pid)) as r:
                burns(1, p.pid)
                p.kill()
                r.ends()
        names, inside = by_name(out), functions(out)
        stacks = folded(out)
    assert f"process {p.pid} has ended" in r.said, r.said
    assert set(names) == {"twin"} and names["twin"] > 20
    assert "right" in inside and "left" not in inside
    # what the first thread did and what the others did
    assert any("main" in f for f, _ in stacks)
    assert any("right" in f and "main" not in f for f, _ in stacks)


@suite.test
def several_processes():
    """--pid twice: until the last one has ended"""
    with programs("one", "two") as tmp:
        out = os.path.join(tmp, "out.firefox.json")
        with running(os.path.join(tmp, "one"), "twin", "left", "600") as a, \
                running(os.path.join(tmp, "two"), "twin", "left", "600") as b, \
                recording(out, "--frequency", "199", "--pid", str(a.pid), "--pid", str(b.pid)) as r:
            burns(0.5, a.pid, b.pid)
            a.kill()
            a.wait()
            over = time.time()
            burns(0.5, b.pid)
            b.kill()
            r.ends()
        samples = [(at, f[0]) for at, f in since_1970(out)]
    ended = re.findall(r"process (\d+) has ended", r.said)
    assert ended == [str(a.pid), str(b.pid)], r.said
    assert {name for _, name in samples} == {"one", "two"}
    for name, fewest in (("one", 20), ("two", 20)):
        assert sum(x == name for _, x in samples) > fewest, name
    after = sum(at > over for at, name in samples)
    say(f"{len(samples)} samples, {after} of them when the first had ended")
    assert after > 20, "it did not wait for the last one"


@suite.test
def duration_and_interrupt():
    """--pid with --duration, and without until Ctrl-C; both in good order"""
    with programs("one", noise=False) as tmp, \
            running(os.path.join(tmp, "one"), "twin", "left", "600") as p:
        out = os.path.join(tmp, "out.folded")
        said = record(out, "--pid", str(p.pid), "--duration", "1", "--frequency", "199")
        assert set(by_name(out)) == {"one"}
        # no terminal: the file, the account
        assert len(said.splitlines()) == 2, said
        os.remove(out)
        with recording(out, "--pid", str(p.pid)) as r:
            burns(0.5, p.pid)
        assert set(by_name(out)) == {"one"}
        assert p.poll() is None and re.search(r"\d+ samples?, none lost; [\d.]+ s of CPU time in "
                                              r"[\d.]+ s$", r.said.rstrip()), r.said


@suite.test
def a_cgroup():
    """--cgroup: what runs in it and below it, by each form of its path"""
    with programs("top", "nested") as tmp, cgroups("inner/most") as (path, join), \
            running(os.path.join(tmp, "top"), "twin", "left", "600", before=join("")) as a, \
            running(os.path.join(tmp, "nested"), "twin", "left", "600",
                    before=join("inner/most")) as b:
        out, both = os.path.join(tmp, "out.folded"), (a.pid, b.pid)
        for given in (path, "/" + path, os.path.join(hierarchy(), path)):
            record_of(out, "--cgroup", given, pids=both)
            names = by_name(out)
            assert set(names) == {"top", "nested"} and min(names.values()) > 20
        record_of(out, "--cgroup", path + "/inner", pids=both)
        assert set(by_name(out)) == {"nested"}
        record_of(out, "--cgroup", "/", pids=(*both, *pids_of("noise")))
        assert {"top", "nested", "noise"} <= set(by_name(out))


@suite.test
def by_their_name():
    """--name: the processes that have it, and not their neighbours, by --rate too; also if only threads run"""
    with programs("wanted", "wanted2") as tmp, \
            running(os.path.join(tmp, "wanted"), "twin", "left", "600") as a, \
            running(os.path.join(tmp, "wanted"), "twin", "right", "600") as c, \
            running(os.path.join(tmp, "wanted2"), "twin", "left", "600"), \
            running(os.path.join(tmp, "wanted2"), "waits", "wanted", "600") as b:
        out = os.path.join(tmp, "out.folded")
        wait_for(lambda: os.readlink(f"/proc/{a.pid}/exe").endswith("wanted"))
        wait_for(lambda: open(f"/proc/{b.pid}/comm").read() == "wanted\n")
        with recording(out, "--name", "wanted", "--rate", "199"):
            burns(0.5, a.pid, b.pid, c.pid)
        assert set(by_name(out)) == {"wanted"}
        assert {"left", "right", "pool"} <= functions(out)
        refused(1, "no process is named trifold-nobody .*ps -eo comm", "--name", "trifold-nobody")


JOB = """
import os
parent = os.getpid()
os.fork()
while os.getpid() == parent or os.getppid() == parent:
    pass
"""


def child_of(pid):
    def first():
        with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
            return f.read().split()
    wait_for(first)
    return first()[0]


@suite.test
def what_an_interpreter_runs():
    """a script's and a package's name is behind the interpreter's, also of a child"""
    with scratch() as tmp:
        os.mkdir(os.path.join(tmp, "parcel"))
        for path in ("job.py", "parcel/__main__.py"):
            with open(os.path.join(tmp, path), "w", encoding="utf-8") as f:
                f.write(JOB)
        out, python = os.path.join(tmp, "out.firefox.json"), os.path.join(tmp, "python3")
        os.symlink(os.path.realpath(sys.executable), python)
        for words, name in ((["job.py"], "python3 job.py"), (["-m", "parcel"], "python3 parcel")):
            with running(python, "-S", *words, before=lambda: os.chdir(tmp)) as p:
                for pid in (p.pid, int(child_of(p.pid))):
                    with recording(out, "--pid", str(pid), "--frequency", "199"):
                        burns(0.3, pid)
                        until_known()
                        known = time.time()
                        burns(1, pid)
                    samples = [(at, f[0]) for at, f in since_1970(out)]
                    later = [x for at, x in samples if at > known + 0.5]
                    say(f"{len(samples)} samples, {later.count(name)} of the later {len(later)} are called {name}")
                    # those from before the interpreter's tables were there are called as it is
                    assert {x for _, x in samples} <= {name, "python3"} and len(later) > 20
                    assert later.count(name) >= least(0.95, len(later))


@suite.test
def from_one_cpu():
    """a program on the last CPU is sampled though trifold may run on the first alone"""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("one CPU")
    with programs("inside", noise=False) as tmp, \
            running(os.path.join(tmp, "inside"), "twin", "left", "600",
                    before=lambda: os.sched_setaffinity(0, cpus[-1:])) as p:
        out = os.path.join(tmp, "out.folded")
        os.sched_setaffinity(0, cpus[:1])
        try:
            with subprocess.Popen([TRIFOLD, "record", "--output", out, "--frequency", "199", "--duration", "600"],
                                  stderr=subprocess.DEVNULL) as r:
                try:
                    wait_for(lambda: (a := Watcher.once()) and a.frequency)
                    burns(0.5, p.pid)
                finally:
                    r.send_signal(signal.SIGINT)
        finally:
            os.sched_setaffinity(0, cpus)
        assert by_name(out)["inside"] > 20


@suite.test
def a_unit():
    """--unit: the cgroup of that name, with .service or without"""
    with programs("inside", "nested") as tmp, cgroups("web.service/inner") as (_, join), \
            running(os.path.join(tmp, "inside"), "twin", "left", "600",
                    before=join("web.service")) as a, \
            running(os.path.join(tmp, "nested"), "twin", "left", "600",
                    before=join("web.service/inner")) as b:
        out = os.path.join(tmp, "out.folded")
        for unit in ("web.service", "web"):
            record_of(out, "--unit", unit, pids=(a.pid, b.pid))
            assert set(by_name(out)) == {"inside", "nested"}
        refused(1, r"the unit webb.service has no cgroup here: .*systemctl status webb.service",
                "--unit", "webb")


@suite.test
def a_container():
    """--container: the cgroup that bears its ID, found by the ID's beginning"""
    scope = f"docker-{HEX64}.scope"
    other = HEX64[:8] + "f" * 56
    with programs("inside", "nested") as tmp, \
            cgroups(f"{scope}/init.scope", f"cri-containerd-{other}.scope") as (_, join), \
            running(os.path.join(tmp, "inside"), "twin", "left", "600", before=join(scope)) as a, \
            running(os.path.join(tmp, "nested"), "twin", "left", "600",
                    before=join(f"{scope}/init.scope")) as b:
        out = os.path.join(tmp, "out.folded")
        record_of(out, "--container", HEX64[:12], pids=(a.pid, b.pid))
        assert set(by_name(out)) == {"inside", "nested"}
        refused(1, rf"several containers' IDs begin with {HEX64[:8]}, such as .*{other}.*: "
                "give more digits", "--container", HEX64[:8])
        refused(1, "no container whose ID begins with dddd.*docker ps --no-trunc",
                "--container", "dddd")


@suite.test
def a_container_by_name():
    """--container: by the name in docker's file, for a recording and in what it says"""
    scope = f"docker-{HEX64}.scope"
    with engine_files() as (tmp, within), programs("inside") as made, cgroups(scope) as (_, join), \
            running(os.path.join(made, "inside"), "twin", "left", "600", before=join(scope)) as p:
        for name, cid in (("web", HEX64), ("old", "d" * 64)):
            os.makedirs(f"{tmp}/docker/containers/{cid}")
            with open(f"{tmp}/docker/containers/{cid}/config.v2.json", "w") as f:
                json.dump({"State": {"Running": True}, "ID": cid, "Name": "/" + name}, f)
        out = os.path.join(made, "out.folded")
        record_of(out, "--container", "web", pids=[p.pid], within=within)
        assert set(by_name(out)) == {"inside"}
        r = subprocess.run(within + [TRIFOLD, "record", "--output", out, "--container", "old"], capture_output=True,
                           text=True, timeout=300)
        assert r.returncode == 1 and "old (dddddddddddd, docker) has no cgroup" in r.stderr, r.stderr


@suite.test
def mistakes():
    """every mistake is one line that says what to do"""
    unused = 4194303
    while os.path.exists(f"/proc/{unused}"):
        unused -= 1
    refused(2, "nothing to record: give --duration, a command after --", "--verbose")
    refused(2, "only one of --pid, --name, --unit, --cgroup, --container", "--pid", "1", "--cgroup", "x")
    refused(2, "only one of", "--container", "abcd", "--", "true")
    refused(2, "--all is the whole system", "--all", "--pid", "1")
    refused(2, "either --duration or a command", "--duration", "1", "--", "true")
    refused(2, "--container needs the name of a container or pod", "--container", "a/b")
    refused(1, "no container or pod has the name trifold-nobody .*give the ID", "--container",
            "trifold-nobody")
    refused(2, "--pid needs a number from 1 to", "--pid", "init")
    refused(1, f"there is no process {unused} ", "--pid", str(unused))
    top = hierarchy()
    refused(1, "--cgroup no/such: No such file or directory .*systemd-cgls", "--cgroup", "no/such")
    refused(1, "cgroup.procs: Not a directory", "--cgroup", "cgroup.procs")
    refused(1, "is not in the hierarchy of cgroup v2", "--cgroup", "../" * top.count("/") + "tmp")


@suite.test
def loads_at_once():
    """the programs load at the first try, whatever is to be sampled"""
    if tuple(int(n) for n in re.findall(r"\d+", os.uname().release)[:2]) < (6, 1):
        raise Skip("the first try is for Linux 6.1")
    with scratch() as tmp, cgroups("x") as (path, _):
        for args in (("--duration", "0.3"), ("--pid", str(os.getpid()), "--duration", "0.3"),
                     ("--cgroup", path, "--duration", "0.3"), ("--", "true")):
            said = record(f"{tmp}/x.folded", "--verbose", *args)
            assert "failed to load" not in said, said
            assert "no list of mappings" not in said, said


@suite.test
def signals_and_status():
    """the command gets what trifold is sent, and its status is trifold's"""
    with scratch() as tmp:
        script = f"trap 'exit 5' TERM; echo >{tmp}/up; while :; do sleep 0.05; done"
        with subprocess.Popen([TRIFOLD, "record", "--output", f"{tmp}/x.html", "--", "sh", "-c",
                               script], stderr=subprocess.DEVNULL) as p:
            wait_for(lambda: os.path.exists(f"{tmp}/up"))
            p.send_signal(signal.SIGTERM)
            assert p.wait(120) == 5
        # what it leaves running goes on
        r = subprocess.run([TRIFOLD, "record", "--output", f"{tmp}/y.html", "--", "sh", "-c",
                            f"setsid sleep 30 >/dev/null 2>&1 & echo $! >{tmp}/pid; exit 3"],
                           stderr=subprocess.DEVNULL, timeout=300)
        with open(f"{tmp}/pid") as f:
            left = int(f.read())
        assert r.returncode == 3
        os.kill(left, signal.SIGKILL)


@suite.test
def on_a_terminal():
    """a terminal gets a line of time, samples, rate and losses; Ctrl-C ends"""
    with programs("one", noise=False) as tmp, \
            running(os.path.join(tmp, "one"), "twin", "left", "600") as p:
        pid, fd = pty.fork()
        if pid == 0:
            os.execv(TRIFOLD, [TRIFOLD, "record", "--output", f"{tmp}/x.folded", "--frequency",
                               "199", "--pid", str(p.pid)])
        seen, sent, end = "", False, time.time() + 300
        with contextlib.suppress(OSError):	# the end of a terminal
            while time.time() < end:
                seen += os.read(fd, 4096).decode()
                shown = re.findall(r"\r\d+ s   (\d+) samples", seen)
                if not sent and len(shown) >= 4 and int(shown[-1]) > 100:
                    os.write(fd, b"\x03")
                    sent = True
        os.close(fd)
        status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    lines = re.findall(r"\r(\d+) s   (\d+) samples \((\d+) a second\), (\d+) lost\x1b\[K", seen)
    say(lines)
    assert status == 0, seen
    assert f"profiling process {p.pid} until Ctrl-C" in seen
    # the first line may be of more than a second
    assert len(lines) >= 4 and max(int(rate) for _, _, rate, _ in lines) * (len(lines) + 1) > int(lines[-1][1]) > 100
    # it is gone in the end
    assert "\r\x1b[K" in seen and re.search(r" none lost; [^\n]*\s*$", seen), seen


suite.run()
