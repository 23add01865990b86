# SPDX-License-Identifier: Apache-2.0
"""formats - reads speedscope and Firefox files, and holds them to the rules of their formats

Rules: speedscope 1.25.0, file-format-schema.json; firefox-devtools/profiler,
src/types/gecko-profile.ts.
"""
import json


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
