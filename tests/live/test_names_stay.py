#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Services that seldom run keep their names beside programs with large symbol tables."""
from live import Suite
from names_stay import names_stay

suite = Suite()


@suite.test
def stay():
    """thirty programs of 120,000 symbols come and go: ten services that seldom run lose no name"""
    names_stay(30)


suite.run()
