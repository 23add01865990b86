# SPDX-License-Identifier: Apache-2.0
"""What recordings of CPython are of: kinds of calls, one in the other, until the
innermost waits.  No module of the library is on its stacks, so a recording holds no
paths of the machine that it was made on.  For 3.6 and later."""
import _thread
import faulthandler
import posix
import signal
import sys


def wait():
    posix.write(1, b"ready\n")
    return posix.read(0, 1)


def recurse(n):
    if n:
        return recurse(n - 1)
    return wait()


def größe_数():
    return recurse(3)


class Thing:
    def __init__(self, then):
        self.then = then

    def method(self):
        return self.then()

    def __lt__(self, other):
        return bool(self.method())

    def __neg__(self):
        return min(Thing(None), self)

    @property
    def attribute(self):
        other = Thing(größe_数)
        return -other


def generator():
    def inner():
        yield Thing(None).attribute
    yield from inner()


class Awaitable:
    def __await__(self):
        yield next(generator())


async def awaits():
    async def deeper():
        await Awaitable()
    await deeper()


def by_sort():
    return sorted([1], key=lambda x: awaits().send(None))


def many_lines(a):
    if a > 1:
        a += 2
    for _ in range(2):
        a *= 3
    while a > 5:
        a -= 4


    a = [
        a,
        by_sort(),
        a,
    ]
    return a


def by_exec():
    exec(compile("\n\n\nmany_lines(1)\n", "made_up.py", "exec"))


def other_thread(lock, n):
    if n:
        other_thread(lock, n - 1)
    else:
        lock.acquire()


def main():
    faulthandler.register(signal.SIGUSR1, sys.stderr)
    lock = _thread.allocate_lock()
    lock.acquire()
    for n in range(2):
        _thread.start_new_thread(other_thread, (lock, n))
    by_exec()


main()
