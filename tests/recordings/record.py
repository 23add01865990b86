#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a recording for tests/unit/test_recordings.c: NAME.gz and NAME.expected.

  record.py python NAME PYTHON     recorded.py, run by this interpreter
  record.py c++ NAME COMPILER [FLAG...]     recorded.cc, compiled by this
  record.py stripped ...           likewise, and stripped

A program runs until it waits, `trifold snapshot` takes it, and then others say what
its stacks are, while it still waits at the same place: gdb each native frame, by its
address, and faulthandler, from inside of the interpreter, each function and line.
Only where all agree something is written.  Root, or kernel.yama.ptrace_scope=0.
"""
import contextlib
import gzip
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
PLACE = "/tmp/recording"    # interpreters keep the path of their script
TRIFOLD = os.path.join(ROOT, "build", "bin", "trifold")
# what recorded.py does, innermost first: as whoever wrote it knows
PYTHON_CHAIN = ["wait", "recurse", "recurse", "recurse", "recurse", "größe_数", "method", "__lt__",
                "__neg__", "attribute", "inner", "generator", "__await__", "deeper", "awaits", "<lambda>",
                "by_sort", "many_lines", "<module>", "by_exec", "main", "<module>"]
CXX_CHAIN = ["wait_here()", "with_array(int)", "with_array(int)", "with_array(int)",
             "with_array(int)", "with_alloca(int)", "on_signal(int)", "compare(void const*, void const*)",
             "Derived<int>::call()", "main"]
GDB = r"""
import gdb
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
for thread in gdb.selected_inferior().threads():
    thread.switch()
    frame, out = gdb.newest_frame(), []
    while frame:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            out.append("%x:%s" % (frame.pc(), frame.name() or "?"))
        frame = frame.older()
    print("STACK", thread.ptid[1], "\t".join(out))
"""


def taken(pid, path):
    subprocess.run([TRIFOLD, "snapshot", str(pid), "--yes", "--output", path], check=True,
                   stdout=subprocess.DEVNULL)
    with gzip.open(path, "rt", encoding="utf-8") as f:
        return f.read().splitlines()


class Gone:
    def close(self):
        shutil.rmtree(PLACE)


class Snapshot:
    def __init__(self, lines):
        self.files, self.maps, self.threads = [], [], []
        for line in lines:
            kind, _, rest = line.partition(" ")
            words = rest.split(" ")
            if kind == "file":
                self.files.append(rest.split(" ", 3)[3])
            elif kind == "map":
                start, end, off = (int(w, 16) for w in words[:3])
                self.maps.append((start, end, off, words[4]))
            elif kind == "thread":
                self.threads.append({"tid": int(words[0]), "tp": int(words[2], 16), "frames": []})
            elif kind == "frame":
                what, where, name = (rest + "  ").split(" ", 2)
                self.threads[-1]["frames"].append((what, where, name.strip()))
            elif kind == "stop":
                self.threads[-1]["stop"] = rest

    def place(self, pc):
        """As a native frame has it: the byte before a return address."""
        for start, end, off, file in self.maps:
            if start <= pc - 1 < end and file != "-":
                return f"{file}+{pc - 1 - start + off:x}"
        return "?"


def by_gdb(pid, *words, first=""):
    """{tid: [(pc, name)]}; words: more of gdb's; first: what its script begins with."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(first + GDB)
        script.flush()
        r = subprocess.run(["gdb", "-nx", "-batch", *words, "-p", str(pid), "-x", script.name],
                           capture_output=True, text=True, check=True)
    stacks = {}
    for line in r.stdout.splitlines():
        if line.startswith("STACK "):
            _, tid, frames = line.split(" ", 2)
            stacks[int(tid)] = [(int(pc, 16), name) for pc, name in
                                (f.split(":", 1) for f in frames.split("\t"))]
    assert stacks, r.stderr
    return stacks


def is_loop(name):
    return "EvalFrame" in name or name == "?"


def same_native(snapshot, thread, theirs):
    """Each native frame is gdb's, at the same byte; interpreted ones stand for loops."""
    todo, last = list(theirs), None
    for what, where, _ in thread["frames"]:
        if what == "native":
            if not todo or where not in (snapshot.place(todo[0][0]), snapshot.place(todo[0][0] + 1)):
                sys.exit(f"gdb has {todo[:1]} ({snapshot.place(todo[0][0]) if todo else ''}), "
                         f"we {what} {where}")
            todo.pop(0)
        elif last == "native" or last is None:
            while todo and todo[0][1].startswith("_TAIL_CALL_"):
                todo.pop(0)     # a function that is one instruction of the loop's
            assert todo and is_loop(todo[0][1]), todo[:1]
            todo.pop(0)
        last = what
    assert not todo, f"gdb has more: {todo}"


def by_faulthandler(stderr, threads):
    """{thread pointer: [(line, file, name)]}"""
    text, end = b"", time.monotonic() + 10
    os.set_blocking(stderr.fileno(), False)
    while time.monotonic() < end and (text.count(b"most recent call first") < threads or
                                      not text.endswith(b"\n")):
        text += stderr.read(65536) or b""
        time.sleep(0.05)
    time.sleep(0.2)
    text += stderr.read(65536) or b""
    stacks = {}
    for line in text.decode("ascii").encode().decode("unicode_escape").splitlines():
        head = re.match(r"(?:Current thread|Thread) 0x([0-9a-f]+)", line)
        frame = re.match(r'  File "(.*)", line (\d+) in (.*)$', line)
        if head:
            now = stacks.setdefault(int(head.group(1), 16), [])
        elif frame:
            now.append((frame.group(2), frame.group(1), frame.group(3)))
    return stacks


def same_python(thread, theirs):
    ours = [(where, *reversed(name.rsplit(" ", 1))) for what, where, name in thread["frames"]
            if what == "CPython"]
    ours = [(line, file, name.rsplit(".", 1)[-1]) for line, file, name in ours]
    assert ours == theirs, f"faulthandler has {theirs}, we {ours}"
    return [name for _, _, name in ours]


def expected(snapshot):
    """The stacks, for people and for the test."""
    for thread in snapshot.threads:
        yield "thread"
        for what, where, name in thread["frames"]:
            if what == "native":
                yield f"native {snapshot.files[int(where.split('+')[0], 16)]} {name or '-'}"
            else:
                yield f"{what} {where} {name}"
        yield f"stop {thread['stop']}"


def no_paths(lines, but_behind=b""):
    """Nothing of this machine is in it, but for what is below PLACE."""
    memory = b"".join(bytes.fromhex(line.split()[2]) for line in lines
                      if line.startswith("memory "))
    found = re.findall(rb"(?<![\n%s])/[a-z_.0-9]+/[ -~]{3,}" % but_behind,
                       memory.replace(PLACE.encode(), b"\n"))
    assert not found, f"paths are in it: {found}"


def python(name, interpreter):
    os.mkdir(PLACE)
    with contextlib.closing(Gone()):
        tmp = PLACE
        with open(os.path.join(HERE, "recorded.py"), encoding="utf-8") as f, \
                open(os.path.join(tmp, "recorded.py"), "w", encoding="utf-8") as to:
            to.write(f.read())
        # words after the script: they lie between the outermost frame and strings
        p = subprocess.Popen([interpreter, "-E", "-s", "recorded.py"] + ["x"] * 200, cwd=tmp, env={},
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            assert p.stdout.readline() == b"ready\n"
            time.sleep(0.5)
            lines = taken(p.pid, os.path.join(tmp, "x.gz"))
            snapshot = Snapshot(lines)
            p.send_signal(signal.SIGUSR1)
            inside = by_faulthandler(p.stderr, len(snapshot.threads))
            outside = by_gdb(p.pid)
        finally:
            p.kill()
            p.communicate()
        for thread in snapshot.threads:
            chain = same_python(thread, inside[thread["tp"]])
            if thread["tid"] == p.pid:
                assert chain == PYTHON_CHAIN, chain
            same_native(snapshot, thread, outside[thread["tid"]])
        keep(name, lines, snapshot)


def cxx(name, compiler, *flags, strip=False):
    os.mkdir(PLACE)
    with contextlib.closing(Gone()):
        tmp = PLACE
        exe = os.path.join(tmp, "recorded")
        subprocess.run([compiler, *flags, "-o", exe, os.path.join(HERE, "recorded.cc"), "-pthread"],
                       check=True)
        if strip:
            subprocess.run(["strip", exe], check=True)
        p = subprocess.Popen(["./recorded"] + ["x"] * 200, cwd=tmp, env={},
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            assert p.stdout.readline() == b"ready\n"
            time.sleep(0.5)
            lines = taken(p.pid, os.path.join(tmp, "x.gz"))
            snapshot = Snapshot(lines)
            outside = by_gdb(p.pid)
        finally:
            p.kill()
            p.communicate()
        for thread in snapshot.threads:
            same_native(snapshot, thread, outside[thread["tid"]])
        if not strip:
            names = [n.split(" [clone")[0] for what, where, n in snapshot.threads[0]["frames"] if
                     snapshot.files[int(where.split("+")[0], 16)] == "recorded"]
            assert names == CXX_CHAIN + ["_start"], names
        keep(name, lines, snapshot)


def keep(name, lines, snapshot, **paths):
    no_paths(lines, **paths)
    path = os.path.join(HERE, name)
    text = "\n".join(lines) + "\n"
    with open(path + ".gz", "wb") as f:
        f.write(gzip.compress(text.encode(), mtime=0))
    with open(path + ".expected", "w", encoding="utf-8") as f:
        f.write("\n".join(expected(snapshot)) + "\n")
    print(f"{name}: {os.path.getsize(path + '.gz')} bytes, {len(snapshot.threads)} threads, "
          f"{sum(len(t['frames']) for t in snapshot.threads)} frames")


def main():
    if len(sys.argv) < 4 or sys.argv[1] not in ("python", "c++", "stripped"):
        sys.exit(__doc__)
    if sys.argv[1] == "python":
        python(*sys.argv[2:4])
    else:
        cxx(*sys.argv[2:], strip=sys.argv[1] == "stripped")


if __name__ == "__main__":
    main()
