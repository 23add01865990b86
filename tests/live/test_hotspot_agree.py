#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stacks of every HotSpot here are, frame by frame, what the VM itself says of them.

HotspotAgree.java notes from when to when it burns CPU time at the end of a random chain
of calls, and what the stack is there.  A sample is judged by its time, whatever its stack
is.
"""
import collections
import os
import re
import tempfile

from chance import least
from formats import firefox_threads, load
from hotspot import HERE, javac, tested
from live import Suite, record, say

suite = Suite()
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-agree-")
os.chmod(tmp.name, 0o755)
CLASSES = os.path.join(tmp.name, "classes")
PLACES, MS, WARM, HZ = 160, 6, 400, 997
ENOUGH = 300		# samples of one way
SHARE = 0.99		# of them that agree, less what may be chance: each run has other stacks
EDGE = 1000000		# ns at both ends of a moment: clocks are told, not shared
HIDDEN = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+ShowHiddenFrames"]
# Code that the compiler put into spin()'s caller has no record of most places, but with
# -XX:+DebugNonSafepoints: else spin() is a function of its own.
QUIET = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=exclude,HotspotAgree.apart*"]
APART = [*QUIET, "-XX:CompileCommand=dontinline,HotspotAgree.spin"]
HOW = {
    "interpreted": ["-Xint"],
    "C1": [*APART, "-XX:TieredStopAtLevel=1", "-Xbatch"],
    "C2": [*APART, "-XX:-TieredCompilation", "-XX:CompileThreshold=1000", "-Xbatch"],
    "tiered": APART,
    "tiered, spin inlined": [*QUIET, "-XX:+DebugNonSafepoints"],
}
# 11 has code in the class archive, a file without a table
OLD = ["-Xshare:off"]
# $0: the JVM's words.  The first JVM is there to be known.
RUNS = """eval "$0" -version 2>/dev/null; sleep 1.2; eval "$1" """
RUN = 'sh -c \'echo $$ >"$0"; exec "$@"\' %s %s || exit 1; '

Moment = collections.namedtuple("Moment", "begin end tid stack")


def told(path):
    """[Moment]: .stack: [(method, line)], innermost first; a line of 0: there is none."""
    moments = []
    with open(path, encoding="utf-8") as f:
        for line in f:
            if not line.startswith("\t"):
                moments.append(Moment(*(int(x) for x in line.split()), []))
                continue
            _, method, number = line.split("\t")
            # what tells hidden classes apart is in no profile
            method = re.sub(r"/(0x)?[0-9a-f]+\.", ".", method)
            method = re.sub(r"(\$\$Lambda)\$\d+|((?:^|\.)\$Proxy|^jdk\.proxy|Generated\w*Accessor)\d+",
                            lambda m: m[1] or m[2], method)
            # of hidden methods JDK 8 says 1,000,000 more than the place in the bytecode
            line = int(number) if 0 < int(number) < 1000000 else 0
            moments[-1].stack.append((method, line))
    return sorted(moments)


def java_frames(stack):
    """[(method, line), ...], innermost first, and the stack's end"""
    first = stack[0].name
    return ([(f.name, f.line or 0) for f in reversed(stack) if f.kind == "Java" and not f.name.startswith("[JVM ")],
            first if first.startswith("[stack ends") else "")


def samples(path):
    """{pid: [(ns since 1970, tid, Java's frames, end)]}"""
    profile = load(path)
    start, found = profile["meta"]["startTime"], collections.defaultdict(list)
    for t in firefox_threads(path, profile):
        for ms, stack in t.samples:
            found[t.pid].append((int((start + ms) * 1e6), t.tid, *java_frames(stack)))
    return found


def difference(frames, end, moment):
    """What is wrong with a sample of this moment; "": nothing."""
    if end:
        return end
    n = len(frames) - len(moment.stack)
    for i, want in enumerate(moment.stack):
        if n + i < 0 or frames[n + i] != want:
            here = frames[n + i] if n + i >= 0 else "missing"
            return f"{n:+} frames, {here} is {want}"
    if n < 1 or frames[n - 1][0] != "HotspotAgree.spin":
        return f"not in spin(): {frames[:n]}"
    nameless = [name for name, _ in frames[:n] if name.startswith("[")]
    return f"{nameless} called by spin()" if nameless else ""


def agreement(found, moments):
    """(samples that are as the VM says, frames of these, others by what is different)"""
    good, depth, other = 0, 0, collections.Counter()
    for m in moments:
        for when, tid, frames, end in found:
            if tid != m.tid or not m.begin + EDGE <= when <= m.end - EDGE:
                continue
            what = difference(frames, end, m)
            if what:
                other[what] += 1
            else:
                good += 1
                depth += len(m.stack)
    return good, depth, other


def quoted(words):
    return " ".join(f"'{w}'" for w in words)


def run_all(jdk):
    """Record HotspotAgree in each way; {what: (samples of it, moments)}"""
    out = os.path.join(tmp.name, "agree.firefox.json")
    files, script = {}, ""
    for i, (what, flags) in enumerate(HOW.items()):
        files[what] = os.path.join(CLASSES, f"agree-{i}.txt"), os.path.join(tmp.name, f"pid-{i}")
        script += RUN % (files[what][1], quoted(
            [*jdk.command(CLASSES), "-Xmx128m", *HIDDEN, *flags, *OLD * (jdk.feature == 11), "-cp", CLASSES, "HotspotAgree",
             str(PLACES), str(MS), str(WARM), files[what][0]]))
    record(out, "--frequency", str(HZ), "--", "sh", "-c", RUNS, quoted(jdk.command(CLASSES)), script)
    found, results = samples(out), {}
    for what, (stacks, pid) in files.items():
        with open(pid, encoding="ascii") as f:
            results[what] = found[int(f.read())], told(stacks)
    return results


def check(jdk):
    failed = []
    for what, (found, moments) in run_all(jdk).items():
        assert len(moments) == PLACES
        good, depth, other = agreement(found, moments)
        total = good + sum(other.values())
        say(f"{jdk.called} {what}: {good} of {total} samples agree, of {depth / max(1, good):.1f} frames")
        for difference_, n in other.most_common(8):
            say(f"{n} {difference_}")
        if total < ENOUGH or good < least(SHARE, total):
            failed.append(what)
    assert not failed, failed


def test(jdk):
    def agrees():
        check(jdk)
    agrees.__doc__ = f"{jdk.feature}: each sample is what Throwable.getStackTrace() says"
    suite.test(agrees)


able = list(tested().values())
if able:
    os.mkdir(CLASSES)
    javac(CLASSES, *(os.path.join(HERE, f"Hotspot{x}.java") for x in ("Agree", "Kinds")))
for one in able:
    test(one)
suite.run()
