#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names, and rules, from a separate debug file, found by build ID."""
import os
import subprocess

from debug import CHAIN, DEBUG, build_stripped
from live import Suite, folded, has_chain, learned, record, say, scratch

suite = Suite()
def profile(exe, build_id, debug, wrap=()):
    """Run it where DEBUG holds only that file, seen by it alone."""
    where = f"{DEBUG}/.build-id/{build_id[:2]}"
    made = not os.path.isdir(DEBUG)
    if made:
        os.mkdir(DEBUG)
    try:
        script = (f"mount -t tmpfs none {DEBUG} && mkdir -p {where} && "
                  f"cp {debug} {where}/{build_id[2:]}.debug && exec {exe} 100")
        with subprocess.Popen(["unshare", "-m", "sh", "-c", script]) as p:
            out = exe + ".folded"
            record(out, "--duration", "3", "--frequency", "499")
            p.kill()
    finally:
        if made:
            os.rmdir(DEBUG)
    name = os.path.basename(exe)
    return learned([(f, n) for f, n in folded(out) if f[0] == name])


def check(mine):
    total = sum(n for _, n in mine)
    good = sum(n for f, n in mine if has_chain(f, CHAIN))
    say(f"{total} samples, {good} with the whole chain and its names")
    for f, n in sorted(mine, key=lambda x: -x[1])[:2]:
        say(f"{n} {';'.join(f)}")
    assert total > 80 and good >= 0.95 * total


@suite.test
def names():
    """a stripped program has names by the debug file in its own root"""
    with scratch() as tmp:
        check(profile(*build_stripped(tmp, "stripped")))


@suite.test
def rules():
    """.debug_frame of the debug file serves where .eh_frame is missing"""
    with scratch() as tmp:
        exe, build_id, debug = build_stripped(
            tmp, "frameless", "-fno-asynchronous-unwind-tables", "-fno-unwind-tables")
        sections = subprocess.run(["readelf", "-WS", debug], capture_output=True, text=True).stdout
        assert ".debug_frame" in sections
        check(profile(exe, build_id, debug))


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


@suite.test
def debugdata():
    """a stripped program has names by its .gnu_debugdata"""
    with scratch() as tmp:
        exe, _, debug = build_stripped(tmp, "mini")
        assert "chain_10" in add_minidebug(exe, debug)
        with subprocess.Popen([exe, "100"]) as p:
            record(exe + ".folded", "--duration", "3", "--frequency", "499")
            p.kill()
        check(learned([(f, n) for f, n in folded(exe + ".folded") if f[0] == "mini"]))


@suite.test
def not_its_own():
    """another program's debug file under this build ID is not believed"""
    with scratch() as tmp:
        exe, build_id, _ = build_stripped(tmp, "victim")
        _, _, wrong = build_stripped(tmp, "other", "-O1")
        mine = profile(exe, build_id, wrong)
        say(mine[:1])
        assert mine and not any("chain_" in name for f, _ in mine for name in f)


suite.run()
