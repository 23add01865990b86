#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The privileged code: the statements of what the linker took into a program.

usage: tcb.py PROGRAM LINKER-MAP DEPENDENCIES.d...

Fails when there are more statements than tests/tcb.limit (or $TCB_LIMIT) allows.

Counted are our functions and variables that the map has after --gc-sections; the functions,
variables and macros of their files that these name, directly or by each other, since a compiler
may have inlined them; and nothing else of a file.  A function is worth:

  1  each simple statement, and each declaration that has an initializer
  1  each if, for, while, do, switch, case, default, return, break, continue, goto
  1  each && and ||
  2  each ?:, as much as the if that it stands for
  1  each further assignment, ++ or -- in one statement, or in a condition; a for has one
     in its first and one in its last part free
  1  each += and the like of a truth value, as in `n += a == b`
  1  each comma operator

A variable with an initializer is worth 1, a macro what the expressions and statements in
it are.  Declarations without a value, types, prototypes and constants are worth nothing.
"""
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import c_source  # noqa: E402

CLONE = re.compile(r"\.(part|isra|constprop|cold|lto_priv|localalias|\d+)\b.*")
SECTION = re.compile(r"^ \.(?:text|data|rodata|bss)(?:\.(?:rel\.ro|local|unlikely|startup|hot|exit))*"
                     r"\.([A-Za-z_][\w.]*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+)\s+(\S+\.o)$", re.M)


class Counter(c_source.Walk):
    """The value of a function's body."""

    def __init__(self):
        self.value = 0

    def control(self, keyword, line):
        self.value += 1

    def condition(self, tokens):
        self.value += operators(tokens) + len(c_source.effects(tokens)) + commas(tokens)

    def heading(self, tokens):
        self.value += operators(tokens)
        self.value += max(0, len(c_source.effects(tokens)) - 1)

    def simple(self, tokens):
        if tokens[0].text == "_Static_assert":
            return
        assigned = len(c_source.effects(tokens))
        called = any(t.text == "(" for t in c_source.plain_head(tokens))
        self.value += max(assigned, 1 if called else 0) + operators(tokens)
        self.value += len(c_source.added_truths(tokens))
        if not declares(tokens):
            self.value += commas(tokens)


def operators(tokens):
    return sum({"&&": 1, "||": 1, "?": 2}.get(t.text, 0) for t in tokens)


def declares(tokens):
    """Do two words follow each other, as in `int x` or `struct x *y`?"""
    words = [bool(re.match(r"[A-Za-z_]", t.text)) for t in tokens]
    return len(words) > 1 and words[0] and (words[1] or (
        tokens[1].text == "*" and len(words) > 3 and words[2] and tokens[3].text in "=,[;"))


def commas(tokens):
    """Comma operators: those outside of calls and initializers."""
    found, at = 0, 0
    while at < len(tokens):
        if tokens[at].text == ",":
            found += 1
        if tokens[at].text not in c_source.CLOSING:
            at += 1
            continue
        end = c_source.closing(tokens, at)
        grouping = tokens[at].text == "(" and not (
            at and re.match(r"[\w\])]", tokens[at - 1].text))
        if grouping:
            found += commas(tokens[at + 1:end])
        else:
            found += sum(commas(part) for part in arguments(tokens[at + 1:end]))
        at = end + 1
    return found


def arguments(tokens):
    """The tokens between commas."""
    parts, at = [], 0
    while at < len(tokens):
        end = c_source.find(tokens, at, {","})
        parts.append(tokens[at:end])
        at = end + 1
    return parts


def value(definition):
    if definition.kind == "function":
        counter = Counter()
        counter.block(definition.tokens)
        return counter.value
    if definition.kind == "variable":
        return 1 + operators(definition.tokens)
    statements = sum(t.text == ";" for t in definition.tokens)
    return (statements + operators(definition.tokens) +
            len(c_source.effects(definition.tokens)))


def linked(map_text):
    """{object: names} of functions and variables that have a place in the program."""
    taken = map_text.split("Linker script and memory map", 1)[1]
    names = {}
    # a long name has a line of its own
    for name, size, path in SECTION.findall(re.sub(r"\n +(?=0x[0-9a-f]+ +0x)", " ", taken)):
        if int(size, 16):
            names.setdefault(os.path.normpath(path), set()).add(CLONE.sub("", name))
    return names


def is_ours(path):
    """Of this tree, and not generated; or of the directory that a test names."""
    made_up = os.environ.get("TCB_SOURCES")
    if made_up:
        return path.startswith(made_up)
    return not path.startswith(("/", "..", "build"))


def sources(dependencies):
    """{object: its own files, the .c file first}, from what the compiler wrote."""
    found = {}
    for path in dependencies:
        for rule in open(path).read().replace("\\\n", " ").split("\n"):
            target, colon, files = rule.partition(":")
            files = [os.path.normpath(f) for f in files.split()]
            if colon and files:
                found[os.path.normpath(target)] = [
                    f for f in files if f.endswith((".c", ".h")) and is_ours(f)]
    return found


def survivors(taken, files):
    """{(file, kind, name): definition} of all that is in the program."""
    parsed = {f: c_source.definitions(open(f).read()) for own in files.values() for f in own}
    alive = {}
    for obj, own in files.items():
        here = [(f, d) for f in own for d in parsed[f]]
        todo = [(f, d) for f, d in here if d.kind != "macro" and d.name in taken.get(obj, ())]
        while todo:
            f, d = todo.pop()
            if (f, d.kind, d.name) in alive and f.endswith(".c"):
                continue
            seen = (f, d.kind, d.name) in alive
            alive[f, d.kind, d.name] = d
            if seen:
                continue
            named = {t.text for t in d.tokens}
            todo += [(g, e) for g, e in here if e.name in named]
    return alive


def main():
    program, map_path, dependencies = sys.argv[1], sys.argv[2], sys.argv[3:]
    limits = dict(line.split() for line in open(os.environ.get("TCB_LIMIT", "tests/tcb.limit"))
                  if line.strip() and not line.startswith("#"))
    if program not in limits:
        sys.exit(f"{program}: no limit is written for it")
    limit = int(limits[program])
    taken = linked(open(map_path).read())
    if not any(taken.values()):
        sys.exit(f"{map_path}: has no sections of functions")
    by_file = {}
    for (path, _, name), definition in survivors(taken, sources(dependencies)).items():
        by_file.setdefault(path, []).append((value(definition), name))
    total = 0
    print("statements  file")
    for path, counted in sorted(by_file.items()):
        here = sum(worth for worth, _ in counted)
        total += here
        if here:
            print(f"{here:10}  {path}")
        if "TCB_FUNCTIONS" in os.environ:
            for worth, name in sorted(counted, reverse=True):
                print(f"{worth:10}      {name}")
    print(f"{total:10}  {program} in all (limit: {limit} statements)")
    if total > limit:
        sys.exit(f"{program}: {total} statements of privileged code, {limit} are allowed")
    return 0


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main())
