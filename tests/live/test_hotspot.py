#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Java programs come out as Java sees them: classes, methods, files and lines.

One recording of each JDK has the programs of most tests; it is made when the first of them runs."""
import collections
import contextlib
import glob
import os
import re
import subprocess
import tempfile
import time

from chance import least
from hotspot import (HERE, KNOWN, NO_NAME, cpu_limit, jdks, javac, judge, marks, profile,
                     samples_of, stacks_of, tested, when_known)
from live import Skip, Suite, burns, record, say
from pages import copy_on_disk, going, page_out, paged_out
from pprof import read_pprof
from targets import record_long, recording

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
    of CPU time, or by itself; first: before what runs beside it."""
    def __init__(self, flags, *words, cpu=1, times=1, first=False):
        self.flags, self.words, self.cpu, self.times, self.first = flags, words, cpu, times, first

    def row(self):
        words = self.words if self.words[0].startswith("Hotspot") else ("HotspotLoad", "120", *self.words)
        before = ["nice", "-n", "-15"] if self.first else []
        return before + cpu_limit(self.cpu), ["-Xmx256m", *self.flags, "-cp", classes(), *words], self.times


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
    return every()[0]


# --- each version -------------------------------------------------------------------


def every():
    """Those that are tested."""
    assert all_jdks()
    return list(tested().values())


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
        assert total > 300 and good >= least(0.99, total), [x for x in seen if x[1] != want[x[0]]][:5]


@shared(every)
def inlined(jdk):
    """each version: calls that the compiler put into their callers"""
    precise = ["-XX:+UnlockDiagnosticVMOptions", "-XX:+DebugNonSafepoints"]
    yield from check(jdk, Case(precise, "chain", *PLAIN[2:-1], what="inlined", row=True),
                     Case(precise + HOW["C1"], "chain", *PLAIN[2:-1], what="inlined by C1", row=True))


@shared(every)
def forever(jdk):
    """each version: code that is replaced while it runs (OSR)"""
    stacks, = yield [Run([], "forever")]
    judge(f"{jdk.feature} forever", stacks, *TOP, r"HotspotLoad\.onlyForever",
          r"HotspotLoad\.forever", row=True, burn=r"HotspotLoad\.forever")


@shared(every)
def layouts(jdk):
    """each version: other code heaps, pointers, stacks; without a class archive"""
    all_flags = ("-XX:-SegmentedCodeCache", "-XX:+SegmentedCodeCache", "-XX:-UseCompressedOops",
                 "-Xshare:off", "-XX:+PreserveFramePointer", "-XX:-UseCompressedClassPointers")
    yield from check(jdk, *(Case([*APART, flag], "chain", *PLAIN[2:-1], what=flag, row=True)
                            for flag in all_flags if jdk.has(flag)))


@shared(every)
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


@shared(every)
def calls(jdk):
    """each version: interfaces, virtual methods, lambdas, streams, exceptions, reflection"""
    found = yield from check(jdk, *(Case(APART, mode, rf"HotspotLoad\.{mode}", *chain, what="calls", share=0.2)
                                    for mode, chain in CALLS.items()))
    java = dict(zip(CALLS, found))["interfaces"]
    for c in ("First", "Second", "Third"):
        n = sum(s.count for s in java if s.has(rf"HotspotLoad\${c}\.run"))
        assert n > 0.2 * sum(s.count for s in java), f"{c}: {n}"


@shared(every)
def class_archive(jdk):
    """each version: names in the class library's archive"""
    yield from check(jdk, Case(APART + ["-Xshare:auto"], "sort", r"HotspotLoad\.sort", *CALLS["sort"],
                               share=0.2, what="class archive"))


@suite.test
def class_archive_paged_out():
    """each version: the same on pages that are not in memory"""
    for jdk in every():
        chains = {"sort": CALLS["sort"], "chain": [PLAIN[-2]], "streams": CALLS["streams"]}
        archives = [own_archive(jdk, f"own-{jdk.feature}-{mode}.jsa") for mode in chains]
        if not archives[0] or not jdk.has("-Xshare:on", *archives[0]):
            say(f"{jdk.feature} has none")
            continue
        for (mode, chain), stacks in zip(chains.items(), out_of_memory(jdk, dict(zip(chains, archives)))):
            judge(f"{jdk.feature} {mode}, paged out", stacks, *TOP, rf"HotspotLoad\.{mode}",
                  *chain, BURN, minimum=150)
            # what BPF could read of such a method's names is not all that is said
            classless = [s for s in stacks if any(re.fullmatch(r"sum|reduce|accept|copyInto", m)
                                                  for m in s.methods)]
            assert not classless, classless[:3]
            lined = [(line, s.count) for s in stacks if s.has(BURN)
                     for m, line in zip(s.methods, s.lines) if m == f"HotspotLoad.{mode}"]
            good = sum(n for line, n in lined if line == marks()[mode])
            total = sum(n for _, n in lined)
            say(f"{good} of {total} with their line")
            assert total > 100 and good >= least(0.99, total), lined[:5]


@contextlib.contextmanager
def burning(*commands):
    """Programs that burn from now on."""
    with contextlib.ExitStack() as ends:
        running = []
        for words in commands:
            running.append(ends.enter_context(subprocess.Popen(words, stdout=subprocess.PIPE, text=True)))
            ends.callback(running[-1].kill)
        for p in running:
            assert p.stdout.readline() == "burns\n"
        yield running


def plain(jdk, mode, *flags, words=None):
    """Words of a program of its own, which is ended: HotspotLoad in this mode, with burn() apart.
    words: in place of those before a program's."""
    return [*(words or jdk.command(classes())), *APART, *flags, "-cp", classes(), "HotspotLoad", "900", mode]


def of(running):
    """Words that record these."""
    return [w for p in running for w in ("--pid", str(p.pid))]


def own_archive(jdk, name):
    """Flags of a copy of the class archive, which no other process maps: pages that others map stay."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(jdk.root + jdk.java)))
    archives = glob.glob(f"{glob.escape(home)}/**/server/classes.jsa", recursive=True)
    # where a JDK in a root of its own has it, too
    return ["-XX:+UnlockDiagnosticVMOptions",
            "-XX:SharedArchiveFile=" + copy_on_disk(archives[0], os.path.join(classes(), name))] if archives else []


def out_of_memory(jdk, modes):
    """Stacks of each of these programs, {mode: flags}, whose archive is taken out of memory before trifold meets it."""
    with burning(*(plain(jdk, mode, "-Xshare:auto", *flags) for mode, flags in modes.items())) as running:
        burns(1, *(p.pid for p in running))     # until it is compiled: nothing but us touches names then
        for p in running:
            with going(p.pid, ".jsa"):
                assert page_out(p.pid, ".jsa") > 1 << 20
        record_long(OUT, 6, 0.5, [p.pid for p in running], *of(running), "--frequency", "997")
    stacks = stacks_of(OUT)
    return [[s for s in stacks if s.pid == p.pid] for p in running]


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
    own = [with_own_library(jdk, f"libjvm-{i}.so") for i, (jdk, _) in enumerate(wanted)]
    with burning(*(plain(jdk, modes[how][1], "-Xmx128m", *modes[how][0], words=words)
                   for (jdk, how), words in zip(wanted, own))) as running:
        burns(1, *(p.pid for p in running))     # until it is compiled
        for p, words in zip(running, own):
            with going(p.pid, "/libjvm.so") if words else contextlib.nullcontext():
                assert page_out(p.pid) > 8 << 20
        with paged_out([p.pid for p in running]):
            record_long(OUT, 6, 0.5, [p.pid for p in running], "--duration", "900", "--frequency", "499")
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
        assert good >= least(0.99, total), [s.methods.count("HotspotLoad.deep") for s in java][:20]


# --- threads --------------------------------------------------------------------------


def check_threads(jdk, *cases):
    """Judge each of cases: (mode, a word for it), chain."""
    found = yield [Run(APART, *words) for words, _ in cases]
    for ((mode, _), chain), stacks in zip(cases, found):
        judge(f"{jdk.feature} {mode}", stacks, *chain, BURN)


@shared(every)
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


@shared(every)
def jni(jdk):
    """each version: C called by Java, and Java called by C called by Java"""
    classes()
    cases = [(what, mode) for what in ("interpreted", "tiered") for mode in ("inC", "callbacks")]
    found = dict(zip(cases, (yield [Run(APART + HOW[what], mode, library()) for what, mode in cases])))
    for what in ("interpreted", "tiered"):
        # until the library has a table its frame pointer is taken, which is that of fromC()
        judge(f"{jdk.feature} inC {what}", found[what, "inC"], *TOP, r"HotspotLoad\.inC",
              r"HotspotLoad\.fromC", "Java_HotspotLoad_fromC", "burn_in_c",
              burn="burn_in_c", row=True, least=0.9 if what == "interpreted" else 0.99)
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
    stacks, = profile(OUT, first().command(classes()), Run([], "HotspotLoad", "60", "many", "100", cpu=6).row())
    java = [s for s in stacks if s.has(*TOP, r"HotspotLoad\.many") and not s.learning()]
    total = sum(s.count for s in java)
    seen = {m for s in java for m in s.methods if m.startswith("Many") and ".m" in m}
    nameless = sum(s.count for s in java if any(NO_NAME in m for m in s.methods))
    broken = sum(s.count for s in stacks if s.java() and s.broken() and not s.learning())
    say(f"{total} samples, {len(seen)} methods, {nameless} with a frame without a name, "
        f"{broken} broken")
    assert total > 1500 and len(seen) > 1000 and nameless == 0
    assert total - broken >= least(0.99, total)


@shared(every)
def unloading(jdk):
    """classes that are loaded, run and are unloaded, each with its own loader"""
    flags = ["-XX:CompileCommand=quiet", "-XX:CompileCommand=dontinline,HotspotGuest.guestBurn"]
    stacks, = yield [Run(flags, "HotspotLoad", "120", "unloading", classes(), cpu=3)]
    judge(f"{jdk.feature} unloading", stacks, *TOP, r"HotspotLoad\.unloading",
          r"Method\.invoke", r"HotspotGuest\.run", r"HotspotGuest\.guestBurn",
          burn=r"HotspotGuest\.guestBurn", share=0.3, least=0.98)


# --- when and where ----------------------------------------------------------------------


@shared(every)
def short_lives(jdk):
    """programs of 0.3 s: whole stacks with names, though they are gone when names are read"""
    stacks, = yield [Run(["-Xmx64m"], "HotspotShort", "0.3", cpu=0, times=10, first=True)]
    judge(f"{jdk.feature} short", stacks, r"HotspotShort\.main",
          r"HotspotShort\.outer", r"HotspotShort\.inner", burn=r"HotspotShort\.inner",
          share=0.2, minimum=150)


@suite.test
def started_before():
    """each version: a program that ran before trifold did"""
    with burning(*(plain(jdk, "chain") for jdk in every())) as running:
        record_long(TIMED, 2 + len(running), 1, [p.pid for p in running], *of(running), "--frequency", "997")
    samples = samples_of(TIMED)
    for jdk, p in zip(every(), running):
        judge(f"{jdk.feature} started before", when_known([x for x in samples if x[1].pid == p.pid], *TOP), *PLAIN,
              row=True, minimum=150)


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
    with burning(*(plain(j, mode) for j, mode in zip(every()[:2] * 2, ("chain", "virtuals")))) as running:
        with recording(OUT, "--duration", "900", "--frequency", "499") as r:
            time.sleep(3)
            burns(1, *(p.pid for p in running))
    assert "none lost" in r.said, r.said
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
