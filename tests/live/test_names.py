#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Known chains of functions come out as they are, in each format: names demangled and
short, whole, and as the file has them."""
import contextlib
import gzip
import os
import re
import subprocess

from chance import share_of
from formats import firefox, speedscope
from live import ROOT, compile_c, has_chain
from rows import Rows, leads_a_session
from targets import cgroups

RAW = ("--names", "raw", "--lines", "--inlined")
rows = Rows({"folded": [".folded"], "raw": [".folded", *RAW], "otlp": [".otlp"],
             "otlp-raw": [".otlp", "--names", "raw"], "pprof": [".pb.gz"], "page": [".html"],
             "speedscope": [".speedscope.json"], "firefox": [".firefox.json"]}, seconds=4, hz=499)
LIFE = "600"		# s, if it is not ended
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]


# --- chains ---------------------------------------------------------------------------


@rows.test
def on_cpu(t):
    """ten functions without frame pointers, from _start up; in a speedscope and a Firefox file, too"""
    t.start(compile_c("chain.c", t.path("on-cpu"), "-fomit-frame-pointer"), LIFE)
    yield
    mine = t.stacks("on-cpu")
    share_of("folded", mine, lambda f: f[1] == "_start" and has_chain(f, CHAIN), 0.95, 100)
    for f, _ in mine:
        inside = [x for x in f if x.startswith("chain_")]
        assert not inside or has_chain(CHAIN, inside), f"wrong order: {f}"
    weights = [(s, w) for p, s, w in speedscope(t.out("speedscope")) if p.startswith("on-cpu (pid ")]
    share_of("speedscope", [(s, round(w * t.hz / 1e9)) for s, w in weights], lambda s: has_chain(s, CHAIN), 0.95, 100)
    samples = [(s, 1) for p, s in firefox(t.out("firefox")) if p.startswith("on-cpu (pid ")]
    share_of("firefox", samples, lambda s: has_chain(s, CHAIN), 0.95, 100)


@rows.test
def in_system_call(t):
    """kernel frames stand on top of the chain in a system call"""
    t.start(compile_c("chain.c", t.path("in-call"), "-fomit-frame-pointer"), LIFE, "syscall")
    yield
    mine = t.stacks("in-call")
    share_of("chain", mine, lambda f: f[1] == "_start" and has_chain(f, CHAIN), 0.95, 100)
    share_of("kernel", mine, lambda f: f[-1].endswith("_[k]") and has_chain(f, CHAIN), 0.5, 100)


# --- names ----------------------------------------------------------------------------

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


@rows.test
def of_a_file(t):
    """folded stacks have short names, or those that are asked for; other formats have what they can hold"""
    t.start(compile_c("cases/mangled.c", t.path("mangled"), "-fomit-frame-pointer"))
    yield
    for key, want in (("folded", SHORT), ("raw", [system for _, _, system in NAMES])):
        share_of(key, t.stacks("mangled", key), lambda f, want=want: has_chain(f, want), 0.9, 50)
    with open(t.out("otlp-raw"), "rb") as f:
        otlp = f.read()
    with gzip.open(t.out("pprof")) as f:
        pprof = f.read()
    with open(t.out("page"), encoding="utf-8") as f:
        page = f.read()
    # OTLP has whole ones and system names, pprof short ones and system names, whatever is asked for;
    # the page has short names, and whole ones to look at
    for short, full, system in NAMES:
        assert full.encode() in otlp and system.encode() in otlp, full
        assert short.encode() in pprof and system.encode() in pprof, short
        for name in (short, full):
            assert f'"{name}"'.replace("<", "\\u003c").replace(">", "\\u003e") in page, name


SHOP = ["names::main", "names::shop::open", "names::shop::with"]
SELL = "<names::shop::Till<...> as names::shop::Sell>::sell"
# program: command, source, the chain of short names, names in OTLP: full, mangled by its compiler
PROGRAMS = {
    "cxx": (["g++", "-O1", "-fno-optimize-sibling-calls"], "names.cc",
            ["main", "shop::(anonymous namespace)::hidden",
             "shop::(anonymous namespace)::hidden::{lambda#1}::operator()",
             "shop::Queue<...>::pop", "shop::Counter::operator()"],
            ["shop::Counter::operator()(int) const", "_ZNK4shop7CounterclEi"]),
    "rust-legacy": (["rustc", "-O"], "names.rs", SHOP + ["names::shop::each", SELL],
                    ["<names::shop::Till<u64> as names::shop::Sell>::sell",
                     "_ZN66_$LT$names..shop..Till$LT$u64$GT$$u20$as$u20$names..shop..Sell$GT$4sell"]),
    "rust-v0": (["rustc", "-O", "-C", "symbol-mangling-version=v0"], "names.rs",
                SHOP + ["names::shop::each::<...>", SELL],
                ["names::shop::each::<names::shop::Till<u64>>", "_RINvNt"]),
    "d": (["gdc", "-O1", "-fno-optimize-sibling-calls"], "names.d",
          ["main", "shop.open", "shop.Till.sell!(...).sell"],
          ["shop.open(shop.Till)", "_D4shop4openFCQm4TillZm"]),
}


def reads_the_clock(frames, main):
    """main() looks whether its time is over: that takes long on some machines."""
    callee = (frames[frames.index(main) + 1:] or ["clock"])[0] if main in frames else ""
    return "clock" in callee or callee.endswith("_[k]")


def of_compiler(name):
    command, source, chain, whole = PROGRAMS[name]

    def row(t):
        subprocess.run([*command, "-o", t.path(name), os.path.join(ROOT, "tests", "live", "cases", source)], check=True)
        t.start(t.path(name), LIFE)
        yield
        mine = [(f, n) for f, n in t.stacks(name) if not reads_the_clock(f, chain[0])]
        share_of(name, mine, lambda f: has_chain(f, chain), 0.9, 50)
        with open(t.out("otlp"), "rb") as f:
            otlp = f.read()
        for text in whole:
            assert text.encode() in otlp, text
    row.__doc__ = f"{name}: whole chains of short names, whole ones in OTLP"
    rows.test(row)


for compiler in PROGRAMS:
    of_compiler(compiler)


def addresses(exe):
    """{name: address} of its functions."""
    out = subprocess.run(["nm", exe], capture_output=True, text=True, check=True).stdout
    return {x.split()[2]: int(x.split()[0], 16) for x in out.splitlines() if len(x.split()) == 3}


@rows.test
def stripped(t):
    """a stripped function is one frame, by where it begins, but for _start and main"""
    entry = ["_start", "main"] if os.uname().machine == "x86_64" else ["_start"]
    bare = {"bare-pie": ("-pie", "-fPIE"), "bare-no-pie": ("-no-pie", "-fno-pie")}
    at = {}
    for name, flags in bare.items():
        exe = compile_c("chain.c", t.path("named-" + name), "-fomit-frame-pointer", *flags)
        at[name] = addresses(exe)
        subprocess.run(["strip", "-s", "-o", t.path(name), exe], check=True)
        t.start(t.path(name), LIFE)
    yield
    for name in bare:
        want = [x if x in entry else f"{name}!{at[name][x]:#x}" for x in CHAIN]
        share_of(name, t.stacks(name), lambda f, want=want: has_chain(f, want) and "_start" in f, 0.9, 50)


@rows.test
def whole(t):
    """a process has its program's whole name, and its service that of its unit"""
    name = "a-program-of-a-long-name"
    unit = "trifold-web.service/inner"
    with contextlib.ExitStack() as stack:
        _, join = stack.enter_context(cgroups(unit))
        enter = join(unit)

        def within():
            leads_a_session()
            enter()
        exe = compile_c("chain.c", t.path(name))
        t.start(exe, LIFE, preexec_fn=within)
        t.start(exe, LIFE)
        yield
        names = {f[0] for f, _ in t.folded("folded")}
        assert name in names and name[:15] not in names, names
        with open(t.out("otlp"), "rb") as f:
            otlp = f.read()
        # lengths and tags are between; the unit lies in a cgroup that is no slice
        assert re.search(rb"service\.name.{2,16}?" + name.encode(), otlp, re.S)
        assert re.search(rb"service\.name.{2,16}?[\w./-]*trifold-test-\d+/trifold-web", otlp, re.S)
        assert b"unknown_service" not in otlp


rows.run()
