#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Services that seldom run keep their names beside programs that have many symbols, or are in many of them."""
from live import Suite
from names_stay import names_are_shared, names_stay

suite = Suite()


@suite.test
def stay():
    """three hundred programs of 120,000 symbols come and go: ten services that seldom run lose no name"""
    names_stay(300)


@suite.test
def shared():
    """a user's six programs are in 18,000 functions with long names: ten services lose none of theirs"""
    names_are_shared()


suite.run()
