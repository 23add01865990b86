#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The formats keep their rules and agree: of a made-up profile with hostile names, and of a
recording of programs whose code has names and has none, each function has the same self and
total time in all of them, read as the tools read them that they are for."""
import contextlib
import os
import re
import shutil
import subprocess

import formats
from live import ROOT, TRIFOLD, Skip, Suite, burns, compile_c, say, scratch
from pprof import read_pprof
from targets import recording, running

suite = Suite()
CASES = os.path.join(ROOT, "tests", "live", "cases")
READERS = {
    ".folded": formats.folded_stacks, ".pb.gz": formats.pprof_stacks, ".otlp": formats.otlp_stacks,
    ".speedscope.json": formats.speedscope_stacks, ".firefox.json": formats.firefox_stacks,
}


def sums(path, ending, hz):
    each = 10**9 // hz if ending == ".speedscope.json" else 1
    return formats.functions(READERS[ending](path + ending), each)


def differences(got, want):
    """Functions that have not the same self and total time."""
    return sorted((f, got.get(f), want.get(f)) for f in got.keys() | want.keys() if got.get(f) != want.get(f))


def agree(path, hz):
    """Files with this name before their endings; returns the sums."""
    want = sums(path, ".folded", hz)
    assert want
    for ending in READERS:
        wrong = differences(sums(path, ending, hz), want)
        say(f"{ending}: {len(want)} functions, {len(wrong)} of them differ")
        assert not wrong, (ending, len(wrong), wrong[:5])
    return want


@suite.test
def made_up():
    """a made-up profile with hostile names"""
    tool = os.path.join(ROOT, "build", "live", "test_page")
    subprocess.run(["make", "-s", "-C", ROOT, tool[len(ROOT) + 1:]], check=True)
    with scratch() as tmp:
        path = os.path.join(tmp, "a")
        for ending in READERS:
            n = int(subprocess.run([tool, path + ending, "500"], capture_output=True, check=True).stdout)
        found = agree(path, 20)
        assert sum(own for own, _ in found.values()) == n
        processes = {p for p, _ in formats.firefox(path + ".firefox.json")}
        assert processes == {p for p, _, _ in formats.speedscope(path + ".speedscope.json")}
        for name in ("</script><img", "a;b\nc (pid"):
            assert any(p.startswith(name) for p in processes), processes
        assert any(name.startswith('" onmouseover="alert(') for name, _ in found)


def mixed(tmp):
    """Words of programs: stripped, of C++, of Python, with code in memory that has no names."""
    def path(name):
        return os.path.join(tmp, name)
    compile_c("chain.c", path("fmt-stripped"), "-fomit-frame-pointer", "-s")
    # no symbols, and nothing that says where functions are
    compile_c("chain.c", path("fmt-blank"), "-fno-omit-frame-pointer", "-s", "-fno-asynchronous-unwind-tables",
              "-static", "-Wl,--no-eh-frame-hdr")
    subprocess.run(["objcopy", "-R", ".eh_frame", path("fmt-blank")], check=True)
    compile_c("cases/jit.c", path("fmt-jit"), "-D_GNU_SOURCE")
    subprocess.run(["g++", "-O2", "-g", "-o", path("fmt-cxx"), os.path.join(CASES, "names.cc")], check=True)
    with open(path("fmt.py"), "w", encoding="ascii") as f:
        f.write("sum(x * x for n in range(10**9) for x in range(n))\n")
    return [[path("fmt-stripped"), "600"], [path("fmt-blank"), "600"], [path("fmt-cxx"), "600"],
            [path("fmt-jit"), "fmt-jit", "loop"], ["python3", path("fmt.py")]]


def pprof(path, *how):
    go = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
    if not go:
        raise Skip("needs go")
    tmp = os.path.dirname(path)
    # where Go has the tool as source it is built: once for all tests
    env = dict(os.environ, HOME=tmp, PPROF_TMPDIR=tmp, GOCACHE=os.path.join(ROOT, "build", "gocache"))
    return subprocess.run([go, "tool", "pprof", *how, path], env=env, check=True, capture_output=True, text=True).stdout


HZ = 199


@suite.test
def recorded():
    """a recording of code with and without names; its pprof file by go tool pprof, too"""
    with scratch() as tmp, contextlib.ExitStack() as stack:
        path = os.path.join(tmp, "a")
        pids = [stack.enter_context(running(*words)).pid for words in mixed(tmp)]
        with recording(path + ".otlp", "--duration", "600", "--frequency", str(HZ)):
            burns(1, *pids)
        for ending in READERS:
            if ending != ".otlp":
                subprocess.run([TRIFOLD, "convert", path + ".otlp", path + ending, "--names", "full"], check=True,
                               capture_output=True, timeout=120)
        found = agree(path, HZ)
        own = {name: n for (name, _), (n, _) in found.items()}
        some = {
            "of a file without symbols": max((n for f, n in own.items() if f.startswith("fmt-stripped!0x")), default=0),
            "of a file that says nothing": own.get("fmt-blank+0x...", 0),
            "in memory": own.get("[JIT code, no names]", 0),
            "of C++": sum(n for f, n in own.items() if f.startswith("shop::")),
            "of Python": sum(n for f, n in own.items() if f in ("<module>", "<genexpr>")),
        }
        say(str(some))
        assert all(n > HZ // 4 for n in some.values()), some
        raw = formats.functions(formats.pprof_raw_stacks(pprof(path + ".pb.gz", "-raw", "-symbolize=none")))
        wrong = differences(raw, found)
        say(f"go tool pprof -raw: {len(raw)} functions, {len(wrong)} of them differ")
        assert not wrong, (len(wrong), wrong[:5])
        # what the tool makes of names by itself, and of labels
        top = pprof(path + ".pb.gz", "-top", "-nodecount=100000", "-sample_index=samples")
        assert "<genexpr>" in top and "<unknown>" not in top, top[:2000]
        jit = sum(n for labels, _, n in read_pprof(path + ".pb.gz") if labels["pid"] == pids[3])
        for tag in (f"pid={pids[3]}", "comm=fmt-jit", "thread=fmt-jit", f"thread_id={pids[3]}", "unit=fmt-jit"):
            top = pprof(path + ".pb.gz", "-top", "-symbolize=none", "-sample_index=samples", "-tagfocus=" + tag,
                        "-nodecount=100000", "-nodefraction=0")
            assert f"Showing nodes accounting for {jit}," in top, (tag, jit, top[:400])


suite.run()
