#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""speedscope and Firefox files keep the rules of their formats: made-up profiles with
hostile names.  Recorded ones: test_names.py."""
import os
import subprocess

from formats import firefox, speedscope
from live import ROOT, Suite, scratch

suite = Suite()


def made_up(tmp, ending):
    out = os.path.join(tmp, "a" + ending)
    tool = os.path.join(ROOT, "build", "live", "test_page")
    subprocess.run(["make", "-s", "-C", ROOT, tool[len(ROOT) + 1:]], check=True)
    n = subprocess.run([tool, out, "500"], capture_output=True, check=True).stdout
    return out, int(n)


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


suite.run()
