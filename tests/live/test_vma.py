#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The sampler's VMA walker says what the kernel says, or nothing.

Both ways to read, by plain loads and by bpf_probe_read_kernel, against
/proc/self/maps and PROCMAP_QUERY, under churn by other threads, with 200,000
mappings (MAPPINGS in the environment), and live in an exec storm.
CHURN_SECONDS lengthens the churn.
"""
import os
import subprocess

from accounts import Watcher
from live import ROOT, Skip, Suite, record, say, scratch
from loads import storm

suite = Suite()
BUILD = os.path.join(ROOT, "build")
WAYS = [("plain loads", "vma.bpf.o"), ("bpf_probe_read_kernel", "vma_probe.bpf.o")]
MAX_MAPS = "/proc/sys/vm/max_map_count"
MAPPINGS = int(os.environ.get("MAPPINGS", "200000"))


def ask(what, number=""):
    subprocess.run(["make", "-s", "-C", ROOT, "vma_churn"], check=True)
    for name, obj in WAYS:
        r = subprocess.run([os.path.join(BUILD, "live", "vma_churn"), what,
                            os.path.join(BUILD, "tests", "live", obj), str(number)],
                           capture_output=True, text=True, timeout=120)
        say(f"by {name}:")
        print(r.stdout + r.stderr, end="", flush=True)
        if r.returncode == 77:
            raise Skip("not so many mappings here")
        if r.returncode == 2 and "rdonly_cast" in r.stderr:
            say("this kernel has no plain loads")
            continue
        assert r.returncode == 0, f"{what} by {name}: status {r.returncode}"


@suite.test
def still():
    """every mapping of a process at rest, and the places beside"""
    ask("still")


@suite.test
def churn():
    """stable and moving mappings while other threads map, protect and move"""
    ask("churn", os.environ.get("CHURN_SECONDS", "5"))


@suite.test
def many():
    """a process of 200,000 mappings, each asked for twice"""
    with open(MAX_MAPS, encoding="ascii") as f:
        before = f.read()
    try:
        if int(before) < MAPPINGS + 1000:
            with open(MAX_MAPS, "w", encoding="ascii") as f:
                f.write(str(MAPPINGS + 1000))
        ask("many", MAPPINGS)
    finally:
        with open(MAX_MAPS, "w", encoding="ascii") as f:
            f.write(before)


@suite.test
def exec_storm():
    """samples in an exec storm find the mapping of their place"""
    with scratch() as tmp, storm():
        w = Watcher()
        record(os.path.join(tmp, "out.folded"), "--duration", "10", "--frequency", "499")
        w.done = True
        w.join(6)
    stops = w.last.stops()
    user = sum(n for why, n in stops.items() if why != "no_user")
    lost = stops.get("no_mapping", 0)
    say(f"{user} samples with a user stack, no mapping for {lost} ({100 * lost / user:.3f} %); {stops}")
    assert user > 1000, "too few samples"
    assert lost <= 0.005 * user


suite.run()
