#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold names` says what llvm-symbolizer says: function, file, line and inlined callers.

A sample of programs with full DWARF, and of files of this machine; long_names_agree.py has
all of them.  Each difference has a cause (names_agree.py); one without a cause fails.
No BPF, no root.
"""
import os
import random

import names_agree
import names_programs
from live import Skip, say, scratch, tap

PROGRAMS = ("gcc-c-O0-dwarf4", "gcc-c-O2-dwarf5", "gcc-cxx-O2-dwarf4", "gcc-c-lto-dwarf5",
            "gcc-c-sections", "gcc-c-gz", "clang-c-O3-dwarf5", "clang-cxx-O1-dwarf5",
            "rust-O3-dwarf5", "go", "gdc-O2")
ADDRESSES = 600         # of each
FILES = 40


def needs_tools():
    if not names_agree.LLVM or not names_agree.EU:
        raise Skip("no llvm-symbolizer or no eu-addr2line")


def built(tmp):
    """{name: path} of PROGRAMS, those whose compiler is here."""
    sources = names_programs.make_c(os.path.join(tmp, "src"), units=2)
    every = [*names_programs.c_programs(), *names_programs.other_programs()]
    chosen = [p for p in every if p[0] in PROGRAMS]
    assert len(chosen) == len(PROGRAMS)
    paths = {}
    for name, path, why in names_programs.build(tmp, chosen, sources):
        if path:
            paths[name] = path
        else:
            say(f"{name}: not compared: {why}")
            assert name.startswith(("rust", "go", "gdc")), f"{name} did not compile: {why}"
    return paths


def judge(tally, least):
    names_agree.report(tally, say)
    assert tally.same >= least * tally.n, f"only {tally.same} of {tally.n} are equal"
    bad = tally.unexplained()
    assert not bad, f"{len(bad)} of {tally.n} without a cause, such as {bad[0]}"


def programs():
    """functions, files, lines and inlined calls of programs by five compilers"""
    needs_tools()
    tally, rng = names_agree.Tally(), random.Random(5)
    with scratch() as tmp:
        for path in built(tmp).values():
            names_agree.compare(path, ADDRESSES, rng, tally)
    judge(tally, 0.75)


def machine():
    """functions of files of this machine, also where they begin and end"""
    needs_tools()
    tally, rng = names_agree.Tally(), random.Random(6)
    for path in rng.sample(names_agree.machine_files(), FILES):
        names_agree.compare(path, 40, rng, tally, edges=20)
    judge(tally, 0.2)       # most have no symbols


def stubs():
    """stubs of the PLT are named as objdump names them"""
    n, bad = 0, []
    for path in random.Random(8).sample(names_agree.machine_files(), FILES):
        for at, mine, theirs in names_agree.stubs(path):
            n += 1
            if mine not in theirs:
                bad.append(f"{path} {at:#x}: ours {mine}, theirs {theirs}")
    say(f"{n} stubs, {len(bad)} differ")
    assert n > 100 and not bad, bad[:5]


def judges_can_fail():
    """a wrong line, a wrong function and a missing inlined call are found"""
    needs_tools()
    rng = random.Random(7)
    with scratch() as tmp:
        path = os.path.join(tmp, "gcc-c-O2-dwarf5")
        every = [p for p in names_programs.c_programs() if p[0] == "gcc-c-O2-dwarf5"]
        assert all(p for _, p, _ in names_programs.build(
            tmp, every, names_programs.make_c(os.path.join(tmp, "src"), units=2)))
        elf = names_agree.Elf(path)
        ask = names_agree.addresses_of(elf, 500, rng)
        answers, eu = names_agree.llvm(path, ask), names_agree.elfutils(path, ask)
        other = {s.name: s for s in elf.symbols() if s.size}

        def wrong(change):
            found = tried = 0
            for at, a, e in zip(ask, answers, eu):
                if a[-1][2] and a[-1][0] in other:
                    b = change(list(a))
                    tried += b != a
                    found += b != a and str(names_agree.cause(elf, at, b, a, lambda e=e: e)
                                            ).startswith(names_agree.UNEXPLAINED)
            say(f"{found} of {tried} found")
            assert tried > 50 and found == tried
        wrong(lambda a: [(a[0][0], a[0][1], a[0][2] + 1), *a[1:]])
        wrong(lambda a: [*a[:-1], ("main" if a[-1][0] != "main" else "side", *a[-1][1:])])
        wrong(lambda a: [*a[:-1], (a[-1][0], a[-1][1] + "x", a[-1][2])])
        wrong(lambda a: a[1:] if len(a) > 1 else a)


tap([(fn.__doc__, fn) for fn in (programs, machine, stubs, judges_can_fail)])
