# SPDX-License-Identifier: Apache-2.0
"""rows - tests of which each looks at programs of its own, in one recording of all

A row is a generator: it starts its programs, yields, and judges what was recorded.
Several outputs, of other formats or options, are of recorders beside one `trifold run`.
"""
import contextlib
import functools
import os
import signal
import subprocess
import time

from accounts import Watcher
from live import (TRIFOLD, Skip, ends_with_us, folded, has_ended, leaving_nothing, learned, say, scratch, sessions_burn,
                  tap, wait_for)
from pprof import read_pprof

RECORDERS = 4		# beside a `trifold run`, at a time: SUBSCRIBERS of symbolizerd/hub/status.h but the viewer
VISITS = ("line_visits", "line_put_off", "jit_visits", "managed_visits")
SHARES = "[limits]\ncpu_share = 50\nlines_share = 50\n"	# other tests' programs want names, too
KNOWN = 60		# s
LEARN = 10		# s
ENOUGH = 200		# samples of each program, at least, though others compete
QUIET = 3		# s; JIT_GAP_NS of symbolizerd/knowledge/jit.h is 2, LINES_GAP_NS of source_lines.h 1


def be_nice(pid, nice):
    """A process that leads a session, and all others of its group: with autogroups (sched(7)) a session competes
    as one."""
    with contextlib.suppress(ProcessLookupError):
        os.setpriority(os.PRIO_PGRP, pid, nice)
    with contextlib.suppress(OSError), open(f"/proc/{pid}/autogroup", "w", encoding="ascii") as f:
        f.write(str(nice))


def leads_a_session():
    """In a child."""
    ends_with_us()
    os.setsid()


def tell(p, number):
    """Send a signal to a process and all others of its group."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(p.pid, number)


def counters():
    """{name: value} of the `trifold run` beside us, once it has any."""
    account = Watcher.once()
    return account.v if account else {}


def know(begin):
    """Until no executable waits for its table and names: at most KNOWN s."""
    met = wait_for(counters)["hub.batches"] + 2		# of an interval in which all programs ran
    while time.time() < begin + KNOWN:
        now = counters()	# none: its second was over
        if now and now["hub.batches"] >= met and not now["hub.exes_waiting"]:
            return
        time.sleep(0.05)
    say(f"after {KNOWN} s some executable waits: other tests' programs count, too")


def learn():
    """Until the hub has read what the samples met, first its executables; then until nobody was visited for names or
    lines in QUIET s.  Programs may make new functions all the time: at most LEARN s."""
    begin = time.time()
    know(begin)
    known = since = time.time()
    seen, news = None, ""
    while time.time() < min(since + QUIET, known + LEARN):
        status = counters()
        now = {x: status.get(f"hub.{x}") for x in VISITS}
        if now != seen:
            news = ", ".join(f"{x} {v}" for x, v in now.items() if seen and v != seen[x])
            seen, since = now, time.time()
        time.sleep(0.2)
    quiet = time.time() >= since + QUIET
    say(f"learned for {time.time() - begin:.1f} s, {known - begin:.1f} of them until all executables were read" +
        ("" if quiet else f", and then gave up: there was something new ({news})"))


class Row:
    def __init__(self, fn):
        self.fn, self.name, self.rest, self.failure = fn, fn.__doc__, None, None

    def begin(self, rows):
        try:
            self.rest = self.fn(rows)
            next(self.rest)
        except Exception as e:	# its test says so; the others go on
            self.failure = e

    def judge(self):
        if self.failure:
            raise self.failure
        if not self.rest:
            raise Skip("no recording")
        for _ in self.rest:
            raise AssertionError("it yields twice")


class Rows:
    """outputs: {key: words}, of which the first is an ending, the rest options of `trifold record`; a recording takes
    so many seconds, and longer on a busy machine: until each program had the CPU time of ENOUGH samples."""

    def __init__(self, outputs, seconds, hz):
        self.outputs, self.seconds, self.hz = outputs, seconds, hz
        self.rows, self.running, self.tmp = [], [], None
        self.said = ""		# by `trifold run`

    def test(self, fn):
        self.rows.append(Row(fn))
        return fn

    def path(self, name):
        return os.path.join(self.tmp, name)

    def start(self, *words, nice=0, burning=1, **more):
        """Start a program, which goes on until it is killed; .said is what it said by then.  burning: processes."""
        p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                             **{"preexec_fn": leads_a_session, **more})
        p.nice, p.burning = nice, burning
        self.running.append(p)
        return p

    def out(self, key):
        return self.path("out-" + key + self.outputs[key][0])

    @functools.cache
    def folded(self, key):
        return folded(self.out(key))

    @functools.cache
    def pprof(self, key="pprof"):
        """As read_pprof() has it: for each of several rows."""
        return read_pprof(self.out(key))

    def stacks(self, process, key="folded"):
        """[(frames, count)] of this name in a .folded output, from when its tables were there."""
        return learned([(f, n) for f, n in self.folded(key) if f[0] == process])

    def _words(self, key):
        ending, *options = self.outputs[key]
        return [TRIFOLD, "record", "--output", self.out(key), *options, "--all", "--", "sh", "-c", "echo; exec cat"]

    def _beside(self):
        """All outputs, RECORDERS at a time, beside a `trifold run` that knows the programs."""
        with open(self.path("rows.conf"), "w", encoding="ascii") as f:
            f.write(SHARES)
        run = subprocess.Popen([TRIFOLD, "run", "--config", self.path("rows.conf"), "--frequency", str(self.hz),
                                "--interval", "1", "--no-page", "--output", self.path("run.folded")], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               text=True, preexec_fn=ends_with_us)
        keys = list(self.outputs)
        try:
            wait_for(lambda: run.poll() is not None or (Watcher.once() or {"hub.batches": 0})["hub.batches"] > 1)
            for p in self.running:
                be_nice(p.pid, p.nice)
                tell(p, signal.SIGCONT)
            learn()
            for i in range(0, len(keys), RECORDERS):
                recorders = [subprocess.Popen(self._words(k), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                              stderr=subprocess.PIPE, text=True, preexec_fn=ends_with_us)
                             for k in keys[i:i + RECORDERS]]
                for p in recorders:
                    p.stdout.readline()		# it records
                sessions_burn(self.seconds, {p: p.burning * ENOUGH / self.hz for p in self.running})
                for p in recorders:
                    p.stdin.close()		# its command ends, and with that the recording
                for p in recorders:
                    p.stdin = None
                    said = p.communicate(timeout=120)[1]
                    assert p.returncode == 0, said
        finally:
            run.terminate()
            self.said = run.communicate(timeout=120)[1]
        assert run.returncode == 0, self.said

    def _record(self):
        try:
            for row in self.rows:
                row.begin(self)
                for p in self.running:	# it takes no CPU time from the next row's compiler, nor from trifold's start
                    tell(p, signal.SIGSTOP)
            ended = {p.pid for p in self.running if has_ended(p)}
            self._beside()
            for p in self.running:
                if has_ended(p):
                    say(f"ended by itself {'before' if p.pid in ended else 'during'} the recording: {p.args}"[:300])
        finally:
            for p in self.running:
                tell(p, signal.SIGKILL)
                p.said = p.communicate()[0]

    def _together(self):
        try:
            leaving_nothing(self._record)
        except BaseException:
            for row in self.rows:
                row.rest = None
            raise

    def run(self):
        with scratch() as self.tmp:
            os.chmod(self.tmp, 0o755)	# the opener looks as a user who owns nothing
            try:
                tap([("all programs at once, one recording", self._together)] +
                    [(row.name, row.judge) for row in self.rows])
            finally:
                for row in self.rows:	# that was not judged: CASES
                    if row.rest:
                        row.rest.close()
