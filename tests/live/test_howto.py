#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/HOWTO_ADD_RUNTIME.md, followed to the letter in a copy of the tree: the toy's functions, files and lines."""
import os
import re
import shutil
import subprocess

from chance import share_of
from live import ROOT, Suite, burns, say, scratch
from pprof import read_pprof

suite = Suite()
DOC = os.path.join(ROOT, "docs", "HOWTO_ADD_RUNTIME.md")
HOWTO = os.path.join(ROOT, "tests", "howto")
PROGRAMS = [f"build/bin/{p}" for p in ("trifold", "trifold-supervisor", "trifold-start", "trifold-loaderd",
                                       "trifold-symbolizerd", "trifold-exporterd")]
SOURCES = ("bpf", "cli", "common", "exporterd", "ipc", "loaderd", "packaging", "profile", "symbolizerd", "viewer")
CHAIN = ["main", "work", "outer", "toy_native", "through_c", "inner"]


def blocks():
    """[(what to do: Write or Append to, path, text)] of the page."""
    with open(DOC, encoding="utf-8") as f:
        return re.findall(r"^(Write|Append to) `([^`]+)`:\n\n```c\n(.*?)^```$", f.read(), re.M | re.S)


def next_number(tree, row, *files):
    """One more than the greatest number that rows have."""
    numbers = []
    for name in files:
        with open(os.path.join(tree, name), encoding="utf-8") as f:
            numbers += [int(n) for n in re.findall(row, f.read(), re.M)]
    return max(numbers) + 1


def append(path, text):
    """Above the lines at its end that undefine what it has used."""
    with open(path, encoding="utf-8") as f:
        was = f.read()
    at = was.index("#undef RUNTIME\n")
    with open(path, "w", encoding="utf-8") as f:
        f.write(was[:at] + text + "\n" + was[at:])


def follow(tree):
    """Do what the page says."""
    number = next_number(tree, r"^RUNTIME\((\d+)", "bpf/runtimes.def")
    kind = next_number(tree, r"^(?:RUNTIME|BATCH)_KIND\((\d+)", "bpf/runtimes.def", "ipc/frame_kinds.def")
    said = blocks()
    assert len(said) == 3, [path for _, path, _ in said]
    for what, path, text in said:
        text = re.sub(r"\bKIND\b", str(kind), re.sub(r"\bNUMBER\b", str(number), text))
        path = os.path.join(tree, path)
        if what == "Append to":
            append(path, text)
            continue
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)


def skipped(folder, names):
    """Of a folder: what is not sources, and not built of those of programs."""
    if folder == os.path.join(ROOT, "build"):
        return [n for n in names if n not in SOURCES and n != "bin"]
    return [n for n in names if n == ".git" and folder == ROOT]


def copy(tree):
    """The sources, and what is built of them: times stay, so that only what depends on the change is made anew."""
    shutil.copytree(ROOT, tree, symlinks=True, ignore=skipped)


def make(tree):
    r = subprocess.run(["make", "-s", f"-j{os.cpu_count()}", "WERROR=1", *PROGRAMS], cwd=tree, capture_output=True,
                       text=True)
    assert r.returncode == 0, (r.stdout + r.stderr)[-2000:]


def recorded(tree, tmp):
    """[(labels, frames, count)] of a toy that runs chain.toy."""
    toy, out = os.path.join(tmp, "toy"), os.path.join(tmp, "toy.pb.gz")
    subprocess.run(["gcc", "-O2", "-rdynamic", "-o", toy, os.path.join(HOWTO, "toy.c")], check=True)
    p = subprocess.Popen([toy, os.path.join(HOWTO, "chain.toy")], stdout=subprocess.PIPE)
    try:
        p.stdout.readline()
        burns(0.1, p.pid)
        r = subprocess.run([os.path.join(tree, "build/bin/trifold"), "record", "--duration", "4", "--frequency", "499",
                            "--pid", str(p.pid), "--output", out], capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
    finally:
        p.kill()
        p.communicate()
    return read_pprof(out)


@suite.test
def followed():
    """the page, followed to the letter: a whole stack with names, files and lines"""
    with scratch() as tmp:
        os.chmod(tmp, 0o755)	# the daemons are not root
        tree = os.path.join(tmp, "tree")
        copy(tree)
        follow(tree)
        make(tree)
        with open(os.path.join(HOWTO, "chain.toy"), encoding="utf-8") as f:
            lines = {line.strip(): n for n, line in enumerate(f, 1)}
        stacks = [([f.rpartition(" ")[0] or f for f in reversed(frames)], frames, n)
                  for labels, frames, n in recorded(tree, tmp)
                  if labels.get("stack_end") not in ("no_table", "file_unknown")]
    share_of("whole", [(f, n) for f, _, n in stacks],
             lambda f: [x for x in f if x in CHAIN][1:] == CHAIN, 0.98, 200)	# C has a main, too
    inner = [x for _, frames, _ in stacks for x in frames if x.startswith("inner ")]
    say(sorted(set(inner)))
    wanted = f"chain.toy:{lines['burn 100000']}"
    assert inner and sum(x.endswith(wanted) for x in inner) >= 0.9 * len(inner), sorted(set(inner))


suite.run()
