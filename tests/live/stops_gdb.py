# SPDX-License-Identifier: Apache-2.0
"""Runs inside gdb: stops a program at random instructions, and holds our stack
against gdb's at each.

From the environment: STOPS_ASK and STOPS_ANSWER, descriptors of
tests/live/stops; STOPS_WANT, how many stops; STOPS_SEED; STOPS_OUT, a file for
the result (JSON); STOPS_SECONDS, when to end at the latest; STOPS_SWITCHES,
functions that go on on another stack, where gdb ends.
"""
import contextlib
import itertools
import json
import os
import random
import signal
import threading
import time

import gdb

FRAMES = 1024
ask = os.fdopen(int(os.environ["STOPS_ASK"]), "w")
answer = os.fdopen(int(os.environ["STOPS_ANSWER"]))
rng = random.Random(int(os.environ["STOPS_SEED"]))
switches = os.environ["STOPS_SWITCHES"].split()
KINDS = {gdb.NORMAL_FRAME: "normal", gdb.SIGTRAMP_FRAME: "signal", gdb.ARCH_FRAME: "arch"}


def query(text):
    ask.write(text + "\n")
    ask.flush()
    return answer.readline().split()


def run(command):
    gdb.execute(command, to_string=True)


class Maps:
    """File offsets of addresses, by /proc/PID/maps."""

    def __init__(self, pid):
        self.pid = pid
        self.read()

    def read(self):
        self.rows = []
        with open(f"/proc/{self.pid}/maps") as f:
            for line in f:
                span, mode, off, _, _, *name = line.split(None, 5)
                start, end = (int(x, 16) for x in span.split("-"))
                self.rows.append((start, end, int(off, 16), "".join(name).strip(), "x" in mode))

    def find(self, at):
        for start, end, off, name, exec_ in self.rows:
            if start <= at < end:
                return name, at - start + (0 if name == "[vdso]" else off), exec_
        return None

    def place(self, at):
        found = self.find(at)
        if not found:
            self.read()
            found = self.find(at)
        return found or ("", at, False)


def register(frame, name):
    return int(frame.read_register(name)) & (1 << 64) - 1


def gdb_stack(names=None):
    """[(pc, sp, kind)], leaf first; calls without a frame of their own left out;
    the functions' names are appended to names"""
    stack = []
    frame = gdb.newest_frame()
    while frame is not None and len(stack) < FRAMES:
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            stack.append((frame.pc(), register(frame, "rsp"), KINDS.get(frame.type(), "other")))
            if names is not None:
                names.append(frame.name() or "?")
        last = frame
        frame = frame.older()
    return stack, gdb.frame_stop_reason_string(last.unwind_stop_reason())


def set_register(name, value):
    """Of the innermost frame: a change of sp may have left another one selected."""
    gdb.newest_frame().select()
    run(f"set ${name} = {value}")


def gdb_stack_from(pc, sp):
    """What gdb says of a frame there: for stacks that gdb does not find."""
    frame = gdb.newest_frame()
    before = [(r, register(frame, r)) for r in ("rip", "rsp")]
    try:
        set_register("rsp", sp)
        set_register("rip", pc)
        return [f[:2] for f in gdb_stack()[0]]
    finally:
        for r, value in reversed(before):
            set_register(r, value)
        frame = gdb.newest_frame()
        if before != [(r, register(frame, r)) for r in ("rip", "rsp")]:
            raise gdb.error("the registers cannot be put back")


def alike(a, b):
    """How many the two begin with alike."""
    return sum(1 for _ in itertools.takewhile(lambda x: x[0] == x[1], zip(a, b)))


def function_at(pc):
    return gdb.execute(f"info symbol {pc:#x}", to_string=True).split()[0]


def goes_along(frames):
    """Does gdb go from each of these frames to the next, but for switches of the stack?"""
    while frames:
        same = alike(gdb_stack_from(*frames[0]), frames)
        if same == len(frames):
            return True
        if not same or function_at(frames[same - 1][0]) not in switches:
            return False
        frames = frames[same:]
    return False


def our_stack(tid):
    """(why it ends, flags, [(pc, sp, word)]); None: no answer for this stop"""
    words = query(f"get {tid}")
    if words[0] in ("none", "again"):
        return None
    return (int(words[0], 16), int(words[1], 16),
            [tuple(int(x, 16) for x in w.split(":")) for w in words[2:]])


class Impatient:
    """Interrupts what the program does for too long: a thread that is stepped into
    a system call may wait there for ever, while the others go on."""
    PATIENCE = 3	# s

    def __init__(self, pid):
        self.pid, self.since, self.ended = pid, None, threading.Event()
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()

    def watch(self):
        while not self.ended.wait(1):
            since = self.since
            if since and time.time() > since + self.PATIENCE:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(self.pid, signal.SIGINT)

    def run(self, command):
        self.since = time.time()
        try:
            run(command)
        finally:
            self.since = None

    def end(self):
        self.ended.set()
        self.thread.join()


class Run:
    def __init__(self):
        self.want = int(os.environ["STOPS_WANT"])
        self.end = time.time() + float(os.environ["STOPS_SECONDS"])
        self.sums = {"stops": 0, "frames": 0, "equal": 0, "not ready": 0, "signal": 0,
                     "deepest": 0}
        self.differ = []
        self.names = {}

    def begin(self):
        for c in ("set pagination off", "set confirm off", "set startup-with-shell off",
                  "set disable-randomization off", "set debug-file-directory /nonexistent",
                  "set backtrace past-main on", "set backtrace past-entry on",
                  "set backtrace limit unlimited", "set breakpoint pending on",
                  "set displaced-stepping off", "set auto-load python-scripts off",
                  "handle all nostop noprint pass", "handle SIGINT stop nopass",
                  "handle SIGTRAP stop nopass", "set step-mode on"):
            run(c)
        run("starti")
        self.pid = gdb.selected_inferior().pid
        self.maps = Maps(self.pid)
        query(f"pid {self.pid}")
        self.impatient = Impatient(self.pid)

    def alive(self):
        return gdb.selected_inferior().pid == self.pid

    def more(self):
        return self.sums["stops"] < self.want and time.time() < self.end and self.alive()

    def name(self, exe):
        if exe not in self.names:
            self.names[exe] = " ".join(query(f"exe {exe}"))
        return self.names[exe]

    def placed(self, pc, word):
        """Does the word that would be sent name this place, or a byte before?"""
        kind = word >> 60
        if kind == 4:
            return word & (1 << 56) - 1 in (pc, pc - 1)
        name, off, _ = self.maps.place(pc)
        sent = word & (1 << 36) - 1
        return kind == 2 and self.name(word >> 36 & 0xfffff) == name and \
            sent in (off, off - 1)

    def compare(self):
        ours = our_stack(gdb.selected_thread().ptid[1])
        if ours is None:
            self.sums["not ready"] += 1
            return
        truth, why = gdb_stack()
        reason, flags, mine = ours
        self.sums["stops"] += 1
        self.sums["frames"] += len(truth)
        self.sums["deepest"] = max(self.sums["deepest"], len(truth))
        self.sums["signal"] += any(k == "signal" for _, _, k in truth)
        if [t[:2] for t in truth] == [m[:2] for m in mine] and reason == 1 and \
                all(self.placed(pc, w) for pc, _, w in mine):
            self.sums["equal"] += 1
        else:
            self.note(truth, why, reason, flags, mine)

    def note(self, truth, why, reason, flags, mine):
        def show(pc):
            name, off, exec_ = self.maps.place(pc)
            return f"{os.path.basename(name)}+{off:#x}" + ("" if exec_ else "!")
        names = []
        gdb_stack(names)
        stack = [m[:2] for m in mine]
        same = alike([t[:2] for t in truth], stack)
        code = gdb.execute("x/3i $pc", to_string=True)
        self.differ.append({
            "reason": reason, "flags": flags, "gdb_end": why, "names": names, "code": code,
            "same": same, "rest_same": goes_along(stack[same:]),
            "gdb": [(show(pc), pc, sp, k) for pc, sp, k in truth],
            "ours": [(show(pc), pc, sp, w >> 60) for pc, sp, w in mine]})

    def steps(self, n):
        for _ in range(n):
            if not self.more():
                return
            self.compare()
            self.impatient.run("stepi")

    def at_start(self):
        """From the first instruction on, in the loader."""
        self.steps(8)
        for _ in range(4):
            if self.more():
                self.impatient.run(f"stepi {rng.randrange(1, 3000)}")
                self.steps(3)

    def first_calls(self):
        """From main on: the loader still has to find what is called."""
        try:
            run("info address main")
        except gdb.error:  # stripped
            return
        run("tbreak main")
        self.impatient.run("continue")
        for _ in range(self.want // 12):
            if self.more():
                self.impatient.run(f"stepi {rng.randrange(1, 100)}")
                self.steps(3)

    def interrupt(self):
        """Let it run for a while."""
        timer = threading.Timer(rng.uniform(0.0005, 0.02), os.kill, (self.pid, signal.SIGINT))
        timer.start()
        self.impatient.run("continue")
        timer.join()

    def all(self):
        self.begin()
        try:
            self.stops()
        finally:
            self.impatient.end()

    def stops(self):
        self.at_start()
        self.first_calls()
        while self.more():
            self.interrupt()
            self.steps(rng.randrange(4, 24))
            if self.more() and rng.random() < 0.3:
                self.impatient.run(f"stepi {rng.randrange(20, 400)}")
        self.sums["alive"] = self.alive()
        if self.alive():
            run("kill")


run_ = Run()
try:
    run_.all()
except gdb.error as e:
    run_.sums["error"] = str(e)
with open(os.environ["STOPS_OUT"], "w") as f:
    json.dump({"sums": run_.sums, "differ": run_.differ}, f)
