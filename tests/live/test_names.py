#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of functions: demangled and short, whole, and as the file has them."""
import gzip
import os
import re
import subprocess

from live import Suite, compile_c, folded, has_chain, learned, record, say, scratch
from loads import processes
from targets import cgroups, running

suite = Suite()
# root first: short, full, system; tests/live/cases/mangled.c
NAMES = [
    ("main", "main", "main"),
    ("_ZN3appX", "_ZN3appX", "_ZN3appX"),
    ("plain", "plain.part.0", "plain.part.0"),
    ("app.foo", "app.foo(int)", "_D3app3fooFiZv"),
    ("mine::align::<...>", "mine::align::<usize>", "_RINvCs123_4mine5alignjE"),
    ("<alloc::vec::Vec<...> as core::Drop>::drop", "<alloc::vec::Vec<T> as core::Drop>::drop",
     "_ZN55_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..Drop$GT$4drop17h0123456789abcdefE"),
    ("app::start::{lambda#1}::operator()", "app::start()::{lambda()#1}::operator()() const",
     "_ZZN3app5startEvENKUlvE_clEv"),
    ("app::work<...>", "int app::work<int>(std::vector<int, std::allocator<int> >)",
     "_ZN3app4workIiEEiSt6vectorIT_SaIS2_EE"),
]
SHORT = [short for short, _, _ in NAMES]


def recorded(tmp, ending, *args, seconds=3):
    exe = compile_c("cases/mangled.c", os.path.join(tmp, "mangled"), "-fomit-frame-pointer")
    out = os.path.join(tmp, "out" + ending)
    with processes([f"exec {exe}"], tmp):
        record(out, "--duration", str(seconds), "--frequency", "199", *args)
    return out


@suite.test
def short():
    """folded stacks have short names, or those that are asked for"""
    raw = ("--names", "raw", "--lines", "--inlined")
    with scratch() as tmp:
        for args, want in (((), SHORT), (raw, [system for _, _, system in NAMES])):
            mine = learned([(f, n) for f, n in folded(recorded(tmp, ".folded", *args))
                            if f[0] == "mangled"])
            total = sum(n for _, n in mine)
            good = sum(n for f, n in mine if has_chain(f, want))
            say(f"{args}: {good} of {total}")
            assert total > 20 and good >= 0.9 * total, mine[:2]


@suite.test
def both():
    """OTLP and pprof have the system names too; pprof short ones, OTLP whole ones, whatever is asked for"""
    with scratch() as tmp:
        with open(recorded(tmp, ".otlp", "--names", "raw"), "rb") as f:
            otlp = f.read()
        with gzip.open(recorded(tmp, ".pb.gz")) as f:
            pprof = f.read()
        for short, full, system in NAMES:
            assert full.encode() in otlp and system.encode() in otlp, full
            assert short.encode() in pprof and system.encode() in pprof, short


@suite.test
def page():
    """the page has short names, and the whole ones to look at"""
    with scratch() as tmp:
        with open(recorded(tmp, ".html"), encoding="utf-8") as f:
            text = f.read()
        for name in [x for short, full, _ in NAMES for x in (short, full)]:
            assert f'"{name}"'.replace("<", "\\u003c").replace(">", "\\u003e") in text, name


def addresses(exe):
    """{name: address} of its functions."""
    out = subprocess.run(["nm", exe], capture_output=True, text=True, check=True).stdout
    return {x.split()[2]: int(x.split()[0], 16) for x in out.splitlines() if len(x.split()) == 3}


@suite.test
def stripped():
    """a stripped function is one frame, by where it begins, but for _start and main"""
    entry = ["_start", "main"] if os.uname().machine == "x86_64" else ["_start"]
    chain = ["main"] + [f"chain_{i}" for i in range(1, 11)]
    for flags in (("-pie", "-fPIE"), ("-no-pie", "-fno-pie")):
        with scratch() as tmp:
            exe = compile_c("chain.c", os.path.join(tmp, "named"), "-fomit-frame-pointer", *flags)
            at = addresses(exe)
            bare = os.path.join(tmp, "bare")
            subprocess.run(["strip", "-s", "-o", bare, exe], check=True)
            out = os.path.join(tmp, "out.folded")
            with processes([f"exec {bare} 100"], tmp):
                record(out, "--duration", "2", "--frequency", "199")
            mine = learned([(f, n) for f, n in folded(out) if f[0] == "bare"])
            want = [name if name in entry else f"bare!{at[name]:#x}" for name in chain]
            total = sum(n for _, n in mine)
            good = sum(n for f, n in mine if has_chain(f, want) and "_start" in f)
            say(f"{flags[0]}: {good} of {total}; {mine[0]}")
            assert total > 20 and good >= 0.9 * total


@suite.test
def whole():
    """a process has its program's whole name, and its service that of its unit"""
    name = "a-program-of-a-long-name"
    with scratch() as tmp, cgroups("trifold-web.service/inner") as (_, join):
        exe = compile_c("chain.c", os.path.join(tmp, name))
        out = os.path.join(tmp, "out")
        with running(exe, "100", before=join("trifold-web.service/inner")), running(exe, "100"):
            record(out + ".folded", "--duration", "2", "--frequency", "99")
            record(out + ".otlp", "--duration", "2", "--frequency", "99")
        names = {f[0] for f, _ in folded(out + ".folded")}
        assert name in names and name[:15] not in names, names
        with open(out + ".otlp", "rb") as f:
            otlp = f.read()
        for service in (name, "trifold-web"):	# lengths and tags are between
            assert re.search(rb"service\.name.{2,16}?" + service.encode(), otlp, re.S), service
        assert b"unknown_service" not in otlp


suite.run()
