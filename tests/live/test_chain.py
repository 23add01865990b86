#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A known chain of functions must come out as it is, from _start up."""
import os
import subprocess

from live import Suite, compile_c, folded, has_chain, learned, record, say, scratch

suite = Suite()
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]


def profile(mode):
    with scratch() as tmp:
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        out = os.path.join(tmp, "out.folded")
        with subprocess.Popen([exe, "6"] + mode) as p:
            record(out, "--duration", "4", "--frequency", "499")
            p.wait()
        mine = learned([(f, n) for f, n in folded(out) if f[0] == "chain"])
    total = sum(n for _, n in mine)
    good = sum(n for f, n in mine if f[1] == "_start" and has_chain(f, CHAIN))
    say(f"{total} samples, {good} with the whole chain from _start")
    for f, n in sorted(mine, key=lambda x: -x[1])[:3]:
        say(f"{n} {';'.join(f)}")
    return mine, total, good


@suite.test
def on_cpu():
    """ten functions without frame pointers, from _start up"""
    mine, total, good = profile([])
    assert total > 100, "too few samples"
    assert good >= 0.95 * total
    for f, _ in mine:
        inside = [x for x in f if x.startswith("chain_")]
        assert not inside or has_chain(CHAIN, inside), f"wrong order: {f}"


@suite.test
def in_system_call():
    """kernel frames stand on top of the chain in a system call"""
    mine, total, good = profile(["syscall"])
    assert total > 100, "too few samples"
    assert good >= 0.95 * total
    kernel = sum(n for f, n in mine if f[-1].endswith("_[k]") and has_chain(f, CHAIN))
    say(f"{kernel} of them in the kernel")
    assert kernel >= 0.5 * total


suite.run()
