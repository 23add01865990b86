#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs stopped at random instructions: our stack is gdb's, frame by frame.

STOPS=10000 sets how many stops in all; ONLY=word takes only programs with that
word in their name; SEED another sequence.
"""
import collections
import json
import os
import queue
import shutil
import subprocess
import threading

from live import ROOT, Skip, Suite, say, scratch

suite = Suite()
HELPER = os.path.join(ROOT, "build", "live", "stops")
SOURCES = os.path.join(ROOT, "tests", "live", "stopped")
STOPS = int(os.environ.get("STOPS", "10000"))
SEED = int(os.environ.get("SEED", "1"))
ONLY = os.environ.get("ONLY", "")
COMPLETE = 1
PAST_ROOT = "gdb goes on behind the root"

DL = "-DWITH_DL "
C = [DL + f for f in (
    "-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -flto", "-O2 -fno-omit-frame-pointer",
    "-O0 -fomit-frame-pointer", "-O2 -no-pie -Wl,-z,lazy", "-O2 -Wl,-z,now",
    "-O3 -mavx2 -fstack-clash-protection", "-O2 -maccumulate-outgoing-args",
    "-O2 -fcf-protection=none -fstack-protector-all", "-O2 -g")] + ["-O2 -static", "-O3 -static-pie"]
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
    return [p for p in every if ONLY in p.name]


class Helper:
    """tests/live/stops: the BPF side."""

    def __init__(self):
        self.p = subprocess.Popen([HELPER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.p.stdout.readline() == b"ready\n", "tests/live/stops does not start"

    def end(self):
        self.p.stdin.close()
        self.p.wait()

    def stop(self, command, out, want):
        fds = self.p.stdin.fileno(), self.p.stdout.fileno()
        env = dict(os.environ, STOPS_ASK=str(fds[0]), STOPS_ANSWER=str(fds[1]),
                   STOPS_WANT=str(want), STOPS_SEED=str(SEED), STOPS_OUT=out,
                   STOPS_SECONDS=str(20 + want / 50))
        r = subprocess.run(["gdb", "-nx", "-batch", "-x",
                            os.path.join(ROOT, "tests", "live", "stops_gdb.py"),
                            "--args", *command],
                           env=env, pass_fds=fds, capture_output=True, text=True)
        if not os.path.exists(out):
            raise AssertionError(f"gdb: {r.stderr[-800:]}")
        with open(out, encoding="utf-8") as f:
            return json.load(f)


def cause(d):
    """Why a stop differs; None: nobody knows."""
    theirs, ours = d["gdb"], d["ours"]
    same = 0
    while same < min(len(theirs), len(ours)) and theirs[same][1:3] == ours[same][1:3]:
        same += 1
    # an address in no executable memory is nobody's return address
    if d["reason"] == COMPLETE and same == len(ours) < len(theirs) and \
            theirs[same][0].endswith("!"):
        return PAST_ROOT
    return None


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
    say(f"{'program':52} {'stops':>6} {'frames':>7} {'deepest':>7} {'signal':>6} {'equal':>6}  other")
    for p in every:
        if p.why_not:
            say(f"{p.name:52} {p.why_not}")
            continue
        causes = collections.Counter(cause(d) or "DIFFERS" for d in p.differ)
        if "error" in p.sums:
            causes[p.sums["error"]] += 1
        s = p.sums
        say(f"{p.name:52} {s['stops']:6} {s['frames']:7} {s['deepest']:7} {s['signal']:6} "
            f"{s['equal']:6}  " + ", ".join(f"{n} {c}" for c, n in causes.items()))


def show(p, d):
    say(f"{p.name}: reason {d['reason']}, gdb ends: {d['gdb_end']}; {' < '.join(d['names'])}")
    say(d["code"].rstrip())
    for i in range(max(len(d["gdb"]), len(d["ours"]))):
        a, b = (x[i] if i < len(x) else ("-", 0, 0, "") for x in (d["gdb"], d["ours"]))
        mark = " " if a[1:3] == b[1:3] else "*"
        say(f" {mark} {a[0]:40} {a[2]:#x} {a[3]:8} {b[0]:40} {b[2]:#x}")


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
    known = [p for p in every if not p.why_not]
    total = sum(p.sums["stops"] for p in known)
    equal = sum(p.sums["equal"] for p in known)
    unknown = [(p, d) for p in known for d in p.differ if not cause(d)]
    say(f"{total} stops of {len(known)} programs, {sum(p.sums['frames'] for p in known)} frames; "
        f"{equal} equal, {total - equal - len(unknown)} explained, {len(unknown)} not")
    for p, d in unknown[:int(os.environ.get("SHOW", "8"))]:
        show(p, d)
    assert total >= 0.8 * STOPS, "too few stops"
    assert not unknown, f"{len(unknown)} stops differ"
    assert not any("failed" in (p.why_not or "") for p in every)


suite.run()
