#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No language is named outside its own places.

A language of bpf/runtimes.def may be named there, in bpf/NAME* (and bpf/NAME/), in
symbolizerd/runtimes/NAME/ and in tests and docs; all else asks tables.  tests/languages lists
the lines that still do, by file: it can only shrink.  `tests/lint_languages.py --lines` prints
these lines, `--lower` writes the list anew where there are fewer.  Prints TAP.
"""
import collections
import os
import re
import subprocess
import sys

LIST = "tests/languages"
ROW = re.compile(r"^RUNTIME\((\d+), ([A-Z0-9_]+), ([a-z0-9_]+), .*?\"([^\"]+)\"", re.M)
# What else a language, or its implementation, is called.
ALIASES = {
    "python": ["cpython", "pyc", "pymalloc", "pep"],
    "hotspot": ["jvm", "java", "jdk", "openjdk", "libjvm", "jvms"],
    "go": ["golang", "pclntab", "goroutine"],
    "perl": ["cpan"],
    "v8": ["node", "nodejs"],
    "dotnet": ["coreclr"],
    "beam": ["erlang", "elixir"],
}
GO = (r"(?-i:\bGo\b(?! (?:to|on|back)\b)|\bgo_[a-z]|\b(?:RUNTIME|NAME|BATCH_FRAME|FRAME)_GO\b)")
FOLDERS = ("bpf/", "cli/", "common/", "exporterd/", "ipc/", "loaderd/", "profile/",
           "symbolizerd/", "viewer/")


def languages():
    """{name: what a line that names it looks like}"""
    found = {}
    with open("bpf/runtimes.def", encoding="utf-8") as f:
        text = f.read()
    rows = ROW.findall(text)
    assert len(rows) == text.count("\nRUNTIME("), "bpf/runtimes.def: a row is not in its form"
    for _, ident, name, title in rows:
        words = {ident.lower(), name, title.lower(), *ALIASES.get(name, [])}
        found[name] = re.compile(r"(?i)(?<![a-z])(?:%s)(?![a-z])" % "|".join(words - {"go"}))
        if name == "go":	# a word of English, too
            found[name] = re.compile(found[name].pattern + "|" + GO)
    return found


def own(path, name):
    """Is it a place of this language?"""
    return (path.startswith((f"bpf/{name}.", f"bpf/{name}_", f"bpf/{name}/",
                             f"symbolizerd/runtimes/{name}/")) or
            path == "bpf/runtimes.def")


def sources():
    names = subprocess.run(["git", "ls-files", *FOLDERS], check=True, capture_output=True,
                           text=True).stdout.split()
    return [n for n in names if not n.endswith((".md", ".svg", ".png"))]


def naming():
    """(file, number, line) of each that names a language where it must not."""
    known = languages()
    for path in sources():
        with open(path, errors="replace") as f:
            for number, line in enumerate(f, 1):
                if line.startswith("#!"):
                    continue
                if any(p.search(line) for name, p in known.items() if not own(path, name)):
                    yield path, number, line.rstrip()


def listed():
    rows = [line.split() for line in open(LIST) if line[0] != "#"]
    return {path: int(n) for n, path in rows}


def lower(allowed, counts):
    head = [line for line in open(LIST) if line[0] == "#"]
    left = {p: min(n, counts[p]) for p, n in allowed.items() if counts[p]}
    with open(LIST, "w") as f:
        f.writelines(head)
        f.writelines(f"{n} {p}\n" for p, n in sorted(left.items()))


def main():
    lines = list(naming())
    counts = collections.Counter(path for path, _, _ in lines)
    if "--lines" in sys.argv:
        print("\n".join(f"{p}:{n}: {line}" for p, n, line in lines))
        return 0
    allowed = listed()
    if "--lower" in sys.argv:
        lower(allowed, counts)
        return 0
    for path, n in sorted(allowed.items()):
        if counts[path] < n:
            print(f"# {path}: {counts[path]} lines, {LIST} says {n}: --lower")
    bad = [f"{p}: {n} lines, {allowed.get(p, 0)} are listed"
           for p, n in sorted(counts.items()) if n > allowed.get(p, 0)]
    for line in bad:
        print("#", line)
    print(f"# {sum(counts.values())} lines in {len(counts)} files are left")
    print(("not ok" if bad else "ok") + " - no line more names a language outside its places")
    return bool(bad)


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main())
