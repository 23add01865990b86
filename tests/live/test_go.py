#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Go programs come out as Go itself sees them, whatever stack they are on."""
import os
import re
import shutil
import struct
import subprocess
import tempfile

from chance import share_of
from live import LEARNING, ROOT, Skip, has_chain
from rows import Rows

rows = Rows({"folded": [".folded"], "pprof": [".pb.gz"]}, seconds=6, hz=997)
LIFE = "600"		# s, if it is not ended
CHAIN = ["runtime.goexit", "runtime.main", "main.main", "main.chain1", "main.chain2",
         "main.chain3", "main.inlineOuter", "main.inlineInner", "main.burn"]
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-go-")


def go():
    for p in (shutil.which("go"), "/usr/local/go/bin/go", "/usr/lib/go/bin/go"):
        if p and os.path.exists(p):
            return p
    raise Skip("no go")


def build(name, source, *flags):
    """An executable of that name; compiled packages are kept in build/."""
    out = os.path.join(tmp.name, name)
    env = dict(os.environ, HOME=tmp.name, GOTOOLCHAIN="local", GOFLAGS="", GO111MODULE="off",
               GOCACHE=os.path.join(ROOT, "build", "gocache"),
               CGO_ENABLED="1" if "cgo" in source else "0")
    subprocess.run([go(), "build", *flags, "-o", out,
                    os.path.join(ROOT, "tests", "live", source)], check=True, env=env)
    return out


def no_sections(exe, name):
    """A copy whose header knows of no sections."""
    out = os.path.join(tmp.name, name)
    with open(exe, "rb") as f:
        b = bytearray(f.read())
    b[40:48] = bytes(8)
    b[58:64] = struct.pack("<HHH", 64, 0, 0)
    with open(out, "wb") as f:
        f.write(b)
    os.chmod(out, 0o755)
    return out


def copy(exe, name):
    return shutil.copy(exe, os.path.join(tmp.name, name))


# Where a thread's own stack begins, and goroutines that Go's runtime starts for itself.
THREADS = ("runtime.mstart", "runtime.mcall")
GOROUTINES = ("runtime.gcBgMarkWorker", "runtime.bgsweep", "runtime.bgscavenge", "runtime.forcegchelper")


def is_runtimes(frames):
    """What Go's runtime does for itself, whole, with nothing of the program in it: on a busy machine it schedules
    more.  A stack of the program's that lost its callers ends otherwise, or in a frame that is not the runtime's."""
    begins = frames[0] in THREADS or (frames[0] == "runtime.goexit" and frames[1:2] and frames[1] in GOROUTINES)
    return begins and all(f.startswith("runtime.") for f in frames)


def users(t, name):
    """[(frames, count)] of a program, frames without the process and the kernel's;
    without samples that came before their program's table."""
    found = []
    for f, n in t.folded("folded"):
        user = [x for x in f[1:] if not x.endswith("_[k]")]
        if f[0] == name and user and user[0] not in LEARNING:
            found.append((user, n))
    return found


def judged(stacks, want, what, share, minimum=50):
    """This share of stacks, but for chance, is as wanted, without the runtime's own."""
    share_of(what, [(f, n) for f, n in stacks if not is_runtimes(f)], want, share, minimum)


def complete(frames):
    return not frames[0].startswith("[")


def executables():
    """plain, stripped, PIE, stripped PIE, without section headers"""
    exes = [build("go_plain", "go_chain.go"),
            build("go_stripped", "go_chain.go", "-ldflags=-s -w"),
            build("go_pie", "go_chain.go", "-buildmode=pie"),
            build("go_pie_stripped", "go_chain.go", "-buildmode=pie", "-ldflags=-s -w")]
    return exes + [no_sections(exes[1], "go_bare")]


@rows.test
def variants(t):
    """plain, stripped, PIE, stripped PIE, without section headers: frames, files and lines as Go tells them"""
    exes = executables()
    running = [t.start(e, LIFE, "chain") for e in exes]
    yield
    for e in exes:
        name = os.path.basename(e)
        judged(users(t, name), lambda f: f[:len(CHAIN)] == CHAIN, name, 0.95)
    stacks = t.pprof()
    for e, p in zip(exes, running):
        want = p.said.split("\n\n")[0].splitlines()
        name = os.path.basename(e)
        got = []
        for labels, frames, n in stacks:
            at = [i for i, f in enumerate(frames) if f.startswith("main.burn ")]
            if labels.get("comm") == name and at:	# whether all are there was judged
                got.append((frames[at[-1] + 1:], n))
        assert len(want) == len(CHAIN) - 1, want
        share_of(name + ": files and lines", got, lambda f, want=want: f == want, 0.95, 50)


@rows.test
def goroutines(t):
    """a goroutine of its own, and one 700 calls deep"""
    exe = build("go_plain", "go_chain.go")
    t.start(copy(exe, "go_routine"), LIFE, "goroutine")
    t.start(copy(exe, "go_deep"), LIFE, "deep", "700")
    yield
    deep = CHAIN[:3] + ["main.deep"] * 701 + CHAIN[3:]
    judged(users(t, "go_deep"), lambda f: f[:len(deep)] == deep, "deep", 0.95)
    judged(users(t, "go_routine"),
           lambda f: f[0] == CHAIN[0] and has_chain(f, CHAIN[3:]), "goroutine", 0.9)


@rows.test
def stack_switches(t):
    """garbage collection, system calls, the vDSO and signals: across the stacks"""
    exe = build("go_plain", "go_chain.go")
    modes = ["allocate", "calls", "clock", "signals"]
    for m in modes:
        t.start(copy(exe, "go_" + m), LIFE, m)
    yield
    found = {m: users(t, "go_" + m) for m in modes}
    for m in modes:
        share_of(m + ": complete", found[m], complete, 0.99, 50)
    under = [(f, n) for f, n in found["allocate"] if "runtime.systemstack" in f]
    share_of("systemstack", under, lambda f: f[0] == "runtime.goexit" and
             not f[f.index("runtime.systemstack") - 1].startswith("["), 0.99, 10)
    assert any("main.allocate" in f and f.index("main.allocate") <
               f.index("runtime.systemstack") for f, _ in under), "main below systemstack"
    judged(found["calls"], lambda f: has_chain(f, ["main.main", "main.calls"]), "system calls", 0.9)
    judged(found["clock"], lambda f: has_chain(f, ["main.main", "main.clock"]), "the vDSO", 0.9)
    assert any(re.search("clock_gettime|vdso", f[-1]) for f, _ in found["clock"])
    handlers = [(f, n) for f, n in found["signals"] if "runtime.sigtramp" in f]
    share_of("handlers", handlers, lambda f: f[0] == "runtime.goexit" or f[0].startswith("runtime.m"), 0.99, 1)
    assert any(f[f.index("runtime.sigtramp") - 1].startswith("runtime.sigreturn")
               for f, _ in handlers), "the trampoline's name"


@rows.test
def cgo(t):
    """C called by Go, and Go called by that"""
    exe = build("go_cgo", "go_cgo.go")
    t.start(copy(exe, "go_c"), LIFE, "calls")
    t.start(copy(exe, "go_c_go"), LIFE, "back")
    yield
    start = CHAIN[:3]
    # Go before 1.21: asmcgocall has no frame, so its caller is missing
    judged(users(t, "go_c"), lambda f: f[:5] == start + ["main.calls", "main._Cfunc_c_outer"] and
           has_chain(f, ["runtime.asmcgocall", "c_outer", "c_burn"]), "C", 0.9)
    judged(users(t, "go_c_go"),
           lambda f: f[:5] == start + ["main.callsBack", "main._Cfunc_c_back"] and
           has_chain(f, ["runtime.asmcgocall", "c_back", "goCallback", "crosscall2",
                         "runtime.cgocallback"]) and
           f[-2:] == ["main.goCallback", "main.burn"], "Go called by C", 0.9)


rows.run()
