# SPDX-License-Identifier: Apache-2.0
"""python_many.py N SECONDS: N functions, one after another, for so much CPU time."""
import sys
import time

N, SECONDS = int(sys.argv[1]), float(sys.argv[2])
SOURCE = """
def function_{0}(times):
    x = 0
    for i in range(times):
        x += i * i
    return x
"""
made = {}
for i in range(N):
    exec(compile(SOURCE.format(i), "many.py", "exec"), made)
functions = [made[f"function_{i}"] for i in range(N)]


def main():
    end = time.process_time() + SECONDS
    while time.process_time() < end:
        for f in functions:
            f(2000)


main()
