#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes that always need another file take no samples from others, and no more CPU time than there is for files."""
import contextlib
import json
import os
import signal
import subprocess
import time

from accounts import Watcher
from chance import rate_not_less, share_not_less
from live import TRIFOLD, CpuLog, Suite, compile_c, ends_with_us, folded, has_chain, record, say, scratch, timed, wait_for

suite = Suite()
HZ = 499
FILES = 330
SECONDS = 8
EDGE = 2                # s: tables come, programs start
USER = 12345
PROCESSES = 8           # more than the share of a second is for
WINDOW = 10             # s: over which the share holds
RECORDS = 5             # times limits.cpu_share, for who records
LATE = 50               # s: files may wait 40 s at most (docs/SECURITY.md), and a recording takes some
SLACK = 0.3             # s of CPU time: a step at each end; reports come once a second
GREEDY = 24
SUBUID = 10 * 65536		# of one user: subuid(5) gives 65,536 in a row
SHARE_USER = 512		# of bpf/requests.bpf.h
CHAIN = [f"chain_{i}" for i in range(1, 11)]


def start(*command, **more):
    return subprocess.Popen(command, preexec_fn=ends_with_us, stdout=subprocess.DEVNULL, **more)


class Judged:
    """The samples of a program in a part of a recording; the rate is that of the control."""

    def __init__(self, out, cpu, begin, end, name="control"):
        mine = sorted((t, f) for t, f in times(out) if begin < t < end and f[0] == name)
        # from one sample to another, so that nothing hangs on when it began and ended
        self.n = len(mine)
        self.cpu = cpu.between(mine[0][0], mine[-1][0]) if self.n > 1 else 0
        self.rate = self.n / self.cpu if self.cpu else 0
        self.whole = sum(has_chain(f, CHAIN) for _, f in mine)
        self.complete = self.whole / max(self.n, 1)

    def as_before(self, alone):
        rate_not_less("rate", (self.n, self.cpu), (alone.n, alone.cpu), HZ)
        share_not_less("completeness", self.whole, self.n, alone.complete)

    def __str__(self):
        return f"{self.n} of the control, {self.rate:.0f} a CPU second, {100 * self.complete:.1f} % complete"


def began(out):
    with open(out, encoding="utf-8") as f:
        return json.load(f)["meta"]["startTime"] / 1000


def times(out):
    begin = began(out)
    return [(begin + ms / 1000, frames) for ms, frames in timed(out)]


def costs(a):
    """CPU time, s."""
    return {"files": a["hub.files_cpu_ns"] / 1e9, "loaderd": a["loader.cpu_ns"] / 1e9,
            "of it samples": a["loader.sampling_ns"] / 1e9, "opener": a["loader.opener.cpu_ns"] / 1e9,
            "hub": a["hub.cpu_ns"] / 1e9, "workers": a["hub.worker_cpu_ns"] / 1e9}


def difference(a, b):
    return {k: round(costs(b)[k] - v, 3) for k, v in costs(a).items()}


class Window:
    """What became of the control's samples while trifold recorded."""

    def __init__(self, tmp, cpu):
        out = os.path.join(tmp, "out.firefox.json")
        w = Watcher()
        record(out, "--duration", str(SECONDS), "--frequency", str(HZ))
        w.done = True
        w.join(6)
        self.account = w.last
        self.judged = Judged(out, cpu, began(out) + EDGE, began(out) + SECONDS - 1)

    def __str__(self):
        a = self.account
        return (f"{self.judged}; taken {a.taken()}, lost {a.lost()}; requests {a['loader.file_requests']}, "
                f"put off {a.bpf('BPF_REQUEST_FULL')}; CPU {costs(a)}")


@contextlib.contextmanager
def attack(tmp, processes, uid_of=lambda i: USER):
    """An ordinary user's; all of it runs when the body begins, and still when it ends."""
    greedy = compile_c("greedy.c", os.path.join(tmp, "greedy"), "-pthread")
    os.chmod(tmp, 0o755)
    started = []
    try:
        for i in range(processes):
            theirs, uid = os.path.join(tmp, f"files{i}"), uid_of(i)
            os.mkdir(theirs)
            os.chown(theirs, uid, uid)
            started.append(start(greedy, theirs, str(FILES), user=uid, group=uid, extra_groups=[]))
            wait_for(lambda: len(os.listdir(theirs)) == FILES)
        yield
        assert all(p.poll() is None for p in started), "the attack ended by itself"
    finally:
        for p in started:
            p.send_signal(signal.SIGKILL)
            p.wait()


@contextlib.contextmanager
def control(tmp, name="control"):
    exe = compile_c("chain.c", os.path.join(tmp, name), "-fomit-frame-pointer")
    p = start(exe, "600")
    try:
        with CpuLog(p.pid) as cpu:
            wait_for(lambda: cpu.at)
            yield cpu
    finally:
        p.send_signal(signal.SIGKILL)
        p.wait()


@suite.test
def files():
    """330 files that change in one stack, by an ordinary user: the control's samples are as before"""
    with scratch() as tmp, control(tmp) as cpu:
        alone = Window(tmp, cpu)
        say(alone)
        with attack(tmp, 1):
            time.sleep(1)
            beside = Window(tmp, cpu)
            say(beside)
        a = beside.account
        assert a.missing() == 0, f"{a.missing()} samples are nowhere"
        assert a["loader.file_requests"] > 0 and a.bpf("BPF_REQUEST_FULL") > 0, "there was no attack"
        beside.judged.as_before(alone.judged)
        assert sum(a.lost().values()) <= 0.01 * a.taken()


class Run:
    """trifold run, which records, with so many percent of the host."""

    def __init__(self, tmp, percent):
        config = os.path.join(tmp, "trifold.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"[limits]\ncpu_share = {percent}\n")
        self.out = os.path.join(tmp, "run.firefox.json")
        self.watcher = Watcher()
        self.p = start(TRIFOLD, "run", "--config", config, "--frequency", str(HZ), "--no-page", "--output", self.out,
                       stderr=subprocess.DEVNULL)

    def has(self, what, seconds=60):
        return wait_for(lambda: self.watcher.last and what(self.watcher.last) and self.watcher.last, seconds)

    def stop(self):
        self.p.send_signal(signal.SIGINT)
        self.p.wait(60)
        self.watcher.done = True
        self.watcher.join(6)
        return self.watcher.last


def is_known(tmp, name):
    """A recording beside the running one has whole stacks of the program of this name; the last ones
    may come too late."""
    out = os.path.join(tmp, "known.folded")
    record(out, "--name", name, "--duration", "1", check=False)
    stacks = folded(out)
    total = sum(n for _, n in stacks)
    return sum(n for f, n in stacks if has_chain(f, CHAIN)) >= 0.95 * total > 0


@suite.test
def share():
    """what eight such processes ask for beyond the share is put off and counted, and new files of root's come"""
    percent = 1
    files = percent / 100 * RECORDS * os.cpu_count() / 2    # of one CPU
    with scratch() as tmp, control(tmp) as cpu:
        run = Run(tmp, percent)
        try:
            run.has(lambda a: a["hub.complete"] > 100)
            time.sleep(EDGE)
            alone = time.time()
            time.sleep(5)
            alone = alone, time.time()
            with attack(tmp, PROCESSES):
                # what there was at the start is used up
                first = run.has(lambda a: a["hub.files_put_off"] + a["hub.jobs_put_off"] > 0)
                say(f"put off after {time.time() - alone[1]:.1f} s")
                time.sleep(EDGE)	# and what loaderd did in that second is known
                first, begin = run.watcher.last, time.time()
                time.sleep(WINDOW)
                last, beside = run.watcher.last, (begin, time.time())
                seconds = (last.uptime - first.uptime) / 1e9
                cost = difference(first, last)
                say(f"{seconds:.1f} s: {cost}; put off {last['hub.files_put_off']} files, "
                    f"{last['hub.jobs_put_off']} jobs, {last['loader.lists_put_off']} lists; met {last['tables.exes'] - first['tables.exes']}")
                with control(tmp, "late"):
                    came = time.time()
                    wait_for(lambda: is_known(tmp, "late"), LATE)
                    known = time.time()
                    time.sleep(EDGE)
                    known = known, time.time()
        finally:
            end = run.stop()
        alone, beside = (Judged(run.out, cpu, *w) for w in (alone, beside))
        say(f"alone {alone}")
        late = Judged(run.out, cpu, *known, name="late")
        say(f"beside {beside}")
        whole = [t for t, f in times(run.out) if f[0] == "late" and has_chain(f, CHAIN)]
        say(f"a new program is known after {min(whole, default=0) - came:.1f} s; "
            f"in the end {100 * late.complete:.1f} % of {late.n} complete")
        assert end.missing() == 0, f"{end.missing()} samples are nowhere"
        # files that wait are counted once: while a burst is paid for, there may be no new one
        assert last["loader.lists_put_off"] > first["loader.lists_put_off"]
        # a step may be as long as a second's reports
        assert cost["files"] <= seconds * files + SLACK
        assert cost["loaderd"] - cost["of it samples"] + cost["opener"] <= cost["files"] + SLACK
        beside.as_before(alone)
        assert late.n and late.complete >= 0.95, "a new program has no table"


@suite.test
def subordinate_uids():
    """24 such programs, each under a subordinate uid of one user: together they have a user's share"""
    with scratch() as tmp, attack(tmp, GREEDY, lambda i: SUBUID + i):
        w = Watcher()
        record(os.path.join(tmp, "out.folded"), "--duration", str(SECONDS), "--frequency", str(HZ))
        w.done = True
        w.join(6)
        asked = w.last["loader.file_requests"]
        say(f"{asked} requests in {SECONDS} s, put off {w.last.bpf('BPF_REQUEST_FULL')}")
        assert w.last.bpf("BPF_REQUEST_FULL") > 0, "there was no attack"
        # those of root's programs, and of the seconds in which it begins and ends
        assert asked < SHARE_USER * (SECONDS + 2) + 500, "each uid has a share of its own"


suite.run()
