#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who includes whom.

docs/HACKING.md shows which folder may include which others, between the
lines "<!-- arrows -->" and "<!-- end of arrows -->": one folder a row, or all folders
of one (`NAME/*/`), then what it may include.  Holds the sources against that table, the table against
circles, and looks for circles between modules (a .c file with its header).
Prints TAP.
"""
import collections
import os
import re
import subprocess
import sys

HEADER = re.compile(r'^#include "([^"]+)"', re.M)
GENERATED = re.compile(r"\.(skel|pb-c)\.h$")


def table():
    """{folder: [folders]} as docs/HACKING.md has it."""
    text = open("docs/HACKING.md").read()
    block = text.split("<!-- arrows -->")[1].split("<!-- end of arrows -->")[0]
    rows = {}
    for line in block.splitlines():
        cells = [re.findall(r"`([^`]+)/`", cell) for cell in line.split("|")]
        if len(cells) > 3 and cells[1]:
            rows[cells[1][0]] = cells[3]
    return rows


def sources():
    names = subprocess.run(["git", "ls-files", "*.c", "*.h"], check=True,
                           capture_output=True, text=True).stdout.split()
    return [name for name in names if not name.startswith("tests/")]


def includes(name):
    """Paths of ours that a file includes, generated ones by their source."""
    folder = os.path.dirname(name)
    for path in HEADER.findall(open(name).read()):
        path = GENERATED.sub(".h", path)
        if "/" not in path or not os.path.dirname(path):
            path = os.path.join(folder, path)
        yield path


def circles(graph):
    """Strongly connected parts of more than one node (Tarjan)."""
    index, low, stack, found = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in graph.get(node, ()):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                found.append(sorted(part))

    sys.setrecursionlimit(10000)
    for node in sorted(graph):
        if node not in index:
            visit(node)
    return found


def row_of(folder, rows):
    """The folder of the row that speaks of this one."""
    return folder if folder in rows else os.path.dirname(folder) + "/*"


def check(name, offending):
    for line in offending:
        print("#", line)
    print(("not ok" if offending else "ok") + " - " + name)
    return bool(offending)


def main():
    allowed = table()
    used = collections.defaultdict(set)
    modules = collections.defaultdict(set)
    bad = []
    for name in sources():
        folder = os.path.dirname(name)
        for path in includes(name):
            to = os.path.dirname(path)
            modules[os.path.splitext(name)[0]].add(os.path.splitext(path)[0])
            if to == folder:
                continue
            row = row_of(folder, allowed)
            used[row].add(to)
            if to not in allowed.get(row, []):
                bad.append(f"{name} includes {path}")
    for module, others in modules.items():
        others.discard(module)
    failed = [
        check("no folder includes what docs/HACKING.md does not allow", bad),
        check("every arrow of docs/HACKING.md is used", [
            f"{folder} -> {to}" for folder, others in sorted(allowed.items())
            for to in others if to not in used[folder]]),
        check("no circle between folders", [
            " ".join(part) for part in circles(used)]),
        check("no circle between modules", [
            " ".join(part) for part in circles(modules)]),
    ]
    return any(failed)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main())
