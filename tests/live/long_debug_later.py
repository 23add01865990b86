#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A debug package that is installed while trifold runs is found within a minute, on the
host and in a root of a process's own; names that were sent stay."""
import os
import subprocess
import threading
import time

from debug import CHAIN, DEBUG, build_stripped
from live import Suite, has_chain, record, say, scratch, timed

suite = Suite()
INSTALLED_S = 8
SECONDS = 85		# a minute, the interval of batches, and a busy machine
LATE_S = 60


def install(debug, build_id, root=""):
    """As a package does it: whole under its name at once."""
    where = f"{root}{DEBUG}/.build-id/{build_id[:2]}"
    name = f"{where}/{build_id[2:]}.debug"
    subprocess.run(["sh", "-c", f"mkdir -p {where} && cp {debug} {name}.new && "
                    f"mv {name}.new {name}"], check=True)
    return name


def run_below(exe):
    """In a mount namespace where DEBUG is empty and no one else's."""
    return subprocess.Popen(["unshare", "-m", "sh", "-c",
                             f"mount -t tmpfs none {DEBUG} && exec {exe} 100"])


def judge(samples, name):
    """Seconds after the start of the first sample with the chain's names."""
    mine = sorted((ms / 1000, has_chain(f, CHAIN)) for ms, f in samples if f[0] == name)
    named = [s for s, good in mine if good]
    early = [s for s, good in mine if s < INSTALLED_S]
    assert len(early) > 50 and not any(good for s, good in mine if s < INSTALLED_S), name
    assert named, f"{name}: {len(mine)} samples, none with names"
    after = [good for s, good in mine if s >= named[0]]
    say(f"{name}: {len(mine)} samples, names from {named[0] - INSTALLED_S:.0f} s after the "
        f"package on; then {sum(after)} of {len(after)} have them")
    assert sum(after) >= 0.95 * len(after)
    assert named[0] - INSTALLED_S <= LATE_S


def uninstall(name):
    os.unlink(name)
    try:
        os.removedirs(os.path.dirname(name))
    except OSError:		# others are there
        pass


@suite.test
def later():
    """names come within a minute, without a restart of anything"""
    os.makedirs(DEBUG, exist_ok=True)
    with scratch() as tmp:
        exe, build_id, debug = build_stripped(tmp, "host")
        below, below_id, below_debug = build_stripped(tmp, "below", "-O1")
        out = os.path.join(tmp, "later.firefox.json")
        with subprocess.Popen([exe, "200"]) as p, run_below(below) as q:
            recording = threading.Thread(target=record, args=(
                out, "--duration", str(SECONDS), "--frequency", "49"), kwargs={"timeout": 200})
            recording.start()
            time.sleep(INSTALLED_S + 2)
            name = install(debug, build_id)
            try:
                install(below_debug, below_id, f"/proc/{q.pid}/root")
                recording.join()
            finally:
                uninstall(name)
                p.kill()
                q.kill()
        samples = timed(out)
        judge(samples, "host")
        judge(samples, "below")


suite.run()
