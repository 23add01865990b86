#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What trifold does where nothing is sampled: it sleeps.

`trifold run` with a loaderd that samples one process only, so what else the machine does is
nothing to it.  Counted, not timed: how often its processes sleep (voluntary context switches),
and their system calls (by the tracepoint raw_syscalls:sys_enter, which perf counts).
"""
import ctypes
import os
import platform
import signal
import struct
import subprocess
import sys
import time

from live import BIN, TRIFOLD, Suite, children_of, parent_of, pids_of, say, scratch, wait_for

SECONDS = 20
WAKE_UPS = 4.0          # a second, all processes together
CALLS = 40.0            # likewise
TARGET = """
import sys, time
for line in sys.stdin:
    end = time.monotonic() + float(line)
    while time.monotonic() < end:
        pass
    print("rests", flush=True)
"""
PERF_EVENT_OPEN = {"x86_64": 298, "aarch64": 241}
PERF_TYPE_TRACEPOINT, PERF_FLAG_FD_CLOEXEC = 2, 8

suite = Suite()


def tree(pid):
    """A process and all below it."""
    found = [pid]
    for p in found:
        found += children_of(p)
    return found


def tasks(pid):
    try:
        return [int(t) for t in os.listdir(f"/proc/{pid}/task")]
    except OSError:
        return []


def wake_ups(pid):
    """How often its threads have slept."""
    n = 0
    for t in tasks(pid):
        with open(f"/proc/{pid}/task/{t}/status", encoding="ascii", errors="replace") as f:
            n += next(int(line.split()[1]) for line in f if line.startswith("voluntary_ctxt"))
    return n


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="utf-8", errors="replace") as f:
        return f.read().strip()


def tracepoint(tmp):
    """The number of raw_syscalls:sys_enter; None: it cannot be counted here."""
    where = os.path.join(tmp, "tracing")
    os.mkdir(where)
    if platform.machine() not in PERF_EVENT_OPEN:
        return None
    if subprocess.run(["mount", "-t", "tracefs", "none", where], capture_output=True).returncode:
        return None
    try:
        with open(f"{where}/events/raw_syscalls/sys_enter/id", encoding="ascii") as f:
            return int(f.read())
    except OSError:
        return None
    finally:
        subprocess.run(["umount", where], check=True)


class Calls:
    """Counts the system calls of these processes."""

    def __init__(self, number, pids):
        libc = ctypes.CDLL(None, use_errno=True)
        attr = struct.pack("IIQ", PERF_TYPE_TRACEPOINT, 128, number).ljust(128, b"\0")
        self.fds = {}
        for pid in pids:
            for t in tasks(pid):
                fd = libc.syscall(PERF_EVENT_OPEN[platform.machine()], attr, t, -1, -1,
                                  PERF_FLAG_FD_CLOEXEC)
                if fd < 0:
                    raise OSError(ctypes.get_errno(), "perf_event_open")
                self.fds.setdefault(pid, []).append(fd)

    def read(self, pid):
        return sum(struct.unpack("Q", os.read(fd, 8))[0] for fd in self.fds.get(pid, []))

    def close(self):
        for fds in self.fds.values():
            for fd in fds:
                os.close(fd)


class Idle:
    """`trifold run`, sampling a process that sleeps until it is told to burn."""

    def __init__(self, tmp):
        self.target = subprocess.Popen([sys.executable, "-c", TARGET], stdin=subprocess.PIPE,
                                       stdout=subprocess.PIPE, text=True)
        programs = os.path.join(tmp, "programs")
        os.mkdir(programs)
        for name in os.listdir(BIN):
            os.symlink(os.path.join(BIN, name), os.path.join(programs, name))
        loaderd = os.path.join(programs, "trifold-loaderd")
        os.unlink(loaderd)
        with open(loaderd, "w", encoding="ascii") as f:
            f.write(f'#!/bin/sh\nexec {BIN}/trifold-loaderd "$@" --filter-pid={self.target.pid}\n')
        os.chmod(loaderd, 0o755)
        self.trifold = subprocess.Popen(
            [TRIFOLD, "run", "--libexec", programs, "--frequency", "97",
             "--output", os.path.join(tmp, "all.folded")],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def __enter__(self):
        try:
            wait_for(lambda: self.trifold.poll() is not None or self.main("trifold-loaderd"))
            assert self.trifold.poll() is None, self.trifold.stdout.read()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.target.kill()
        self.target.wait()
        self.trifold.send_signal(signal.SIGTERM)
        self.said = self.trifold.communicate(timeout=60)[0]

    def main(self, name):
        return [p for p in pids_of(name) if parent_of(p) == self.trifold.pid]

    def burn(self, seconds):
        self.target.stdin.write(f"{seconds}\n")
        self.target.stdin.flush()

    def rests(self):
        """It burns no more."""
        assert self.target.stdout.readline() == "rests\n"

    def falls_asleep(self):
        """loaderd has been quiet for some seconds, and all else no busier than it may be: it
        has to stay so while it is counted."""
        def slow():
            pid, pids = self.main("trifold-loaderd")[0], tree(self.trifold.pid)
            before, all_before = wake_ups(pid), sum(map(wake_ups, pids))
            time.sleep(4)
            return wake_ups(pid) - before <= 1 and sum(map(wake_ups, pids)) - all_before <= 4 * WAKE_UPS
        wait_for(slow, 120)


def counted(idle, number):
    """(wake-ups, system calls) a second, all processes together."""
    pids = tree(idle.trifold.pid)
    calls = Calls(number, pids) if number else None
    slept = {p: wake_ups(p) for p in pids}
    begin = time.monotonic()
    time.sleep(SECONDS)
    took = time.monotonic() - begin
    slept = {p: (wake_ups(p) - n) / took for p, n in slept.items()}
    made = {p: calls.read(p) / took if calls else 0 for p in pids}
    if calls:
        calls.close()
    for p in pids:
        say(f"{name_of(p):16} {slept[p]:5.2f} wake-ups, {made[p]:6.2f} system calls a second")
    say(f"all of them: {sum(slept.values()):.2f} wake-ups, {sum(made.values()):.2f} system calls")
    return sum(slept.values()), sum(made.values()) if calls else None


@suite.test
def sleeps_and_wakes():
    """nothing is sampled: trifold run sleeps; the first sample wakes loaderd, and all of them are delivered"""
    with scratch() as tmp, Idle(tmp) as idle:
        number = tracepoint(tmp)
        idle.falls_asleep()
        woke, made = counted(idle, number)
        assert woke <= WAKE_UPS, f"{woke:.2f} wake-ups a second"
        assert made is None or made <= CALLS, f"{made:.2f} system calls a second"
        loaderd = idle.main("trifold-loaderd")[0]
        for _ in range(3):
            # it has just looked, and will not for five seconds
            before = wake_ups(loaderd)
            wait_for(lambda: wake_ups(loaderd) > before)
            time.sleep(1)
            before, begin = wake_ups(loaderd), time.monotonic()
            idle.burn(3)
            while wake_ups(loaderd) == before and time.monotonic() - begin < 3:
                time.sleep(0.01)
            assert wake_ups(loaderd) > before, "no sample in three seconds woke it"
            say(f"woke {1000 * (time.monotonic() - begin):.0f} ms after the burst began")
            idle.rests()
    say(idle.said.splitlines()[-1])
    assert "none lost" in idle.said, idle.said


suite.run()
