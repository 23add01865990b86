#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every sample is delivered or counted under a reason, to the last one."""
import os

from accounts import Watcher
from live import Suite, folded, record, say, scratch
from loads import storm

suite = Suite()


@suite.test
def sums():
    """the sums of every stage agree when all has ended"""
    with scratch() as tmp, storm():
        out = os.path.join(tmp, "out.folded")
        w = Watcher()
        record(out, "--duration", "6", "--frequency", "199")
        w.done = True
        w.join(6)
        a = w.last
        assert not w.errors, w.errors
        say(f"taken {a.taken()}, delivered {a.delivered()}, lost {a.lost()}, stops {a.stops()}")
        assert a.taken() > 1000
        assert a.missing() == 0, f"{a.missing()} samples are nowhere"
        assert a.bpf("BPF_TAKEN") == a.bpf("BPF_SENT") + a.bpf("BPF_RING_FULL")
        assert a["loader.drained"] == a.bpf("BPF_SENT")
        assert sum(a.stops().values()) == a.bpf("BPF_TAKEN")
        written = sum(n for _, n in folded(out))
        assert written == a.delivered(), f"{written} in the file, {a.delivered()} delivered"


suite.run()
