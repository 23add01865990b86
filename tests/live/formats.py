# SPDX-License-Identifier: Apache-2.0
"""formats - reads what trifold writes as the tools do that it is for, and holds files to the
rules of their formats

A stack is [(name, is it of the kernel)], root first, without the process.  Rules: speedscope
1.25.0, file-format-schema.json; firefox-devtools/profiler, src/types/profile.ts, version 70;
google/pprof, proto/profile.proto; opentelemetry-proto 1.10, profiles.proto.  A location
without a line contributes nothing: so do pprof's readers in backends, and Pyroscope.
"""
import collections
import functools
import gzip
import json
import re

from wire import below, fields, numbers

ALL = "all processes"
KERNEL = "_[k]"

Frame = collections.namedtuple("Frame", "name kind line")	# of a Firefox file; line: or None
Thread = collections.namedtuple("Thread", "process name pid tid samples")	# samples: [(ms, [Frame])]


def load(path):
    with open(path, encoding="utf-8", errors="strict") as f:
        return json.load(f)


# --- speedscope ---------------------------------------------------------------


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


def speedscope_stacks(path):
    """[(stack, nanoseconds)]"""
    return [([(name, file == "kernel") for name, file in s], w)
            for v in speedscope_profiles(path).values() for s, w in v]


# --- Firefox ------------------------------------------------------------------


def columns(table):
    """All of the table's rows."""
    for key, v in table.items():
        if isinstance(v, list):
            assert len(v) == table["length"], key
    return table


def firefox_threads(path, profile=None):
    """[Thread], judged on the way; equal stacks of them are one list."""
    d = profile or load(path)
    meta, shared = d["meta"], d["shared"]
    assert meta["preprocessedProfileVersion"] == 70 and meta["interval"] > 0
    assert meta["sampleUnits"]["threadCPUDelta"] == "\u00b5s"
    strings, kinds = shared["stringArray"], [c["name"] for c in meta["categories"]]
    assert len(set(strings)) == len(strings)
    frames, funcs, nodes = (columns(shared[t]) for t in ("frameTable", "funcTable", "stackTable"))
    resources, sources = columns(shared["resourceTable"]), columns(shared["sources"])
    assert all(0 <= r < resources["length"] or r == -1 for r in funcs["resource"])
    assert all(s is None or 0 <= s < sources["length"] for s in funcs["source"])
    assert all(0 <= i < len(strings) for i in resources["name"] + sources["filename"])
    look = [Frame(strings[funcs["name"][f]], kinds[c], line)
            for f, c, line in zip(frames["func"], frames["category"], frames["line"])]
    stacks = []
    for i, (frame, up) in enumerate(zip(nodes["frame"], nodes["prefixOffset"])):
        assert 0 <= up <= i
        stacks.append((stacks[i - up] if up else []) + [look[frame]])
    threads, mains = [], set()
    for t in d["threads"]:
        # src/profile-logic/tracks.ts: of main threads with one pid only the last has a track
        assert not t["isMainThread"] or t["pid"] not in mains, t["pid"]
        if t["isMainThread"]:
            mains.add(t["pid"])
        samples, before = columns(t["samples"]), 0
        assert isinstance(t["pid"], str) and not columns(t["markers"])["length"]
        for time, cpu in zip(samples["time"], samples["threadCPUDelta"]):
            assert before <= time <= meta["profilingEndTime"]
            assert abs(cpu / 1000 - meta["interval"]) < 0.001
            before = time
        threads.append(Thread(t["processName"], t["name"], int(t["pid"].split(".")[0]), t["tid"],
                              [(ms, stacks[s]) for ms, s in zip(samples["time"], samples["stack"])]))
    return threads


def firefox(path):
    """[(process, names root first)] of each sample"""
    return [(t.process, [f.name for f in s]) for t in firefox_threads(path) for _, s in t.samples]


def firefox_stacks(path):
    """[(stack, samples)]"""
    stacks, counts = {}, collections.Counter()
    for t in firefox_threads(path):
        for _, s in t.samples:
            stacks[id(s)] = s
            counts[id(s)] += 1
    return [([(f.name, f.kind == "Kernel") for f in s], counts[i]) for i, s in stacks.items()]


# --- folded stacks, pprof, OTLP --------------------------------------------------


def folded_stacks(path):
    """[(stack, samples)]"""
    stacks = []
    with open(path, encoding="utf-8", errors="strict") as f:
        for line in f:
            text, _, n = line.rstrip("\n").rpartition(" ")
            stacks.append(([(name.removesuffix(KERNEL), name.endswith(KERNEL))
                            for name in text.split(";")[1:]], int(n)))
    return stacks


def pprof_stacks(path):
    """[(stack, samples)]"""
    with gzip.open(path) as f:
        top = list(fields(f.read()))
    strings = [v.decode() for n, v in top if n == 6]
    functions = {f[1]: strings[f[2]] for f in (dict(fields(v)) for n, v in top if n == 5)}
    kernel = {m[1] for m in (dict(fields(v)) for n, v in top if n == 3)
              if strings[m.get(5, 0)] == "[kernel]"}
    places = {}
    for n, v in top:
        if n == 4:
            place = dict(fields(v))
            places[place[1]] = [(functions[dict(fields(line))[1]], place.get(2) in kernel)
                                for line in below(v, 4)]
    return [([f for i in reversed(numbers(next(below(v, 1)))) for f in reversed(places[i])],
             numbers(next(below(v, 2)))[0]) for n, v in top if n == 2]


RAW_LOCATION = re.compile(r"^ {0,5}(\d+): 0x[0-9a-f]+ (?:M=(\d+) )?(?:\[F\] )?(.*)$")
# a file may be "<frozen os>"
RAW_LINE = re.compile(r"^(?:(.*) <\w+ [^<>]*>|(.*) \S*):\d+(?::\d+)? s=\d+(?:\(.*\))?$")


def pprof_raw_stacks(text):
    """[(stack, samples)] of what `pprof -raw` prints"""
    _, rest = text.split("\nSamples:\n", 1)
    samples, rest = rest.split("\nLocations\n", 1)
    locations, mappings = rest.split("\nMappings\n", 1)
    kernel = {m[1] for m in re.finditer(r"^(\d+): \S+ \[kernel\]", mappings, re.M)}
    places, last = {}, None
    for line in locations.split("\n"):
        m = RAW_LOCATION.match(line)
        if m:
            last = places[int(m[1])] = []
            of_kernel, line = m[2] in kernel, m[3]
        if line.strip():
            m = RAW_LINE.match(line.strip())
            last.append((m[1] or m[2], of_kernel))
    stacks = []
    for m in re.finditer(r"^ +(\d+) +\d+: ([\d ]+)$", samples, re.M):
        stacks.append(([f for i in reversed(m[2].split()) for f in reversed(places[int(i)])],
                       int(m[1])))
    return stacks


def otlp_stacks(path):
    """[(stack, samples)]"""
    with open(path, "rb") as f:
        request = f.read()
    d = list(fields(next(below(request, 2))))
    table = {k: [v for n, v in d if n == k] for k in (2, 3, 5, 6, 7)}
    strings = [v.decode() for v in table[5]]
    names = [strings[dict(fields(v)).get(1, 0)] for v in table[3]]
    kernel = {i for i, v in enumerate(table[6]) if b"kernel" in list(below(v, 2, 1))}
    places = []
    for v in table[2]:
        of_kernel = any(i in kernel for packed in below(v, 4) for i in numbers(packed))
        places.append([(names[dict(fields(line))[1]], of_kernel) for line in below(v, 3)])
    stacks = [[f for packed in below(v, 1) for i in reversed(numbers(packed))
               for f in reversed(places[i])] for v in table[7]]
    samples = [v for v in below(request, 1, 2, 2, 2)]
    return [(stacks[dict(fields(v)).get(1, 0)], sum(len(t) // 8 for t in below(v, 5)))
            for v in samples]


# --- sums -----------------------------------------------------------------------


@functools.lru_cache(maxsize=None)
def shown(name, kernel):
    """A name as folded stacks can have it; symbols of modules with or without the module."""
    name = re.sub(r"[\x00-\x1f\x7f-\x9f]", "?", name).replace(";", ":")
    return re.sub(r" \[[\w-]+\]$", "", name) if kernel else name, kernel


def functions(stacks, each=1):
    """{function: [self, total]} in samples, each of so much; a stack's end is no function."""
    sums, together = collections.defaultdict(lambda: [0, 0]), collections.Counter()
    for stack, n in stacks:
        together[tuple(stack)] += n
    for stack, n in together.items():
        names = [shown(*f) for f in stack if not f[0].startswith("[stack ends: ")]
        assert n % each == 0
        for f in set(names):
            sums[f][1] += n // each
        if names:
            sums[names[-1]][0] += n // each
    return dict(sums)
