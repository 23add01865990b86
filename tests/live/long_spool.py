#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The collector is away for ten minutes under a compile storm: what symbolizerd cannot
hold is on disk, and all of it arrives afterwards, once.

AWAY_MINUTES in the environment: how long.
"""
import os

from live import Suite
from loads import storm
from test_spool import outage

suite = Suite()
MINUTES = float(os.environ.get("AWAY_MINUTES", "10"))


@suite.test
def away():
    """nothing is lost; what the last look does not call delivered was under way"""
    a = outage([], MINUTES * 60, storm)
    assert a.lost() == {}, a.lost()
    assert a.delivered() > 0.9 * a.taken()


suite.run()
