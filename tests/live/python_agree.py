# SPDX-License-Identifier: Apache-2.0
"""Random stacks of Python's kinds of calls, and what Python itself says of each.

    python_agree.py LIBRARY PLACES MS FILE [SEED]

Each stack ends in a function of its own in the library, spin_0() to spin_PLACES-1(), for
some milliseconds of CPU time.  FILE gets for each [[function, file, line], ...], innermost
first, as sys._getframe() had it at that moment.  All stacks come again and again, until it
is killed.
"""
import contextlib
import ctypes
import functools
import json
import os
import random
import re
import sys
import threading

library = ctypes.PyDLL(sys.argv[1])
PLACES, MS = int(sys.argv[2]), int(sys.argv[3])
SPIN = [getattr(library, "spin_%d" % i) for i in range(PLACES)]
SEED = int(sys.argv[5]) if len(sys.argv) > 5 else 1
chance = random.Random()
stacks = []


def here():
    """Note the stack of the caller; its number."""
    f, stack = sys._getframe(1), []
    while f:
        code = f.f_code
        stack.append([getattr(code, "co_qualname", code.co_name), code.co_filename, f.f_lineno])
        f = f.f_back
    stacks.append(stack)
    return len(stacks) - 1


def leaf(depth):
    return SPIN[here()](MS)


def plain(depth):
    deeper(depth)
    return depth


def many_lines(depth):
    return [1, 2,
            deeper(depth),
            3]


def recursive(depth, n=5):
    return recursive(depth, n - 1) if n else deeper(depth)


def by_sort(depth):
    return sorted([depth], key=lambda d:
                  deeper(d))


class Ordered:
    def __init__(self, depth):
        self.depth = depth

    def __lt__(self, other):
        deeper(self.depth)
        return True

    def __getitem__(self, n):
        return deeper(self.depth)

    @property
    def value(self):
        return deeper(self.depth)

    @classmethod
    def of_class(cls, depth):
        return deeper(depth)

    @staticmethod
    def of_nobody(depth):
        return deeper(depth)

    def __del__(self):
        if self.depth < 0:
            deeper(-self.depth)


def by_compare(depth):
    return sorted([Ordered(depth), Ordered(depth)])


def by_index(depth):
    return Ordered(depth)[0]


def by_property(depth):
    return Ordered(depth).value


def by_class(depth):
    return Ordered.of_class(depth)


def by_static(depth):
    return Ordered.of_nobody(depth)


def by_del(depth):
    Ordered(-depth)


def by_map(depth):
    return list(map(deeper, [depth]))


def by_reduce(depth):
    return functools.reduce(lambda a, b: deeper(depth), [1, 2])


def by_partial(depth):
    return functools.partial(plain, depth)()


def by_regex(depth):
    return re.sub("a", lambda m: str(deeper(depth)), "a")


def rows(depth):
    yield 1
    yield deeper(depth)


def rows_of_rows(depth):
    yield from rows(depth)


def by_generator(depth):
    for _ in rows(depth):
        pass


def by_delegation(depth):
    return sum(1 for x in rows_of_rows(depth))


def by_list(depth):
    return [deeper(d) for d in (depth,)]


def by_dict(depth):
    return {d: deeper(d) for d in (depth,)}


def by_class_body(depth):
    class Body:
        x = deeper(depth)
    return Body


def wrapped(f):
    @functools.wraps(f)
    def wrapper(*args):
        return f(*args)
    return wrapper


@wrapped
def by_decorator(depth):
    return deeper(depth)


def by_handler(depth):
    try:
        raise ValueError
    except ValueError:
        deeper(depth)
    finally:
        str(depth)


def by_finally(depth):
    try:
        return 1
    finally:
        deeper(depth)


@contextlib.contextmanager
def context(depth):
    deeper(depth)
    yield


def by_with(depth):
    with context(depth):
        pass


async def inner(depth):
    return deeper(depth)


async def outer(depth):
    return await inner(depth)


def finish(coroutine):
    try:
        coroutine.send(None)
    except (StopIteration, StopAsyncIteration):
        pass


def by_await(depth):
    finish(outer(depth))


async def arows(depth):
    yield deeper(depth)


async def aloop(depth):
    async for _ in arows(depth):
        pass


def by_async_for(depth):
    finish(aloop(depth))


@functools.lru_cache(maxsize=None)
def made(line):
    """Code that is kept: of that which is made again and again, two may have one cookie (docs/SUPPORT.md)."""
    return compile("\n" * line + "deeper(depth)", "made.py", "exec")


def by_exec(depth):
    exec(made(chance.randrange(3000)),
         {"deeper": deeper, "depth": depth})


def by_eval(depth):
    return eval("deeper(depth)", {"deeper": deeper, "depth": depth})


def by_thread(depth):
    t = threading.Thread(target=deeper, args=(depth,))
    t.start()
    t.join()


KINDS = [plain, many_lines, recursive, by_sort, by_compare, by_index, by_property, by_class,
         by_static, by_del, by_map, by_reduce, by_partial, by_regex, by_generator,
         by_delegation, by_list, by_dict, by_class_body, by_decorator, by_handler, by_finally,
         by_with, by_await, by_async_for, by_exec, by_eval, by_thread]


def deeper(depth):
    return chance.choice(KINDS)(depth - 1) if depth > 1 else leaf(depth)


def main():
    chance.seed(SEED)
    while len(stacks) < PLACES:
        deeper(chance.randrange(2, 9))


def say():
    if not os.path.exists(sys.argv[4]):
        with open(sys.argv[4] + ".new", "w") as f:
            json.dump(stacks, f)
        os.rename(sys.argv[4] + ".new", sys.argv[4])


while True:
    main()
    say()
    del stacks[:]
