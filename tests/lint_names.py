#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names and sizes: what docs/HACKING.md promises of functions and structs.

A name of a function or a struct leads to one place, and a function fits a
screen.  `tests/lint_names.py --sizes` prints the figures instead of TAP.
"""
import collections
import os
import re
import statistics
import subprocess
import sys

LINES_MAX = 60		# of a function; BPF programs are checked as they are
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
TAG = re.compile(r"^(?:struct|union|enum)\s+(\w+)\s*\{", re.M)
# Names that may stand in several files.
FUNCTIONS = {
    "main",
}


def blank(match):
    """A comment without its text: line numbers stay."""
    return re.sub(r"[^\n]", " ", match.group(0))


def functions(text):
    """(name, lines) of each function: its body begins and ends in column 0."""
    lines = text.split("\n")
    for i, line in enumerate(lines):
        if line != "{":
            continue
        first = i
        while first and not re.search(r"[;}]\s*$|^#|^\s*$", lines[first - 1]):
            first -= 1
        head = re.sub(r"__attribute__\(\(.*?\)\)\)?", "",
                      " ".join(lines[first:i]))
        name = re.search(r"(\w+)\s*\(", head)
        if name:
            yield name.group(1), lines.index("}", i) - first + 1


STATIC = re.compile(r"^static\s[^;{}()=]*?(\w+)\([^;]*?\)\n\{", re.M)


def prefixes(path, text):
    """What the name of a static function in this file may begin with: the file's name
    (whole, its first word, its singular), its folder's, the tag of a struct that the
    file or its header declares, or the first word of a function of that header."""
    folder, name = os.path.split(path)
    stem, folder = name.partition(".")[0], os.path.basename(folder)
    header = os.path.splitext(path)[0] + ".h"
    declared = COMMENT.sub(blank, open(header).read()) if os.path.exists(header) else ""
    found = {stem, stem.split("_")[0], stem.removesuffix("s"), folder, folder.removesuffix("d")}
    found |= set(TAG.findall(text)) | set(TAG.findall(declared))
    return found | {f.split("_")[0] for f in re.findall(r"^\w[\w\s*]*?(\w+)\(", declared, re.M)}


def without_prefix(path, text):
    """Static functions of a .c file whose name does not say where they stand."""
    allowed = prefixes(path, text)
    return [f for f in STATIC.findall(text)
            if not any(f == p or f.startswith(p + "_") for p in allowed)]


def sources():
    names = subprocess.run(["git", "ls-files", "*.c", "*.h"], check=True,
                           capture_output=True, text=True).stdout.split()
    return [name for name in names if not name.startswith("tests/")]


def check(name, offending):
    for line in sorted(offending):
        print("#", line)
    print(("not ok" if offending else "ok") + " - " + name)
    return bool(offending)


def main():
    where = collections.defaultdict(set)
    tags = collections.defaultdict(set)
    sizes, strays = [], []
    for name in sources():
        text = COMMENT.sub(blank, open(name).read())
        for tag in TAG.findall(text):
            tags[tag].add(name)
        if name.endswith(".c") and not name.startswith("bpf/"):
            strays += [f"{name}: {f}" for f in without_prefix(name, text)]
        for function, lines in functions(text) if name.endswith(".c") else ():
            where[function].add(name)
            sizes.append((lines, function, name))
    if "--sizes" in sys.argv:
        lines = sorted(size[0] for size in sizes)
        shared = sum(len(n) for n in where.values() if len(n) > 1)
        print(f"{len(lines)} functions, lines: median "
              f"{statistics.median(lines):.0f}, p90 "
              f"{lines[len(lines) * 9 // 10]}, longest {lines[-1]}; "
              f"{100 * shared / len(lines):.1f} % share a name; "
              f"{sum(len(n) > 1 for n in tags.values())} tags twice")
        return 0
    if "--prefixes" in sys.argv:
        print("\n".join(sorted(strays)))
        return 0
    failed = [
        check("a function's name stands in one file", [
            f"{function}: {' '.join(sorted(names))}"
            for function, names in where.items()
            if len(names) > 1 and function not in FUNCTIONS]),
        check("a struct's tag is declared once", [
            f"{tag}: {' '.join(sorted(names))}"
            for tag, names in tags.items() if len(names) > 1]),
        check("a static function has its module's prefix", strays),
        check(f"no function is over {LINES_MAX} lines", [
            f"{name}: {function}: {lines}" for lines, function, name in sizes
            if lines > LINES_MAX and not name.startswith("bpf/")]),
    ]
    return any(failed)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main())
