#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold names` against llvm-symbolizer and eu-addr2line at 100,000 addresses and more.

Half of them in all executables and libraries of this machine, half in programs with full
DWARF: test_names_agree.py has a sample.  Usage: long_names_agree.py [ADDRESSES]
"""
import os
import random
import sys

import names_agree
import names_programs
from live import say, scratch, tap

ADDRESSES = int(sys.argv[1]) if sys.argv[1:] else 110000


def judge(tally):
    names_agree.report(tally, say, examples=5)
    bad = tally.unexplained()
    for b in bad[:40]:
        say(b)
    assert not bad, f"{len(bad)} of {tally.n} without a cause"


def programs():
    """programs of gcc, clang, rustc, gdc and Go: levels, LTO, forms of DWARF"""
    tally, rng = names_agree.Tally(), random.Random(1)
    every = [*names_programs.c_programs(), *names_programs.other_programs()]
    each = ADDRESSES // 2 // len(every) + 1
    with scratch() as tmp:
        sources = names_programs.make_c(os.path.join(tmp, "src"))
        for name, path, why in names_programs.build(tmp, every, sources):
            if not path:
                say(f"{name}: not compared: {why}")
                continue
            before = tally.n, tally.same
            names_agree.compare(path, each, rng, tally)
            say(f"{name}: {tally.same - before[1]} of {tally.n - before[0]} equal")
    judge(tally)


def machine():
    """all executables and libraries of this machine"""
    tally, rng, failed = names_agree.Tally(), random.Random(2), []
    files = names_agree.machine_files()
    each = ADDRESSES // 2 // len(files) + 1
    for path in files:
        try:
            names_agree.compare(path, each - each // 4, rng, tally, edges=each // 4)
        except RuntimeError as e:
            failed.append(f"{path}: {e}")
    for f in failed:
        say(f)
    say(f"{len(files)} files")
    judge(tally)
    assert not failed, f"{len(failed)} files that a tool refuses"


tap([(fn.__doc__, fn) for fn in (programs, machine)])
