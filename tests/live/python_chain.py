# SPDX-License-Identifier: Apache-2.0
"""Known chains of Python functions: python_chain.py SECONDS [TASK]; lines are in MARKS."""
import os
import sys
import time


def burn(end):
    x = 0
    while time.monotonic() < end:
        for i in range(500):
            x += i * i                          # burn
    return x


class Work:
    def method(self, end):
        return burn(end)                        # method


def by_sort(end):
    return sorted([end], key=lambda v:
                  Work().method(v))             # lambda


def rows(end):
    yield burn(end)                             # generator


def by_generator(end):
    return [x for x in rows(end)]


def by_exception(end):
    while time.monotonic() < end:
        try:
            raise ValueError(end)
        except ValueError:
            burn(time.monotonic() + 0.01)       # handler


def recursive(end, depth):
    return recursive(end, depth - 1) if depth else burn(end)


def deep(end):
    return recursive(end, 60)


def grüße_名前(end):
    return burn(end)                            # unicode


def by_name(end):
    return grüße_名前(end)


def forked(end):
    """by_sort() in a child, which has mapped nothing in but what it uses itself; says its number"""
    child = os.fork()
    if child:
        print(child, flush=True)
        os.waitpid(child, 0)
    else:
        by_sort(end)


def told(end):
    """by_sort() when a line has come"""
    print(os.getpid(), flush=True)
    by_sort(end)


def not_begun():                                # begun
    pass


def traced(end):
    """in a function that has not begun, while its start is traced; says its number"""
    print(os.getpid(), flush=True)
    sys.settrace(lambda *_: burn(end))
    not_begun()                                 # traced


TASKS = {f.__name__: f for f in (by_sort, by_generator, by_exception, deep, by_name, forked, told, traced)}


def main():
    task = TASKS[sys.argv[2] if len(sys.argv) > 2 else "by_sort"]
    task(time.monotonic() + float(sys.argv[1]))     # main


main()                                          # module
