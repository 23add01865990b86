#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lines of functions in the page of a recording, in headless Chromium: what the
text about a box and the table say is what the samples were made of, of all of
them and of a part.  Skips without Chromium.
"""
import json
import os
import random
import re
import subprocess
import sys

import page_functions
from browser import Browser, find
from live import TRIFOLD, scratch, tap
from otlp_make import request

TESTS = []
MARK = 'id="data">'
START = 10**18
FILES = {"main": "/src/app/main.c", "parse": "/src/app/<b>parse.c", "walk": "/src/" + "deep/" * 60 + "walk.c", "leaf": "/src/<!--leaf.c"}


def samples(n):
    """[(ns, [(function, line), root first])]: walk calls itself, parse calls leaf from three lines."""
    pick = random.Random(7)
    out = []
    for i in range(n):
        at = START + i * 10**7
        # what runs changes with time
        stack = [("main", pick.choice((10, 10, 20)))]
        if pick.random() < (0.8 if i < n / 2 else 0.3):
            stack.append(("parse", pick.choice((31, 32, 32, 33))))
        else:
            for _ in range(pick.randrange(1, 4)):
                stack.append(("walk", pick.choice((51, 52))))
        if pick.random() < 0.6:
            stack.append(("leaf", pick.choice((71, 71, 71, 72, 73))))
        if pick.random() < 0.3:
            stack.append(("nowhere", 0))
        out.append((at, stack))
    return out


def write(path, made):
    """The .otlp file of these; its time i goes to stack i mod the number of stacks."""
    key = "{0[0]}:{0[1]}".format
    lines = {key(f): (f[0], "", FILES.get(f[0], ""), f[1]) for _, s in made for f in s}
    with open(path, "wb") as f:
        f.write(request([at for at, _ in made], [[key(f) for f in reversed(s)] for _, s in made], lines=lines))


def tip_lines(b):
    """Of the text about a box: {line: (self, total)}, in percent."""
    rows = b.eval("[...document.querySelectorAll('#tip tr')].slice(1).map(r => [...r.children].map(c => c.textContent))")
    share = lambda s: float(s.split()[0]) if s else 0.0
    return {r[0]: (share(r[1]), share(r[2])) for r in rows}


def table_lines(b):
    """Of the table of lines: {(line, function): (self, total)}, in samples."""
    return {tuple(k.split(" ", 1)): tuple(page_functions.numbers(v, 1, 3)) for k, v in page_functions.table(b, "lines").items()}


def name(function, line):
    return f"{os.path.basename(FILES[function])}:{line}"


def want_box(stacks, path):
    """The lines of the box that these functions lead to."""
    n, out = len(stacks), {}
    for s in stacks:
        if tuple(f for f, _ in s[:len(path)]) == path:
            line = name(*s[len(path) - 1])
            own, total = out.get(line, (0, 0))
            out[line] = (own + (len(s) == len(path)), total + 1)
    return {k: (round(100 * v[0] / n, 2), round(100 * v[1] / n, 2)) for k, v in out.items()}


def want_table(stacks):
    """Where a function calls itself, the total is of the outermost call, or self, if that is more."""
    out = {}
    for s in stacks:
        seen = set()
        for f, line in s:
            if f in FILES and f not in seen:
                out.setdefault((name(f, line), f), [0, 0])[1] += 1
            seen.add(f)
        f, line = s[-1]
        if f in FILES:
            out.setdefault((name(f, line), f), [0, 0])[0] += 1
    return {k: (v[0], max(v)) for k, v in out.items()}


def close(got, want, what):
    assert set(got) == set(want), (what, got, want)
    for k, v in want.items():
        assert all(abs(x - y) < 0.006 for x, y in zip(got[k], v)), (what, k, got[k], v)


def go(b, *path):
    """The cursor goes up from the process, one box after the other."""
    b.eval("document.getElementById('canvas').focus()")
    b.key("Home")
    b.key("ArrowUp")
    for f in path:
        b.key("ArrowUp")
        for _ in range(8):
            if b.eval("document.querySelector('#tip b').textContent") == f:
                break
            b.key("ArrowRight")
        assert b.eval("document.querySelector('#tip b').textContent") == f, (path, b.text("tip"))


def check(b, stacks, what):
    for path in (("main",), ("main", "parse"), ("main", "parse", "leaf"), ("main", "walk"), ("main", "walk", "walk")):
        go(b, *path)
        close(tip_lines(b), want_box(stacks, path), (what, path))
    got, want = table_lines(b), want_table(stacks)
    b.press("as-graph")
    assert got == want, (what, got, want)


def opened(fn):
    """Run fn(browser, stacks) on the page of such a recording."""
    def run():
        made = samples(2000)
        with scratch() as tmp:
            path = os.path.join(tmp, "a.html")
            write(os.path.join(tmp, "a.otlp"), made)
            subprocess.run([TRIFOLD, "convert", os.path.join(tmp, "a.otlp"), path], check=True, stderr=subprocess.DEVNULL)
            b = Browser(find(), "1200,700")
            try:
                b.open("file://" + path)
                b.wait("document.documentElement.dataset.state === 'ok'")
                fn(b, made)
                bad = b.complaints(lambda u: u.startswith(("file://" + path, "about:")))
                assert not bad, bad
            finally:
                b.end()
    TESTS.append((fn.__doc__, run))
    return run


@opened
def everything(b, made):
    """boxes and table have the lines of all samples; names of files are text"""
    check(b, [s for _, s in made], "all")
    go(b, "main", "parse")
    assert "<b>parse.c:32" in b.text("tip"), b.text("tip")
    go(b, "main", "walk")
    assert re.search(r"^walk\u2026[dep]*/?(deep/)+walk\.c:5[12]total", b.text("tip")), b.text("tip")
    go(b, "main", "parse")
    said = b.text("said")
    b.wait("document.getElementById('said').textContent.includes('Lines: <b>parse.c:32 ')", 10)
    assert "nowhere" not in said
    page_functions.find_box(b, "nowhere")
    assert not tip_lines(b), b.text("tip")


@opened
def a_range(b, made):
    """of a part of the time, lines of code that ran are exact, those of calls as well where a call has one line"""
    half = [s for at, s in made if at < START + 10**10]
    b.eval(f"location.hash = 'from={START // 10**6}&to={(START + 10**10) // 10**6}'")
    b.wait(f"document.documentElement.dataset.samples === '{len(half)}'")
    b.frame()
    for path in (("main", "parse", "leaf"), ("main", "walk", "leaf")):
        go(b, *path)
        want = {k: v[0] for k, v in want_box(half, path).items()}
        close({k: v[:1] for k, v in tip_lines(b).items()}, {k: (v,) for k, v in want.items()}, path)
    # each row's lines are its samples, however they are shared out
    go(b, "main", "parse")
    got, want = tip_lines(b), want_box(half, ("main", "parse"))
    assert abs(sum(v[1] for v in got.values()) - sum(v[1] for v in want.values())) < 0.03, (got, want)
    got, want = table_lines(b), want_table(half)
    b.press("as-graph")
    for k, (own, _) in want.items():
        assert got[k][0] == own, (k, got[k], own)


@opened
def merged(b, made):
    """reversed, about a function, and with a frame hidden"""
    stacks = [s for _, s in made]
    n = len(stacks)
    b.press("reverse")
    page_functions.find_box(b, "/^leaf$/")
    want = {k[0]: tuple(round(100 * x / n, 2) for x in v) for k, v in want_table(stacks).items() if k[1] == "leaf"}
    close(tip_lines(b), want, "reversed")
    b.type("query", "")
    b.press("reverse")
    page_functions.find_box(b, "/^parse$/")
    b.key("c")
    b.key("ArrowDown")
    b.key("ArrowUp")
    assert b.text("tip").startswith("parse"), b.text("tip")
    close(tip_lines(b), want_box(stacks, ("main", "parse")), "about parse")
    b.key("Escape")
    # without leaf its samples are in the line that called it
    page_functions.find_box(b, "/^nowhere$/")
    b.key("ContextMenu")
    page_functions.choose(b, "Hide")
    cut = [[f for f in s if f[0] != "nowhere"] for s in stacks]
    for path in (("main", "parse", "leaf"), ("main", "parse")):
        go(b, *path)
        close(tip_lines(b), want_box(cut, path), path)


@opened
def none_known(b, _):
    """what has no lines says so"""
    b.press("as-table")
    b.eval("document.querySelector('[data-list=lines]').click()")
    b.type("query", "no such line")
    b.frame()
    assert b.text("table-note").startswith("0 of 0 lines that match"), b.text("table-note")


@opened
def damaged(b, made):
    """lists of lines that make no sense: the page shows every sample"""
    path = b.eval("location.pathname")
    with open(path, encoding="utf-8") as f:
        text = f.read()
    at = text.index(MARK) + len(MARK)
    end = text.index("</script>", at)
    data = json.loads(text[at:end])
    n = 0
    for key in ("own", "own_more", "from", "from_more"):
        for odd in (None, [1.5] * len(data[key]), data[key][:-1], [10**6, 1, 1], [v - 10**9 for v in data[key]]):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text[:at] + json.dumps({**data, key: odd}).replace("<", "\\u003c") + text[end:])
            b.open("about:blank")
            b.open("file://" + path)
            assert b.data("state") == "ok" and b.data("samples") == str(len(made)), (key, odd)
            go(b, "main")
            n += 1
    assert n == 20, n


if __name__ == "__main__":
    if not find():
        print("ok 1 - lines of functions in a page # SKIP needs chromium\n1..1")
        sys.exit(0)
    tap(TESTS)
