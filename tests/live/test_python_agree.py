#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks of every CPython here are, frame by frame, what Python itself says of them."""
import collections
import glob
import json
import os
import re

from live import ROOT, compile_c, say
from pprof import read_pprof
from rows import Rows

HERE = os.path.join(ROOT, "tests", "live")
PLACES, MS = 200, 4
rows = Rows({"pprof": [".pb.gz"]}, seconds=12, hz=499)


def pythons():
    """Debian's, and what else is installed in the usual places; or those of PYTHONS, paths"""
    if os.environ.get("PYTHONS"):
        return os.environ["PYTHONS"].split()
    found = [p for p in sorted(glob.glob("/usr/bin/python3.*") +
                               glob.glob("/usr/local/bin/python3.*") +
                               glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.*")))
             if re.fullmatch(r"python3\.\d+t?", os.path.basename(p))]
    assert found, "no python3.* in /usr/bin"
    return found


def python_frames(frames):
    """Those with a file that is no C source, as (function, file without folders, line)."""
    found = [re.fullmatch(r"(.*) (\S+):(\d+)", f) for f in frames]
    return [(m.group(1), os.path.basename(m.group(2)), int(m.group(3))) for m in found
            if m and not re.search(r"\.([chsS]|inc)$", m.group(2))]


def place_of(frames):
    found = [re.match(r"spin_(\d+) ", f) for f in frames]
    return next((int(m.group(1)) for m in found if m), None)


def agreement(samples, truth):
    """(samples that are as Python says, others by what is different)"""
    good, other = 0, collections.Counter()
    for frames, n in samples:
        place = place_of(frames)
        if place is None:
            continue
        here, want = python_frames(frames), truth[place]
        if here == want:
            good += n
            continue
        at = next((i for i, (a, b) in enumerate(zip(here, want)) if a != b), None)
        other[f"{len(here)} frames of {len(want)}" if at is None else
              f"{here[at]} is {want[at]}"] += n
    return good, other


def test(python, number):
    def agrees(t):
        library, said = t.path(f"spin-{number}.so"), t.path(f"agree-{number}.json")
        compile_c("python_spin.c", library, "-O1", "-shared", "-fPIC")
        p = t.start(python, "-S", os.path.join(HERE, "python_agree.py"), library, str(PLACES), str(MS), said)
        yield
        with open(said, encoding="utf-8") as f:
            truth = [[(name, os.path.basename(file), line) for name, file, line in stack]
                     for stack in json.load(f)]
        good, other = agreement([(frames, n) for labels, frames, n in read_pprof(t.out("pprof"))
                                 if labels["pid"] == p.pid], truth)
        total = good + sum(other.values())
        say(f"{good} of {total} samples agree")
        for what, n in other.most_common(8):
            say(f"{n} {what}")
        assert total > 200 and good >= 0.99 * total
    agrees.__doc__ = f"{python}: each sample is what sys._getframe() says"
    rows.test(agrees)


for n, path in enumerate(pythons()):
    test(path, n)
rows.run()
