#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trifold itself is short of disk, memory or time: it says so and ends, or goes on;
the account agrees, and nothing is left behind."""
import contextlib
import os
import signal
import subprocess
import time

from accounts import Watcher
from adversary import CHAIN, cgroup, main_pids
from chance import least
from live import (TRIFOLD, Suite, children_of, compile_c, ends_with_us, folded, has_chain, learned, say, scratch, wait_for)

suite = Suite()


@contextlib.contextmanager
def control(tmp):
    exe = compile_c("chain.c", os.path.join(tmp, "control"), "-fomit-frame-pointer")
    p = subprocess.Popen([exe, "600"], preexec_fn=ends_with_us)
    try:
        yield
    finally:
        p.kill()
        p.wait()


@contextlib.contextmanager
def disk(tmp, options):
    path = os.path.join(tmp, "disk")
    os.mkdir(path)
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "none", path], check=True)
    try:
        yield path
    finally:
        subprocess.run(["umount", path], check=True)


def recorded(out, *before, seconds=3):
    """(exit status, what it said, the last account)"""
    w = Watcher()
    r = subprocess.run([*before, TRIFOLD, "record", "--output", out, "--duration", str(seconds)],
                       capture_output=True, text=True, timeout=300)
    w.done = True
    w.join(6)
    return r.returncode, r.stdout + r.stderr, w.last


def agrees(account):
    say(f"taken {account.taken()}, delivered {account.delivered()}, lost {account.lost()}")
    assert account.missing() == 0, f"{account.missing()} samples are nowhere"


def whole(out):
    """Most stacks of the control are."""
    mine = learned([(f, n) for f, n in folded(out) if f[0] == "control"])
    n = sum(n for _, n in mine)
    complete = sum(n for f, n in mine if has_chain(f, CHAIN))
    say(f"{complete} of {n} are whole")
    assert n > 10 and complete >= least(0.9, n)


@suite.test
def full():
    """a full disk: an error says so, what was there stays, no half file is left"""
    with scratch() as tmp, control(tmp), disk(tmp, "size=64k") as path:
        with open(f"{path}/out.html", "w", encoding="ascii") as f:
            f.write("before")
        with open(f"{path}/rest", "wb") as f:
            f.write(bytes(48 << 10))
        status, said, account = recorded(f"{path}/out.html")
        say(said)
        assert status == 1 and "No space left" in said
        # each word about loss is true: nothing was recorded
        assert f"{account.taken()} samples, all lost: no recording was written" in said, said
        assert "none lost" not in said
        with open(f"{path}/out.html", encoding="ascii") as f:
            assert f.read() == "before"
        assert sorted(os.listdir(path)) == ["out.html", "rest"]
        agrees(account)
        # `run` too, where samples go nowhere else
        p = subprocess.Popen([TRIFOLD, "run", "--no-page", "--output", f"{path}/out.html"], stderr=subprocess.PIPE,
                             text=True)
        head = p.stderr.readline()
        wait_for(lambda: (a := Watcher.once()) and a.taken() > 20)
        p.send_signal(signal.SIGINT)
        said = p.communicate(timeout=120)[1]
        say(head + said)
        assert p.returncode == 1 and "samples, all lost: no recording was written" in said, said


@suite.test
def read_only():
    """a disk that cannot be written: an error before anything is recorded"""
    with scratch() as tmp, disk(tmp, "ro") as path:
        status, said, account = recorded(f"{path}/out.html", seconds=3000)
        say(said)
        assert status == 1 and "Read-only" in said
        assert not (account and account.taken())


def in_cgroup(procs, *command):
    return ["/bin/sh", "-c", f'echo $$ >{procs} && exec "$@"', "sh", *command]


@suite.test
def memory():
    """a cgroup with 192 MiB for all of it"""
    with scratch() as tmp, control(tmp), cgroup(192) as procs:
        out = f"{tmp}/out.folded"
        status, said, account = recorded(out, *in_cgroup(procs), seconds=6)
        say(said)
        assert status == 0
        agrees(account)
        whole(out)


@suite.test
def little_memory():
    """a cgroup with 12 MiB for all of it: it ends and says so, or restarts what was killed"""
    with scratch() as tmp, cgroup(12) as procs:
        status, said, account = recorded(f"{tmp}/out.folded", *in_cgroup(procs))
        say(f"status {status}: {said}")
        assert status == 0 or said.strip()
        if status == 0:
            agrees(account)


def below(pid):
    found = children_of(pid)
    return found + [p for c in found for p in below(c)]


@suite.test
def gap():
    """all of it stopped for five seconds, as by a suspend: it goes on"""
    with scratch() as tmp, control(tmp):
        out = f"{tmp}/out.folded"
        w = Watcher()
        p = subprocess.Popen([TRIFOLD, "record", "--output", out, "--duration", "60"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             preexec_fn=ends_with_us)
        try:
            wait_for(lambda: all(main_pids(p.pid).values()) and w.last and w.last.taken() > 20)
            before = main_pids(p.pid)
            time.sleep(2)
            everybody = [p.pid, *below(p.pid)]
            for pid in everybody:
                os.kill(pid, signal.SIGSTOP)
            time.sleep(5)
            for pid in everybody:
                os.kill(pid, signal.SIGCONT)
            taken = wait_for(lambda: w.last and w.last.taken())
            wait_for(lambda: w.last.taken() > taken + 40)
            assert main_pids(p.pid) == before, f"{before}, now {main_pids(p.pid)}"
        finally:
            p.send_signal(signal.SIGINT)
            said = p.communicate(timeout=60)[1]
        w.done = True
        w.join(6)
        say(said)
        assert p.returncode == 0
        agrees(w.last)
        whole(out)


suite.run()
