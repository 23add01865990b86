#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program with 500 MB of DWARF beside a small one: the small one's names and lines are
there as without it, those of the large one come, and workers stay within their memory.

Usage: long_big_debug.py [UNITS]: of 600 KB of DWARF each.
"""
import os
import random
import subprocess
import sys
import threading
import time

import names_agree
from live import ROOT, Suite, pids_of, record, say, scratch
from names_programs import CASES
from pprof import read_pprof

suite = Suite()
UNITS = int(sys.argv[1]) if sys.argv[1:] else 830
DATA_MIB = 512		# WORKER_DATA_BYTES of symbolizerd/worker/confine.h
SECONDS = 20


def link(folder, units):
    """cases/lines.cc so many times, each with symbols of its own; main() calls some of them."""
    def run(*command):
        subprocess.run(command, cwd=folder, check=True)
    run("g++", "-std=c++17", "-O2", "-g", "-gdwarf-5", "-fno-eliminate-unused-debug-types", "-c",
        os.path.join(CASES, "lines.cc"), "-o", "one.o")
    symbols = subprocess.run(["nm", "--defined-only", "-g", "one.o"], cwd=folder, check=True,
                             capture_output=True, text=True).stdout
    # not the weak ones: one of them is enough
    names = [line.split()[-1] for line in symbols.splitlines() if line.split()[-2] in "TDBR"]
    for i in range(units):
        with open(os.path.join(folder, "map"), "w") as f:
            f.writelines(f"{n} {n}.{i}\n" for n in names)
        run("objcopy", "--redefine-syms=map", "one.o", f"{i}.o")
    with open(os.path.join(folder, "all.c"), "w") as f:
        called = range(0, units, 20)
        f.writelines(f'int main_{i}(int, char **) __asm__("main.{i}");\n' for i in called)
        f.write("int main(int n, char **v)\n{\n\tfor (;;) {\n" +
                "".join(f"\t\tmain_{i}(n, v);\n" for i in called) + "\t}\n}\n")
    with open(os.path.join(folder, "objects"), "w") as f:
        f.write("\n".join(f"{i}.o" for i in range(units)))
    run("gcc", "-c", "all.c")
    run("g++", "-o", "large", "all.o", "@objects")
    for i in range(units):
        os.unlink(os.path.join(folder, f"{i}.o"))
    return os.path.join(folder, "large")


class Workers:
    """The most memory that any process of symbolizerd had, in MiB, looked at often."""
    def __init__(self):
        self.most = {}
        self.ends = threading.Event()
        self.thread = threading.Thread(target=self.watch)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ends.set()
        self.thread.join()

    def watch(self):
        while not self.ends.wait(0.02):
            for pid in pids_of("trifold-symbolizerd"):
                try:
                    with open(f"/proc/{pid}/status") as f:
                        for line in f:
                            what, _, value = line.partition(":")
                            if what in ("RssAnon", "VmHWM", "VmPeak", "VmData"):
                                self.most[what] = max(self.most.get(what, 0),
                                                      int(value.split()[0]) // 1024)
                except OSError:
                    pass


def profile(tmp, programs):
    """Stacks [(labels, frames, count)] of the whole system while these run."""
    running = [subprocess.Popen(p, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
               for p in programs]
    try:
        out = os.path.join(tmp, "out.pb.gz")
        began = time.monotonic()
        record(out, "--duration", str(SECONDS), "--frequency", "199")
        say(f"{time.monotonic() - began:.1f} s for a recording of {SECONDS} s")
    finally:
        for p in running:
            assert p.poll() is None, f"{p.args} has ended"
            p.kill()
            p.wait()
    return read_pprof(out)


def of(stacks, name):
    return [(f, n) for labels, f, n in stacks if name in labels.values()]


def share(stacks, holds):
    total = sum(n for _, n in stacks)
    return sum(n for f, n in stacks if holds(f)) / max(total, 1), total


def whole(frames):
    """The small program's inlined calls and their lines."""
    return all(any(f.startswith(f"{name} ") and not f.endswith(":0") for f in frames)
               for name in ("innermost", "middle", "outer", "main"))


@suite.test
def beside():
    """500 MB of DWARF: its own lines come, others' are not late, workers keep their limit"""
    with scratch() as tmp:
        began = time.monotonic()
        large = link(tmp, UNITS)
        say(f"{os.path.getsize(large) / 1e6:.0f} MB, {UNITS} units, made in "
            f"{time.monotonic() - began:.0f} s")
        small = os.path.join(tmp, "inlined")
        subprocess.run(["gcc", "-O2", "-g", "-o", small, os.path.join(CASES, "inlined.c")],
                       check=True)
        alone, n_alone = share(of(profile(tmp, [[small, "inlined"]]), "inlined"), whole)
        with Workers() as workers:
            stacks = profile(tmp, [[small, "inlined"], [large, "a b c"]])
        both, n_both = share(of(stacks, "inlined"), whole)
        mine = of(stacks, "large")
        named, n_large = share(mine, lambda f: f[0].split(" ")[0] not in ("?", "[no name]"))
        lined, _ = share(mine, lambda f: any(x.split(" ")[1].startswith(ROOT) and
                                             not x.endswith(":0") for x in f))
    say(f"small: {alone:.1%} of {n_alone} samples whole alone, {both:.1%} of {n_both} beside")
    say(f"large: {named:.1%} of {n_large} samples with a name, {lined:.1%} with a line of its source")
    say(f"most memory of a process of symbolizerd, MiB: {workers.most}")
    assert n_both > 200 and both > 0.9 and both > alone - 0.05
    assert n_large > 200 and named > 0.9 and lined > 0.5
    assert 0 < workers.most["RssAnon"] < DATA_MIB


@suite.test
def agrees():
    """what it says of the large program is what llvm-symbolizer says"""
    with scratch() as tmp:
        large = link(tmp, UNITS // 8)
        tally = names_agree.Tally()
        names_agree.compare(large, 1000, random.Random(1), tally)
    names_agree.report(tally, say)
    assert tally.same > 0.9 * tally.n and not tally.unexplained()


suite.run()
