#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Make a recording of a JVM: Recorded.java, on the JDK or JRE of a folder.

  record_java.py NAME HOME [ROOT [FLAG...]]

HOME: what has bin/java in it; ROOT: a directory that has HOME with all that it needs, as
mmdebstrap --variant=extract --include=openjdk-21-jre-headless makes it, or /; FLAG: of
java, behind those that are here.  Root; javac.

The JVM says the methods and lines of all of its threads (SIGQUIT), and gdb each native
frame: for code of no file, where it has no rules, it gets an unwinder that looks for
the place in JavaCalls::call_helper() from where all of it is called.  Which methods are
compiled, and by which compiler, is what the JVM's log says of the addresses that lie on
the stacks.  Two threads are taken by gdb to where a method's frame is not made yet, and
there all are stopped.  x86-64.
"""
import contextlib
import os
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import record

PLACE = record.PLACE
# $0: the root, $1: what is to be its folder PLACE, $2: HOME.  A path of the root's own would be
# in the recording.
IN_ROOT = ('mkdir -p "$0/proc" "$0$1"; mount -t proc proc "$0/proc"; '
           '[ "$0" = / ] || mount --bind "$1" "$0$1"; mount --bind "$0$2" "$0$1/jdk"; '
           'r=$0 p=$1; shift 2; exec chroot "$r" "$p/jdk/bin/java" "$@"')
APART = ["reads", "c2", "deoptimized", "locks", "c1", "recurse", "handles", "byHandle", "enters"]
FLAGS = ["-Xmx32m", "-Xbatch", "-XX:+UnlockDiagnosticVMOptions",
         "-XX:+LogCompilation", f"-XX:LogFile={PLACE}/log", "-XX:CompileCommand=quiet",
         "-XX:CompileCommand=exclude,Recorded.spinsInterpreted",
         *[f"-XX:CompileCommand=dontinline,Recorded.{m}" for m in APART]]
READS = 20000           # C2 in Recorded.java
TRIES = 5
# around an address in code: before sub rsp, N (and what else is before it); behind push rbp
# and before sub rsp, N or mov rbp, rsp; or behind sub rsp, N and before mov [rsp + N], rbp
ENTRY = rb".{16}.*H[\x81\x83]\xec.*"
UNFINISHED = rb".{15}UH[\x81\x83\x8b]\xec.*|.{9,12}H[\x81\x83]\xec.*H\x89[\x6c\xac]\x24.*"
# The chain of the main thread without lambdas, innermost first, as whoever wrote it knows:
# C2, C1: that compiler's; +: inlined into the next one; -: interpreted; ?: one or the other.
CHAIN = [("reads", "C2"), ("last", "-"), ("interpreted", "-"), ("holds", "-"), ("recurse", "?"),
         ("recurse", "?"), ("recurse", "?"), ("recurse", "?"), ("recurse", "C2"),
         ("reflected", "-"), ("reflects", "-"), ("loads", "-"), ("byHandle", "?"),
         ("handles", "C2"), ("method", "+"), ("deoptimized", "C2"), ("inlinedByC1", "+"),
         ("c1", "C1"), ("runs", "-"), ("<clinit>", "-"),
         ("initializes", "-"), ("größe", "+"), ("inlinedOnce", "+"), ("c2", "C2"), ("sorts", "-"),
         ("privileged", "-"), ("replaced", "C2"), ("main", "-")]
OTHERS = {"spins": "C2", "spinsInterpreted": "-", "parks": "-", "locks": "C2"}
STACK = 1 << 18         # bytes of one that are looked at
UNWINDER = r"""
import gdb, gdb.unwinder, struct
CODE = %s
class Id:
    def __init__(self, sp, pc):
        self.sp, self.pc = sp, pc
named = "call_helper(" in gdb.execute("info functions JavaCalls::call_helper", to_string=True)
def calls_java(ra):
    if named:
        return "JavaCalls::call_helper" in gdb.execute("info symbol %%d" %% ra, to_string=True)
    # stripped: the VM calls by pointer
    if "libjvm.so" not in (gdb.solib_name(ra) or ""):
        return False
    before = bytes(gdb.selected_inferior().read_memory(ra - 7, 7))
    return any(before[-n] == 0xff and before[1 - n] >> 3 & 7 == 2 for n in (2, 3, 6, 7))
class OfNoFile(gdb.unwinder.Unwinder):
    def __init__(self):
        super().__init__("of no file")
    def __call__(self, pending):
        word = gdb.lookup_type("unsigned long")
        pc, sp = (int(pending.read_register(r).cast(word)) for r in ("rip", "rsp"))
        if not any(start <= pc < end for start, end in CODE):
            return None
        memory = bytes()
        while len(memory) < %d:
            try:
                memory += bytes(gdb.selected_inferior().read_memory(sp + len(memory), 4096 - (sp + len(memory)) %% 4096))
            except gdb.MemoryError:
                break
        for i in range(8, len(memory) - 7, 8):
            rbp, ra = struct.unpack_from("<QQ", memory, i - 8)
            if sp + i < rbp < sp + i + 4096 and calls_java(ra):
                info = pending.create_unwind_info(Id(gdb.Value(sp + i + 8).cast(word), gdb.Value(pc).cast(word)))
                for name, value in (("rip", ra), ("rsp", sp + i + 8), ("rbp", rbp)):
                    info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
                return info
        return None
gdb.unwinder.register_unwinder(None, OfNoFile(), replace=True)
"""
# The threads, one instruction after the other, until they have called; the second on to
# where its frame is nearly made.  A signal for a thread stops it before it runs on.
STEPS = r"""
import ctypes, gdb, signal
pid, tids = %d, %s
gdb.execute("set scheduler-locking on")
word = gdb.lookup_type("unsigned long")
def reg(name):
    return int(gdb.newest_frame().read_register(name).cast(word))
def memory(at, n):
    return bytes(gdb.selected_inferior().read_memory(at, n))
def steps():
    before = reg("rip")
    gdb.execute("stepi", to_string=True)
    return before
for i, tid in enumerate(tids):
    next(t for t in gdb.selected_inferior().threads() if t.ptid[1] == tid).switch()
    while True:
        before = steps()
        if memory(before, 1) == b"\xe8" and not before <= reg("rip") <= before + 5:
            break
    for _ in range(8 * i):
        code = memory(reg("rip") - 1, 6)
        if code[:2] == b"UH" and code[3:4] == b"\xec" or code[1:3] == b"H\x89" and code[4:5] == b"\x24":
            break
        steps()
for tid in tids:
    ctypes.CDLL(None).syscall(234, pid, tid, int(signal.SIGSTOP))    # tgkill of x86-64
gdb.execute("detach")
"""


def by_gdb(pid, snapshot_code):
    """{tid: [(pc, name)]}; a run of frames in code of no file is one."""
    root = f"/proc/{pid}/root"
    return record.by_gdb(pid, "-iex", f"set sysroot {root}", f"{root}{PLACE}/jdk/bin/java",
                         first=UNWINDER % (snapshot_code, STACK))


def same_native(snapshot, thread, theirs, code):
    """Each native frame is gdb's, at the same byte; all between is one in code of no file."""
    todo, last = list(theirs), "native"
    for what, where, name in thread["frames"]:
        got = [snapshot.place(pc) for pc in (todo[0][0], todo[0][0] + 1)] if todo else []
        if what == "native":
            assert where in got, f"{thread['tid']}: gdb has {todo[:1]} {got}, we {where} {name}"
            todo.pop(0)
        elif last == "native":
            assert todo and any(start <= todo[0][0] < end for start, end in code), todo[:1]
            todo.pop(0)
        last = what
    assert not todo, f"{thread['tid']}: gdb has more: {todo}"


class JavaThread:
    """What the JVM says: frames as (class.method, file, line); those of the virtual thread that
    it carries, None if it does not say them."""
    def __init__(self, name):
        self.name, self.frames, self.carries, self.virtual = name, [], False, None


def by_jvm(text):
    """{tid: JavaThread}"""
    stacks, thread, now = {}, None, None
    for line in text.splitlines():
        head = re.match(r'"(.*)" .*(?:nid=(0x[0-9a-f]+|\d+) |\[(\d+)\] )', line)
        frame = re.match(r"\tat ([^(]*)\((?:[^/)]*/)?(.*)\)$", line)
        if head:
            thread = stacks[int(head.group(2) or head.group(3), 0)] = JavaThread(head.group(1))
            now = thread.frames
        elif line.startswith("   Carrying virtual thread"):
            thread.carries = True
        elif line.startswith("   Mounted virtual thread"):
            now = thread.virtual = []
        elif frame:
            method = re.sub(r"/(0x)?[0-9a-f]+", "", frame.group(1))
            file, _, number = frame.group(2).partition(":")
            now.append((method, file, int(number or 0)))
    return stacks


def same_java(thread, theirs):
    """Each method is the JVM's, in the same file, at the same line if it says one.  Of a
    virtual thread's only the innermost are on the stack."""
    ours = [(where, *(name + " ").split(" ")[:2]) for what, where, name in thread["frames"]
            if what != "native" and not name.startswith("[")]
    frames = theirs.frames
    if theirs.carries:
        n = len(ours) - len(frames)
        methods = [method for _, method, _ in ours[:n]]
        assert methods == (["Recorded.spinsVirtual"] + ["Recorded.sleeps"] * n)[:n] and n > 1, ours
        if theirs.virtual:
            frames = theirs.virtual[:n] + frames
        else:
            ours = ours[n:]
    if "Recorded.calls" in (method for method, _, _ in frames):    # it has gone on
        ours, frames = ([f for f in x if "Recorded.enters" not in f] for x in (ours, frames))
    for (line, method, file), (their_method, their_file, their_line) in zip(ours, frames):
        assert method == their_method and int(line) == their_line and \
            (file == their_file or their_file in ("Native Method", "Unknown Source")), \
            f"the JVM has {their_method} {their_file}:{their_line}, we {method} {file}:{line}"
    assert len(ours) == len(frames), f"the JVM has {frames}, we {ours}"
    return [method for _, method, _ in ours]


class Compiled:
    """The JVM's log: [(start, end, "class.method", "C1", "C2" or "wrapper")]"""
    def __init__(self, path):
        self.code = []
        with open(path, encoding="utf-8", errors="replace") as f:
            for line in f:
                if line.startswith("<nmethod "):
                    a = dict(re.findall(r"(\w+)='([^']*)'", line))
                    start, (of, method) = int(a["address"], 16), a["method"].split(" ")[:2]
                    by = "wrapper" if a.get("compile_kind") == "c2n" else \
                        "C2" if a.get("level") == "4" else "C1"
                    self.code.append((start, start + int(a["size"]), f"{of}.{method}", by))

    def at(self, pc):
        return next(((m, by) for start, end, m, by in self.code[::-1] if start <= pc < end), None)


def stack_of(pid, sp):
    """Words from there on, until the next page cannot be read."""
    data = b""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as f, contextlib.suppress(OSError):
        while len(data) < STACK:
            at = sp + len(data)
            f.seek(at)
            data += f.read(4096 - at % 4096)
    return [w for w, in struct.iter_unpack("<Q", data)]


def as_written(methods, words, compiled):
    """The main thread's chain is the one that we know, made as we want it."""
    mine = [m.rsplit(".", 1)[1] for m in methods if m.startswith("Recorded")]
    mine = [m for m in mine if not m.startswith("lambda$") and m not in ("go", "run", "compare", "call")]
    assert mine == [m for m, _ in CHAIN], mine
    found = [c for c in map(compiled.at, words) if c]
    rest = iter(found)
    for method, by in [("read0", "wrapper")] + CHAIN:
        if by not in "+-?":
            assert any(m.rsplit(".", 1)[1] == method and b == by for m, b in rest), (method, by, found)
    for method, by in CHAIN:
        if by in "+-":
            assert not any(m.rsplit(".", 1)[1] == method for m, _ in found), (method, found)


def others_as_written(stacks, words, compiled):
    for method, by in OTHERS.items():
        tid = next(t for t, thread in stacks.items() if f"Recorded.{method}" in
                   [m for m, _, _ in thread.frames])
        found = [b for m, b in filter(None, map(compiled.at, words[tid])) if
                 m == f"Recorded.{method}"]
        assert found[:1] == ([by] if by != "-" else []), (method, found)


def registers_of(lines):
    """{tid: (rip, rsp)}"""
    threads = [line.split(" ") for line in lines if line.startswith("thread ")]
    return {int(w[1]): tuple(int(x, 16) for x in w[-2:]) for w in threads}


def stop_where_they_enter(pid, path):
    """Stop all of the JVM, its threads in calls() where enters() begins, and before the
    instruction that makes its frame whole.  Their numbers."""
    threads = record.Snapshot(record.taken(pid, path)).threads
    os.unlink(path)
    tids = [t["tid"] for t in threads if "Recorded.calls" in " ".join(f[2] for f in t["frames"])]
    assert len(tids) == 2, tids
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(STEPS % (pid, tids))
        script.flush()
        subprocess.run(["gdb", "-nx", "-batch", "-p", str(pid), "-x", script.name], check=True,
                       capture_output=True)
    for tid in os.listdir(f"/proc/{pid}/task"):
        for _ in range(100):
            with open(f"/proc/{pid}/task/{tid}/stat", encoding="utf-8") as f:
                if f.read().rpartition(")")[2].split()[0] == "T":
                    break
            time.sleep(0.01)
    return tids


def are_where_they_enter(pid, lines, tids):
    """The one at the first instruction, the other behind push rbp, or before rbp is stored."""
    with open(f"/proc/{pid}/mem", "rb") as f:
        for tid, at in zip(tids, (ENTRY, UNFINISHED)):
            rip, rsp = registers_of(lines)[tid]
            f.seek(rip - 16)
            code = f.read(32)
            assert re.fullmatch(at, code, re.DOTALL), code.hex(" ")
        frames = [t["frames"][:2] for t in record.Snapshot(lines).threads if t["tid"] in tids]
    for x in frames:
        assert [f[2].split(" ")[0] for f in x] == ["Recorded.enters", "Recorded.calls"], frames


def started(home, root, flags):
    if not any(re.match(r"-XX:\+Use\w+GC$", f) for f in flags):
        flags = ["-XX:+UseSerialGC", *flags]
    subprocess.run(["javac", "--release", "8", "-nowarn", "-Xlint:-options", "-encoding", "UTF-8",
                    "-d", PLACE, os.path.join(record.HERE, "Recorded.java")], check=True)
    os.mkdir(os.path.join(PLACE, "jdk"))
    # words after the class: they lie between the outermost frame and strings
    return subprocess.Popen(["unshare", "-m", "--propagation", "private", "sh", "-ec", IN_ROOT,
                             root, PLACE, home, *FLAGS, *flags, "-cp", PLACE, "Recorded"] + ["x"] * 200,
                            env={"PATH": os.environ["PATH"]}, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE)


def dumped(p):
    p.send_signal(signal.SIGQUIT)
    time.sleep(1)
    os.set_blocking(p.stdout.fileno(), False)
    return (p.stdout.read() or b"").decode("utf-8", "replace")


def java(name, home, root="/", *flags):
    os.mkdir(PLACE)
    with contextlib.closing(record.Gone()):
        p = started(home, root, flags)
        try:
            p.stdin.write(bytes(READS))
            p.stdin.flush()
            line = p.stdout.readline()
            assert line == b"ready\n", line
            time.sleep(0.5)
            entering = stop_where_they_enter(p.pid, os.path.join(PLACE, "x.gz"))
            lines = record.taken(p.pid, os.path.join(PLACE, "x.gz"))
            are_where_they_enter(p.pid, lines, entering)
            snapshot = record.Snapshot(lines)
            code = [(start, end) for start, end, _, file in snapshot.maps if file == "-"]
            outside = by_gdb(p.pid, code)
            words = {tid: [rip] + stack_of(p.pid, rsp)
                     for tid, (rip, rsp) in registers_of(lines).items()}
            p.send_signal(signal.SIGCONT)
            stacks = by_jvm(dumped(p))
        finally:
            p.terminate()
            p.send_signal(signal.SIGCONT)
            p.communicate()
        compiled = Compiled(os.path.join(PLACE, "log"))
        for thread in snapshot.threads:
            tid = thread["tid"]
            inside = stacks.get(tid, JavaThread(""))
            methods = same_java(thread, inside)
            if inside.name == "main":
                as_written(methods, words[tid], compiled)
            same_native(snapshot, thread, outside[tid], code)
        others_as_written(stacks, words, compiled)
        virtual = any("VirtualThread" in f[2] for t in snapshot.threads for f in t["frames"])
        assert virtual == any(t.carries for t in stacks.values())
        record.keep(name, lines, snapshot, but_behind=rb"\w$;")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    # threads of the VM's own wake up between the snapshot and what others say
    for i in range(TRIES):
        try:
            java(*sys.argv[1:])
            break
        except AssertionError as e:
            print(e, file=sys.stderr)
    else:
        sys.exit(f"they did not agree once in {TRIES} times")
