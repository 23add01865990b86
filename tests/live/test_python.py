#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python programs come out as Python itself sees them: functions, files and lines."""
import glob
import os
import re
import subprocess
import tempfile
import threading

from live import ROOT, Suite, compile_c, folded, in_turn, learned, numbers, record, say
from pprof import read_pprof

suite = Suite()
HERE = os.path.join(ROOT, "tests", "live")
CHAIN = os.path.join(HERE, "python_chain.py")
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-python-")
NO_NAME = "[Python, no name]"
LOOP = "_PyEval_EvalFrameDefault"


def marks():
    """{"burn": 12, ...}: the lines of python_chain.py that end with such a comment"""
    with open(CHAIN, encoding="utf-8") as f:
        return {m.group(1): n for n, line in enumerate(f, 1)
                for m in [re.search(r"\S.*\s# (\w+)$", line)] if m}


def pythons():
    """{"3.11": path}: Debian's, and what else is installed in the usual places"""
    found = {}
    for p in sorted(glob.glob("/usr/bin/python3.*") + glob.glob("/usr/local/bin/python3.*") +
                    glob.glob(os.path.expanduser("~/.pyenv/versions/*/bin/python3.*"))):
        m = re.fullmatch(r"python3\.(\d+)", os.path.basename(p))
        if m and 6 <= int(m.group(1)) <= 15:
            found[p] = int(m.group(1))
    assert found, "no python3.* in /usr/bin"
    return found


def own_frames(frames):
    """Those of Python files, outermost first, without their folders."""
    return [re.sub(r" \S*/", " ", f) for f in reversed(frames) if ".py:" in f]


def of_process(out, pid):
    """[(outermost first, count)] of stacks with Python's main program in it"""
    return [(f, n) for labels, f, n in read_pprof(out)
            if labels.get("pid") == pid and any(" " in x and CHAIN in x for x in f)]


def chain_of(task, qualified, where):
    prefix = {True: {"lambda": "by_sort.<locals>.<lambda>", "method": "Work.method"},
              False: {"lambda": "<lambda>", "method": "method"}}[qualified]
    def at(name, mark):
        return f"{name} python_chain.py:{where[mark]}"
    top = [at("<module>", "module"), at("main", "main")]
    if task == "by_sort":
        return top + ["by_sort", at(prefix["lambda"], "lambda"), at(prefix["method"], "method"),
                      at("burn", "burn")]
    if task == "by_name":
        return top + ["by_name", at("grüße_名前", "unicode"), at("burn", "burn")]
    return top + ["by_generator", at("rows", "generator"), at("burn", "burn")]


def matches(frames, chain):
    """The chain without holes; an item without a line is any line of that function."""
    i = 0
    for f in frames:
        if i < len(chain) and (f == chain[i] or f.split(" ")[0] == chain[i]):
            i += 1
        elif i and i < len(chain) and "comp>" not in f:
            return False
    return i == len(chain)


def through(frames, chain):
    """All of chain in this order; between them may be others (of C)."""
    rest = iter(frames)
    return all(x in rest for x in chain)


@suite.test
def chains():
    """each version: functions, files and lines, through C functions and generators"""
    where = marks()
    out, pids = (os.path.join(tmp.name, x) for x in ("chain.pb.gz", "pids"))
    tasks = ("by_sort", "by_generator", "by_name")
    for path, minor in pythons().items():
        record(out, "--frequency", "499", "--",
               *in_turn(pids, ([path, "-S", CHAIN, "1.5", task] for task in tasks)))
        for task, pid in zip(tasks, numbers(pids), strict=True):
            stacks = [(own_frames(f), n) for f, n in of_process(out, pid)]
            # not the loop's other lines, and not before it
            stacks = [(f, n) for f, n in stacks if f[-1].endswith(f":{where['burn']}")]
            want = chain_of(task, minor >= 11, where)
            total = sum(n for _, n in stacks)
            good = sum(n for f, n in stacks if matches(f, want))
            say(f"3.{minor} {task}: {good} of {total}")
            if total < 50 or good < 0.99 * total:
                for f, n in stacks[:5]:
                    say(f"{n} {f}")
                say(f"wanted {want}")
                raise AssertionError(f"{path} {task}: {good} of {total}")


def share(stacks, want, least, minimum):
    """At least this share of stacks, of which there are not too few, is as wanted."""
    total = sum(n for _, n in stacks)
    good = sum(n for f, n in stacks if want(f))
    say(f"{good} of {total}")
    assert total > minimum and good >= least * total, stacks[:10]


@suite.test
def exceptions_and_depth():
    """the handler of an exception; sixty calls deep"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "out.folded")
    wants = {"by_exception": lambda f: through(f, ["<module>", "main", "by_exception", "burn"]),
             "deep": lambda f: f.count("recursive") == 61}
    for task, want in wants.items():
        record(out, "--frequency", "499", "--", path, "-S", CHAIN, "2", task)
        share([(f, n) for f, n in folded(out) if "burn" in f], want, 0.99, 50)


@suite.test
def no_loop_stays():
    """where Python's frames are known, its loop is not shown"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "out.folded")
    record(out, "--frequency", "499", "--", path, CHAIN, "2", "by_sort")
    stacks = [(f, n) for f, n in folded(out) if "<module>" in f]
    assert stacks
    assert not [f for f, _ in stacks if LOOP in f or NO_NAME in f]


@suite.test
def loops_shown():
    """--show-loops: the loop, then what it runs"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "out.folded")
    record(out, "--show-loops", "--frequency", "499", "--", path, "-S", CHAIN, "2", "by_sort")
    stacks = [(f, n) for f, n in learned(folded(out)) if "burn" in f]
    share(stacks, lambda f: through(f, [LOOP, "<module>", "main", "by_sort", "builtin_sorted",
                                        LOOP, "burn"]) or
          through(f, [LOOP, "<module>", "main", "by_sort", LOOP, "burn"]), 0.99, 100)


@suite.test
def started_before():
    """a program that ran before trifold did"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "out.folded")
    with subprocess.Popen([path, "-S", CHAIN, "6", "by_sort"]) as p:
        record(out, "--pid", str(p.pid), "--duration", "3", "--frequency", "499")
    # the table is made meanwhile
    share(learned(folded(out)), lambda f: through(f, ["<module>", "main", "by_sort", "burn"]),
          0.95, 100)


@suite.test
def short_lives():
    """scripts of 50 ms: names in every sample, which nobody could read afterwards"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "out.folded")
    script = os.path.join(HERE, "python_short.py")
    record(out, "--frequency", "199", "--", "sh", "-c",
           f"for i in $(seq 100); do {path} -S -E {script}; done")
    stacks = [(f, n) for f, n in folded(out) if f[0].startswith("python")]
    total = sum(n for f, n in stacks if "<module>" in f)
    named = sum(n for f, n in stacks if "<module>" in f and NO_NAME not in f)
    inner = sum(n for f, n in stacks if through(f, ["<module>", "outer", "inner"]))
    nameless = sum(n for f, n in stacks if NO_NAME in f)
    say(f"{total} samples in Python code, {inner} of them in inner(), {nameless} with a frame "
        f"without a name, of {sum(n for _, n in stacks)} of the processes")
    assert total > 300 and inner > 200
    assert named >= 0.99 * total and nameless <= 0.01 * total


@suite.test
def many_functions():
    """ten thousand functions, each with its own name"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "out.folded")
    record(out, "--frequency", "997", "--", path, "-S", os.path.join(HERE, "python_many.py"),
           "10000", "6", timeout=180)
    seen, nameless, total = set(), 0, 0
    for f, n in folded(out):
        if "main" not in f:
            continue
        total += n
        nameless += n * (NO_NAME in f)
        seen |= {x for x in f if x.startswith("function_")}
    say(f"{total} samples, {len(seen)} functions, {nameless} samples without a name")
    assert total > 500 and len(seen) > 500 and nameless == 0


@suite.test
def made_again():
    """functions of the same name and file, in the memory of one before: their own lines"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "again.pb.gz")
    made = os.path.join(tmp.name, "made")
    record(out, "--frequency", "499", "--", "sh", "-c",
           f"exec {path} -S {os.path.join(HERE, 'python_again.py')} 4 >{made}")
    lines = {int(x.rsplit(":", 1)[1]) // 10 for _, f, _ in read_pprof(out)
             for x in f if x.startswith("again ")}
    with open(made, encoding="utf-8") as f:
        n = int(f.read())
    say(f"{n} functions, samples in {len(lines)}")
    assert n > 50 and len(lines) > 0.9 * n


@suite.test
def a_liar():
    """a circle of frames, endless names, new ones all the time: they end, and nothing is lost"""
    exe = os.path.join(tmp.name, "liar")
    compile_c("python_liar.c", exe, "-O1", "-rdynamic", "-pthread")
    for words in (["60000"], ["0xffffffffffff"], ["0"], ["120", "any"]):
        out = os.path.join(tmp.name, "out.folded")
        said = record(out, "--frequency", "199", "--", exe, "2", *words)
        assert "none lost" in said, said
        stacks = [(f, n) for f, n in folded(out) if "burn" in f]
        assert sum(n for _, n in stacks) > 50, folded(out)
        say(f"{words}: {max(len(f) for f, _ in stacks)} frames")


@suite.test
def a_liar_beside_others():
    """whose names are new all the time does not take those of others"""
    liar = os.path.join(tmp.name, "liar")
    compile_c("python_liar.c", liar, "-O1", "-rdynamic", "-pthread")
    os.chmod(tmp.name, 0o755)
    out = os.path.join(tmp.name, "out.folded")
    running = [subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", liar, "12", "120", "any"])]
    timer = threading.Timer(6, lambda: running.append(
        subprocess.Popen([next(iter(pythons())), "-S", CHAIN, "3", "by_sort"])))
    timer.start()               # when the other has as much as it can get
    try:
        said = record(out, "--frequency", "499", "--duration", "10")
    finally:
        timer.join()
        for p in running:
            p.kill()
            p.wait()
    assert "none lost" in said, said
    stacks = [(f, n) for f, n in folded(out) if f[0].startswith("python") and "<module>" in f]
    share(stacks, lambda f: NO_NAME not in f, 0.99, 300)


@suite.test
def unknown_version():
    """a version that nobody knows yet: said once, with its native frames as before"""
    exe = os.path.join(tmp.name, "future")
    compile_c("python_liar.c", exe, "-O1", "-DVERSION=0x036302f0", "-rdynamic", "-pthread")
    out = os.path.join(tmp.name, "out.folded")
    said = record(out, "--frequency", "199", "--", exe, "3")
    assert said.count(f"{exe}: trifold does not know the frames of CPython 3.99 yet") == 1, said
    stacks = [(f, n) for f, n in learned(folded(out)) if "burn" in f]
    assert stacks and all(through(f, ["main", LOOP, "burn"]) for f, _ in stacks), stacks


suite.run()
