#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names, and rules, from a separate debug file, found by build ID."""
import os
import random
import subprocess

from chance import least
from debug import CHAIN, DEBUG, build_stripped, make_debug_folder
from live import has_chain, say
from rows import Rows

rows = Rows({"folded": [".folded"]}, seconds=4, hz=499)
LIFE = "600"		# s, if it is not ended


def build(t, name, *flags):
    """(executable, build ID, debug file); each has a build ID of its own, or none by flags."""
    return build_stripped(t.tmp, name, "-Wl,--build-id=0x" + random.randbytes(20).hex(), *flags)


def start_with(t, exe, build_id, debug):
    """Start it where DEBUG holds only that file, seen by it alone."""
    where = f"{DEBUG}/.build-id/{build_id[:2]}"
    t.start("unshare", "-m", "sh", "-c", f"mount -t tmpfs none {DEBUG} && mkdir -p {where} && "
            f"cp {debug} {where}/{build_id[2:]}.debug && exec {exe} {LIFE}")


def check(mine):
    total = sum(n for _, n in mine)
    good = sum(n for f, n in mine if has_chain(f, CHAIN))
    say(f"{total} samples, {good} with the whole chain and its names")
    for f, n in sorted(mine, key=lambda x: -x[1])[:2]:
        say(f"{n} {';'.join(f)}")
    assert total > 80 and good >= least(0.95, total)


def check_none(mine):
    say(mine[:1])
    assert sum(n for _, n in mine) > 80 and not any("chain_" in name for f, _ in mine for name in f)


@rows.test
def names(t):
    """a stripped program has names by the debug file in its own root"""
    start_with(t, *build(t, "debug-stripped"))
    yield
    check(t.stacks("debug-stripped"))


@rows.test
def rules(t):
    """.debug_frame of the debug file serves where .eh_frame is missing"""
    exe, build_id, debug = build(t, "debug-frameless", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
    sections = subprocess.run(["readelf", "-WS", debug], capture_output=True, text=True).stdout
    assert ".debug_frame" in sections
    start_with(t, exe, build_id, debug)
    yield
    check(t.stacks("debug-frameless"))


def lines_of(*cmd):
    out = subprocess.run(cmd, check=True, capture_output=True, text=True).stdout
    return [line.split() for line in out.splitlines()]


def add_minidebug(exe, debug):
    """As rpm's find-debuginfo does it: functions that .dynsym does not have."""
    dynamic = {words[0] for words in lines_of("nm", "-D", "-P", "--defined-only", exe) if words}
    functions = {words[0] for words in lines_of("nm", "-P", "--defined-only", debug)
                 if words[1] in "tTwW"} - dynamic
    with open(exe + ".keep", "w", encoding="utf-8") as f:
        f.writelines(name + "\n" for name in sorted(functions))
    mini = exe + ".mini"
    subprocess.run(["objcopy", "-S", "--remove-section", ".gdb_index", "--remove-section",
                    ".comment", f"--keep-symbols={exe}.keep", debug, mini], check=True)
    subprocess.run(["xz", "-f", mini], check=True)
    subprocess.run(["objcopy", "--add-section", f".gnu_debugdata={mini}.xz", exe], check=True)
    return sorted(functions)


@rows.test
def debugdata(t):
    """a stripped program has names by its .gnu_debugdata"""
    exe, _, debug = build(t, "debugdata")
    assert "chain_10" in add_minidebug(exe, debug)
    t.start(exe, LIFE)
    yield
    check(t.stacks("debugdata"))


def linked(t, name, debug=None):
    """Start a program without a build ID, whose debug file (or another) has the name in its
    .gnu_debuglink, in .debug beside it."""
    exe, _, own = build(t, name, "-Wl,--build-id=none")
    subprocess.run(["objcopy", f"--add-gnu-debuglink={own}", exe], check=True)
    os.makedirs(t.path(".debug"), exist_ok=True)
    os.rename(debug or own, t.path(f".debug/{name}.debug"))
    if debug:
        os.unlink(own)
    t.start(exe, LIFE)


@rows.test
def link(t):
    """a program without a build ID has names by .gnu_debuglink"""
    linked(t, "debuglinked")
    yield
    check(t.stacks("debuglinked"))


@rows.test
def wrong_crc(t):
    """a file of that name with another CRC is not believed"""
    _, _, other = build(t, "other-crc", "-O1", "-Wl,--build-id=none")
    linked(t, "wrong-crc", other)
    yield
    check_none(t.stacks("wrong-crc"))


@rows.test
def overlay(t):
    """a container's program has names by the debug file in its own root, an overlay"""
    exe, build_id, debug = build(t, "in-overlay", "-static")
    where = t.path(f"two{DEBUG}/.build-id/{build_id[:2]}")
    for d in (t.path("one"), where, t.path("root")):
        os.makedirs(d)
    os.rename(exe, t.path("one/in-overlay"))
    os.rename(debug, f"{where}/{build_id[2:]}.debug")
    t.start("unshare", "-m", "sh", "-c",
            f"mount -t overlay -o lowerdir={t.path('one')}:{t.path('two')} overlay {t.path('root')} && "
            f"exec chroot {t.path('root')} /in-overlay {LIFE}")
    yield
    check(t.stacks("in-overlay"))


@rows.test
def not_its_own(t):
    """another program's debug file under this build ID is not believed"""
    exe, build_id, _ = build(t, "not-its-own")
    _, _, wrong = build(t, "other", "-O1")
    start_with(t, exe, build_id, wrong)
    yield
    check_none(t.stacks("not-its-own"))


make_debug_folder()
rows.run()
