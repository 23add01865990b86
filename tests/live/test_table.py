#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold table` says what readelf says of the same file, row by row."""
import bisect
import os
import re
import subprocess
import sys

from live import TRIFOLD, Suite, compile_c, say, scratch

suite = Suite()
LIBC = os.popen("ldd /bin/sh | awk '/libc\\.so/ { print $3 }'").read().strip()
TRACKED = ("rbp", "rbx", "r12", "r13", "r14", "r15")


def ours(path):
    """[(start, {what: where} or a word)], ascending."""
    out = subprocess.run([TRIFOLD, "table", path], capture_output=True, text=True, check=True)
    rows = []
    for line in out.stdout.splitlines():
        place, *words = line.split()
        pairs = dict(w.split("=", 1) for w in words if "=" in w)
        rows.append((int(place.split("-")[0], 16), pairs or words[0]))
    return rows


def readelf(path):
    """The rows of each function: [(address, {column: text})]."""
    out = subprocess.run(["readelf", "--debug-dump=frames-interp", path],
                         capture_output=True, text=True).stdout
    columns, rows, fde = [], [], False
    for line in out.splitlines():
        if re.match(r"[0-9a-f]{8} ", line):
            fde = " FDE " in line
        elif line.strip().startswith("LOC"):
            columns = line.split()[1:]
        elif fde and re.match(r"\s*[0-9a-f]{16} ", line):
            loc, *texts = line.split()
            rows.append((int(loc, 16), dict(zip(columns, texts))))
    return rows


def agrees(mine, theirs):
    """None: not comparable: expressions, which readelf does not show, and
    registers in registers, which it shows in too many columns."""
    if (theirs["CFA"] == "exp" or
            any(re.match(r"v?exp|r|\(", text) for what, text in theirs.items() if what != "CFA")):
        return None
    if theirs.get("ra") == "u":
        return mine == "end"
    if theirs.get("rsp", "u") != "u":     # setcontext(): a new stack
        return mine == "unsupported"
    if not isinstance(mine, dict):
        return False

    def place(text):
        return f"*(cfa{text[1:]})" if text and text[0] == "c" else None
    return (mine["cfa"].replace("+0", "") == theirs["CFA"].replace("+0", "") and
            mine["ra"] == place(theirs["ra"]) and
            all(mine.get(r) == place(theirs.get(r)) for r in TRACKED))


def compare(path):
    table, same, skipped, bad = ours(path), 0, 0, []
    starts = [start for start, _ in table]
    theirs = readelf(path)
    # of rows at one address the last counts
    for at, row in {a: r for a, r in theirs}.items():
        mine = table[bisect.bisect_right(starts, at) - 1][1]
        verdict = agrees(mine, row)
        if verdict is None:
            skipped += 1
        elif verdict:
            same += 1
        else:
            bad.append(f"{at:#x}: readelf {row}, ours {mine}")
    say(f"{path}: {same} rows agree, {skipped} not comparable, {len(bad)} differ")
    assert same > 20 and not bad, "\n".join(bad[:10])


@suite.test
def against_readelf():
    """the tables of libc, a shell and our own command are readelf's"""
    for path in (LIBC, os.path.realpath("/bin/bash"), TRIFOLD):
        compare(path)


@suite.test
def single_addresses():
    """--at: one line an address, the rule that holds there"""
    with scratch() as tmp:
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fno-omit-frame-pointer",
                        "-fcf-protection=none", "-O0")
        nm = subprocess.run(["nm", exe], capture_output=True, text=True, check=True).stdout
        at = int(re.search(r"^(\w+) [tT] main$", nm, re.M).group(1), 16)
        out = subprocess.run([TRIFOLD, "table", exe, "--at", f"{at:x}", f"{at + 1:#x}",
                              f"{at + 4:x}", "1"], capture_output=True, text=True, check=True)
    say(out.stdout)
    assert out.stdout.splitlines() == [
        f"{at:#x} cfa=rsp+8 ra=*(cfa-8) main",
        f"{at + 1:#x} cfa=rsp+16 ra=*(cfa-8) rbp=*(cfa-16) main",
        f"{at + 4:#x} cfa=rbp+16 ra=*(cfa-8) rbp=*(cfa-16) main",
        "0x1 not executable"]


@suite.test
def bad_files():
    """what is no table is an error that says so"""
    for args, status in (([__file__], 1), (["/dev/null"], 1), (["/nowhere"], 1), ([], 2),
                         ([LIBC, "--at", "xyz"], 2)):
        r = subprocess.run([TRIFOLD, "table", *args], capture_output=True, text=True)
        say(r.stderr.strip())
        assert (r.returncode, r.stdout) == (status, "") and len(r.stderr.splitlines()) == 1


if sys.argv[1:]:
    compare(sys.argv[1])
else:
    suite.run()
