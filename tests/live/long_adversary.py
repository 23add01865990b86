#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The attacks that take longer: tests/live/test_adversary.py has the others."""
import functools

from adversary import LONG, run
from live import Suite

suite = Suite()
for attack in LONG:
    test = functools.partial(run, attack)
    test.__doc__ = attack.name
    suite.test(test)
suite.run()
