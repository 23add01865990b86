#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that do something in step with a clock have as many samples as their CPU time says."""
import contextlib
import os
import signal
import subprocess

from accounts import Watcher
from chance import ALPHA, fewest, most
from live import TRIFOLD, Suite, compile_c, ends_with_us, folded, say, scratch, wait_for

suite = Suite()
HZ = 19
SECONDS = 30
EACH_SECOND = [(10**9, 30 * 10**6, i * 140 * 10**6) for i in range(6)]
IN_STEP = [(10**9 // HZ, 12 * 10**6, i * 17 * 10**6) for i in range(3)]
# Samples of one second have one distance: a program that is nearly in step with it has more or fewer
# in a row.  So they come in clumps, and the variance of their number is so many times the mean.
STEP_CLUMP = 6


@contextlib.contextmanager
def recording(out, hz):
    """It samples, until the body ends."""
    watcher = Watcher()
    p = subprocess.Popen([TRIFOLD, "record", "--output", out, "--frequency", str(hz), "--duration", "600"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, preexec_fn=ends_with_us)
    try:
        wait_for(lambda: p.poll() is not None or (watcher.last and watcher.last.taken()))
        yield
    finally:
        p.send_signal(signal.SIGINT)
        err = p.communicate(timeout=60)[1]
        watcher.done = True
    assert p.returncode == 0, err


def run(programs, hz, seconds):
    """[(samples, CPU time in s)] of each program, under names of their own."""
    with scratch() as tmp:
        exe = compile_c("cases/periodic.c", os.path.join(tmp, "periodic"))
        out = os.path.join(tmp, "out.folded")
        names = [f"periodic-{i}" for i in range(len(programs))]
        for name in names:
            os.link(exe, os.path.join(tmp, name))
        # on an idle machine there may be no sample before them, since trifold's own are left out
        with contextlib.ExitStack() as stack:
            load = stack.enter_context(subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=ends_with_us))
            stack.callback(load.kill)
            stack.enter_context(recording(out, hz))
            load.kill()
            ran = [subprocess.Popen([os.path.join(tmp, name), str(seconds), *map(str, numbers)],
                                    stdout=subprocess.PIPE, text=True, preexec_fn=ends_with_us)
                   for name, numbers in zip(names, programs)]
            used = [int(p.communicate()[0]) / 1e9 for p in ran]
        stacks = folded(out)
    return [(sum(n for f, n in stacks if f[0] == name), cpu) for name, cpu in zip(names, used)]


def judge(found, hz, clump=1):
    """Without the clock's variation a program is in step: it has no samples at all, or one each time that it runs."""
    bad = []
    for n, used in found:
        want = used * hz
        low, high = (clump * bound(want / clump, ALPHA / 2) for bound in (fewest, most))
        say(f"{n} samples of {used:.2f} s of CPU time, {want:.1f} expected, {low} to {high} allowed")
        if not low <= n <= high:
            bad.append((n, want))
    assert not bad, f"(samples, expected): {bad}"


@suite.test
def periodic():
    """six programs that run 30 ms once a second, three that run once in the time of a sample"""
    found = run(EACH_SECOND + IN_STEP, HZ, SECONDS)
    judge(found[:len(EACH_SECOND)], HZ)
    judge(found[len(EACH_SECOND):], HZ, STEP_CLUMP)


suite.run()
