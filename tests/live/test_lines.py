#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines and inlined calls from DWARF, through the whole pipeline."""
import os
import re
import subprocess

from live import ROOT, Suite, record, say, scratch
from pprof import read_pprof

suite = Suite()
SOURCE = os.path.join(ROOT, "tests", "live", "cases", "inlined.c")
DEBUG = "/usr/lib/debug"
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


def profile(name, script):
    """Stacks [(frames, count)] of the program called name, innermost first."""
    with scratch() as tmp:
        with subprocess.Popen(script) as p:
            out = os.path.join(tmp, "out.pb.gz")
            record(out, "--duration", "4", "--frequency", "199")
            p.kill()
        stacks = [(frames, n) for labels, frames, n in read_pprof(out)
                  if name in labels.values()]
    return stacks


def names(frames):
    """From the innermost frame of the program on."""
    all_names = [f.split(" ")[0] for f in frames]
    return all_names[all_names.index(NAMES[0]):] if NAMES[0] in all_names else []


def runs(frames):
    return [frames[i:i + n] for n in (3, 4) for i in range(len(frames))]


def check(stacks):
    """Nearly all samples are in the loop, whose line is known, and their callers' lines are."""
    want = chain()
    total = sum(n for _, n in stacks)
    good = sum(n for f, n in stacks if want[1:] in runs(f) and names(f)[:4] == NAMES)
    loop = sum(n for f, n in stacks if want in runs(f))
    say(f"{total} samples, {good} with the chain of inlined calls and their lines, {loop} of them "
        f"on the line of the loop's body")
    for f, n in sorted(stacks, key=lambda x: -x[1])[:3]:
        say(f"{n} {' | '.join(f)}")
    assert total > 50 and good >= 0.9 * total and loop > 0.5 * total


@suite.test
def own():
    """a program with DWARF shows inlined calls and lines"""
    with scratch() as tmp:
        exe = compile_it(tmp, "inlined")
        check(profile("inlined", [exe, "inlined"]))


@suite.test
def compressed():
    """the same from DWARF 4 in compressed sections"""
    with scratch() as tmp:
        exe = compile_it(tmp, "packed", "-gdwarf-4", "-gz")
        check(profile("packed", [exe, "packed"]))


def profile_with(exe, debug):
    """Run it where DEBUG holds only that file, by its build ID, seen by it alone."""
    name = os.path.basename(exe)
    notes = subprocess.run(["readelf", "-n", exe], capture_output=True, text=True).stdout
    build_id = re.search(r"Build ID: (\w+)", notes).group(1)
    where = f"{DEBUG}/.build-id/{build_id[:2]}"
    made = not os.path.isdir(DEBUG)
    if made:
        os.mkdir(DEBUG)
    try:
        return profile(name, ["unshare", "-m", "sh", "-c",
                       f"mount -t tmpfs none {DEBUG} && mkdir -p {where} && "
                       f"cp {debug} {where}/{build_id[2:]}.debug && exec {exe} {name}"])
    finally:
        if made:
            os.rmdir(DEBUG)


@suite.test
def debug_file():
    """a stripped program has them from its debug file"""
    with scratch() as tmp:
        exe = compile_it(tmp, "bare")
        debug = exe + ".debug"
        subprocess.run(["objcopy", "--only-keep-debug", exe, debug], check=True)
        subprocess.run(["strip", "-s", exe], check=True)
        check(profile_with(exe, debug))


@suite.test
def names_here_lines_there():
    """one with .symtab has them from its debug file, by build ID or by .gnu_debuglink"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)		# the opener looks as somebody who owns nothing
        by_id = compile_it(tmp, "by_id")
        linked = compile_it(tmp, "linked", "-Wl,--build-id=none")
        for exe in (by_id, linked):
            subprocess.run(["objcopy", "--only-keep-debug", exe, exe + ".debug"], check=True)
            subprocess.run(["strip", "--strip-debug", exe], check=True)
            sections = subprocess.run(["readelf", "-WS", exe], capture_output=True, text=True)
            assert ".symtab" in sections.stdout and ".debug_info" not in sections.stdout
        subprocess.run(["objcopy", f"--add-gnu-debuglink={linked}.debug", linked], check=True)
        check(profile("linked", [linked, "linked"]))
        check(profile_with(by_id, by_id + ".debug"))


def split(tmp, name):
    """A program with split DWARF of which only the package is left, which all may read."""
    exe = compile_it(tmp, name, "-gdwarf-4", "-gsplit-dwarf")
    subprocess.run(["dwp", "-e", exe, "-o", exe + ".dwp"], check=True)
    dwos = [f for f in os.listdir(tmp) if f.endswith(".dwo")]
    assert dwos
    for f in dwos:
        os.remove(os.path.join(tmp, f))
    os.chmod(tmp, 0o755)
    return exe


@suite.test
def package():
    """a program with split DWARF has them from the package beside it, and only lines without it"""
    with scratch() as tmp:
        exe = split(tmp, "split")
        check(profile("split", [exe, "split"]))
        os.rename(exe + ".dwp", exe + ".away")
        stacks = profile("split", [exe, "split"])
        say(stacks[:1])
        # without it: lines, and the functions of the symbol table
        assert any(f"outer {SOURCE}:{lines_of('innermost')}" in f for f, _ in stacks)
        assert not any(x.startswith("middle") for f, _ in stacks for x in f)


@suite.test
def without():
    """a program without DWARF has names and no lines"""
    with scratch() as tmp:
        exe = compile_it(tmp, "plain", "-g0")
        stacks = profile("plain", [exe, "plain"])
        say(stacks[:1])
        assert any("outer :0" in f and "main :0" in f for f, _ in stacks)
        assert not any(SOURCE in x or x.startswith("middle") for f, _ in stacks for x in f)


suite.run()
