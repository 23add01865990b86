#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs that do something in step with a clock have as many samples as their CPU time says."""
import concurrent.futures
import math
import os
import subprocess
import time

from live import Suite, compile_c, ends_with_us, folded, record, say, scratch

suite = Suite()
HZ = 19
SECONDS = 30
EACH_SECOND = [(10**9, 30 * 10**6, i * 140 * 10**6) for i in range(6)]
IN_STEP = [(10**9 // HZ, 12 * 10**6, i * 17 * 10**6) for i in range(3)]
# Samples of one second have one distance: who is nearly in step with it has more or fewer
# in a row.
STEP_SPREAD = 2.5


def run(programs, hz, seconds):
    """[(samples, CPU time in s)] of each program, under names of their own."""
    with scratch() as tmp:
        exe = compile_c("cases/periodic.c", os.path.join(tmp, "periodic"))
        out = os.path.join(tmp, "out.folded")
        names = [f"periodic-{i}" for i in range(len(programs))]
        for name in names:
            os.link(exe, os.path.join(tmp, name))
        with concurrent.futures.ThreadPoolExecutor() as pool:
            recorded = pool.submit(record, out, "--frequency", str(hz), "--duration", str(seconds + 6))
            time.sleep(3)	# it samples
            ran = [subprocess.Popen([os.path.join(tmp, name), str(seconds), *map(str, numbers)],
                                    stdout=subprocess.PIPE, text=True, preexec_fn=ends_with_us)
                   for name, numbers in zip(names, programs)]
            used = [int(p.communicate()[0]) / 1e9 for p in ran]
            recorded.result()
        stacks = folded(out)
    return [(sum(n for f, n in stacks if f[0] == name), cpu) for name, cpu in zip(names, used)]


def judge(found, hz, spread):
    bad = []
    for n, used in found:
        want = used * hz
        say(f"{n} samples of {used:.2f} s of CPU time, {want:.1f} expected")
        if abs(n - want) > 3 * spread * math.sqrt(want):
            bad.append((n, want))
    assert not bad, f"(samples, expected): {bad}"


@suite.test
def periodic():
    """six programs that run 30 ms once a second, three that run once in the time of a sample"""
    found = run(EACH_SECOND + IN_STEP, HZ, SECONDS)
    judge(found[:len(EACH_SECOND)], HZ, 1)
    judge(found[len(EACH_SECOND):], HZ, STEP_SPREAD)


suite.run()
