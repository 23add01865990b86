#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPython's stacks are, frame by frame, what Python itself says of them.

Each stack is judged by itself: one that is always wrong is one kind of call."""
import collections
import functools
import json
import os
import re

import versions
from chance import least
from live import ROOT, compile_c, say
from rows import Rows

HERE = os.path.join(ROOT, "tests", "live")
PLACES, MS = 200, 2
SHARE = 0.99		# of a stack's samples, but for chance
rows = Rows({"pprof": [".pb.gz"]}, seconds=6, hz=997)


def python_frames(frames):
    """Those with a file that is no C source, as (function, file without folders, line)."""
    found = [re.fullmatch(r"(.*) (\S+):(\d+)", f) for f in frames]
    return [(m.group(1), os.path.basename(m.group(2)), int(m.group(3))) for m in found
            if m and not re.search(r"\.([chsS]|inc)$", m.group(2))]


def place_of(frames):
    found = [re.match(r"spin_(\d+) ", f) for f in frames]
    return next((int(m.group(1)) for m in found if m), None)


def difference(here, want):
    """What is wrong; "": nothing."""
    if here == want:
        return ""
    at = next((i for i, (a, b) in enumerate(zip(here, want)) if a != b), None)
    return f"{len(here)} frames of {len(want)}" if at is None else f"{here[at]} is {want[at]}"


def by_place(samples):
    """{place: {its frames: samples}}"""
    found = collections.defaultdict(collections.Counter)
    for frames, n in samples:
        place = place_of(frames)
        if place is not None:
            found[place][tuple(python_frames(frames))] += n
    return found


def check(found, truth):
    """Of each place the samples are as Python says; those that are not are said, by what is different."""
    other, bad = collections.Counter(), []
    for place, stacks in found.items():
        want, total = tuple(truth[place]), stacks.total()
        for here, n in stacks.items():
            if here != want:
                other[difference(here, want)] += n
        if stacks[want] < least(SHARE, total):
            bad.append(f"{stacks[want]} of {total} at {want}")
    total = sum(s.total() for s in found.values())
    say(f"{total - other.total()} of {total} samples agree, at {len(found)} places")
    for what, n in other.most_common(8):
        say(f"{n} {what}")
    assert not bad, bad
    assert total > PLACES and len(found) > PLACES / 2 and total - other.total() >= least(SHARE, total)


@functools.cache
def spin(t):
    return compile_c("python_spin.c", t.path("spin.so"), "-O1", "-shared", "-fPIC")


def test(python, number):
    def agrees(t):
        said = t.path(f"agree-{number}.json")
        p = t.start(python, "-S", os.path.join(HERE, "python_agree.py"), spin(t), str(PLACES), str(MS), said,
                    nice=-10, burning=4)	# before the many programs of a test beside this one
        yield
        with open(said, encoding="utf-8") as f:
            truth = [[(name, os.path.basename(file), line) for name, file, line in stack]
                     for stack in json.load(f)]
        check(by_place((frames, n) for labels, frames, n in t.pprof() if labels["pid"] == p.pid), truth)
    agrees.__doc__ = f"{python}: each sample is what sys._getframe() says"
    rows.test(agrees)


for n, version in enumerate(versions.tested("python")):
    test(version.exe, n)
rows.run()
