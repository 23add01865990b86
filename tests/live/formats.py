# SPDX-License-Identifier: Apache-2.0
"""formats - reads speedscope and Firefox files, and holds them to the rules of their formats

Rules: speedscope 1.25.0, file-format-schema.json; firefox-devtools/profiler,
src/types/gecko-profile.ts.
"""
import collections
import json
import re

ALL = "all processes"


def load(path):
    with open(path, encoding="utf-8", errors="strict") as f:
        return json.load(f)


def speedscope_profiles(path):
    """{process: [(frames, nanoseconds)]}, judged on the way; frames are (name, file)."""
    d = load(path)
    assert d["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = d["shared"]["frames"]
    for f in frames:
        assert isinstance(f["name"], str) and f["name"]
        assert isinstance(f.get("file", ""), str) and isinstance(f.get("line", 1), int)
    assert d["activeProfileIndex"] == 0
    look = [(f["name"], f.get("file")) for f in frames]
    profiles = collections.defaultdict(list)
    for i, p in enumerate(d["profiles"]):
        assert p["type"] == "sampled" and p["unit"] == "nanoseconds"
        assert len(p["samples"]) == len(p["weights"]) > 0
        assert p["endValue"] - p["startValue"] == sum(p["weights"])
        assert i or len(d["profiles"]) == 1 or p["name"] == ALL
        for s, w in zip(p["samples"], p["weights"]):
            assert w > 0 and s and all(0 <= k < len(frames) for k in s)
            profiles[p["name"]].append(([look[k] for k in s], w))
    together = profiles.pop(ALL, None)
    if together:		# what the others have, below their processes
        counts = [collections.Counter(), collections.Counter()]
        for s, w in together:
            counts[0][tuple(s[1:])] += w
        for p in profiles.values():
            for s, w in p:
                counts[1][tuple(s)] += w
        assert counts[0] == counts[1]
        names = {re.sub(r" \(pid \d+\)$", "", p) for p in profiles}
        assert {s[0] for s, _ in together} == {(n, None) for n in names}
    return profiles


def speedscope(path):
    """[(process, names root first, nanoseconds)]"""
    return [(p, [name for name, _ in s], w)
            for p, v in speedscope_profiles(path).items() for s, w in v]


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
