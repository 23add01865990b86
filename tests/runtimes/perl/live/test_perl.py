#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Perl programs come out as Perl itself sees them: subs, files and lines, with C between them."""
import collections
import functools
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), *[".."] * 3, "live"))
import versions
from chance import least
from live import ROOT, Skip, burns, say
from pages import copy_on_disk, going, page_out
from rows import Rows

rows = Rows({"pprof": [".pb.gz"]}, seconds=6, hz=997)
HERE = os.path.join(ROOT, "tests", "runtimes", "perl", "live")
CHAIN = os.path.join(HERE, "chain.pl")
LIFE = "600"		# s, if it is not ended
NO_NAME = "[Perl, no name]"
SHARE = 0.99		# of samples, but for chance


def perls():
    """[words]: those that are tested"""
    return [[v.exe] for v in versions.tested("perl")] if versions.here("perl") else []


def version(words):
    """("5.36.0", whether it has threads)"""
    said = subprocess.run([*words, "-MConfig", "-e", 'printf "%vd %s", $^V, $Config{useithreads} || ""'],
                          capture_output=True, text=True, check=True).stdout
    return said.split(" ")[0], said.endswith("define")


def some_perl():
    if not perls():
        raise Skip("no perl here")
    return perls()[0]


def started(t, *words, **more):
    """A program that says its number, or a child's; both."""
    p = t.start(*words, **more)
    return p, int(p.stdout.readline())


def of_process(t, pid):
    """[(outermost first, count)] of a process, but for stacks that met files without a table yet"""
    return [(f[::-1], n) for labels, f, n in t.pprof()
            if labels.get("pid") == pid and labels.get("stack_end") not in ("no_table", "file_unknown")]


def perl_frame(frame):
    """"name@line" of a frame of Perl in these tests; None: it is another's."""
    m = re.fullmatch(r"(\S+) (?:\S*(?:chain\.pl|Made\.pm|short\.pl)|\(eval\)|-e):(\d+)", frame)
    return f"{m.group(1)}@{m.group(2)}" if m else None


def in_perl(frames):
    """Innermost first, as chain.pl says it: without the line of the innermost, and without what it spends time in."""
    own = [x for x in map(perl_frame, reversed(frames)) if x]
    if own and own[0].startswith("main::spend@"):
        own = own[1:]
    return ";".join([own[0].partition("@")[0], *own[1:]]) if own else ""


def truths(said):
    """All that is said, and what a sample shows that is taken before the innermost is called."""
    found = set()
    for line in said.splitlines():
        frames = line.split(";")
        found |= {";".join([f.partition("@")[0], *frames[i + 1:]]) for i, f in enumerate(frames)}
    return found


def share(stacks, want, part, minimum):
    """At least this part of stacks (but for chance), of which there are not too few, is as wanted."""
    total = sum(n for _, n in stacks)
    bad = collections.Counter()
    for f, n in stacks:
        if not want(f):
            bad[str(f)] += n
    say(f"{total - bad.total()} of {total}")
    for f, n in bad.most_common(5):
        say(f"{n} {f}"[:600])
    assert total > minimum and total - bad.total() >= least(part, total), bad.most_common(3)


def agrees(t, p, pid):
    truth = truths(p.said)
    assert len(truth) > 40, p.said
    stacks = [(in_perl(f), n) for f, n in of_process(t, pid)]
    # caller() cannot say what a format has called; nor does it what reads the module that is made of lines
    stacks = [(f, n) for f, n in stacks if f and "STDERR" not in f and "::made" not in f and not re.match(
        r"main::__ANON__;\(eval\)@\d+;main::__ANON__", f)]
    share(stacks, lambda f: f in truth, SHARE, 100)


def whole(words, threads):
    number, has_threads = version(words)
    if threads and not has_threads:
        return

    def row(t):
        p, pid = started(t, *words, CHAIN, LIFE, *threads)
        yield
        say(f"{number} {' '.join(threads)}:")
        agrees(t, p, pid)
    row.__doc__ = f"{number}{', two threads' if threads else ''}: subs, files and lines, as caller() says"
    rows.test(row)


for perl in perls():
    for more in ([], ["2"]):
        whole(perl, more)


# --- C between them ------------------------------------------------------------------

@functools.cache
def chain_stacks(t):
    return of_process(t, t.perl_chain)


def between(frames, outer, inner):
    """What is between the first frame `outer` and the next one `inner`, by function; None: they are not there."""
    names = [f.rpartition(" ")[0] if perl_frame(f) else f.split(" ")[0] for f in frames]
    if outer not in names or inner not in names[names.index(outer) + 1:]:
        return None
    first = names.index(outer) + 1
    return names[first:names.index(inner, first)]


# Of sub and sub: what is between. Names of C that Debian's stripped perl has.
BETWEEN = [
    ("main::catches", "main::recursive", ["(eval)"]),
    ("main::warns", "main::burn_perl", ["Perl_pp_warn", "Perl_call_sv", "main::__ANON__"]),
    ("main::__ANON__", "main::in_order", ["Perl_pp_sort", "Perl_sortsv_flags"]),
    ("main::__ANON__", "Scalar::FETCH", ["Perl_mg_get", "Perl_call_sv"]),
    ("main::__ANON__", "Sum::text", ["Perl_amagic_call"]),
    ("main::__ANON__", "main::STDERR", []),
    ("Hash::FETCH", "(eval)", []),	# docatch(), which has no name
]


@rows.test
def c_between(t):
    """each native frame between subs is where Perl called C, and C called Perl"""
    _, t.perl_chain = started(t, *some_perl(), CHAIN, LIFE)
    yield
    for outer, inner, want in BETWEEN:
        found = collections.Counter()
        for f, n in chain_stacks(t):
            names = between(f, outer, inner)
            if names is not None:
                found[tuple(names)] += n
        say(f"{outer} .. {inner}: " + "; ".join(f"{n} {' '.join(f)}" for f, n in found.most_common(3)))
        good = sum(n for f, n in found.items() if all(w in f for w in want))
        assert found and good >= 0.9 * found.total(), (outer, inner, want, found)


@rows.test
def no_loop_stays(t):
    """the loop of the interpreter is not shown, nor a frame without a name"""
    _, pid = started(t, *some_perl(), CHAIN, LIFE)
    yield
    share(of_process(t, pid), lambda f: not any("Perl_runops" in x or NO_NAME in x for x in f), SHARE, 100)


# --- other lives ---------------------------------------------------------------------

@rows.test
def short_lives(t):
    """scripts of 50 ms: names in every sample, which could not be read afterwards"""
    path = shutil.copy(os.path.realpath(some_perl()[0]), t.path("perl-short"))
    t.start("sh", "-c", f"while :; do {path} {os.path.join(HERE, 'short.pl')}; done", nice=-15, burning=2)
    yield
    stacks = [(f[::-1], n) for labels, f, n in t.pprof() if labels.get("comm", "").startswith("perl-short")]
    inner = [(f, n) for f, n in stacks if any("Perl_pp_" in x or "Perl_runops" in x or NO_NAME in x for x in f)]
    say(f"{sum(n for _, n in stacks)} samples, {sum(n for _, n in inner)} of them in the interpreter's loop")
    share([(f, n) for f, n in inner if not any("perl_parse" in x or "perl_destruct" in x for x in f)],
          lambda f: any(x.startswith("main ") and "short.pl" in x for x in f) and NO_NAME not in f, SHARE, 100)


@rows.test
def forked_child(t):
    """a child of fork(), which runs Perl only"""
    p, pid = started(t, *some_perl(), CHAIN, LIFE, env={**os.environ, "FORK": "1"})
    yield
    agrees(t, p, pid)


@rows.test
def paged_out(t):
    """what is mapped of the interpreter's file was taken out of memory"""
    exe = copy_on_disk(os.path.realpath(some_perl()[0]), t.path("perl-out"))
    p, pid = started(t, exe, CHAIN, LIFE)
    burns(0.3, pid)
    with going(pid, "/perl-out"):
        assert page_out(pid, "/perl-out") > 1 << 20
    yield
    agrees(t, p, pid)


@rows.test
def embedded(t):
    """a program of C with two interpreters in two threads, which call back"""
    said = subprocess.run([*some_perl(), "-MConfig", "-e", 'print "$Config{archlibexp}/CORE $Config{libperl}"'],
                          capture_output=True, text=True, check=True).stdout.split()
    headers, library = said[0], f"/usr/lib/{os.uname().machine}-linux-gnu/{said[1]}"
    if not os.path.exists(f"{headers}/perl.h") or not os.path.exists(library):
        raise Skip("no libperl-dev here")
    subprocess.run(["gcc", "-w", "-O2", "-fwrapv", "-D_REENTRANT", "-D_GNU_SOURCE", f"-I{headers}", "-o", t.path("perl-embed"),
                    os.path.join(HERE, "embed.c"), library, "-pthread"], check=True)
    pid = t.start(t.path("perl-embed")).pid
    yield
    stacks = [(f, n) for f, n in of_process(t, pid) if any("main::spend" in x for x in f)]
    want = ["work", "Perl_call_sv", "main::called", "Perl_pp_entersub", "Perl_call_sv", "main::again", "main::spend"]
    def right(f):
        rest = iter([x.split(" ")[0] for x in f])
        return all(w in rest for w in want) and sum(x.startswith("main::") for x in f) == 3
    share(stacks, right, SHARE, 50)


@rows.test
def unknown_version(t):
    """a version that is not known yet: said once, with its native frames as before"""
    exe = t.path("perl-future")
    subprocess.run(["gcc", "-O1", "-rdynamic", "-o", exe, os.path.join(HERE, "future.c")], check=True)
    p = t.start(exe)
    yield
    assert t.said.count(f"{exe}: trifold does not know the frames of Perl 5.98.1 yet") == 1, t.said
    share([([x.split(" ")[0] for x in f], n) for f, n in of_process(t, p.pid)],
          lambda f: "Perl_runops_standard" in f or "burn" in f, 0.95, 30)


rows.run()
