#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope and Firefox files keep the rules of their formats.

Rules: speedscope 1.25.0, file-format-schema.json; firefox-devtools/profiler,
src/types/gecko-profile.ts.  First made-up profiles with hostile names, then
tests/live/chain.c recorded.  Usage: test_formats.py
"""
import json
import os
import subprocess

from live import ROOT, Suite, compile_c, has_chain, record, scratch

suite = Suite()
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]


def made_up(tmp, ending):
    out = os.path.join(tmp, "a" + ending)
    tool = os.path.join(ROOT, "build", "live", "test_page")
    subprocess.run(["make", "-s", "-C", ROOT, tool[len(ROOT) + 1:]], check=True)
    n = subprocess.run([tool, out, "500"], capture_output=True, check=True).stdout
    return out, int(n)


def load(path):
    with open(path, encoding="utf-8", errors="strict") as f:
        return json.load(f)


def speedscope(path):
    """[(process, frames root first, nanoseconds)], judged on the way."""
    d = load(path)
    assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = d["shared"]["frames"]
    for f in frames:
        assert isinstance(f["name"], str) and f["name"]
        assert isinstance(f.get("file", ""), str) and isinstance(f.get("line", 1), int)
    assert 0 <= d["activeProfileIndex"] < len(d["profiles"])
    stacks = []
    for p in d["profiles"]:
        assert p["type"] == "sampled" and p["unit"] == "nanoseconds"
        assert len(p["samples"]) == len(p["weights"]) > 0
        assert p["endValue"] - p["startValue"] == sum(p["weights"])
        for s, w in zip(p["samples"], p["weights"]):
            assert w > 0 and s and all(0 <= i < len(frames) for i in s)
            stacks.append((p["name"], [frames[i]["name"] for i in s], w))
    return stacks


def firefox(path):
    """[(process, frames root first)] of each sample, judged on the way."""
    d = load(path)
    meta = d["meta"]
    assert meta["version"] == 24 and meta["interval"] > 0
    samples = []
    for t in d["threads"]:
        strings, frames = t["stringTable"], t["frameTable"]["data"]
        nodes, before = t["stackTable"]["data"], 0
        for f in frames:
            assert len(f) == len(t["frameTable"]["schema"]) and f[0] < len(strings)
            assert f[6] < len(meta["categories"])
        for i, (prefix, frame) in enumerate(nodes):
            assert frame < len(frames) and (prefix is None or prefix < i)
        assert meta["sampleUnits"]["threadCPUDelta"] == "\u00b5s"
        for stack, time, _, cpu in t["samples"]["data"]:
            assert before <= time <= meta["profilingEndTime"]
            assert abs(cpu / 1000 - meta["interval"]) < 0.001
            before, names = time, []
            while stack is not None:
                names.insert(0, strings[frames[nodes[stack][1]][0]])
                stack = nodes[stack][0]
            assert names
            samples.append((t["processName"], [n.rpartition(" (in ")[0] or n for n in names]))
    return samples


@suite.test
def made_up_speedscope():
    """hostile names in a speedscope file"""
    with scratch() as tmp:
        path, n = made_up(tmp, ".speedscope.json")
        stacks = speedscope(path)
    assert sum(w for _, _, w in stacks) == n * 50000000
    assert any(p.startswith("</script><img") for p, _, _ in stacks)
    assert any(p.startswith("a;b\nc (pid") for p, _, _ in stacks)


@suite.test
def made_up_firefox():
    """hostile names in a Firefox file"""
    with scratch() as tmp:
        path, n = made_up(tmp, ".firefox.json")
        samples = firefox(path)
    assert len(samples) == n
    assert any(p.startswith("a;b\nc (pid") for p, _ in samples)
    assert any(f.startswith('" onmouseover="alert(') for _, s in samples for f in s)


def recorded(ending):
    tmp = scratch()
    exe = compile_c("chain.c", os.path.join(tmp.name, "chain"), "-fomit-frame-pointer")
    out = os.path.join(tmp.name, "out" + ending)
    with subprocess.Popen([exe, "100"]) as p:
        record(out, "--duration", "3", "--frequency", "97")
        p.kill()
    return tmp, out


@suite.test
def chain_speedscope():
    """a recorded chain of functions in a speedscope file"""
    tmp, out = recorded(".speedscope.json")
    with tmp:
        mine = [(s, w) for p, s, w in speedscope(out) if p.startswith("chain (pid ")]
    total = sum(w for _, w in mine)
    assert total > 10 ** 9, "less than a second of CPU time"
    assert sum(w for s, w in mine if has_chain(s, CHAIN)) >= 0.95 * total


@suite.test
def chain_firefox():
    """a recorded chain of functions in a Firefox file"""
    tmp, out = recorded(".firefox.json")
    with tmp:
        mine = [s for p, s in firefox(out) if p.startswith("chain (pid ")]
    assert len(mine) > 100, "too few samples"
    assert sum(has_chain(s, CHAIN) for s in mine) >= 0.95 * len(mine)


suite.run()
