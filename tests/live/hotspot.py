# SPDX-License-Identifier: Apache-2.0
"""hotspot - JDKs, Java programs on them, and their stacks, for tests

JDKs: those below /usr/lib/jvm, and those that the variable HOTSPOT_JDKS names, a
list of words: the path of a java, or ROOT!PATH for one in a root of its own (with
everything that it needs).
"""
import collections
import functools
import glob
import os
import re
import shlex
import subprocess

import chance
from formats import firefox_threads
from live import ROOT, Skip, in_turn, numbers, record, say
from pprof import read_pprof

HERE = os.path.join(ROOT, "tests", "live")
KNOWN = (8, 11, 17, 21, 25, 26, 27)
NO_NAME = "[Java, no name]"
END = "[stack ends: "
BAD = (NO_NAME, "[no name]", "[JIT code, no names]", "[frames missing]")
# in a root: /proc, and the folder of the classes at the same place as here
IN_ROOT = ('mount -t proc proc "$0/proc" && mkdir -p "$0/$1" && mount --bind "$1" "$0/$1" && '
           'root=$0 && shift && exec chroot "$root" "$@"')


class Jdk:
    def __init__(self, word):
        self.root, _, self.java = word.rpartition("!")
        self.feature, self.called = self.version()

    def version(self):
        r = subprocess.run(self.command("/tmp") + ["-version"], capture_output=True, text=True)
        m = re.search(r'version "(?:1\.)?(\d+)', r.stderr)
        if not m or "OpenJ9" in r.stderr:
            return 0, ""
        return int(m.group(1)), r.stderr.splitlines()[0].split('"')[1]

    def command(self, folder):
        if not self.root:
            return [self.java]
        return ["unshare", "-m", "--propagation", "private", "sh", "-ec", IN_ROOT, self.root,
                folder, self.java]

    def has(self, *flags):
        r = subprocess.run(self.command("/tmp") + [*flags, "-version"], capture_output=True)
        return r.returncode == 0


def jdks():
    """{feature release: Jdk}, those of HOTSPOT_JDKS first."""
    found = {}
    words = os.environ.get("HOTSPOT_JDKS", "").split()
    words += sorted({os.path.realpath(p) for p in glob.glob("/usr/lib/jvm/*/bin/java")})
    for word in words:
        jdk = Jdk(word)
        if jdk.feature and jdk.feature not in found:
            found[jdk.feature] = jdk
    return found


@functools.cache
def tested():
    """{feature release: Jdk} of those that tests take: one, Debian's if it is here, or all (versions.py)."""
    found = {f: j for f, j in jdks().items() if f in KNOWN}
    if "HOTSPOT_JDKS" in os.environ or os.environ.get("ALL_VERSIONS"):
        return found
    one = 17 if 17 in found else next(iter(found), None)
    return {one: found[one]} if one else {}


def javac(folder, *sources, release="8"):
    compiler = next((p for p in sorted(glob.glob("/usr/lib/jvm/*17*/bin/javac")) +
                     glob.glob("/usr/bin/javac")), None)
    if not compiler:
        raise Skip("no javac")
    subprocess.run([compiler, "--release", release, "-nowarn", "-Xlint:-options", "-d", folder,
                    *sources], check=True)


def marks():
    """{"chain": 123, ...}: the lines of HotspotLoad.java that end with such a comment."""
    with open(os.path.join(HERE, "HotspotLoad.java"), encoding="utf-8") as f:
        return {m.group(1): n for n, line in enumerate(f, 1)
                for m in [re.search(r"\S.*// (\w+)$", line)] if m}


def method(frame):
    """Class.method of a frame of Java's, without package, signature, file; else its function."""
    if frame.startswith("["):
        return frame
    function = frame.rpartition(" ")[0] or frame
    m = re.search(r"([\w$<>/+]+)\.([\w$<>]+)(\(|$)", function.rpartition(" -> ")[0] or function)
    return f"{m.group(1).split('/')[-1]}.{m.group(2)}" if m else function


class Stack:
    """A stack, outermost first: .methods, .lines (of each; 0: unknown), .count, .thread."""
    def __init__(self, labels, frames, count):
        frames = frames[::-1]
        self.methods = [method(f) for f in frames]
        self.lines = [int(f.rpartition(":")[2] or 0) if f.rpartition(":")[2].isdigit() else 0
                      for f in frames]
        self.files = [f.rpartition(" ")[2].rpartition(":")[0] for f in frames]
        self.count, self.pid = count, labels.get("pid", 0)
        self.thread = labels.get("thread", "")
        self.end = labels.get("stack_end", "")

    def broken(self):
        return bool(self.end) or any(b in m for m in self.methods for b in BAD)

    def learning(self):
        return self.end in ("no_table", "file_unknown")

    def java(self):
        """Has it to do with Java's code, whole or not?"""
        return self.broken() or any(re.match(r"(Hotspot|Many)\w*[.$]", m) for m in self.methods)

    def has(self, *chain, row=False):
        """All of chain (patterns) in this order, or in a row."""
        if row:
            n = len(chain)
            return any(all(re.fullmatch(c, m) for c, m in zip(chain, self.methods[i:]))
                       for i in range(len(self.methods) - n + 1))
        rest = iter(self.methods)
        return all(any(re.fullmatch(c, m) for m in rest) for c in chain)

    def __repr__(self):
        end = f" [{self.end}]" if self.end else ""
        return f"{self.count} {self.thread}: {';'.join(self.methods)}{end}"


THREADS = "java|main|thread-.*|Thread-.*|ForkJoi.*|"	# Java's, not the compiler's, nor the collector's


def stacks_of(out):
    """Those of Java's threads in a profile."""
    return [s for s in (Stack(*x) for x in read_pprof(out)) if re.fullmatch(THREADS, s.thread)]


def samples_of(out):
    """[(ms, Stack)] of Java's threads in a .firefox.json file, one for each sample; without lines."""
    found = []
    for t in firefox_threads(out):
        if not re.fullmatch(THREADS, t.name):
            continue
        for ms, stack in t.samples:
            ends = [f.name[len(END):-1] for f in stack if f.name.startswith(END)]
            labels = {"pid": t.pid, "thread": t.name, "stack_end": ends[0] if ends else ""}
            frames = [f.name for f in stack if not f.name.startswith(END)]
            found.append((ms, Stack(labels, [f + " :0" for f in reversed(frames)], 1)))
    return sorted(found, key=lambda x: x[0])


def when_known(samples, *chain):
    """[Stack] of samples from the first one on that has the chain and is whole.  Before that the JVM's
    files were not read: nothing is known of the machine code that it makes, and stacks end in it."""
    first = next((i for i, (_, s) in enumerate(samples) if s.has(*chain) and not s.broken()), len(samples))
    early = [s for _, s in samples[:first]]
    say(f"{len(early)} samples before, {sum(s.broken() for s in early)} of them broken; {len(samples) - first} from then on")
    assert len(early) <= len(samples) / 2, "it was not known for half of the time"
    return [s for _, s in samples[first:]]


def cpu_limit(seconds):
    """Words before a program that ends after so much CPU time, so that it has as many samples where others compete."""
    return ["prlimit", f"--cpu={seconds}:{seconds + 60}"] if seconds else []


LANES = 2		# programs of a profile at a time


def profile(out, command, *runs, hz="997"):
    """Programs that begin, one after another in LANES, when trifold has seen one of this JVM's: of each
    of runs, (words before the command, words after it, how often it runs), its [Stack].  One recording
    has them all."""
    lanes = [[[*before, *command, *words] for before, words, times in runs[i::LANES] for _ in range(times)]
             for i in range(LANES)]
    pids = [f"{out}.pids{i}" for i in range(LANES)]
    script = [f"{shlex.join(command)} -version 2>/dev/null; sleep 1.2"]
    script += [f"{shlex.join(in_turn(p, lane))} & lane{i}=$!" for i, (p, lane) in enumerate(zip(pids, lanes))]
    script += [f"wait $lane{i} || exit 1" for i in range(LANES)]
    record(out, "--frequency", hz, "--", "sh", "-c", "\n".join(script), timeout=120 + 60 * len(runs))
    stacks = collections.defaultdict(list)
    for s in stacks_of(out):
        stacks[s.pid].append(s)
    numbers_of = [iter(numbers(p)) for p in pids]
    return [[s for _ in range(times) for s in stacks[next(numbers_of[i % LANES])]]
            for i, (_, _, times) in enumerate(runs)]


def judge(what, stacks, *chain, row=False, least=0.99, burn=r"HotspotLoad\.burn", share=0.5,
          minimum=300):
    """Of the samples in burn(), which are not few of those in Java's code, this share at
    least (but for chance) has the chain; of all, which are at least so many, few are broken:
    those of a JVM's first milliseconds may be, before it has told where its code is."""
    java = [s for s in stacks if s.java() and not s.learning()]
    in_burn = [s for s in java if s.has(burn)]
    total, burns = (sum(s.count for s in x) for x in (java, in_burn))
    broken = sum(s.count for s in java if s.broken())
    good = sum(s.count for s in in_burn if s.has(*chain, row=row) and not s.broken())
    say(f"{what}: {good} of {burns} in burn(), {broken} of {total} broken")
    bad = [s for s in java if s.broken()] + [s for s in in_burn if not s.has(*chain, row=row)]
    if total < minimum or burns < share * total or good < chance.least(least, burns) or \
            total - broken < chance.least(0.98, total):
        for s in sorted(bad or java, key=lambda s: -s.count)[:6]:
            say(s)
        say(f"wanted {chain}")
        raise AssertionError(f"{what}: {good} of {burns} in burn(), {broken} of {total} broken")
    return java
