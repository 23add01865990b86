#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""oci_profiles.py DIRECTORY FIRST CHAIN [KEY=VALUE]...: how many samples of OTLP requests have it

DIRECTORY is that of tests/live/receiver.py, of whose requests those from number FIRST on
are read.  CHAIN: names of functions, leaf first, with commas.  Only resources count that have each attribute KEY=VALUE, or (KEY=) not that key.
Prints the number.
"""
import glob
import os
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "live"))
from wire import below, fields, numbers  # noqa: E402


def first(message, field, otherwise=0):
    return next((v for n, v in fields(message) if n == field), otherwise)


class Dictionary:
    def __init__(self, b):
        self.locations, self.functions = list(below(b, 2)), list(below(b, 3))
        self.strings, self.stacks = list(below(b, 5)), list(below(b, 7))

    def names(self, stack):
        """Function names, leaf first."""
        for indices in below(self.stacks[stack], 1):
            for i in numbers(indices):
                for line in below(self.locations[i], 3):
                    yield self.strings[first(self.functions[first(line, 1)], 1)].decode(errors="replace")


def attributes(resource_profiles):
    return {first(a, 1, b"").decode(): first(first(a, 2, b""), 1, b"")
            for a in below(resource_profiles, 1, 1)}


def wanted(have, conditions):
    return all(have.get(k) == v.encode() if v else k not in have for k, v in conditions)


def count(body, chain, conditions):
    found = 0
    dictionary = Dictionary(first(body, 2, b""))
    for r in below(body, 1):
        if not wanted(attributes(r), conditions):
            continue
        for sample in below(r, 2, 2, 2):
            names = list(dictionary.names(first(sample, 1)))
            if any(names[i:i + len(chain)] == chain for i in range(len(names))):
                found += sum(len(v) // 8 for n, v in fields(sample) if n == 5)
    return found


def main():
    folder, start, chain, *conditions = sys.argv[1:]
    total = 0
    for path in sorted(glob.glob(f"{folder}/*.body"))[int(start):]:
        with open(path, "rb") as f:
            body = f.read()
        # metrics come to the same receiver
        try:
            total += count(body, chain.split(","), [c.split("=", 1) for c in conditions])
        except (IndexError, TypeError, KeyError):
            continue
    print(total)


main()
