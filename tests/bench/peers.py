#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Profilers in turn on the same load, all that they use counted from outside.  Root.

usage: peers.py [--windows 12-42] [--rounds 1] [--loads idle,deep,...] NAME=COMMAND...

COMMAND runs a profiler in the foreground until SIGINT, such as
  now='build/bin/trifold run --frequency 20 --endpoint http://localhost:4318'
and each is started for each load, in turn, in each round the other way round.  What counts: CPU time of all
processes that COMMAND starts, also of those that ended (cutime and cstime of their parents, ticks of 10 ms),
and of all BPF programs that were not there before (kernel.bpf_stats_enabled, with what its clock costs); PSS
of the processes, bytes of BPF maps.  Each row has the ratio of the first profiler named to this one, by the
sum in that window.
"""
import argparse
import contextlib
import ctypes
import os
import shlex
import signal
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "live"))
import json  # noqa: E402

from live import ROOT, bpftool, compile_c, ends_with_us, scratch  # noqa: E402
from loads import LOADS, mixed, numbered, processes  # noqa: E402

CPUS = os.sysconf("SC_NPROCESSORS_ONLN")
TICK_NS = 1_000_000_000 // os.sysconf("SC_CLK_TCK")
BPF_STATS = "/proc/sys/kernel/bpf_stats_enabled"
PR_SET_CHILD_SUBREAPER = 36
MAIN = """#include "tests/bench/unwind_load.h"
int main(int n, char **v)
{
	(void)v;
	load_run(n > 1 ? LOAD_COLD : LOAD_REAL, 0);
}
"""


@contextlib.contextmanager
def real():
    """Two programs with 40 functions and frames as in real programs; one of them spoils its caches."""
    with scratch() as tmp:
        with open(os.path.join(tmp, "main.c"), "w", encoding="ascii") as f:
            f.write(MAIN)
        exe = os.path.join(tmp, "real")
        subprocess.run(["gcc", "-O2", "-fomit-frame-pointer", "-I", ROOT, "-o", exe, os.path.join(tmp, "main.c"),
                        os.path.join(HERE, "unwind_load.c")], check=True)
        with processes([f"exec {exe}", f"exec {exe} cold"], tmp):
            yield


@contextlib.contextmanager
def fresh():
    """The mixed load, and a program that was never there, which runs for a second, and so on."""
    with mixed(), scratch() as tmp:
        exe = compile_c("swarm.c", os.path.join(tmp, "swarm"), "-fomit-frame-pointer")
        with open(exe, "rb") as f:
            template = f.read()
        for i in range(1000):
            numbered(template, os.path.join(tmp, f"u{i}"), i)
        with processes([f"while :; do for i in $(seq 0 999); do cp {tmp}/u$i {tmp}/now$i; "
                        f"{tmp}/now$i once 10 1000000; rm {tmp}/now$i; done; done"], tmp):
            yield


LOADS = {**LOADS, "real": real, "fresh": fresh}


def tree(root):
    """PIDs of root and all that it started."""
    children = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/stat") as f:
            children.setdefault(int(f.read().rpartition(")")[2].split()[1]), []).append(int(pid))
    found, more = [], [root]
    while more:
        pid = more.pop()
        found.append(pid)
        more += children.get(pid, [])
    return found


def used_ns(pids):
    """CPU time of these, and of all children that they have waited for."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            with open(f"/proc/{pid}/stat") as f:
                ended = sum(map(int, f.read().rpartition(")")[2].split()[13:15]))
            lives = 0
            for tid in os.listdir(f"/proc/{pid}/task"):
                with open(f"/proc/{pid}/task/{tid}/schedstat") as f:
                    lives += int(f.read().split()[0])
            total += lives + ended * TICK_NS
    return total


def pss_mib(pids):
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError), open(f"/proc/{pid}/smaps_rollup") as f:
            total += sum(int(line.split()[1]) for line in f if line.startswith("Pss:"))
    return total / 1024


def bpf(what):
    out = subprocess.run([bpftool(), "-j", what, "show"], capture_output=True, text=True, check=True)
    return {x["id"]: x for x in json.loads(out.stdout)}


class Look:
    def __init__(self, root, others):
        self.pids = tree(root)
        self.cpu, self.at = used_ns(self.pids), time.monotonic()
        progs = [p for i, p in bpf("prog").items() if i not in others]
        self.bpf = sum(p.get("run_time_ns", 0) for p in progs)

    def since(self, a):
        """(share of the host, of it BPF)"""
        host = (self.at - a.at) * 1e9 * CPUS
        return (self.cpu - a.cpu + self.bpf - a.bpf) / host, (self.bpf - a.bpf) / host


def stats(on):
    with open(BPF_STATS, "w", encoding="ascii") as f:
        f.write("1" if on else "0")


def run(command, windows):
    """[(share, of it BPF) of each window], (PSS, maps) in MiB, CPU time of the start."""
    progs, maps = set(bpf("prog")), set(bpf("map"))
    p = subprocess.Popen(shlex.split(command), preexec_fn=ends_with_us, stdout=subprocess.DEVNULL,
                         stderr=subprocess.DEVNULL, start_new_session=True)
    begin, out = time.monotonic(), []
    try:
        stats(True)
        time.sleep(5)
        start = used_ns(tree(p.pid)) / 1e9
        for first, last in windows:
            time.sleep(max(0, first - (time.monotonic() - begin)))
            a = Look(p.pid, progs)
            time.sleep(last - first)
            b = Look(p.pid, progs)
            assert p.poll() is None, f"it has ended: {command}"
            out.append(b.since(a))
        memory = pss_mib(tree(p.pid)), sum(m.get("bytes_memlock", 0) for i, m in bpf("map").items()
                                           if i not in maps) / (1 << 20)
    finally:
        stats(False)
        p.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            p.wait(30)
        for pid in tree(p.pid)[::-1] if p.poll() is None else []:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        p.wait()
    return out, memory, start


def judge(load, peers, windows, rounds):
    found = {name: [] for name in peers}
    with LOADS[load]():
        time.sleep(5)
        for i in range(rounds):
            for name in list(peers)[:: -1 if i % 2 else 1]:
                found[name].append(run(peers[name], windows))
                time.sleep(3)
    for w, (first, last) in enumerate(windows):
        base = None
        for name, runs in found.items():
            share = statistics.median(r[0][w][0] for r in runs)
            base = base or share
            print(f"{load:6} {first:g} to {last:g} s: {name:12} {100 * share:7.4f} % of the host "
                  f"(BPF {100 * statistics.median(r[0][w][1] for r in runs):.4f}), ratio {base / share:6.3f}; "
                  f"PSS {statistics.median(r[1][0] for r in runs):6.1f} MiB, maps {statistics.median(r[1][1] for r in runs):5.1f} MiB, "
                  f"CPU in its first 5 s {statistics.median(r[2] for r in runs):.2f} s", flush=True)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--windows", type=lambda t: [tuple(map(float, w.split("-"))) for w in t.split(",")], default="12-42")
    p.add_argument("--rounds", type=int, default=1)
    p.add_argument("--loads", default="idle,real,mixed,storm")
    p.add_argument("peers", nargs="+")
    args = p.parse_args()
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    for load in args.loads.split(","):
        judge(load, dict(x.split("=", 1) for x in args.peers), args.windows, args.rounds)


main()
