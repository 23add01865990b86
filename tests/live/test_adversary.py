#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary user attacks in many ways: another program's samples stay, nothing
of ours dies or hangs, the account agrees. ADVERSARY=EXPRESSION runs those
whose names it matches, with a recording each."""
import os
import re

from adversary import LONG, QUICK, run

only = os.environ.get("ADVERSARY")
if only:
    run(*([a] for a in QUICK + LONG if re.search(only, a.name)))
else:
    run(QUICK)
