#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Java programs come out as Java sees them: classes, methods, files and lines.

One recording of each JDK has the programs of most tests; it is made when the first of them runs."""
import collections
import contextlib
import os
import re
import subprocess
import tempfile
import time

from hotspot import (HERE, KNOWN, NO_NAME, cpu_limit, jdks, javac, judge, marks, profile,
                     samples_of, stacks_of, when_known)
from live import Skip, Suite, burns, record, say
from pages import copy_on_disk, going, page_out, paged_out
from pprof import read_pprof

suite = Suite()
tmp = tempfile.TemporaryDirectory(prefix="trifold-test-hotspot-")
CLASSES = os.path.join(tmp.name, "classes")
OUT = os.path.join(tmp.name, "out.pb.gz")
TIMED = os.path.join(tmp.name, "out.firefox.json")
TOP = [r"HotspotLoad\.main", r"HotspotLoad\.start"]
BURN = r"HotspotLoad\.burn"
GARBAGE = [*TOP, r"HotspotLoad\.garbage", r"HotspotLoad\.garbageBurn", BURN]
PLAIN = [*TOP, r"HotspotLoad\.chain", r"HotspotLoad\$Work\.method", BURN]
# burn() is a function of its own; where the compiler put it into its callers, only
# places where it can stop have a record of that, and those are few
APART = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,HotspotLoad.burn"]
HOW = {"interpreted": ["-Xint"], "C1": ["-XX:TieredStopAtLevel=1"],
       "C1 with counters": ["-XX:TieredStopAtLevel=3"],
       "C2": ["-XX:-TieredCompilation"], "tiered": []}


def once(what):
    """The same object each time."""
    made = []
    return lambda: made[0] if made else made.append(what()) or made[0]


@once
def all_jdks():
    found = {f: j for f, j in jdks().items() if f in KNOWN}
    assert found, "no JDK below /usr/lib/jvm"
    say({f: j.called for f, j in found.items()})
    return found


@once
def classes():
    os.mkdir(CLASSES)
    javac(CLASSES, *(os.path.join(HERE, f"Hotspot{x}.java") for x in ("Load", "Guest", "Short")))
    return CLASSES


class Run:
    """A program: HotspotLoad with these flags and words, or words of another class; it ends after so many seconds
    of CPU time, or by itself."""
    def __init__(self, flags, *words, cpu=2, times=1):
        self.flags, self.words, self.cpu, self.times = flags, words, cpu, times

    def row(self):
        words = self.words if self.words[0].startswith("Hotspot") else ("HotspotLoad", "12", *self.words)
        return cpu_limit(self.cpu), ["-Xmx256m", *self.flags, "-cp", classes(), *words], self.times


SHARED = []		# (JDKs, function) of each test that shares recordings


def shared(which, none="no JDK"):
    """A test of each of which() JDKs: fn(jdk) yields its Runs, is given the [Stack] of each, and judges them."""
    def add(fn):
        number = len(SHARED)
        SHARED.append((which, fn))

        def test():
            if not which():
                raise Skip(none)
            for jdk in which():
                judging, stacks = together(jdk)[number]
                try:
                    judging.send(stacks)
                except StopIteration:
                    continue
                raise AssertionError("it yields twice: the rest was not judged")
        test.__doc__ = fn.__doc__
        suite.test(test)
        return fn
    return add


RECORDED = {}


def together(jdk):
    """{number of a test: (what judges, the [Stack] of each of its Runs)} of all tests of this JDK: one recording
    has them."""
    if jdk not in RECORDED:
        RECORDED[jdk] = None	# it is not tried again
        judging = {i: fn(jdk) for i, (which, fn) in enumerate(SHARED) if jdk in which()}
        runs = {i: next(j) for i, j in judging.items()}
        found = iter(profile(OUT, jdk.command(classes()), *(r.row() for of in runs.values() for r in of)))
        RECORDED[jdk] = {i: (judging[i], [next(found) for _ in of]) for i, of in runs.items()}
    assert RECORDED[jdk], "there is no recording"
    return RECORDED[jdk]


class Case:
    """What a load of this mode is, and how it is judged; chain: after main() and start()."""
    def __init__(self, flags, mode, *chain, what="", **more):
        self.flags, self.mode, self.chain, self.what, self.more = flags, mode, chain, what, more

    def judge(self, jdk, stacks):
        what = f"{jdk.feature} {self.mode} {self.what or ' '.join(self.flags)}"
        return judge(what, stacks, *TOP, *self.chain, BURN, **self.more)


    def run(self):
        return Run(self.flags, self.mode)


def check(jdk, *cases):
    """Of a shared test: judge each of cases; Java's stacks of each."""
    found = yield [c.run() for c in cases]
    return [c.judge(jdk, stacks) for c, stacks in zip(cases, found)]


def first():
    """The one that most tests use: Debian's."""
    return all_jdks().get(17) or next(iter(all_jdks().values()))


# --- each version -------------------------------------------------------------------


def every():
    return list(all_jdks().values())


def thorough():
    """All of them if HOTSPOT_JDKS is set, else one: what differs little takes minutes a JDK."""
    return every() if "HOTSPOT_JDKS" in os.environ else [first()]


@shared(every)
def compilers(jdk):
    """each version: interpreted, and compiled by each compiler; files, and the lines of calls"""
    at = marks()
    want = {r"HotspotLoad.chain": at["chain"], "HotspotLoad$Work.method": at["method"]}
    found = yield from check(jdk, *(Case(APART + flags, "chain", *PLAIN[2:-1], what=what, row=True)
                                    for what, flags in HOW.items()))
    for what, java in zip(HOW, found):
        seen = [(m, line, file, s.count) for s in java if s.has(BURN)
                for m, line, file in zip(s.methods, s.lines, s.files) if m in want]
        total = sum(n for *_, n in seen)
        good = sum(n for m, line, file, n in seen
                   if line == want[m] and file.endswith("HotspotLoad.java"))
        say(f"{jdk.feature} {what}: {good} of {total} with their line")
        assert total > 300 and good >= 0.99 * total, [x for x in seen if x[1] != want[x[0]]][:5]


@shared(thorough)
def inlined(jdk):
    """each version: calls that the compiler put into their callers"""
    precise = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]
    yield from check(jdk, Case(precise, "chain", *PLAIN[2:-1], what="inlined", row=True),
                     Case(precise + HOW["C1"], "chain", *PLAIN[2:-1], what="inlined by C1", row=True))


@shared(thorough)
def forever(jdk):
    """each version: code that is replaced while it runs (OSR)"""
    stacks, = yield [Run([], "forever")]
    judge(f"{jdk.feature} forever", stacks, *TOP, r"HotspotLoad\.onlyForever",
          r"HotspotLoad\.forever", row=True, burn=r"HotspotLoad\.forever")


@shared(thorough)
def layouts(jdk):
    """each version: other code heaps, pointers, stacks; without a class archive"""
    all_flags = ("-XX:-SegmentedCodeCache", "-XX:+SegmentedCodeCache", "-XX:-UseCompressedOops",
                 "-Xshare:off", "-XX:+PreserveFramePointer", "-XX:-UseCompressedClassPointers")
    yield from check(jdk, *(Case([*APART, flag], "chain", *PLAIN[2:-1], what=flag, row=True)
                            for flag in all_flags if jdk.has(flag)))


@shared(thorough)
def collectors(jdk):
    """each version: under load of each garbage collector"""
    all_flags = (f"-XX:+Use{gc}GC" for gc in ("Serial", "Parallel", "ConcMarkSweep", "G1",
                                              "Shenandoah", "Z"))
    yield from check(jdk, *(Case([*APART, flag], "garbage", *GARBAGE[2:-1], what=flag, row=True,
                                 least=0.98, share=0.3, minimum=150)
                            for flag in all_flags if jdk.has(flag)))


# --- kinds of calls ------------------------------------------------------------------

CALLS = {
    "interfaces": [r"HotspotLoad\$(First|Second|Third)\.run"],
    "virtuals": [r"HotspotLoad\$Base\.outer", r"HotspotLoad\$(Left|Middle|Right)\.inner"],
    "lambdas": [r"HotspotLoad\$\$Lambda\.run", r"HotspotLoad\.lambda\$lambdas\$\d+"],
    "sort": [r"Arrays\.sort", r"HotspotLoad\.lambda\$sort\$\d+"],
    "streams": [r"\w+\.sum", r"HotspotLoad\.lambda\$streams\$\d+"],
    "exceptions": [],
    "reflection": [r"Method\.invoke"],
    "deoptimized": [r"HotspotLoad\$Caller\.call", r"HotspotLoad\$(First|Second|Third)\.run"],
}


@shared(thorough)
def calls(jdk):
    """each version: interfaces, virtual methods, lambdas, streams, exceptions, reflection"""
    found = yield from check(jdk, *(Case(APART, mode, rf"HotspotLoad\.{mode}", *chain, what="calls", share=0.2)
                                    for mode, chain in CALLS.items()))
    java = dict(zip(CALLS, found))["interfaces"]
    for c in ("First", "Second", "Third"):
        n = sum(s.count for s in java if s.has(rf"HotspotLoad\${c}\.run"))
        assert n > 0.2 * sum(s.count for s in java), f"{c}: {n}"


@shared(thorough)
def class_archive(jdk):
    """each version: names in the class library's archive"""
    yield from check(jdk, Case(APART + ["-Xshare:auto"], "sort", r"HotspotLoad\.sort", *CALLS["sort"],
                               share=0.2, what="class archive"))


@suite.test
def class_archive_paged_out():
    """each version: the same on pages that are not in memory"""
    for jdk in thorough():
        if not jdk.has("-Xshare:on"):
            say(f"{jdk.feature} has none")
            continue
        for mode, chain in (("sort", CALLS["sort"]), ("chain", [PLAIN[-2]]),
                            ("streams", CALLS["streams"])):
            stacks = out_of_memory(jdk, mode)
            judge(f"{jdk.feature} {mode}, paged out", stacks, *TOP, rf"HotspotLoad\.{mode}",
                  *chain, BURN)
            # what BPF could read of such a method's names is not all that is said
            classless = [s for s in stacks if any(re.fullmatch(r"sum|reduce|accept|copyInto", m)
                                                  for m in s.methods)]
            assert not classless, classless[:3]
            lined = [(line, s.count) for s in stacks if s.has(BURN)
                     for m, line in zip(s.methods, s.lines) if m == f"HotspotLoad.{mode}"]
            good = sum(n for line, n in lined if line == marks()[mode])
            total = sum(n for _, n in lined)
            say(f"{good} of {total} with their line")
            assert total > 300 and good >= 0.99 * total, lined[:5]


def out_of_memory(jdk, mode):
    """Stacks of a program whose archive is taken out of memory before trifold meets it."""
    with subprocess.Popen([*jdk.command(classes()), *APART, "-Xshare:auto", "-cp", classes(),
                           "HotspotLoad", "30", mode], stdout=subprocess.PIPE, text=True) as p:
        try:
            assert p.stdout.readline() == "burns\n"
            time.sleep(1)       # until it is compiled: nothing but us touches names then
            taken = page_out(p.pid, ".jsa")
            assert taken > 1 << 20, taken
            record(OUT, "--pid", str(p.pid), "--duration", "3", "--frequency", "499")
        finally:
            p.kill()
    return stacks_of(OUT)


OWN_LIBRARY = 'mount --bind "$0" "$1" && shift && exec "$@"'


def with_own_library(jdk, name):
    """Words before a program's: its libjvm.so is a copy that no other process maps, so its pages can be taken.  None:
    it cannot have one."""
    library = os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(jdk.java))), "lib", "server", "libjvm.so")
    if jdk.root or not os.path.exists(library):
        return None
    copy = copy_on_disk(library, os.path.join(tmp.name, name))
    return ["unshare", "-m", "--propagation", "private", "sh", "-ec", OWN_LIBRARY, copy, library, jdk.java]


@suite.test
def files_paged_out():
    """each version: all that is mapped of files, the JVM's own too, was taken out of memory"""
    modes = {"compiled": ([], "chain"), "in one heap": (["-XX:-SegmentedCodeCache"], "chain"),
             "interpreted": (["-Xint"], "streams")}
    wanted = [(jdk, how) for jdk in every() for how, (flags, _) in modes.items() if jdk.has(*flags)]
    running, own = [], []
    try:
        for jdk, how in wanted:
            flags, mode = modes[how]
            own.append(with_own_library(jdk, f"libjvm-{len(running)}.so"))
            words = own[-1] or jdk.command(classes())
            running.append(subprocess.Popen([*words, "-Xmx128m", *APART, *flags, "-cp", classes(), "HotspotLoad", "120",
                                             mode], stdout=subprocess.PIPE, text=True))
            assert running[-1].stdout.readline() == "burns\n"
        for p, words in zip(running, own):
            burns(p.pid, 1)		# until it is compiled
            with going(p.pid, "/libjvm.so") if words else contextlib.nullcontext():
                assert page_out(p.pid) > 8 << 20
        with paged_out([p.pid for p in running]):
            record(OUT, "--duration", "6", "--frequency", "499")
    finally:
        for p in running:
            p.kill()
            p.wait()
    by_pid = collections.defaultdict(list)
    for s in stacks_of(OUT):
        by_pid[s.pid].append(s)
    for (jdk, how), p in zip(wanted, running):
        chain = {"chain": PLAIN[2:-1], "streams": [r"HotspotLoad\.streams", *CALLS["streams"]]}[modes[how][1]]
        judge(f"{jdk.feature} {how}, paged out", by_pid[p.pid], *TOP, *chain, BURN, least=0.95, minimum=60)


@shared(every)
def depth(jdk):
    """each version: sixty calls of one method, not one more or less"""
    hows = ("interpreted", "C1", "C2", "tiered")
    found = yield [Run(APART + HOW[x], "recursion", "60") for x in hows]
    for what, stacks in zip(hows, found):
        java = judge(f"{jdk.feature} recursion {what}", stacks, *TOP,
                     r"HotspotLoad\.recursion", r"HotspotLoad\.deep", BURN)
        java = [s for s in java if s.has(BURN)]
        total = sum(s.count for s in java)
        good = sum(s.count for s in java if s.methods.count("HotspotLoad.deep") == 61)
        say(f"{good} of {total} with 61 frames")
        assert good >= 0.99 * total, [s.methods.count("HotspotLoad.deep") for s in java][:20]


# --- threads --------------------------------------------------------------------------


def check_threads(jdk, *cases):
    """Judge each of cases: (mode, a word for it), chain."""
    found = yield [Run(APART, *words) for words, _ in cases]
    for ((mode, _), chain), stacks in zip(cases, found):
        judge(f"{jdk.feature} {mode}", stacks, *chain, BURN)


@shared(thorough)
def threads(jdk):
    """each version: threads, also those that live for milliseconds"""
    yield from check_threads(jdk, (("threads", "3"), [r"Thread\.run", r"HotspotLoad\.chain",
                                                      r"HotspotLoad\$Work\.method"]),
                             (("shortThreads", "0"), [r"Thread\.run",
                                                      r"HotspotLoad\.lambda\$shortThreads\$\d+"]))


def loom():
    return [j for f, j in all_jdks().items() if f >= 21]


@shared(loom, "no JDK of 21 or later")
def virtual_threads(jdk):
    """21 and later: virtual threads; of one that came back what came back of its stack"""
    yield from check_threads(jdk, (("virtualThreads", "2"),
                                   [r"Continuation\.run", r"VirtualThread\.run", r"HotspotLoad\.chain",
                                    r"HotspotLoad\$Work\.method"]),
                             (("yielding", "20"), [r"Continuation\.run", r"HotspotLoad\.yielding"]))


# --- C --------------------------------------------------------------------------------


@once
def library():
    lib = os.path.join(tmp.name, "classes", "libhotspot_jni.so")
    home = os.path.dirname(os.path.dirname(os.path.realpath("/usr/bin/javac")))
    subprocess.run(["gcc", "-O1", "-shared", "-fPIC", f"-I{home}/include", f"-I{home}/include/linux",
                    "-o", lib, os.path.join(HERE, "hotspot_jni.c")], check=True)
    return lib


@shared(thorough)
def jni(jdk):
    """each version: C called by Java, and Java called by C called by Java"""
    classes()
    cases = [(what, mode) for what in ("interpreted", "tiered") for mode in ("inC", "callbacks")]
    found = dict(zip(cases, (yield [Run(APART + HOW[what], mode, library()) for what, mode in cases])))
    for what in ("interpreted", "tiered"):
        judge(f"{jdk.feature} inC {what}", found[what, "inC"], *TOP, r"HotspotLoad\.inC",
              r"HotspotLoad\.fromC", "Java_HotspotLoad_fromC", "burn_in_c",
              burn="burn_in_c", row=True)
        judge(f"{jdk.feature} callbacks {what}", found[what, "callbacks"], *TOP, r"HotspotLoad\.callbacks",
              r"HotspotLoad\.throughC", "Java_HotspotLoad_throughC", "call_back",
              r"HotspotLoad\.back", BURN)


# --- classes that come and go -----------------------------------------------------------


def many_sources(folder, n, each):
    """n classes Many0, Many1 ... with methods m0, m1 ...: all different"""
    paths = []
    for i in range(n):
        body = "".join(f"long m{k}(int t) {{ long x = t + {k}; for (int i = 0; i < t; i++) "
                       "x += (x >>> 3) ^ i * x; return x; }\n" for k in range(each))
        calls = " + ".join(f"m{k}(t)" for k in range(each))
        paths.append(os.path.join(folder, f"Many{i}.java"))
        with open(paths[-1], "w", encoding="ascii") as f:
            f.write(f"public class Many{i} implements HotspotLoad.Job {{\n{body}"
                    f"public long run(int t) {{ return {calls}; }}\n}}\n")
    return paths


@suite.test
def many_methods():
    """ten thousand methods, each with its own name"""
    with tempfile.TemporaryDirectory(prefix="trifold-test-hotspot-many-") as folder:
        javac(classes(), os.path.join(HERE, "HotspotLoad.java"), *many_sources(folder, 100, 100))
    stacks, = profile(OUT, first().command(classes()), Run([], "HotspotLoad", "10", "many", "100", cpu=0).row(), hz="997")
    java = [s for s in stacks if s.has(*TOP, r"HotspotLoad\.many") and not s.learning()]
    total = sum(s.count for s in java)
    seen = {m for s in java for m in s.methods if m.startswith("Many") and ".m" in m}
    nameless = sum(s.count for s in java if any(NO_NAME in m for m in s.methods))
    broken = sum(s.count for s in stacks if s.java() and s.broken() and not s.learning())
    say(f"{total} samples, {len(seen)} methods, {nameless} with a frame without a name, "
        f"{broken} broken")
    assert total > 3000 and len(seen) > 1000 and nameless == 0
    assert broken <= 0.01 * total


@shared(thorough)
def unloading(jdk):
    """classes that are loaded, run and are unloaded, each with its own loader"""
    flags = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,HotspotGuest.guestBurn"]
    stacks, = yield [Run(flags, "HotspotLoad", "5", "unloading", classes(), cpu=0)]
    judge(f"{jdk.feature} unloading", stacks, *TOP, r"HotspotLoad\.unloading",
          r"Method\.invoke", r"HotspotGuest\.run", r"HotspotGuest\.guestBurn",
          burn=r"HotspotGuest\.guestBurn", share=0.3, least=0.98)


# --- when and where ----------------------------------------------------------------------


@shared(every)
def short_lives(jdk):
    """programs of 0.3 s: whole stacks with names, though they are gone when names are read"""
    stacks, = yield [Run(["-Xmx64m"], "HotspotShort", "0.3", cpu=0, times=10)]
    judge(f"{jdk.feature} short", stacks, r"HotspotShort\.main",
          r"HotspotShort\.outer", r"HotspotShort\.inner", burn=r"HotspotShort\.inner",
          share=0.2)


@suite.test
def started_before():
    """each version: a program that ran before trifold did"""
    for jdk in all_jdks().values():
        with subprocess.Popen([*jdk.command(classes()), *APART, "-cp", classes(), "HotspotLoad",
                               "30", "chain"], stdout=subprocess.PIPE, text=True) as p:
            try:
                assert p.stdout.readline() == "burns\n"
                record(TIMED, "--pid", str(p.pid), "--duration", "3", "--frequency", "499")
            finally:
                p.kill()
        judge(f"{jdk.feature} started before", when_known(samples_of(TIMED), *TOP), *PLAIN, row=True)


@suite.test
def root_of_its_own():
    """in a root of its own"""
    jdk = first()
    if jdk.root:
        raise Skip("the JDK is in one already")
    root = os.path.join(tmp.name, "root")
    os.mkdir(root)
    script = 'mount --rbind / "$0" && exec chroot "$0" "$@"'
    record(TIMED, "--frequency", "499", "--", *cpu_limit(3), "sh", "-c",
           'unshare -m --propagation private sh -c "$@"; test $? = 152', "sh", script, root, jdk.java, *APART,
           "-cp", classes(), "HotspotLoad", "60", "chain")
    judge("root of its own", when_known(samples_of(TIMED), *TOP), *PLAIN, row=True)


@suite.test
def whole_machine():
    """two JVMs at once, each called java and the class that it runs"""
    running = [subprocess.Popen([*j.command(classes()), *APART, "-cp", classes(), "HotspotLoad",
                                 "30", mode], stdout=subprocess.PIPE, text=True)
               for j, mode in zip(list(all_jdks().values())[:2] * 2, ("chain", "virtuals"))]
    try:
        for p in running:
            assert p.stdout.readline() == "burns\n"
        said = record(OUT, "--duration", "4", "--frequency", "499")
    finally:
        for p in running:
            p.kill()
            p.communicate()
    assert "none lost" in said, said
    stacks = stacks_of(OUT)
    for mode, chain in (("chain", PLAIN[2:]), ("virtuals", [r"HotspotLoad\.virtuals",
                                                             *CALLS["virtuals"], BURN])):
        of = [s for s in stacks if s.has(*TOP, rf"HotspotLoad\.{mode}")]
        judge(mode, of, *TOP, *chain, minimum=200)
    names = {labels["comm"] for labels, frames, _ in read_pprof(OUT) if any("HotspotLoad.main" in f for f in frames)}
    assert names == {"java HotspotLoad"}, names


@suite.test
def unknown_version():
    """one that nobody knows yet: said once, with its native frames as before"""
    unknown = [j for f, j in jdks().items() if f not in KNOWN]
    if not unknown:
        raise Skip("no JDK that trifold does not know")
    said = record(OUT, "--frequency", "199", "--", *unknown[0].command(classes()), "-cp", classes(),
                  "HotspotLoad", "3", "chain")
    assert said.count("trifold does not know the frames of HotSpot") == 1, said


suite.run()
