#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the table of docs/BENCHMARKS.md.  Root.

usage: bench.py [--windows 12-42] [--frequency 20] [LOAD...] [--OPTION=VALUE of `trifold run`...]

For each load (idle deep mixed storm; python and swarm only by name) and each window, in seconds from the
start, such as 12-42,120-150: CPU of each process and of BPF as shares of the whole host, PSS, kernel map
bytes, samples delivered and complete, BPF time a sample.  CPU of processes that live comes from schedstat
(all threads); of those that ended in the window (workers, openers) from the cutime and cstime of their
parents, in ticks of 10 ms, all that they used; of all BPF programs that were not there before from the kernel's own statistics
(kernel.bpf_stats_enabled), with what their clock costs.
"""
import argparse
import json
import os
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from accounts import Watcher  # noqa: E402
from live import DAEMONS, TRIFOLD, bpftool, pids_of, scratch, wait_for  # noqa: E402
from loads import LOADS  # noqa: E402

HZ = os.sysconf("SC_CLK_TCK")
CPUS = os.sysconf("SC_NPROCESSORS_ONLN")
BPF_STATS = "/proc/sys/kernel/bpf_stats_enabled"
NAMES = DAEMONS + ("trifold-supervisor", "trifold")


def cpu_ns(pid):
    """CPU time from schedstat, in ns: stat's ticks are too coarse here."""
    total = 0
    for tid in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{tid}/schedstat") as f:
            total += int(f.read().split()[0])
    return total


def all_cpu():
    out = {}
    for name in NAMES:
        for pid in pids_of(name):
            try:
                out[(name, pid)] = cpu_ns(pid)
            except OSError:
                pass
    return out


def ended_ns():
    """CPU time of all children that trifold's processes have waited for, of which each has one parent."""
    ticks = 0
    for name in NAMES:
        for pid in pids_of(name):
            try:
                with open(f"/proc/{pid}/stat") as f:
                    ticks += sum(map(int, f.read().rpartition(")")[2].split()[13:15]))
            except OSError:
                pass
    return ticks * 1_000_000_000 // HZ


def pss_kib():
    out = {}
    for name in NAMES:
        for pid in pids_of(name):
            try:
                with open(f"/proc/{pid}/smaps_rollup") as f:
                    for line in f:
                        if line.startswith("Pss:"):
                            out[name] = out.get(name, 0) + int(line.split()[1])
            except OSError:
                pass
    return out


def bpf_programs():
    out = subprocess.run([bpftool(), "-j", "prog", "show"], capture_output=True, text=True)
    return json.loads(out.stdout)


def bpf_run(others):
    """{(name, number): (ns, runs)} of those whose number is not among others"""
    return {(p.get("name"), p["id"]): (p.get("run_time_ns", 0), p.get("run_cnt", 0))
            for p in bpf_programs() if p["id"] not in others}


def map_bytes():
    """What the kernel says that our maps lock, by type of owner's names."""
    out = subprocess.run([bpftool(), "-j", "map", "show"], capture_output=True, text=True)
    return sum(m.get("bytes_memlock", 0) for m in json.loads(out.stdout))


def children_cpu(before, after):
    """Shares of the host by program; processes that ended in between count
    with what was last seen of them."""
    by = {}
    for key, ns in after.items():
        by[key[0]] = by.get(key[0], 0) + ns - before.get(key, 0)
    return by


def look(w, others):
    return w.last, bpf_run(others), all_cpu(), ended_ns(), time.monotonic()


def measure(load, windows, frequency, more):
    with scratch() as tmp, LOADS[load]():
        time.sleep(2)
        others = {p["id"] for p in bpf_programs()}
        w = Watcher()
        start = time.time()
        # what writes a file reads all lines at once: symbolizerd/knowledge/source_lines.h
        if not any(x.startswith("--endpoint=") for x in more):
            more = [*more, "--output=" + os.path.join(tmp, "x.folded")]
        p = subprocess.Popen([TRIFOLD, "run", "--frequency", str(frequency), *more],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        first = None
        while first is None and time.time() < start + 20:
            now = Watcher.once()
            if now and now["hub.complete"] > 0:
                first = time.time() - start
                break
            time.sleep(0.01)
        started = sum(all_cpu().values()) + ended_ns()
        for begin, end in windows:
            time.sleep(max(0, begin - (time.time() - start)))
            with open(BPF_STATS, "w") as f:
                f.write("1")
            before = look(w, others)
            time.sleep(end - begin)
            after = look(w, others)
            with open(BPF_STATS, "w") as f:
                f.write("0")
            report(f"{load} at {frequency} Hz, from {begin} to {end} s", before, after, pss_kib(), map_bytes())
        p.send_signal(2)
        p.wait(60)
        w.done = True
        w.join(6)
        end = w.last
        print(f"taken {end.taken()}, delivered {end.delivered()} "
              f"({100 * end.delivered() / max(1, end.taken()):.3f} %), "
              f"lost {end.lost()}, nowhere {end.missing()}")
        print(f"start: first complete sample known after {first:.2f} s, CPU until then {started / 1e9:.3f} s"
              if first else "start: no complete sample seen")


def report(what, before, after, pss, maps):
    a0, b0, c0, e0, t0 = before
    a1, b1, c1, e1, t1 = after
    cpu, ended = children_cpu(c0, c1), e1 - e0
    host = (t1 - t0) * 1e9 * CPUS
    bpf = {k: (ns - b0.get(k, (0, 0))[0], n - b0.get(k, (0, 0))[1]) for k, (ns, n) in b1.items()}
    bpf_ns = sum(ns for ns, _ in bpf.values())
    taken = max(1, a1.bpf("BPF_TAKEN") - a0.bpf("BPF_TAKEN"))
    frames = max(1, a1.bpf("BPF_FRAMES") - a0.bpf("BPF_FRAMES"))
    run_ns = a1.bpf("BPF_RUN_NS") - a0.bpf("BPF_RUN_NS")
    s0, s1 = a0.stops(), a1.stops()
    stops = {k: v - s0.get(k, 0) for k, v in s1.items() if v - s0.get(k, 0)}
    user = sum(v for k, v in stops.items() if k != "no_user")
    native = a1["hub.native"] - a0["hub.native"]
    native_complete = a1["hub.complete_native"] - a0["hub.complete_native"]
    print(f"\n## {what}, {CPUS} CPUs")
    print(f"cpu share of the host: bpf {100 * bpf_ns / host:.4f} %  " +
          "  ".join(f"{k} {100 * v / host:.4f} %" for k, v in sorted(cpu.items())) +
          f"  ended {100 * ended / host:.4f} %  (lines {100 * (a1['hub.line_cpu_ns'] - a0['hub.line_cpu_ns']) / host:.4f} %)"
          f"  sum {100 * (bpf_ns + sum(cpu.values()) + ended) / host:.4f} %")
    print("bpf: " + ", ".join(f"{k[0]} {n} runs of {ns / n / 1000:.2f} us" for k, (ns, n) in sorted(bpf.items()) if n) +
          f"; a sample {run_ns / taken / 1000:.2f} us by its own clock, {frames / taken:.1f} user frames")
    print("pss KiB: " + "  ".join(f"{k} {v}" for k, v in sorted(pss.items())) + f"  sum {sum(pss.values())}")
    print(f"kernel maps: {maps / 1048576:.2f} MiB ({a1['tables.table_rows']} rows, "
          f"{a1['tables.table_bytes'] / max(1, a1['tables.table_rows']):.2f} bytes a row, "
          f"{a1['tables.rules']} rules, {a1['tables.tables']} tables)")
    print(f"in the window: {user} with user stack, stops {stops}; native {native}, complete "
          f"{100 * native_complete / max(1, native):.2f} %; visits for lines "
          f"{a1['hub.line_visits'] - a0['hub.line_visits']}, worker jobs {a1['hub.worker_jobs'] - a0['hub.worker_jobs']}")
    sys.stdout.flush()


def windows_of(text):
    return [tuple(map(float, w.split("-"))) for w in text.split(",")]


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--windows", type=windows_of, default="12-42")
    ap.add_argument("--frequency", type=int, default=20)
    ap.add_argument("loads", nargs="*", default=[])
    args, more = ap.parse_known_args()
    for load in args.loads or ("idle", "deep", "mixed", "storm"):
        measure(load, args.windows, args.frequency, more)
    if not args.loads:
        measure("deep", args.windows, 997, more)


main()
