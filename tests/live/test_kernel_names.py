#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of kernel code that comes and goes while trifold runs: BPF programs."""
import os
import re

from chance import least
from live import Skip, Suite, compile_c, folded, record, say, scratch

suite = Suite()
PROGRAMS = ("spin_one", "spin_two", "spin_three")


def jit():
    try:
        with open("/proc/sys/net/core/bpf_jit_enable", encoding="ascii") as f:
            return f.read().strip() != "0"
    except OSError:
        return False


@suite.test
def bpf_programs():
    """a BPF program that was loaded later has its name, and not that of the one before"""
    if not jit():
        raise Skip("the kernel interprets BPF programs")
    with scratch() as tmp:
        exe = compile_c("bpf_spin.c", os.path.join(tmp, "bpf_spin"))
        out = os.path.join(tmp, "out.folded")
        # the next one's code lies where that of the last one was, whose last samples have
        # been drained by then
        record(out, "--frequency", "499", "--", "sh", "-c",
               "; ".join(f"prlimit --cpu=1:60 {exe} {p}; sleep 1" for p in PROGRAMS))
        stacks = folded(out)
        for name in PROGRAMS:
            mine = [(f, n) for f, n in stacks if f[0] == name]
            inner = [(f[-1], n) for f, n in mine if "bpf_prog_test_run" in " ".join(f[:-1])]
            total = sum(n for _, n in inner)
            good = sum(n for x, n in inner if re.match(rf"bpf_prog_[0-9a-f]{{16}}_{name}_\[k\]$", x))
            others = {x for f, _ in mine for x in f for p in PROGRAMS if p != name and p in x}
            say(f"{name}: {good} of {total}")
            assert total > 100 and not others, (mine[:3], others)
            # the rest: what runs a program, and interrupts
            assert good >= least(0.95, total), inner


suite.run()
