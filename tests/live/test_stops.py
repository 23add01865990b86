#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs stopped at random instructions: our stack is gdb's, frame by frame.

A run takes the programs in QUICK; with STOPS=10000 (so many stops in all) each
program.  ONLY=word takes those with that word in their name; SEED another
sequence; SHOW so many kinds of differences.
"""
import collections
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import threading

from live import ROOT, Skip, Suite, say, scratch, wait_for

suite = Suite()
HELPER = os.path.join(ROOT, "build", "live", "stops")
SOURCES = os.path.join(ROOT, "tests", "live", "stopped")
STOPS = int(os.environ.get("STOPS", "3000"))
SEED = int(os.environ.get("SEED", "1"))
ONLY = os.environ.get("ONLY", "")
SHOW = int(os.environ.get("SHOW", "8"))
COMPLETE = 1
NO_PROGRESS = 10
PAST_ROOT = "gdb goes on after the root"
LOST = "gdb's caller is no code, ours ends there"
GO_SWITCH = "gdb does not leave the system stack"
GO_ALIGNED = "gdb does not know where Go's stack was before the vDSO"
# they keep sp in a register, align it, and call the vDSO: Go's DWARF does not say so
GO_ALIGNS = ("runtime.nanotime1", "time.now", "runtime.walltime")
GO_SWITCHES = ("runtime.systemstack", "runtime.asmcgocall", "runtime.morestack", "runtime.mcall")
GLUED = "gdb does not know .init and .fini"
# after "sub $8, %rsp", at the next three instructions: no CFI is there, and gdb at times
# takes the 8 bytes for a caller
GLUED_CODE = re.compile(r"=> [^\n]*:\t(" + "|".join(r"[^\n]*\n[^\n]*:\t".join(c) for c in (
    (r"mov +0x[0-9a-f]+\(%rip\),%rax", r"test +%rax,%rax", "je "),
    (r"test +%rax,%rax", "je ", r"call +\*%rax"),
    ("je ", r"call +\*%rax", r"add +\$0x8,%rsp"),
    (r"call +\*%rax", r"add +\$0x8,%rsp", "ret"),
    (r"add +\$0x8,%rsp", "ret"))) + ")")
GO_TOP = "gdb goes on after Go's top frame"
# what was below has been left for good: mcall() and morestack() do not return,
# gogo() goes elsewhere
GO_TOPS = ("runtime.mcall", "runtime.mstart", "runtime.rt0_go", "runtime.goexit",
           "runtime.morestack", "gogo")

DL = "-DWITH_DL "
C = [DL + f for f in (
    "-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -flto", "-O2 -fno-omit-frame-pointer",
    "-O0 -fomit-frame-pointer", "-O2 -no-pie -Wl,-z,lazy", "-O2 -Wl,-z,now",
    "-O3 -mavx2 -fstack-clash-protection", "-O2 -maccumulate-outgoing-args",
    "-O2 -fcf-protection=none -fstack-protector-all", "-O2 -g")]
C += ["-O2 -static", "-O3 -static-pie"]
CLANG = [DL + f for f in ("-O0", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer",
                          "-O2 -mavx2 -fstack-clash-protection")] + ["-O2 -static"]
CXX = ["-O0", "-O2", "-O3", "-O2 -flto", "-O2 -fno-omit-frame-pointer",
       "-O0 -fomit-frame-pointer", "-O2 -static"]
CLANGXX = ["-O0", "-O2", "-O3"]
RUST = [f"-C opt-level={o}" for o in (0, 2, 3, "s")] + [
    "-C opt-level=3 -C lto=fat -C codegen-units=1", "-C opt-level=3 -C force-frame-pointers=yes"]
GO = ["", "-gcflags=-N -l"]
SCRIPTS = {
    "bash": "while :; do x=${x/b/a}ab; x=${x:0:50}; [[ $x =~ ^(a|b)+$ ]]; done\n",
    "python3": "import re, json\nwhile True:\n    json.loads(json.dumps({str(i): [i] for i in "
               "range(50)}))\n    sorted(range(100), key=lambda x: -x)\n",
    "perl": "while (1) { my %h = map { $_ => \"a$_\" } 1 .. 50; "
            "my @k = sort { $h{$a} cmp $h{$b} } keys %h; join(' ', @k) =~ s/(\\d+)/<$1>/gr; }\n",
}
QUICK = ("gcc -O0", "gcc -O2", "gcc -O3 -mavx2 -fstack-clash-protection", "gcc -O2 -flto",
         "gcc -O2 -no-pie -Wl,-z,lazy", "gcc -O3 -static-pie", "clang -O2", "clang -Os",
         "g++ -O0", "g++ -O2 -fno-omit-frame-pointer", "clang++ -O2", "rustc -C opt-level=2",
         "go", *SCRIPTS)


class Program:
    """Something to stop; make(directory) -> command line."""

    def __init__(self, language, tool, flags, source=None, output=("-o",)):
        self.language, self.tool, self.flags = language, tool, flags
        self.source, self.output = source, output
        self.name = f"{tool} {flags.replace(DL, '')}".strip()
        self.sums, self.differ, self.why_not = {}, [], None

    def make(self, directory):
        path = os.path.join(directory, self.name.replace(" ", "_").replace("/", "_"))
        if not shutil.which(self.tool):
            raise Skip(f"no {self.tool}")
        if self.source is None:
            with open(path, "w", encoding="utf-8") as f:
                f.write(SCRIPTS[self.tool])
            return [shutil.which(self.tool), path]
        if "-mavx2" in self.flags and "avx2" not in open("/proc/cpuinfo").read():
            raise Skip("no AVX2")
        words = [self.flags] if self.tool == "go" and self.flags else self.flags.split()
        command = [self.tool] + (["build"] if self.tool == "go" else []) + words
        r = subprocess.run(command + [*self.output, path, os.path.join(SOURCES, self.source)],
                           capture_output=True, text=True)
        if r.returncode:
            say(r.stderr[-500:])
            raise Skip("does not build here")
        return [path]


def programs():
    every = [Program("C", "gcc", f, "mix.c") for f in C]
    every += [Program("C", "clang", f, "mix.c") for f in CLANG]
    every += [Program("C++", "g++", f, "mix.cc") for f in CXX]
    every += [Program("C++", "clang++", f, "mix.cc") for f in CLANGXX]
    every += [Program("Rust", "rustc", f, "mix.rs") for f in RUST]
    every += [Program("Go", "go", f, "mix.go") for f in GO]
    every += [Program("system", s, "") for s in SCRIPTS]
    if ONLY or "STOPS" in os.environ:
        return [p for p in every if ONLY in p.name + " " + p.language]
    return [p for p in every if p.name in QUICK]


class Helper:
    """tests/live/stops: the BPF side."""

    def __init__(self):
        self.p = subprocess.Popen([HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.p.stdout.readline() == b"ready\n", "tests/live/stops does not start"

    def end(self):
        self.p.stdin.close()
        self.p.wait()

    def ask(self, text):
        """For what no gdb is needed."""
        self.p.stdin.write(text.encode() + b"\n")
        self.p.stdin.flush()
        return self.p.stdout.readline().decode().split()

    def stop(self, command, out, want):
        fds = self.p.stdin.fileno(), self.p.stdout.fileno()
        env = dict(os.environ, STOPS_ASK=str(fds[0]), STOPS_ANSWER=str(fds[1]),
                   STOPS_WANT=str(want), STOPS_SEED=str(SEED), STOPS_OUT=out,
                   STOPS_SECONDS=str(60 + want / 50), STOPS_SWITCHES=" ".join(GO_SWITCHES))
        r = subprocess.run(["gdb", "-nx", "-batch", "-x",
                            os.path.join(ROOT, "tests", "live", "stops_gdb.py"),
                            "--args", *command],
                           env=env, pass_fds=fds, capture_output=True, text=True)
        if not os.path.exists(out):
            raise AssertionError(f"gdb: {r.stderr[-800:]}")
        with open(out, encoding="utf-8") as f:
            return json.load(f)


def cause(d):
    """Why a stop differs; None: unknown."""
    theirs, ours, same, names = d["gdb"], d["ours"], d["same"], d["names"]
    in_unwinder = any(n.startswith("_Unwind_") for n in names[:3])
    # see below; both find that the stack does not grow, at the same frame
    if in_unwinder and same == len(theirs) == len(ours) and \
            d["reason"] == NO_PROGRESS and "inner to this frame" in d["gdb_end"]:
        return LOST
    if not 0 < same < len(theirs):
        return None
    # an address in no executable memory is no return address
    no_code, last = theirs[same][0].endswith("!"), names[same - 1]
    if same < len(ours):
        if not no_code or not d["rest_same"]:
            return None
        return GO_SWITCH if last in GO_SWITCHES else \
            GO_ALIGNED if last in GO_ALIGNS else \
            GLUED if same == 1 and GLUED_CODE.match(d["code"]) else None
    if d["reason"] == COMPLETE:
        return PAST_ROOT if no_code else GO_TOP if last in GO_TOPS else None
    # libgcc's uw_install_context() puts a landing pad's registers where its
    # own caller's were: then no CFI is true until eh_return has moved sp; and
    # Go's asyncPreempt was never called: pc was set to it, anywhere
    return LOST if no_code and (in_unwinder or names[0] == "runtime.asyncPreempt") else None


def stop_all(todo, directory, want):
    helper = Helper()
    while True:
        try:
            p = todo.get_nowait()
        except queue.Empty:
            break
        try:
            command = p.make(directory)
            result = helper.stop(command, os.path.join(directory, f"{id(p)}.json"), want)
            p.sums, p.differ = result["sums"], result["differ"]
        except Skip as e:
            p.why_not = str(e)
        except Exception as e:
            p.why_not = f"failed: {e}"
    helper.end()


def table(every):
    say(f"{'program':52} {'stops':>6} {'frames':>7} {'deepest':>7} {'signal':>6} "
        f"{'equal':>6} {'root':>6}  other (root: {PAST_ROOT})")
    for p in every:
        if p.why_not:
            say(f"{p.name:52} {p.why_not}")
            continue
        causes = collections.Counter(cause(d) or "DIFFERS" for d in p.differ)
        if "error" in p.sums:
            causes[p.sums["error"]] += 1
        s, root = p.sums, causes.pop(PAST_ROOT, 0)
        other = ", ".join(f"{n} {c}" for c, n in causes.items())
        say(f"{p.name:52} {s['stops']:6} {s['frames']:7} {s['deepest']:7} {s['signal']:6} "
            f"{s['equal']:6} {root:6}  {other}")


def show(p, d):
    say(f"{p.name}: reason {d['reason']}, gdb ends: {d['gdb_end']}; {' < '.join(d['names'][:12])}")
    say(d["code"].rstrip())
    for i in range(max(len(d["gdb"]), len(d["ours"]))):
        a, b = (x[i] if i < len(x) else ("-", 0, 0, "") for x in (d["gdb"], d["ours"]))
        mark = " " if a[1:3] == b[1:3] else "*"
        say(f" {mark} {a[0]:40} {a[2]:#x} {a[3]:8} {b[0]:40} {b[2]:#x}")


def show_some(unknown):
    """One of each kind, by where they part and how ours ends."""
    kinds = collections.defaultdict(list)
    for p, d in unknown:
        same = d["same"]
        kinds[d["reason"], d["gdb"][same - 1][0] if same else "", same == len(d["ours"]),
              same == len(d["gdb"])].append((p, d))
    for some in sorted(kinds.values(), key=len, reverse=True)[:SHOW]:
        say(f"{len(some)} like this:")
        show(*some[0])


@suite.test
def as_gdb_says():
    """our stack is gdb's at random instructions"""
    if not shutil.which("gdb"):
        raise Skip("no gdb")
    subprocess.run(["make", "-s", "-C", ROOT, "build/live/stops"], check=True)
    every, todo = programs(), queue.Queue()
    for p in every:
        todo.put(p)
    with scratch() as directory:
        want = max(STOPS // len(every), 1)
        threads = [threading.Thread(target=stop_all, args=(todo, directory, want))
                   for _ in range(os.cpu_count())]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    table(every)
    for p in every:
        if p.why_not and "failed" not in p.why_not:
            print(f"ok - stops of {p.name} # SKIP {p.why_not}", flush=True)
    known = [p for p in every if not p.why_not]
    total = sum(p.sums["stops"] for p in known)
    equal = sum(p.sums["equal"] for p in known)
    unknown = [(p, d) for p in known for d in p.differ if not cause(d)]
    say(f"{total} stops of {len(known)} programs, {sum(p.sums['frames'] for p in known)} frames; "
        f"{equal} equal, {total - equal - len(unknown)} explained, {len(unknown)} not")
    show_some(unknown)
    assert not any("failed" in (p.why_not or "") for p in every)
    assert known and total >= 0.8 * want * len(known), "too few stops"
    assert not unknown, f"{len(unknown)} stops differ"


@suite.test
def unmapped_before_it_was_asked_for():
    """a file that was asked for, unmapped and mapped elsewhere: not ready, no guess"""
    subprocess.run(["make", "-s", "-C", ROOT, "build/live/stops"], check=True)
    with scratch() as directory:
        exe, lib = os.path.join(directory, "reopen"), os.path.join(directory, "lib.so")
        source, flags = os.path.join(SOURCES, "reopen.c"), ("-O2", "-D_GNU_SOURCE", "-fomit-frame-pointer")
        subprocess.run(["gcc", *flags, "-o", exe, source], check=True)
        subprocess.run(["gcc", *flags, "-DLIBRARY", "-shared", "-fPIC",
                        "-o", lib, source], check=True)
        helper = Helper()
        try:
            with subprocess.Popen([exe, lib]) as p:
                try:
                    wait_for(lambda: state_of(p.pid) == "T")
                    helper.ask(f"pid {p.pid}")
                    ready = [next_stop(helper, p.pid) for _ in range(7)]
                finally:
                    p.kill()
        finally:
            helper.end()
    say(f"ready: {ready}")
    # main's files are new, one after the other, then known; the library's mapping
    # is not the one that was asked for, then its table is made, then it is there
    assert ready[3] and not ready[4] and ready[6], ready


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return f.read().rpartition(")")[2].split()[0]


def next_stop(helper, pid):
    """Has the helper a stack for the process's next stop?"""
    os.kill(pid, signal.SIGCONT)
    wait_for(lambda: state_of(pid) == "T")
    answer = helper.ask(f"get {pid}")
    assert answer != ["none"]
    return answer != ["again"]


suite.run()
