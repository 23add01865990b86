#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The attacks that take longer: tests/live/test_adversary.py has the others."""
from adversary import LONG, run

run(*([a] for a in LONG))
