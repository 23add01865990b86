#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold diff`: on files by hand, and on two recordings of one program.

Usage: test_diff.py
"""
import json
import os
import re
import shutil
import subprocess

import browser
from live import Skip, Suite, TRIFOLD, compile_c, record, say, scratch
from otlp_make import request

suite = Suite()


def diff(*args, status=0):
    r = subprocess.run([TRIFOLD, "diff", *args], capture_output=True, text=True)
    assert r.returncode == status, f"{r.returncode}: {r.stdout}{r.stderr}"
    return r.stderr if status else r.stdout


def write(tmp, name, text):
    path = os.path.join(tmp, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


@suite.test
def mistakes():
    """what is wrong is one line, with file and line, and a status"""
    with scratch() as tmp:
        good, bad = write(tmp, "a", "a;b 1\n"), write(tmp, "b", "a;b 1\na;b x\n")
        said = diff(good, bad, status=1)
        assert said.startswith(f"trifold: {bad}:2: no whole number"), said
        assert "no samples" in diff(write(tmp, "c", ""), good, status=1)
        assert "No such file" in diff(good, os.path.join(tmp, "none"), status=1)
        assert "Is a directory" in diff(good, tmp, status=1)
        assert "two recordings" in diff(good, status=2)
        assert "unexpected" in diff(good, good, good, status=2)
        assert ".html and .folded" in diff(good, good, "--output", "x.svg", status=2)
        with open("/dev/full", "w") as full:
            r = subprocess.run([TRIFOLD, "diff", good, good], stdout=full,
                               stderr=subprocess.PIPE, text=True)
        assert r.returncode == 1 and "No space left" in r.stderr, r


@suite.test
def forms():
    """table, JSON, two-number stacks and pipes say the same"""
    with scratch() as tmp:
        a = write(tmp, "a.folded", "app;main;f 1\napp;main;g 3\n")
        b = write(tmp, "b.folded", "app;main;f 60\napp;main;g 35\napp;<b> 5\n")
        rows = [x.split() for x in diff(a, b).splitlines()[4:]]
        assert rows[0] == ["75.00%", "35.00%", "-40.00", "75.00%", "35.00%", "-40.00", "g"], rows
        assert rows[1][-1] == "f" and rows[1][2] == "+35.00", rows
        assert len(rows) == 5, rows     # and no word of more
        few = diff(a, b, "--limit", "2").splitlines()
        assert len(few) == 8 and few[-1] == "2 of 5 functions; --limit shows more", few
        j = json.loads(diff(a, b, "--json"))
        assert j["files"] == [a, b] and j["samples"] == [4, 100], j
        assert j["functions"][0] == {"name": "g", "self": [3, 35], "total": [3, 35]}, j
        assert j["functions_in_all"] == len(j["functions"]) == 5, j
        out = os.path.join(tmp, "d.folded")
        assert diff(a, b, "--output", out) == ""
        with open(out, encoding="utf-8") as f:
            assert f.read() == "app;<b> 0 5\napp;main;f 1 60\napp;main;g 3 35\n"
        # on a terminal too, which its child may not ask about
        shown = subprocess.run(["script", "-qec", f"{TRIFOLD} diff {a} {b}", "/dev/null"], capture_output=True, text=True,
                               check=True)
        assert shown.stdout.replace("\r", "") == diff(a, b), shown
        piped = subprocess.run(["bash", "-c", f"{TRIFOLD} diff <(cat {a}) <(cat {b}) --json"],
                               capture_output=True, check=True)
        assert json.loads(piped.stdout)["functions"] == j["functions"]


def otlp(tmp, name, stacks, lines):
    path = os.path.join(tmp, name)
    with open(path, "wb") as f:
        f.write(request([10**18 + i for i in range(len(stacks))], stacks, lines=lines))
    return path


@suite.test
def lines():
    """by function and by line: .otlp and folded stacks with lines say the same; names as asked"""
    where = {"m1": ("main", "", "/src/m.c", 7), "f1": ("ns::f(int)", "_ZN2ns1fEi", "/src/f.c", 10),
             "f2": ("ns::f(int)", "_ZN2ns1fEi", "/src/f.c", 20)}
    with scratch() as tmp:
        a = otlp(tmp, "a.otlp", [["f1", "m1"], ["f1", "m1"], ["f1", "m1"], ["f2", "m1"]], where)
        b = otlp(tmp, "b.otlp", [["f1", "m1"], ["f2", "m1"]], where)
        functions = {"prog": [[0, 0], [4, 2]], "main": [[0, 0], [4, 2]], "ns::f": [[4, 2], [4, 2]]}
        by_line = {"prog": [[0, 0], [4, 2]], "main (m.c:7)": [[0, 0], [4, 2]],
                   "ns::f (f.c:10)": [[3, 1], [3, 1]], "ns::f (f.c:20)": [[1, 1], [1, 1]]}

        def rows(key, *args):
            j = json.loads(diff(*args, "--json"))
            assert j[key + "_in_all"] == len(j[key]), j
            return {r["name"]: [r["self"], r["total"]] for r in j[key]}
        folded = [os.path.join(tmp, x + ".folded") for x in "ab"]
        for source, to in zip((a, b), folded):
            subprocess.run([TRIFOLD, "convert", source, to, "--lines"], check=True, capture_output=True)
        for pair in ((a, b), folded, (a, folded[1])):
            assert rows("functions", *pair) == functions, rows("functions", *pair)
            assert rows("lines", *pair, "--by", "line") == by_line, rows("lines", *pair, "--by", "line")
        assert "function (line)" in diff(a, b, "--by", "line") and "(f.c:20)" in diff(a, b, "--by", "line")
        assert "ns::f(int)" in rows("functions", a, b, "--names", "full")
        assert "_ZN2ns1fEi" in rows("functions", a, b, "--names", "raw")
        plain = write(tmp, "plain.folded", "prog;main 1\n")
        said = diff(a, plain, "--by", "line", status=1)
        assert said.startswith(f"trifold: {plain} has no lines"), said
        assert "for .otlp files" in diff(plain, plain, "--names", "raw", status=2)
        assert "--names needs one of short|full|raw" in diff(a, b, "--names", "long", status=2)
        bad = write(tmp, "bad.otlp", "x" * 99)
        assert "is not an OTLP request" in diff(a, bad, status=1)
        out = os.path.join(tmp, "d.html")
        diff(a, b, "--by", "line", "--output", out)
        with open(out, encoding="utf-8") as f:
            assert "ns::f (f.c:20)" in f.read()


def two_files(tmp):
    return (write(tmp, "a.folded", "app;main;f 1\napp;main;g 3\napp;sys_[k] 2\n"),
            write(tmp, "b.folded", "app;main;f 60\napp;main;g 35\napp;</script><b> 5\n"
                                   "new;[stack ends: no_table];main 20\n"))


@suite.test
def the_page():
    """the page has every stack with both numbers, its kind, and no markup"""
    with scratch() as tmp:
        a, b = two_files(tmp)
        out = os.path.join(tmp, "d.html")
        diff(a, b, "--output", out)
        with open(out, encoding="utf-8") as f:
            text = f.read()
        d = json.loads(re.search(r'<script[^>]*id="data"[^>]*>(.*?)</script>', text, re.S)[1])
        assert d["diff"] and d["info"]["files"] == [a, b], d["info"]
        assert d["info"]["samples"] == 120 and d["info"]["base"]["samples"] == 6
        stacks, path = {}, []
        for i in range(0, len(d["rows"]), 4):
            label, up, now, base = d["rows"][i:i + 4]
            del path[len(path) - up:]
            path.append((d["strings"][d["labels"][3 * label]], d["labels"][3 * label + 2]))
            if now or base:
                stacks[tuple(path)] = (base, now)
        app, main = ("app", 0), ("main", 2)
        assert stacks == {
            (app, ("</script><b>", 2)): (0, 5), (app, main, ("f", 2)): (1, 60),
            (app, main, ("g", 2)): (3, 35), (app, ("sys", 1)): (2, 0),
            (("new", 0), ("[stack ends: no_table]", 5), main): (0, 20)}, stacks


@suite.test
def the_page_in_a_browser():
    """a browser shows it in two colours, and when filtered"""
    chromium = browser.find()
    if not chromium:
        raise Skip("no chromium")
    with scratch() as tmp:
        a, b = two_files(tmp)
        out = os.path.join(tmp, "d.html")
        diff(a, b, "--output", out)
        page = browser.Browser(chromium)
        try:
            page.open("file://" + out)
            assert "120 samples" in page.text("about"), page.text("about")
            assert "A is the base" in page.text("account"), page.text("account")
            assert page.data("samples") == "120", page.data("samples")
            body = "document.body.textContent"
            assert page.eval(body + ".includes('more than in the base')")
            page.eval("[...document.querySelectorAll('[data-key=process]')]"
                      ".find((e) => e.dataset.value === 'app').click()")
            page.frame()
            assert page.data("samples") == "100", page.data("samples")
            assert page.data("rows") == "6", page.data("rows")    # with "sys", of A alone
        finally:
            page.end()


@suite.test
def a_real_difference():
    """of a program at two settings, the function that grew is first"""
    if not shutil.which("gcc"):
        raise Skip("no gcc")
    with scratch() as tmp:
        prog = compile_c("cases/grows.c", os.path.join(tmp, "grows"))
        files = []
        for part in ("10", "80"):
            files.append(os.path.join(tmp, part + ".folded"))
            record(files[-1], "--frequency", "199", "--", prog, part, "3")
        table = diff(*files, "--limit", "5")
        say(table)
        rows = [x.split() for x in table.splitlines()[4:9]]
        names = [r[-1] for r in rows]
        assert names[0] == "the_one_that_grows", names
        assert set(names[1:3]) == {"one_that_shrinks", "another_that_shrinks"}, names
        assert float(rows[0][2]) > 0 > float(rows[1][2]), rows
        back = diff(*reversed(files), "--limit", "1").splitlines()[4].split()
        assert back[-1] == names[0] and float(back[2]) == -float(rows[0][2]), back


suite.run()
