#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JIT code is named by perf maps and jitdumps, and by no other user's files."""
import contextlib
import functools
import glob
import os
import re
import shutil
import tempfile
import time

from chance import least
from live import Skip, Suite, compile_c, folded, has_chain, learned, record, say
from pprof import read_pprof

suite = Suite()
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-jit-")
os.chmod(tmp.name, 0o755)
JIT = compile_c("jit_code.c", os.path.join(tmp.name, "jit_code"), "-static")
NO_NAME = "[JIT code, no names]"
# seconds of each mode of jit_code, of which the first ones run for a part of their time
MODES = {"late": 3, "grow": 3, "reuse": 3, "map": 6, "memfd": 6, "dump": 6, "none": 6, "inside": 6,
         "fifo": 6, "shadow": 6, "folder": 6, "foreign": 6, "shared": 6,
         "huge": 6}


def remove_maps(program):
    """Perf maps that name this program; another test's may vanish meanwhile."""
    for p in glob.glob("/tmp/perf-*.map"):
        with contextlib.suppress(FileNotFoundError), open(p, encoding="utf-8", errors="replace") as f:
            if program in f.read():
                os.unlink(p)


def stacks(*command, name="out.folded", cwd=None):
    out = os.path.join(tmp.name, name)
    here = os.getcwd()
    os.chdir(cwd or here)
    try:
        said = record(out, "--frequency", "997", "--", *command)
    finally:
        os.chdir(here)
    assert "none lost" in said, said
    return folded(out)


def chain(mode):
    return ["run", f"outer_{mode}", f"middle @x/{mode}.cold", f"leaf_{mode}"]


def with_chain(found, names):
    """Samples with all of names one after the other."""
    return sum(n for frames, n in found if has_chain(frames, names))


@functools.cache
def together():
    """[(frames, count)] of all modes at once, one recording; each is a program jit-MODE."""
    where, root = (os.path.join(tmp.name, x) for x in ("dump", "root"))
    os.mkdir(where)
    os.makedirs(os.path.join(root, "tmp"))
    shutil.copy(JIT, os.path.join(root, "jit-inside"))
    commands = []
    for mode, seconds in MODES.items():
        exe = shutil.copy(JIT, os.path.join(tmp.name, f"jit-{mode}"))
        commands.append(f"{exe} {mode} {seconds} {where}")
    commands[list(MODES).index("inside")] = f"unshare --fork --pid chroot {root} /jit-inside inside {MODES['inside']}"
    return stacks("sh", "-c", " & ".join(commands) + " & wait")


def of(mode):
    """[(frames, count)] of samples in this mode's code"""
    return [(f, n) for f, n in together() if f[0] == f"jit-{mode}" and "run" in f]


def count(found):
    return sum(n for _, n in found)


def is_named(mode, share=0.95, samples=100):
    n, named = count(of(mode)), with_chain(of(mode), chain(mode))
    say(f"{mode}: {named} of {n} samples have the whole chain")
    assert n >= samples, f"{n} samples"
    assert named >= least(share, n), f"{named} of {n}: {of(mode)[:5]}"


@suite.test
def perf_map():
    """a perf map names the frames of JIT code, and the stack goes on"""
    is_named("map")
    assert not any("half wri" in f for frames, _ in together() for f in frames)


@suite.test
def jitdump():
    """a jitdump does, with file and line"""
    is_named("dump")
    where, out = (os.path.join(tmp.name, x) for x in ("lines", "dump.pb.gz"))
    os.mkdir(where)
    record(out, "--frequency", "199", "--", JIT, "dump", "2", where)
    lines = {f for _, frames, _ in read_pprof(out) for f in frames if "_dump" in f or "dump.cold" in f}
    say(lines)
    assert "leaf_dump source.jit:100" in lines, lines
    assert "outer_dump source.jit:102" in lines, lines


@suite.test
def late():
    """a map that is written after the samples names what comes then"""
    is_named("late", share=0.3)


def becomes(mode, then):
    """The first function's chain comes, then the other's."""
    found = of(mode)
    old, new = with_chain(found, chain(mode)), with_chain(found, chain(then))
    say(f"{old} before, {new} then, of {count(found)}")
    assert old >= 30 and new >= 30 and old + new >= least(0.95, count(found)), found[:5]


@suite.test
def grown():
    """a map that grows names the new code, too"""
    becomes("grow", "grown")


@suite.test
def memfd():
    """code in a memfd, as runtimes have it that write and run code at two addresses"""
    is_named("memfd")


@suite.test
def used_again():
    """memory that is used again for another function has its name soon, not the old one"""
    becomes("reuse", "reused")


@suite.test
def without():
    """without a map the frames are shown as JIT code"""
    found = of("none")
    n = sum(c for frames, c in found if NO_NAME in frames)
    assert n >= least(0.95, count(found)) and count(found) > 50, found[:5]


@suite.test
def inside():
    """a root and a PID namespace of its own: /tmp/perf-1.map below that root"""
    is_named("inside")


@suite.test
def hostile():
    """files that are not the user's own alone, or no files: refused; a huge one is read from its end"""
    names = {f for frames, _ in together() for f in frames}
    assert with_chain(of("huge"), chain("huge")) >= 30, of("huge")[:5]
    for mode in ("fifo", "shadow", "folder", "foreign", "shared"):
        assert not any(mode in f for f in names if f.startswith(("leaf_", "middle ", "outer_"))), mode
        found = of(mode)
        n = sum(c for frames, c in found if NO_NAME in frames)
        say(f"{mode}: {n} of {count(found)} samples without names")
        assert n >= least(0.95, count(found)) and count(found) > 50, found[:5]
    assert not any("root:" in f or "$" in f for f in names), names


def node():
    found = shutil.which("node") or shutil.which("nodejs")
    if not found:
        raise Skip("no node")
    return found


JS = """function innermost(n) { let s = 0; for (let i = 0; i < n; i++) s = (s * 31 + i) % 1000003; return s; }
function middlemost(n) { let t = 0; for (let i = 0; i < 200; i++) t += innermost(n); return t; }
function outermost() { const end = Date.now() + 4000; let x = 0; while (Date.now() < end) x += middlemost(5000); return x; }
console.log(outermost());
"""


def of_node(*options, cwd=None, ms=4000):
    program = os.path.join(tmp.name, "chain.js")
    with open(program, "w", encoding="utf-8") as f:
        f.write(JS.replace("4000", str(ms)))
    # V8 leaves a log there
    found = stacks(node(), *options, program, cwd=cwd or tmp.name)
    named = whole = n = 0
    for frames, count in found:
        js = [re.sub(r"^\S+:[~*^]?", "", f).split(" ")[0] for f in frames if "chain.js" in f]
        busy = js or NO_NAME in frames
        n += count * bool(busy)
        named += count * bool(js)
        # V8 may inline innermost()
        whole += count * ("outermost" in js and js[js.index("outermost") + 1:][:1] in (
            [], ["middlemost"], ["innermost"]))
    say(f"node {' '.join(options)}: {named} of {n} named, {whole} with outermost()")
    remove_maps(program)
    return n, named, whole


@suite.test
def node_perf_map():
    """Node.js with --perf-basic-prof: functions by name"""
    n, named, _ = of_node("--perf-basic-prof")
    assert n > 100 and named >= least(0.95, n), (n, named)


@suite.test
def node_interpreted():
    """Node.js with --interpreted-frames-native-stack: interpreted ones, too"""
    n, named, whole = of_node("--perf-basic-prof", "--interpreted-frames-native-stack")
    assert n > 100 and named >= least(0.95, n) and whole >= least(0.9, n), (n, named, whole)


@suite.test
def node_jitdump():
    """Node.js with --perf-prof: a jitdump in the current folder, written when it ends"""
    where = os.path.join(tmp.name, "node")
    os.mkdir(where)
    begin = time.monotonic()
    n, named, _ = of_node("--perf-prof", cwd=where, ms=1500)
    if named < 0.9 * n and time.monotonic() - begin > 4.5:
        raise Skip("it ran for longer than samples wait: V8 writes at its end")
    assert n > 30 and named >= least(0.9, n), (n, named)


PY = """import time
def leaf(n):
    s = 0
    for i in range(n):
        s += i * i
    return s
end = time.time() + 3
while time.time() < end:
    leaf(3000)
"""


@suite.test
def python_trampoline():
    """CPython 3.12 or newer with -X perf: whole stacks, without the trampolines"""
    pythons = [p for p in sorted(glob.glob("/usr/bin/python3.*") + glob.glob(os.path.expanduser(
        "~/.pyenv/versions/*/bin/python3.*"))) if re.search(r"python3\.1[2-9]$", p)]
    if not pythons:
        raise Skip("no CPython 3.12 or newer")
    program = os.path.join(tmp.name, "perf_trampoline.py")
    with open(program, "w", encoding="utf-8") as f:
        f.write(PY)
    for p in pythons:
        found = stacks(p, "-X", "perf", program)
        found = learned([(f, c) for f, c in found if "leaf" in f])
        n = count(found)
        whole = sum(c for f, c in found if "_start" in f and f.count("leaf") == 1
                    and "<module>" in f and not any("py::" in x or x == NO_NAME for x in f))
        say(f"{p}: {whole} of {n} samples of leaf() are whole")
        remove_maps(program)
        assert n > 50 and whole >= least(0.98, n), [x for x in found if "_start" not in x[0]][:5]


suite.run()
