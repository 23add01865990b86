# SPDX-License-Identifier: Apache-2.0
"""cases - many small programs at once, one profile, one test for each

Each case burns CPU in a situation of its own under a name of its own; a
pattern says what its stacks are, from the root to the leaf.
"""
import collections
import contextlib
import json
import os
import platform
import re
import shutil
import signal
import subprocess
import time

from accounts import until_known
from chance import least
from live import (LEARNING, ROOT, TRIFOLD, Skip, ends_with_us, leaving_nothing, say, scratch, sessions_burn, tap, timed)

HERE = os.path.join(ROOT, "tests", "live", "cases")
SECONDS = 7
FREQUENCY = 499
ENOUGH = 60	# samples of each program, at least, though others compete
# Some 45 programs and their libraries are new to the recording, all at once:
# their tables and names are there after so many seconds and when no file waits,
# the last of them somewhat later; how soon they are under ordinary loads,
# load_samples.py asks.  From then on all samples count.
SETTLED, LATEST_MS = 3, 3000
# Of those at least so many are as they should be (docs/SUPPORT.md), less what may be
# chance, where a case does not say otherwise.
SHARE = 0.99
LIFE = 600	# seconds after which a program that was forgotten ends


def pattern(text):
    """"_start * main leaf": names, in a row; * is any number of frames, or of
    characters in a name; ~ is a space.  No * is the mark of a stack's end."""
    out = ""
    for word in text.split():
        name = re.escape(word.replace("~", " ")).replace(r"\*", "[^;]*")
        out += r"(?:(?!\[stack)[^;]*;)*?" if word == "*" else name + ";"
    return re.compile(out + r"(?:[^;]*_\[k\];)*")


def need(tool):
    if not shutil.which(tool):
        raise Skip(f"no {tool}")
    return tool


def only(machine):
    if platform.machine() != machine:
        raise Skip(f"not on {platform.machine()}")


def run(*command):
    r = subprocess.run(command, capture_output=True, text=True)
    if "cannot find -l" in r.stderr:
        raise Skip(r.stderr.strip().splitlines()[0])
    if r.returncode:
        raise AssertionError(f"{' '.join(command)}: {r.stderr}")


def _alone():
    """In the child: never in the way, and with an end, whatever happens to us."""
    os.setsid()
    os.nice(10)
    try:	# with autogroups (sched(7)) a session competes as one
        with open("/proc/self/autogroup", "w", encoding="ascii") as f:
            f.write("10")
    except OSError:
        pass
    ends_with_us()
    signal.alarm(LIFE)


class Case:
    def __init__(self, name, what, stack, make, share, fewest, check, but):
        assert len(name) < 16, name
        self.name, self.what, self.make = name, what, make
        self.stack, self.share, self.fewest, self.check = stack, share, fewest, check
        self.but, self.mine, self.early = but, collections.Counter(), 0
        self.samples = []
        self.skip, self.error = None, None

    def matching(self, text=None):
        p = pattern(text or self.stack)
        return sum(n for f, n in self.mine.items() if p.fullmatch(";".join(f[1:]) + ";"))

    def total(self):
        return sum(self.mine.values())

    def settle(self, settled):
        """Count the samples from the time on when all tables were there, ms."""
        p = pattern(self.stack)
        learned = max((t for t, f in self.samples
                       if t < settled + LATEST_MS and set(LEARNING) & set(f)
                       and not p.fullmatch(";".join(f[1:]) + ";")), default=0)
        for t, frames in self.samples:
            if t < settled or t <= learned:
                self.early += 1
            else:
                self.mine[tuple(frames)] += 1

    def judge_known(self):
        """The few that cannot be whole are as many as is known; the rest counts."""
        if not self.but:
            return
        stack, share = self.but
        total, n = self.total(), self.matching(stack)
        say(f"{self.name}: {n} of {total} are {stack}")
        assert total - n >= least(1 - share, total), f"{n} of {total} are {stack}"
        p = pattern(stack)
        self.mine = collections.Counter({f: n for f, n in self.mine.items()
                                         if not p.fullmatch(";".join(f[1:]) + ";")})

    def judge(self):
        if self.skip:
            raise Skip(self.skip)
        if self.error:
            raise self.error
        self.judge_known()
        total, good = self.total(), self.matching()
        say(f"{self.name}: {total} samples, {good} as they should be, {self.early} before")
        p = pattern(self.stack)
        if total < self.fewest or good < least(self.share, total):
            others = [(n, f) for f, n in self.mine.items() if not p.fullmatch(";".join(f[1:]) + ";")]
            for n, f in sorted(others, reverse=True)[:6]:
                say(f"{n} {';'.join(f)}")
        assert total >= self.fewest, f"{total} samples are too few"
        assert good >= least(self.share, total), f"{good} of {total}, wanted {self.stack}"
        if self.check:
            self.check(self)


class Cases:
    def __init__(self):
        self.cases, self.running, self.tmp = [], [], None
        self.profiled = False

    def case(self, name, stack, share=SHARE, fewest=15, check=None, but=None):
        """make(cases) starts its program, or raises Skip.  but: (stack, share) of those
        that cannot be whole."""
        def add(make):
            self.cases.append(Case(name, make.__doc__, stack, make, share, fewest, check, but))
            return make
        return add

    def path(self, name):
        return os.path.join(self.tmp, name)

    def build(self, name, source, *flags, cc="gcc"):
        out = self.path(name)
        if not os.path.exists(out):
            with self.paused():
                run(need(cc), "-O2", "-D_GNU_SOURCE", "-I", HERE, *flags, "-o", out, os.path.join(HERE, source),
                    *[f for f in flags if f.startswith("-l")])
        return out

    def signal_all(self, number):
        for p in self.running:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(p.pid, number)

    @contextlib.contextmanager
    def paused(self):
        """Programs that were started take no CPU time from a compiler."""
        self.signal_all(signal.SIGSTOP)
        try:
            yield
        finally:
            self.signal_all(signal.SIGCONT)

    def can(self, *command, code=0):
        """What this machine may lack: then the case is skipped."""
        try:
            r = subprocess.run(command, capture_output=True, text=True)
        except FileNotFoundError as why:
            raise Skip(why) from None
        if r.returncode != code:
            raise Skip(f"{' '.join(command[:4])}: {r.stderr.strip() or r.returncode}")

    def start(self, *command, **more):
        self.running.append(subprocess.Popen(command, preexec_fn=_alone, stdin=subprocess.DEVNULL,
                                             stdout=subprocess.DEVNULL, **more))

    def stop(self):
        for p in self.running:
            if p.poll() is not None:
                say(f"ended by itself, {p.returncode}: {' '.join(p.args)[:200]}")
        self.signal_all(signal.SIGKILL)
        for p in self.running:
            p.wait()

    def make_all(self):
        for c in self.cases:
            try:
                c.make(self, c.name)
            except Skip as why:
                c.skip = str(why)
            except Exception as e:
                c.error = e

    def record(self, out):
        """Until each program had its CPU time since all files were known: when that was, s since 1970."""
        p = subprocess.Popen([TRIFOLD, "record", "--output", out, "--frequency", str(FREQUENCY), "--all", "--",
                              "sh", "-c", "echo; exec cat"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE, text=True, preexec_fn=ends_with_us)
        p.stdout.readline()		# it records
        time.sleep(SETTLED)
        until_known()
        known = time.time()
        sessions_burn(SECONDS, {x: ENOUGH / FREQUENCY for x in self.running})
        said = p.communicate(timeout=300)[1]
        assert p.returncode == 0, said
        return known

    def profile(self):
        with scratch() as self.tmp:
            try:
                started = time.time()
                self.make_all()
                say(f"{len(self.running)} programs, started in {time.time() - started:.1f} s")
                out = self.path("out.firefox.json")
                known = self.record(out)
                samples = timed(out)
                with open(out, encoding="utf-8") as f:
                    settled = 1000 * known - json.load(f)["meta"]["startTime"]
                say(f"settled after {settled / 1000:.1f} s")
            finally:
                self.stop()
        self.profiled = True
        by_name = {c.name: c for c in self.cases}
        for time_ms, frames in samples:
            if frames[0] in by_name:
                by_name[frames[0]].samples.append((time_ms, frames))
        for c in self.cases:
            c.settle(settled)

    def run(self):
        def judged(c):
            if not self.profiled:
                raise Skip("no profile")
            c.judge()
        tap([("all programs at once, one profile", lambda: leaving_nothing(self.profile))] +
            [(c.what, lambda c=c: judged(c)) for c in self.cases])
