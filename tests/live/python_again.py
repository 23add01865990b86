#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Functions of one name and one file, each on a line of its own, one after the other
and mostly where the one before was in memory.  Prints how many there were.

    python_again.py SECONDS
"""
import sys
import time

SOURCE = """
def again(end):
    while time.perf_counter() < end:
        sum(range(500))
"""


def main():
    end = time.perf_counter() + float(sys.argv[1])
    made = 0
    while time.perf_counter() < end:
        made += 1
        names = {"time": time}
        exec(compile("\n" * (10 * made) + SOURCE, "again.py", "exec"), names)
        names["again"](time.perf_counter() + 0.02)
    print(made)


main()
