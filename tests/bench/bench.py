#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measure the table of docs/BENCHMARKS.md.  Root.

usage: bench.py [--seconds 30] [--frequency 20] [--warm 8] [LOAD...]

For each load (idle deep mixed storm; python and swarm only by name): CPU of each process and of BPF as shares
of the whole host, PSS, kernel map bytes, samples delivered and complete, BPF
time a sample.  CPU comes from /proc/PID/stat (utime + stime, all threads), BPF
run time from the kernel's own statistics (kernel.bpf_stats_enabled), less what
their clock costs it; both over the same window, after a warm-up.
"""
import argparse
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


def bpf_run():
    """(ns, runs) of the sampler."""
    import json
    out = subprocess.run([bpftool(), "-j", "prog", "show"], capture_output=True, text=True)
    for p in json.loads(out.stdout):
        if p.get("name") == "sample":
            return p.get("run_time_ns", 0), p.get("run_cnt", 0)
    return 0, 0


def map_bytes():
    """What the kernel says that our maps lock, by type of owner's names."""
    import json
    out = subprocess.run([bpftool(), "-j", "map", "show"], capture_output=True, text=True)
    return sum(m.get("bytes_memlock", 0) for m in json.loads(out.stdout))


def children_cpu(before, after):
    """Shares of the host by program; processes that ended in between count
    with what was last seen of them."""
    by = {}
    for key, ns in after.items():
        by[key[0]] = by.get(key[0], 0) + ns - before.get(key, 0)
    return by


def measure(load, seconds, frequency, warm=8):
    with scratch() as tmp, LOADS[load]():
        time.sleep(2)
        w = Watcher()
        start = time.time()
        p = subprocess.Popen([TRIFOLD, "run", "--frequency", str(frequency),
                              "--output", os.path.join(tmp, "x.folded")],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        first = None
        while first is None and time.time() < start + 20:
            now = Watcher.once()
            if now and now["hub.complete"] > 0:
                first = time.time() - start
                break
            time.sleep(0.01)
        started = sum(all_cpu().values())
        time.sleep(max(0, warm - (time.time() - start)))
        with open(BPF_STATS, "w") as f:
            f.write("1")
        a0, b0, c0, t0 = w.last, bpf_run(), all_cpu(), time.monotonic()
        time.sleep(seconds)
        a1, b1, c1, t1 = w.last, bpf_run(), all_cpu(), time.monotonic()
        with open(BPF_STATS, "w") as f:
            f.write("0")
        pss, maps = pss_kib(), map_bytes()
        p.send_signal(2)
        p.wait(60)
        w.done = True
        w.join(6)
        return report(load, frequency, a0, a1, b0, b1, children_cpu(c0, c1), t1 - t0, pss, maps,
                      w.last, first, started)


def report(load, frequency, a0, a1, b0, b1, cpu, wall, pss, maps, end, first, started):
    host = wall * 1e9 * CPUS
    runs = max(1, b1[1] - b0[1])
    run_ns = (a1.bpf("BPF_RUN_NS") - a0.bpf("BPF_RUN_NS"))
    taken = a1.bpf("BPF_TAKEN") - a0.bpf("BPF_TAKEN")
    frames = a1.bpf("BPF_FRAMES") - a0.bpf("BPF_FRAMES")
    s0, s1 = a0.stops(), a1.stops()
    stops = {k: v - s0.get(k, 0) for k, v in s1.items() if v - s0.get(k, 0)}
    user = sum(v for k, v in stops.items() if k != "no_user")
    native = a1["hub.native"] - a0["hub.native"]
    native_complete = a1["hub.complete_native"] - a0["hub.complete_native"]
    bpf_ns = b1[0] - b0[0]
    print(f"\n## {load} at {frequency} Hz, {wall:.0f} s, {CPUS} CPUs")
    print(f"cpu share of the host: bpf {100 * bpf_ns / host:.4f} %  " +
          "  ".join(f"{k} {100 * v / host:.4f} %" for k, v in sorted(cpu.items())) +
          f"  sum {100 * (bpf_ns + sum(cpu.values())) / host:.4f} %")
    print(f"bpf: {runs} runs, {bpf_ns / runs / 1000:.2f} us a run by bpf_stats; "
          f"{run_ns / max(1, taken) / 1000:.2f} us by its own clock, {frames / max(1, taken):.1f} user frames, "
          f"{run_ns / max(1, frames):.0f} ns a frame")
    print("pss KiB: " + "  ".join(f"{k} {v}" for k, v in sorted(pss.items())) + f"  sum {sum(pss.values())}")
    print(f"kernel maps: {maps / 1048576:.2f} MiB ({end['tables.table_rows']} rows, "
          f"{end['tables.table_bytes'] / max(1, end['tables.table_rows']):.2f} bytes a row, "
          f"{end['tables.rules']} rules, {end['tables.tables']} tables)")
    print(f"taken {end.taken()}, delivered {end.delivered()} ({100 * end.delivered() / max(1, end.taken()):.3f} %), "
          f"lost {end.lost()}, nowhere {end.missing()}")
    print(f"in the window: {user} with user stack, stops {stops}; native {native}, complete "
          f"{100 * native_complete / max(1, native):.2f} %")
    print(f"start: first complete sample known after {first:.2f} s, CPU until then {started / 1e9:.3f} s"
          if first else "start: no complete sample seen")
    sys.stdout.flush()


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seconds", type=float, default=30)
    ap.add_argument("--frequency", type=int, default=20)
    ap.add_argument("--warm", type=float, default=8)
    ap.add_argument("loads", nargs="*", default=[])
    args = ap.parse_args()
    for load in args.loads or ("idle", "deep", "mixed", "storm"):
        measure(load, args.seconds, args.frequency, args.warm)
    if not args.loads:
        measure("deep", args.seconds, 997)


main()
