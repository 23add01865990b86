#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plain C where privileges are: one effect a statement, and none in a condition.

Refused in loaderd/, cli/supervisor/, cli/start/, ipc/ and common/: an assignment, ++ or --
in a condition or beside && or ||; a ?: in a ?:; += and the like of a truth value; and
a comparison added or subtracted as a number.
"""
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import c_source  # noqa: E402

FOLDERS = ("loaderd", "cli/supervisor", "cli/start", "ipc", "common")


class Judge(c_source.Walk):
    """What is not plain in a function's body: (line, what)."""

    def __init__(self):
        self.found = []

    def refuse(self, tokens, what):
        self.found += [(t.line, what) for t in tokens]

    def condition(self, tokens):
        self.refuse(c_source.effects(tokens), "an effect in a condition")
        self.simple(tokens)

    def heading(self, tokens):
        self.simple(tokens)

    def simple(self, tokens):
        # .member = value assigns nothing
        tokens = [t._replace(text=":=") if c_source.designator(tokens, i) and t.text == "=" else t
                  for i, t in enumerate(tokens)]
        self.refuse(hidden(tokens), "an effect in a condition")
        conditional = [i for i, t in enumerate(tokens) if t.text == "?"]
        self.refuse([tokens[i] for i in conditional if inside_another(tokens, i)],
                    "a conditional expression in another one")
        self.refuse(c_source.added_truths(tokens), "a truth value is added")
        for i, t in enumerate(tokens[:-1]):
            if t.text in ("+", "-") and tokens[i + 1].text == "(":
                end = c_source.closing(tokens, i + 1)
                if c_source.truth(tokens[i + 2:end]):
                    self.refuse([t], "a truth value is added")


def hidden(tokens):
    """Effects in the operands of &&, || and ?:."""
    found, at = [], 0
    while at <= len(tokens):
        end = c_source.find(tokens, at, {","})
        part, at = tokens[at:end], end + 1
        # what the whole part is assigned to is no operand
        value = 0
        while (after := c_source.find(part, value, c_source.ASSIGNMENTS)) < len(part):
            value = after + 1
        if c_source.find(part, value, {"&&", "||", "?"}) < len(part):
            found += c_source.effects(part[value:])
            continue
        i = 0
        while i < len(part):
            if part[i].text in c_source.CLOSING:
                end = c_source.closing(part, i)
                found += hidden(part[i + 1:end])
                i = end
            i += 1
    return found


def inside_another(tokens, at):
    """Is this ? in the same expression as another one before it?"""
    first, last = 0, len(tokens)
    # from the last comma, assignment or bracket of a call on
    depth = 0
    for i in range(at - 1, -1, -1):
        text = tokens[i].text
        if text in c_source.CLOSING.values():
            depth += 1
        elif text in c_source.CLOSING:
            depth -= 1
            if depth < 0 and (text != "(" or (i and re.match(r"[\w\])]", tokens[i - 1].text))):
                first = i + 1
                break
            depth = max(depth, 0)
        elif not depth and text in {",", "=", ":="}:
            first = i + 1
            break
    return any(t.text == "?" for t in tokens[first:at]) and last > at


def refused(text):
    found = []
    for definition in c_source.definitions(text):
        judge = Judge()
        if definition.kind == "function":
            judge.block(definition.tokens)
        else:
            judge.simple(definition.tokens)
            first = definition.lines[0] - 1 if definition.kind == "macro" else 0
            judge.found = [(first + line, what) for line, what in judge.found]
        found += judge.found
    return sorted(set(found))


BAD = """
if (a && b++) c();|while ((n = read(f)) > 0) c();|for (i = 0; i < n && x--; i++) c();
do c(); while (--n);|x = a && b++;|return a || (b = c);|switch (a++) { case 1: break; }
x = a ? b : c ? d : e;|return (a ? b : c) ? d : e;|x = a ?: b ?: c;|f(a ? b : c ? d : e);
n += a == b;|n -= !a;|ready |= a > b;|x = y + (a != b);|x = y - (i > 0);
"""
GOOD = """
if (a && b) c++;|n = read(f);|for (i = 0, j = 1; i < n; i++) c();|do c(); while (n);
x = a && b;|x = y = a && b;|x = a ? b : c;|x = (struct s){ .a = b ? 1 : 2, .c = d ? 3 : 4 };
f(a ? b : c, d ? e : f);|x = a ? f(b) : g(c);|return a == b;|n += f(a == b);|x |= y;
x = y + (a << b);|int a = 1, b = c && d;|a[n++] = b;|if (f(a, b) == 0) g();
"""


def self_check():
    """Of these all, and of those none, are refused."""
    wrong = []
    for text, expected in ((BAD, True), (GOOD, False)):
        for body in filter(str.strip, re.split(r"[|](?![|=])(?<![|].)|\n", text)):
            if bool(refused("void f(void)\n{\n" + body + "\n}\n")) != expected:
                wrong.append(body)
    return wrong


def check(name, offending):
    for line in offending:
        print("#", line)
    print(("not ok" if offending else "ok") + " - " + name)
    return bool(offending)


def main():
    names = subprocess.run(["git", "ls-files"] + [f"{folder}/*.[ch]" for folder in FOLDERS],
                           check=True, capture_output=True, text=True).stdout.split()
    failed = check("the lint of plain C refuses what it should", self_check())
    failed |= check("what runs with privileges is plain C", [
        f"{name}:{line}: {what}" for name in names if os.path.exists(name)
        for line, what in refused(open(name).read())])
    return failed


if __name__ == "__main__":
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    sys.exit(main())
