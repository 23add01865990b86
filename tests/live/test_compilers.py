#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names that compilers of C++, Rust and D mangled, on live processes."""
import os
import subprocess

from live import ROOT, Suite, folded, has_chain, learned, record, say, scratch
from loads import processes

suite = Suite()
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


def build(tmp):
    for name, (command, source, _, _) in PROGRAMS.items():
        subprocess.run([*command, "-o", os.path.join(tmp, name),
                        os.path.join(ROOT, "tests", "live", "cases", source)], check=True)


def reads_the_clock(frames, main):
    """main() looks whether its time is over: that takes long on some machines."""
    callee = (frames[frames.index(main) + 1:] or ["clock"])[0] if main in frames else ""
    return "clock" in callee or callee.endswith("_[k]")


@suite.test
def of_each_compiler():
    """C++, Rust (both manglings) and D: whole chains of short names, whole ones in OTLP"""
    with scratch() as tmp:
        build(tmp)
        out = os.path.join(tmp, "out")
        with processes([f"exec {tmp}/{name} 60" for name in PROGRAMS], tmp):
            record(out + ".folded", "--duration", "5", "--frequency", "199")
            record(out + ".otlp", "--duration", "2", "--frequency", "199")
        with open(out + ".otlp", "rb") as f:
            otlp = f.read()
        stacks = folded(out + ".folded")
    for name, (_, _, chain, whole) in PROGRAMS.items():
        mine = learned([(f, n) for f, n in stacks if f[0] == name and not reads_the_clock(f, chain[0])])
        total = sum(n for _, n in mine)
        good = sum(n for f, n in mine if has_chain(f, chain))
        say(f"{name}: {good} of {total}")
        assert total > 50 and good >= 0.9 * total, mine[:3]
        for text in whole:
            assert text.encode() in otlp, text


suite.run()
