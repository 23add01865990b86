#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Python programs come out as Python itself sees them: functions, files and lines."""
import contextlib
import os
import re
import shutil
import subprocess
import tempfile
import threading

import versions
from chance import least
from live import ROOT, burns, compile_c, folded, leaving_nothing, learned, record, say
from pages import MemoryGroup, copy_on_disk, going, page_out
from pprof import read_pprof
from rows import Rows

rows = Rows({"pprof": [".pb.gz"]}, seconds=5, hz=997)
HERE = os.path.join(ROOT, "tests", "live")
CHAIN = os.path.join(HERE, "python_chain.py")
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-python-")
NO_NAME = "[Python, no name]"
LOOP = "_PyEval_EvalFrameDefault"


LIFE = "600"		# s, if it is not ended


def alone(fn):
    """A test with a recording of its own."""
    def row(_t):
        yield
        leaving_nothing(fn)
    row.__doc__ = fn.__doc__
    rows.test(row)
    return fn


def marks():
    """{"burn": 12, ...}: the lines of python_chain.py that end with such a comment"""
    with open(CHAIN, encoding="utf-8") as f:
        return {m.group(1): n for n, line in enumerate(f, 1)
                for m in [re.search(r"\S.*\s# (\w+)$", line)] if m}


def pythons():
    """{path: 11}: the versions that are tested, but for those without a GIL"""
    return {v.exe: int(v.name[2:]) for v in versions.tested("python") if v.name[2:].isdigit()}


def own_frames(frames):
    """Those of Python files, outermost first, without their folders."""
    return [re.sub(r" \S*/", " ", f) for f in reversed(frames) if ".py:" in f]


def of_process(t, pid):
    """[(outermost first, count)] of a process, but for stacks that met files without a table yet"""
    return [(f, n) for labels, f, n in t.pprof()
            if labels.get("pid") == pid and labels.get("stack_end") not in ("no_table", "file_unknown")]


def functions_of(t, pid):
    """[(functions, outermost first, count)] of a process"""
    return [([x.rpartition(" ")[0] for x in reversed(f)], n) for f, n in of_process(t, pid)]


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


def chains(path, minor):
    tasks = ("by_sort", "by_generator", "by_name")

    def row(t):
        where = marks()
        pids = [t.start(path, "-S", CHAIN, LIFE, task).pid for task in tasks]
        yield
        for task, pid in zip(tasks, pids):
            stacks = [(own_frames(f), n) for f, n in of_process(t, pid)]
            # not the loop's other lines, and not before it
            stacks = [(f, n) for f, n in stacks if f and f[-1].endswith(f":{where['burn']}")]
            want = chain_of(task, minor >= 11, where)
            say(f"3.{minor} {task}:")
            share(stacks, lambda f, want=want: matches(f, want), 0.99, 30)
    row.__doc__ = f"3.{minor}: functions, files and lines, through C functions and generators"
    rows.test(row)


for python, version in pythons().items():
    chains(python, version)


def share(stacks, want, part, minimum):
    """At least this part of stacks (but for chance), of which there are not too few, is as wanted."""
    total = sum(n for _, n in stacks)
    good = sum(n for f, n in stacks if want(f))
    say(f"{good} of {total}")
    assert total > minimum and good >= least(part, total), stacks[:10]


# --- pages of the interpreter's file that the process has not mapped in ---------------

SORTED = ["<module>", "main", "by_sort", "<lambda>", "method", "burn"]


def judge_sorted(t, pid, what):
    say(f"{what}:")
    # before 3.11 no name says what a function is in
    stacks = [([x.rpartition(".")[2] if x != "<lambda>" else x for x in f], n) for f, n in functions_of(t, pid)]
    share(stacks, lambda f: through(f, SORTED), 0.95, 30)


def judge_all(t, called):
    """{pid: what it is}: all of them, then the first that fails."""
    failed = None
    for pid, what in called.items():
        try:
            judge_sorted(t, pid, what)
        except AssertionError as e:
            failed = failed or AssertionError(f"{what}: {str(e)[:1000]}")
    if failed:
        raise failed


def own_copy(t, path, name):
    """Of the interpreter and its library, which no other process maps: pages that others have mapped stay.  Words, to
    be followed by others."""
    exe = copy_on_disk(os.path.realpath(path), t.path(name))
    needs = subprocess.run(["ldd", exe], capture_output=True, text=True, check=True).stdout
    library = re.search(r"libpython\S* => (\S+)", needs)
    if not library:
        return [exe]
    # in the place of the one of that name
    return ["env", "LD_PRELOAD=" + copy_on_disk(library.group(1), t.path(name + ".so")), exe]


def own_names(name):
    """Of what own_copy() made, as resident() takes them."""
    return f"/{name}", f"/{name}.so"


def started(t, *words, **more):
    """A program that says its number, or a child's, and then burns; that number."""
    return int(t.start(*words, **more).stdout.readline())


@rows.test
def forked_children(t):
    """a child of fork(), which runs Python only: each version"""
    pids = {started(t, path, "-S", CHAIN, LIFE, "forked"): v for path, v in pythons().items()}
    yield
    judge_all(t, {pid: f"3.{v}" for pid, v in pids.items()})


@rows.test
def paged_out(t):
    """what is mapped of files was taken out of memory: each version"""
    pids = {}
    for i, (path, v) in enumerate(pythons().items()):
        words = own_copy(t, path, f"python-out-{i}")
        pids[started(t, *words, "-S", CHAIN, LIFE, "told")] = v
    burns(0.3, *pids)
    for i, pid in enumerate(pids):
        with going(pid, own_names(f"python-out-{i}")):
            assert page_out(pid) > 1 << 20
    yield
    judge_all(t, {pid: f"3.{v}" for pid, v in pids.items()})


@rows.test
def memory_taken_back(t):
    """the kernel took back what a memory cgroup has of files"""
    group = MemoryGroup(f"trifold-test-{os.getpid()}")
    try:
        words = own_copy(t, "/usr/bin/python3", "python-taken")
        for w in words:		# its pages belong to who reads them first
            with contextlib.suppress(OSError), open(w.rpartition("=")[2], "rb") as f:
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        pid = started(t, "sh", "-ec", f'echo $$ >{group.path}/cgroup.procs; exec "$@"', "sh", *words, "-S", CHAIN, LIFE,
                    "told")
        burns(0.3, pid)
        with going(pid, own_names("python-taken")):
            group.reclaim()
        yield
    finally:
        group.remove()
    judge_all(t, {pid: group.path})


@rows.test
def exceptions_and_depth(t):
    """the handler of an exception; sixty calls deep"""
    path = next(iter(pythons()))
    wants = {"by_exception": lambda f: through(f, ["<module>", "main", "by_exception", "burn"]),
             "deep": lambda f: f.count("recursive") == 61}
    pids = [t.start(path, "-S", CHAIN, LIFE, task).pid for task in wants]
    yield
    for pid, want in zip(pids, wants.values()):
        share([(f, n) for f, n in functions_of(t, pid) if "burn" in f], want, 0.99, 50)


@rows.test
def not_begun(t):
    """a function that has not begun yet is at its first line: each version"""
    where = marks()
    chain = [f"traced python_chain.py:{where['traced']}", f"not_begun python_chain.py:{where['begun']}", "burn"]
    pids = {started(t, path, "-S", CHAIN, LIFE, "traced"): v for path, v in pythons().items()}
    yield
    for pid, v in pids.items():
        say(f"3.{v}:")
        stacks = [(own_frames(f), n) for f, n in of_process(t, pid)]
        share([(f, n) for f, n in stacks if f], lambda f: matches([x for x in f if "lambda" not in x], chain), 0.95, 30)


@rows.test
def no_loop_stays(t):
    """where Python's frames are known, its loop is not shown"""
    pid = t.start(next(iter(pythons())), CHAIN, LIFE, "by_sort").pid
    yield
    stacks = [(f, n) for f, n in functions_of(t, pid) if "<module>" in f]
    # of few samples one was taken where the loop had begun and its frame had not
    share(stacks, lambda f: LOOP not in f and NO_NAME not in f, 0.99, 30)


@alone
def loops_shown():
    """--show-loops: the loop, then what it runs"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "out.folded")
    # so much CPU time, whatever else runs
    record(out, "--show-loops", "--frequency", "499", "--", "sh", "-c", 'prlimit --cpu=2:60 "$@"; test $? = 152', "sh",
           path, "-S", CHAIN, LIFE, "by_sort")
    stacks = [(f, n) for f, n in learned(folded(out)) if "burn" in f]
    share(stacks, lambda f: through(f, [LOOP, "<module>", "main", "by_sort", "builtin_sorted",
                                        LOOP, "burn"]) or
          through(f, [LOOP, "<module>", "main", "by_sort", LOOP, "burn"]), 0.99, 100)


@rows.test
def short_lives(t):
    """scripts of 50 ms: names in every sample, which could not be read afterwards"""
    path = shutil.copy(os.path.realpath(next(iter(pythons()))), t.path("python-short"))
    # before the others, of which there may be many
    t.start("sh", "-c", f"while :; do {path} -S -E {os.path.join(HERE, 'python_short.py')}; done", nice=-15, burning=2)
    yield
    stacks = [([x.rpartition(" ")[0] for x in reversed(f)], n) for labels, f, n in t.pprof()
              if labels.get("comm", "").startswith("python-short")]
    total = sum(n for f, n in stacks if "<module>" in f)
    named = sum(n for f, n in stacks if "<module>" in f and NO_NAME not in f)
    inner = sum(n for f, n in stacks if through(f, ["<module>", "outer", "inner"]))
    nameless = sum(n for f, n in stacks if NO_NAME in f)
    say(f"{total} samples in Python code, {inner} of them in inner(), {nameless} with a frame "
        f"without a name, of {sum(n for _, n in stacks)} of the processes")
    assert total > 150 and inner > 100
    assert min(named, total - nameless) >= least(0.99, total)


@alone
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


@alone
def made_again():
    """functions of the same name and file, in the memory of one before: their own lines"""
    path = next(iter(pythons()))
    out = os.path.join(tmp.name, "again.pb.gz")
    n = 120
    record(out, "--frequency", "499", "--", path, "-S", os.path.join(HERE, "python_again.py"), str(n))
    lines = {int(x.rsplit(":", 1)[1]) // 10 for _, f, _ in read_pprof(out)
             for x in f if x.startswith("again ")}
    say(f"{n} functions, samples in {len(lines)}")
    assert len(lines) > 0.9 * n


@alone
def liars():
    """a circle of frames, endless names, new ones all the time: they end, and nothing is lost"""
    exe = os.path.join(tmp.name, "liar")
    compile_c("python_liar.c", exe, "-O1", "-rdynamic", "-pthread")
    words = {"circle": "60000", "far": "0xffffffffffff", "nowhere": "0", "names": "120 any"}
    for name in words:
        shutil.copy(exe, f"{exe}-{name}")
    out = os.path.join(tmp.name, "out.folded")
    said = record(out, "--frequency", "199", "--", "sh", "-c",
                  "".join(f"{exe}-{name} 2 {w} & " for name, w in words.items()) + "wait")
    assert "none lost" in said, said
    for name in words:
        stacks = [(f, n) for f, n in folded(out) if f[0] == f"liar-{name}" and "burn" in f]
        assert sum(n for _, n in stacks) > 50, (name, stacks)
        say(f"{name}: {max(len(f) for f, _ in stacks)} frames")


@alone
def a_liar_beside_others():
    """whose names are new all the time does not take those of others"""
    liar = os.path.join(tmp.name, "liar")
    compile_c("python_liar.c", liar, "-O1", "-rdynamic", "-pthread")
    os.chmod(tmp.name, 0o755)
    out = os.path.join(tmp.name, "out.folded")
    running = [subprocess.Popen(["setpriv", "--reuid=65534", "--clear-groups", liar, "22", "120", "any"])]
    timer = threading.Timer(6, lambda: running.append(
        subprocess.Popen([next(iter(pythons())), "-S", CHAIN, "13", "by_sort"])))
    timer.start()               # when the other has as much as it can get
    try:
        said = record(out, "--frequency", "997", "--duration", "20")
    finally:
        timer.join()
        for p in running:
            p.kill()
            p.wait()
    assert "none lost" in said, said
    stacks = [(f, n) for f, n in folded(out) if f[0].endswith(" python_chain.py") and "<module>" in f]
    share(stacks, lambda f: NO_NAME not in f, 0.99, 100)


@rows.test
def unknown_version(t):
    """a version that is not known yet: said once, with its native frames as before"""
    exe = compile_c("python_liar.c", t.path("future"), "-O1", "-DVERSION=0x036302f0", "-rdynamic", "-pthread")
    p = t.start(exe, LIFE)
    yield
    assert t.said.count(f"{exe}: trifold does not know the frames of CPython 3.99 yet") == 1, t.said
    mine = functions_of(t, p.pid)
    stacks = [f for f, _ in mine if "burn" in f]
    assert stacks and all(through(f, ["main", LOOP, "burn"]) for f in stacks), (
        mine or [x for x in t.pprof() if x[0].get("pid") == p.pid])


rows.run()
