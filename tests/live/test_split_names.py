#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Split DWARF: `trifold names` says of a program built with -gsplit-dwarf what llvm-symbolizer
says of the same program built without it.  (Of clang's .dwo files, version 14 of the latter
names functions that are not there.)  No BPF, no root.
"""
import glob
import os
import random
import subprocess

import names_agree
import names_programs
from live import Skip, say, scratch, tap

ADDRESSES = 500         # of each program, in each form


def build(folder, compiler, options, sources):
    """The program, in a folder of its own: its path, and that of one without split DWARF."""
    os.makedirs(folder)
    made = []
    for name, more in ("split", ["-gsplit-dwarf"]), ("whole", []):
        made.append(os.path.join(folder, name))
        subprocess.run([compiler, "-w", *options, *more, "-o", name, *sources], cwd=folder, check=True)
    text = [subprocess.run(["objcopy", "-O", "binary", "-j", ".text", p, "/dev/stdout"],
                           capture_output=True, check=True).stdout for p in made]
    assert text[0] == text[1] and text[0], "other code"
    return made


def package(path, tool):
    """Make FILE.dwp, and move the .dwo files away.  False: this tool cannot."""
    r = subprocess.run(["timeout", "10", tool, "-e", os.path.basename(path), "-o", path + ".dwp"],
                       cwd=os.path.dirname(path), capture_output=True)
    if r.returncode:
        return False
    away = os.path.join(os.path.dirname(path), "away")
    os.makedirs(away, exist_ok=True)
    for f in glob.glob(os.path.join(os.path.dirname(path), "*.dwo")):
        os.rename(f, os.path.join(away, os.path.basename(f)))
    return True


def unpackage(path):
    os.remove(path + ".dwp")
    for f in glob.glob(os.path.join(os.path.dirname(path), "away", "*.dwo")):
        os.rename(f, os.path.join(os.path.dirname(path), os.path.basename(f)))


def compare(split, whole, tally, seed):
    """How many of the addresses have a function that is inlined."""
    elf = names_agree.Elf(whole)
    ask = names_agree.addresses_of(elf, ADDRESSES, random.Random(seed))
    mine, theirs = names_agree.ours(split, ask), names_agree.llvm(whole, ask)
    assert len(mine) == len(theirs) == len(ask)
    for at, m, t in zip(ask, mine, theirs):
        m = [(name, file, line) for name, file, line in m]
        tally.add(split, at, names_agree.cause(elf, at, m, t, lambda: m), m, t, None)
    return sum(len(m) > 1 for m in mine)


def judge(tally):
    names_agree.report(tally, say)
    assert not tally.unexplained(), tally.unexplained()[0]
    assert tally.same >= 0.9 * tally.n, f"only {tally.same} of {tally.n} are equal"


def programs():
    """names, lines and inlined calls, from .dwo files and from packages"""
    if not names_agree.LLVM:
        raise Skip("no llvm-symbolizer")
    tally, forms = names_agree.Tally(), 0
    with scratch() as tmp:
        sources = names_programs.make_c(os.path.join(tmp, "src"), units=2, functions=8)
        for compiler in "gcc", "clang":
            for options in (["-O2", "-gdwarf-4"], ["-O2", "-gdwarf-5", "-ffunction-sections",
                                                   "-fdebug-types-section"]):
                folder = os.path.join(tmp, compiler + "".join(options))
                split, whole = build(folder, compiler, options, sources)
                name = os.path.basename(folder)
                n = compare(split, whole, tally, forms)
                say(f"{name}: {n} of {ADDRESSES} inlined, by .dwo")
                assert n > ADDRESSES / 10, "nothing is inlined there"
                # of DWARF 5: binutils' crashes; LLVM 14's never ends with some of gcc's
                for tool in ["dwp", "llvm-dwp"] if "-gdwarf-4" in options else ["llvm-dwp"]:
                    if not package(split, tool):
                        say(f"{name}: {tool} fails")
                        continue
                    forms += 1
                    assert compare(split, whole, tally, forms) > ADDRESSES / 10
                    unpackage(split)
    judge(tally)
    assert forms >= 4, f"{forms} packages"


def cxx():
    """classes and templates, at all levels"""
    if not names_agree.LLVM:
        raise Skip("no llvm-symbolizer")
    tally = names_agree.Tally()
    source = os.path.join(names_programs.CASES, "lines.cc")
    with scratch() as tmp:
        for compiler in "g++", "clang++":
            for level in "-O0", "-O2":
                split, whole = build(os.path.join(tmp, compiler + level), compiler,
                                     [level, "-gdwarf-5", "-std=c++17"], [source])
                compare(split, whole, tally, 1)
    judge(tally)


def not_at_hand():
    """lines without the files; and with those of another program"""
    with scratch() as tmp:
        sources = names_programs.make_c(os.path.join(tmp, "src"), units=2)
        split, whole = build(os.path.join(tmp, "p"), "gcc", ["-O2", "-gdwarf-5"], sources)
        elf = names_agree.Elf(whole)
        ask = names_agree.addresses_of(elf, 200, random.Random(3))
        full = names_agree.ours(split, ask)
        assert full == names_agree.ours(whole, ask)
        for f in glob.glob(os.path.join(tmp, "p", "*.dwo")):
            with open(f, "r+b") as dwo:
                raw = dwo.read()
                at = raw.index(b"DW" if b"DW" in raw else b"\x05\x00\x05\x08")
                dwo.seek(at + 8)        # of the header: version, type, address, abbreviations
                dwo.write(b"another.")
        bare = names_agree.ours(split, ask)
        assert bare != full and all(len(b) == 1 for b in bare)
        # a line of the innermost place needs no .dwo
        assert [b[0][1:] for b in bare if b[0][2]] == [
            f[0][1:] for b, f in zip(bare, full) if b[0][2]]
        for f in glob.glob(os.path.join(tmp, "p", "*.dwo")):
            os.remove(f)
        assert names_agree.ours(split, ask) == bare


tap([(fn.__doc__, fn) for fn in (programs, cxx, not_at_hand)])
