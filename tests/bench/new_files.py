#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a new file waits for its table.  Root.

usage: new_files.py [--files 40] [--busy N] [--frequency 997] [--life S] [chain|PATH [ARG...]]

Each file is a copy of the program with bytes of its own at the end: cp, run, rm.  While it runs it is sampled; from
the first of its samples on the table is needed, and the first whole stack shows that it is there.
"""
import argparse
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "live"))
from live import LEARNING, TRIFOLD, compile_c, ends_with_us, scratch, timed  # noqa: E402


BIN = os.environ.get("BIN")	# of another build
if BIN:
    TRIFOLD = os.path.join(BIN, "trifold")


def quantile(values, q):
    v = sorted(values)
    return v[min(len(v) - 1, int(q * len(v)))]


def show(what, values):
    print(f"{what}: median {quantile(values, 0.5):.1f}, 99th percentile {quantile(values, 0.99):.1f}, "
          f"most {max(values):.1f} ms ({len(values)})", flush=True)


def run_new(exe, name, args, life, tmp):
    """cp, run for so many seconds, rm.  When it was started: ms, CLOCK_MONOTONIC, the fork included."""
    path = os.path.join(tmp, name)
    shutil.copy(exe, path)
    with open(path, "ab") as f:
        f.write(name.encode())
    started = 1000 * time.monotonic()
    p = subprocess.Popen([path, *args], stdout=subprocess.DEVNULL)
    time.sleep(life)
    p.kill()
    p.wait()
    os.remove(path)
    return started


@contextlib.contextmanager
def burning(n):
    """n programs that take all the CPU time they get, each in a session of its own."""
    busy = [subprocess.Popen(["sh", "-c", "while :; do :; done"], preexec_fn=alone) for _ in range(n)]
    try:
        yield
    finally:
        for b in busy:
            b.kill()
            b.wait()


def alone():
    os.setsid()
    ends_with_us()


def arguments():
    ap = argparse.ArgumentParser()
    ap.add_argument("--files", type=int, default=40)
    ap.add_argument("--busy", type=int, default=0)
    ap.add_argument("--frequency", type=int, default=997)
    ap.add_argument("--life", type=float, default=0.4)
    ap.add_argument("program", nargs=argparse.REMAINDER, default=[])
    return ap.parse_args()


def main():
    a = arguments()
    with scratch() as tmp, burning(a.busy):
        exe, args = (a.program or ["chain"])[0], a.program[1:]
        if exe == "chain":
            exe, args = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer"), ["60"]
        out, log = os.path.join(tmp, "x.firefox.json"), os.path.join(tmp, "log")
        with open(log, "w", encoding="utf-8") as f:
            p = subprocess.Popen([TRIFOLD, "run", "--verbose", "--no-page", "--frequency", str(a.frequency),
                                  "--output", out], stdout=f, stderr=f)
        time.sleep(4)
        started = {f"new-{i}": run_new(exe, f"new-{i}", args, a.life, tmp) for i in range(a.files)}
        p.send_signal(signal.SIGINT)
        p.wait(60)
        if not os.path.exists(out):
            with open(log, encoding="utf-8") as f:
                sys.exit(f.read())
        with open(out, encoding="utf-8") as f:
            began = json.load(f)["meta"]["startTime"] - 1000 * (time.time() - time.monotonic())
        report(timed(out), began, legs(log), started)


def legs(log):
    """By name of the file: {step: ms, CLOCK_MONOTONIC}."""
    by = {}
    with open(log, encoding="utf-8") as f:
        for line in f:
            m = re.search(r"table: (came .*): (.*/new-\d+)( \(deleted\))?$", line.rstrip())
            if not m:
                continue
            t = {k: int(v) / 1000 for k, v in (w.split() for w in m.group(1).split(", "))}
            by.setdefault(os.path.basename(m.group(2)), {k: v + (t["came"] if k != "came" else 0)
                                                         for k, v in t.items() if v or k in ("job", "done")})
    return by


STEPS = (("started", "came", "start to hub"), ("need", "came", "need to hub"), ("came", "job", "hub to job"),
         ("job", "forked", "job to worker"), ("forked", "asked", "worker to its question for a debug file"),
         ("asked", "told", "question to answer"), ("job", "done", "job to table"),
         ("done", "installed", "table to installed"), ("started", "installed", "start to installed"),
         ("need", "installed", "need to installed"))


def report(samples, began, steps, started):
    """began: CLOCK_MONOTONIC, ms, of the samples' time 0."""
    by, waits, ends, found = {}, [], {}, {}
    for t, frames in samples:
        if frames[0].startswith("new-"):
            by.setdefault(frames[0], []).append((began + t, set(LEARNING) & set(frames), frames))
    for name, v in by.items():
        v.sort(key=lambda s: s[0])
        need = next((t for t, missing, _ in v if missing), None)
        for _, missing, _ in v:
            for m in missing:
                ends[m] = ends.get(m, 0) + 1
        there = next((t for t, missing, _ in v if need and t > need and not missing), None)
        if there:
            waits.append(there - need)
        s = steps.get(name)
        if s:
            s.update(need=need or 0, started=started[name])
            for a, b, what in STEPS:
                if s.get(a) and s.get(b):
                    found.setdefault(what, []).append(s[b] - s[a])
    total = sum(map(len, by.values()))
    print(f"{len(by)} files, {len(steps)} tables, {total} samples, "
          f"{100 * (1 - sum(ends.values()) / max(1, total)):.2f} % whole; {ends}")
    for what, values in found.items():
        show(what, values)
    if waits:
        show("need to first whole stack", waits)


main()
