# SPDX-License-Identifier: Apache-2.0
"""A life of some 50 ms, most of it in inner()."""
import time


def inner(end):
    x = 0
    while time.process_time() < end:
        for i in range(500):
            x += i
    return x


def outer():
    return inner(time.process_time() + 0.03)


outer()
