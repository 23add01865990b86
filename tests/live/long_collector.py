#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What test_otlp.py and test_k8s_collector.py have of a Collector, with one of before 0.161:
it passes service.name on by its plain key, as backends read it.  Builds it, which takes
minutes."""
import os
import subprocess
import sys

from live import ROOT, Suite, say

suite = Suite()
OLD = "v0.159.0"


@suite.test
def old():
    """a Collector of 0.159 takes profiles and passes them on"""
    env = dict(os.environ, COLLECTOR_VERSION=OLD,
               COLLECTOR_CACHE=os.path.join(ROOT, "build", "collector-" + OLD))
    for name in ("test_otlp.py", "test_k8s_collector.py"):
        r = subprocess.run([sys.executable, os.path.join(ROOT, "tests", "live", name)], env=env,
                           capture_output=True, text=True)
        say(r.stdout)
        assert r.returncode == 0, r.stderr


suite.run()
