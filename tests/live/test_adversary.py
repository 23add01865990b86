#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary user attacks in many ways: another program's samples stay, nothing
of ours dies or hangs, the account agrees. ADVERSARY=EXPRESSION runs those
whose names it matches."""
import functools
import os
import re

from adversary import LONG, QUICK, run
from live import Suite

suite = Suite()
only = os.environ.get("ADVERSARY")
for attack in (QUICK + LONG if only else QUICK):
    if not only or re.search(only, attack.name):
        test = functools.partial(run, attack)
        test.__doc__ = attack.name
        suite.test(test)
suite.run()
