#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CPython's frames, of the versions that are tested, and of what is rare: other
threads, generators, coroutines, interpreters in one process, and C around it."""
import collections
import ctypes.util
import functools
import os
import re
import shutil
import subprocess
import tempfile

import versions
from chance import share_of
from live import ROOT, Skip, compile_c
from rows import Rows

rows = Rows({"pprof": [".pb.gz"]}, seconds=6, hz=499)
BURNS = "600"		# seconds, if it is not ended
LIVE = os.path.join(ROOT, "tests", "live")
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-python-")

JIT_CODE = "[JIT code, no names]"

SORT = ["<module>", "main", "chain", "by_sort", "by_sort.<locals>.<lambda>", "Work.method", "burn"]
BOOT = ["Thread._bootstrap", "Thread._bootstrap_inner", "Thread.run"]
CHAINS = {
    "chain": SORT,
    "rare": ["<module>", "main", "rare", "Positive.__pos__", "burn"],
    "threads": BOOT + ["by_thread", "burn"],
    "many": ["<module>", "main", "many", "burn"],
    "generator": ["<module>", "main", "generator", "generator.<locals>.outer",
                  "generator.<locals>.inner", "burn"],
    "coroutine": ["<module>", "main", "coroutine", "BaseEventLoop.run_until_complete",
                  "BaseEventLoop._run_once", "Handle._run", "coroutine.<locals>.first",
                  "coroutine.<locals>.middle", "coroutine.<locals>.last", "burn"],
    "hot": ["<module>", "main", "hot", "hot.<locals>.<lambda>", "hot.<locals>.middle",
            "hot.<locals>.leaf"],
    "interpreter": ["<module>", "main", "interpreter", "run_sub", "<module>", "in_sub", "burn"],
    "interpreter_thread": BOOT + ["run_sub", "<module>", "in_sub", "burn"],
    "after_interpreter": ["<module>", "main", "after_interpreter", "burn"],
}


def version_of(exe):
    """(3, minor, "t" if it has no GIL, else "")"""
    name = re.search(r"python3\.(\d+)(t?)$", os.path.realpath(exe))
    return 3, int(name.group(1)), name.group(2)


def called(version):
    return "{}.{}{}".format(*version)


PYTHONS = {version_of(v.exe): v.exe for v in versions.tested("python")}


def system_python():
    exe = shutil.which("python3.11", path="/usr/bin") or shutil.which("python3", path="/usr/bin")
    if not exe:
        raise Skip("no python3 in /usr/bin")
    return os.path.realpath(exe)


def copy(exe, name):
    """A copy of a name that tells its process from others."""
    return shutil.copy(os.path.realpath(exe), os.path.join(tmp.name, name))


def load(exe, mode):
    return [exe, os.path.join(LIVE, "python_load.py"), BURNS, mode]


def start(t, commands, **more):
    """Start them; they burn when this returns: their numbers."""
    running = [t.start(*c, **more) for c in commands]
    for p in running:
        assert p.stdout.readline(), f"ended: {p.args} {p.wait()}"
    return [p.pid for p in running]


@functools.cache
def stacks_by_pid(t):
    """{number: [(functions, count)]}, outermost first, without samples that came before their files' tables."""
    found = collections.defaultdict(list)
    for labels, frames, n in t.pprof():
        if labels.get("stack_end") not in ("no_table", "file_unknown"):
            found[labels["pid"]].append(([f.rpartition(" ")[0] for f in reversed(frames)], n))
    return found


def stacks_of(t, pid):
    return stacks_by_pid(t)[pid]


def short(name):
    """As versions before 3.11 have it: no co_qualname."""
    return name.rpartition(".")[2]


def in_order(frames, chain):
    """Each of chain is in frames, in this order; other frames may be between."""
    rest = iter(frames)
    return all(any(x == want for x in rest) for want in chain)


def judge(stacks, name, chain, share=0.95):
    share_of(name, stacks, lambda f: in_order(f, chain), share, 20)


def chain_of(mode, version):
    chain = CHAINS[mode]
    return [short(x) for x in chain] if version < (3, 11) else chain


def modes(t, runs):
    """The loads of these (version, executable, modes)."""
    loads = [(v, exe, m) for v, exe, names in runs for m in names]
    pids = start(t, [load(exe, m) for _, exe, m in loads])
    yield
    for pid, (v, _, m) in zip(pids, loads):
        judge(stacks_of(t, pid), f"{called(v)} {m}", chain_of(m, v))


@rows.test
def copies(t):
    """each version, copied: Python called by C called by Python"""
    yield from modes(t, [(v, copy(exe, f"py{called(v)}"), ["chain"]) for v, exe in PYTHONS.items()])


@rows.test
def places(t):
    """threads, generators, coroutines, and code that GCC calls cold"""
    exe = system_python()
    yield from modes(t, [(version_of(exe), exe, ["threads", "many", "generator", "coroutine", "rare"])])


@rows.test
def places_of_versions(t):
    """the same, of the other versions"""
    others = {v: e for v, e in PYTHONS.items() if os.path.realpath(e) != system_python()}
    if not others:
        raise Skip("one version is tested: tests/live/versions.py")
    yield from modes(t, [(v, exe, ["threads", "generator", "coroutine"]) for v, exe in others.items()])


@rows.test
def interpreters(t):
    """one interpreter in another, in a thread, and after it"""
    able = {v: e for v, e in PYTHONS.items() if v >= (3, 8)}
    if not able:
        raise Skip("no version of 3.8 or later")
    yield from modes(t, [(v, exe, ["interpreter", "interpreter_thread", "after_interpreter"])
                         for v, exe in able.items()])


def has_jit(exe):
    return not subprocess.run([exe, "-c", "import sys; sys.exit(not sys._jit.is_available())"],
                              stderr=subprocess.DEVNULL, check=False).returncode


@rows.test
def jit(t):
    """code that CPython's own JIT made"""
    able = {v: e for v, e in PYTHONS.items() if has_jit(e)}
    if not able:
        raise Skip("no CPython with a JIT")
    pids = start(t, [load(exe, "hot") for exe in able.values()], env=dict(os.environ, PYTHON_JIT="1"))
    yield
    for v, pid in zip(able, pids):
        found = stacks_of(t, pid)
        assert any(JIT_CODE in f for f, _ in found), f"{called(v)}: no code of the JIT"
        # 3.14: those that are in the JIT's code itself may have neither frame pointer nor root
        judge(found, f"{called(v)} with the JIT", chain_of("hot", v), 0.9)


@rows.test
def embedded(t):
    """a C program with libpython in it: the main thread, and a thread of C's"""
    version = version_of(system_python())
    lib = ctypes.util.find_library(f"python{version[0]}.{version[1]}")
    if not lib:
        raise Skip(f"no libpython{version[0]}.{version[1]}")
    exe = compile_c("python_embed.c", os.path.join(tmp.name, "embed"), "-pthread", "-ldl")
    script = os.path.join(LIVE, "python_load.py")
    pids = start(t, [[exe, lib, script, BURNS, m] for m in ("main", "thread")])
    yield
    chain = ["c_calls", "<module>"] + chain_of("chain", version)
    for pid, top in zip(pids, ("main", "c_thread")):
        judge(stacks_of(t, pid), top, [top] + chain)


rows.run()
