#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of one name and one file, each on a line of its own, one after the other
and mostly where the one before was in memory; 20 ms of CPU time in each.

    python_again.py FUNCTIONS
"""
import sys
import time

SOURCE = """
def again(end):
    while time.process_time() < end:
        sum(range(500))
"""


def main():
    for n in range(1, int(sys.argv[1]) + 1):
        names = {"time": time}
        exec(compile("\n" * (10 * n) + SOURCE, "again.py", "exec"), names)
        names["again"](time.process_time() + 0.02)


main()
