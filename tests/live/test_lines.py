#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines and inlined calls from DWARF, through the whole pipeline."""
import os
import re
import subprocess

from chance import least
from debug import DEBUG, make_debug_folder
from live import ROOT, say
from rows import Rows

rows = Rows({"pprof": [".pb.gz"]}, seconds=4, hz=499)
SOURCE = os.path.join(ROOT, "tests", "live", "cases", "inlined.c")
NAMES = ["innermost", "middle", "outer", "main"]


def compile_it(tmp, name, *flags):
    exe = os.path.join(tmp, name)
    subprocess.run(["gcc", "-O2", "-g", "-Wl,--build-id", *flags, "-o", exe, SOURCE], check=True)
    return exe


def lines_of(mark):
    """The line of the source that ends with this mark."""
    with open(SOURCE) as f:
        return next(i for i, text in enumerate(f, 1) if f"/* LINE {mark} */" in text)


def chain():
    return [f"{name} {SOURCE}:{lines_of(name)}" for name in NAMES]


def stacks_of(t, name):
    """Stacks [(frames, count)] of the program called name, innermost first."""
    return [(frames, n) for labels, frames, n in t.pprof() if name in labels.values()]


def names(frames):
    """From the innermost frame of the program on."""
    all_names = [f.split(" ")[0] for f in frames]
    return all_names[all_names.index(NAMES[0]):] if NAMES[0] in all_names else []


def runs(frames):
    return [frames[i:i + n] for n in (3, 4) for i in range(len(frames))]


def check(stacks):
    """Nearly all samples are in the loop, whose lines are known, and their callers' lines are.  How many
    are on its body and how many on its head depends on the CPU."""
    body = chain()
    head = [f"{NAMES[0]} {SOURCE}:{lines_of(NAMES[0]) - 1}"] + body[1:]
    total = sum(n for _, n in stacks)
    good = sum(n for f, n in stacks if body[1:] in runs(f) and names(f)[:4] == NAMES)
    on_body, on_head = (sum(n for f, n in stacks if want in runs(f)) for want in (body, head))
    say(f"{total} samples, {good} with the chain of inlined calls and their lines, {on_body} of them "
        f"on the line of the loop's body, {on_head} on that of its head")
    for f, n in sorted(stacks, key=lambda x: -x[1])[:3]:
        say(f"{n} {' | '.join(f)}")
    assert total > 50 and min(good, on_body + on_head) >= least(0.9, total) and on_body > 0


@rows.test
def own(t):
    """a program with DWARF shows inlined calls and lines"""
    t.start(compile_it(t.tmp, "inlined"), "inlined")
    yield
    check(stacks_of(t, "inlined"))


@rows.test
def compressed(t):
    """the same from DWARF 4 in compressed sections"""
    t.start(compile_it(t.tmp, "packed", "-gdwarf-4", "-gz"), "packed")
    yield
    check(stacks_of(t, "packed"))


def start_with(t, exe, debug):
    """Start it where DEBUG holds only that file, by its build ID, seen by it alone."""
    notes = subprocess.run(["readelf", "-n", exe], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes).group(1)
    where = f"{DEBUG}/.build-id/{build_id[:2]}"
    t.start("unshare", "-m", "sh", "-c",
            f"mount -t tmpfs none {DEBUG} && mkdir -p {where} && "
            f"cp {debug} {where}/{build_id[2:]}.debug && exec {exe} {os.path.basename(exe)}")


@rows.test
def debug_file(t):
    """a stripped program has them from its debug file"""
    exe = compile_it(t.tmp, "bare")
    debug = exe + ".debug-file"
    subprocess.run(["objcopy", "--only-keep-debug", exe, debug], check=True)
    subprocess.run(["strip", "-s", exe], check=True)
    start_with(t, exe, debug)
    yield
    check(stacks_of(t, "bare"))


@rows.test
def names_here_lines_there(t):
    """one with .symtab has them from its debug file, by build ID or by .gnu_debuglink"""
    by_id = compile_it(t.tmp, "by_id")
    linked = compile_it(t.tmp, "lines-linked", "-Wl,--build-id=none")
    for exe in (by_id, linked):
        subprocess.run(["objcopy", "--only-keep-debug", exe, exe + ".debug"], check=True)
        subprocess.run(["strip", "--strip-debug", exe], check=True)
        sections = subprocess.run(["readelf", "-WS", exe], capture_output=True, text=True)
        assert ".symtab" in sections.stdout and ".debug_info" not in sections.stdout
    subprocess.run(["objcopy", f"--add-gnu-debuglink={linked}.debug", linked], check=True)
    t.start(linked, "lines-linked")
    start_with(t, by_id, by_id + ".debug")
    yield
    check(stacks_of(t, "lines-linked"))
    check(stacks_of(t, "by_id"))


def split(tmp, name):
    """A program with split DWARF of which only the package is left, which all may read."""
    folder = os.path.join(tmp, "of-" + name)
    os.mkdir(folder)
    exe = compile_it(folder, name, "-gdwarf-4", "-gsplit-dwarf")
    subprocess.run(["dwp", "-e", exe, "-o", exe + ".dwp"], check=True)
    dwos = [f for f in os.listdir(folder) if f.endswith(".dwo")]
    assert dwos
    for f in dwos:
        os.remove(os.path.join(folder, f))
    return exe


@rows.test
def package(t):
    """a program with split DWARF has them from the package beside it, and only lines without it"""
    t.start(split(t.tmp, "split"), "split")
    lone = split(t.tmp, "lone")
    os.remove(lone + ".dwp")
    t.start(lone, "lone")
    yield
    check(stacks_of(t, "split"))
    stacks = stacks_of(t, "lone")
    say(stacks[:1])
    # without it: lines, and the functions of the symbol table
    assert any(f"outer {SOURCE}:{lines_of('innermost')}" in f for f, _ in stacks)
    assert not any(x.startswith("middle") for f, _ in stacks for x in f)


@rows.test
def without(t):
    """a program without DWARF has names and no lines"""
    t.start(compile_it(t.tmp, "lines-plain", "-g0"), "lines-plain")
    yield
    stacks = stacks_of(t, "lines-plain")
    say(stacks[:1])
    assert any("outer :0" in f and "main :0" in f for f, _ in stacks)
    assert not any(SOURCE in x or x.startswith("middle") for f, _ in stacks for x in f)


make_debug_folder()
rows.run()
