# SPDX-License-Identifier: Apache-2.0
"""A program of CPython 3.6 or later that burns CPU time at the end of a chain that
is known, and says a line when it begins: python_load.py SECONDS MODE"""
import sys
import threading
import time

UNTIL = time.time() + float(sys.argv[1])


def burn():
    x = 0
    print("burns", flush=True)
    while time.time() < UNTIL:
        for i in range(1000):
            x += i * i
    return x


class Work:
    def method(self):
        return burn()


def by_sort():
    """Python called by C called by Python"""
    return sorted([1], key=lambda v: Work().method())


def chain():
    by_sort()


class Positive:
    def __pos__(self):
        return burn()


def rare():
    """what GCC's profile of CPython calls cold: Debian's 3.11 has it in the loop's other part"""
    return +Positive()


def by_thread():
    burn()


def threads(n=4):
    """the main thread waits"""
    ts = [threading.Thread(target=by_thread) for _ in range(n)]
    for t in ts:
        t.start()
    for t in ts:
        t.join()


def many():
    """more threads than the sampler looks at in a list; the oldest one is busy"""
    over = threading.Event()
    for _ in range(100):
        threading.Thread(target=over.wait, daemon=True).start()
    burn()
    over.set()


def generator():
    def inner():
        yield 1
        burn()
        yield 2

    def outer():
        yield from inner()

    for _ in outer():
        pass


def coroutine():
    import asyncio

    async def last():
        await asyncio.sleep(0)
        burn()

    async def middle():
        await last()

    async def first():
        await middle()

    asyncio.new_event_loop().run_until_complete(first())


def hot():
    """loops that CPython's JIT compiles (PYTHON_JIT=1), with C between them"""
    def leaf(n):
        x = 0
        for i in range(n):
            x += i * i % 7
        return x

    def middle():
        return leaf(20000)

    print("burns", flush=True)
    while time.time() < UNTIL:
        sorted([1], key=lambda v: middle())


SUB = """
import time
def burn():
    x = 0
    print("burns", flush=True)
    while time.time() < %f:
        for i in range(1000):
            x += i * i
def in_sub():
    burn()
in_sub()
""" % UNTIL


def run_sub():
    try:
        import _interpreters as sub		# 3.13
        sub.exec(sub.create(), SUB)
    except ImportError:
        import _xxsubinterpreters as sub
        sub.run_string(sub.create(), SUB)


def interpreter():
    run_sub()


def interpreter_thread():
    """an interpreter in a thread of its own"""
    t = threading.Thread(target=run_sub)
    t.start()
    t.join()


def after_interpreter():
    """back in the main one"""
    global SUB
    SUB = "def f(): pass\nf()\n"
    run_sub()
    burn()


def main():
    globals()[sys.argv[2]]()


main()
