#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Symbols that no sample met go after half a minute: of files that ran once, and of what runs on.

Files of a cgroup only are sampled: short programs, each a file of its own, and one that
stays.  When the indices were let go it goes on in another function, which must have its
name, too: so the file was read again.
"""
import contextlib
import os
import signal
import subprocess
import threading
import time

from live import TRIFOLD, Suite, compile_c, ends_with_us, folded, pids_of, say, scratch, wait_for
from loads import numbered
from names_stay import SECOND, THIRD, bare, services
from targets import cgroups

suite = Suite()
FILES = 40
PATIENCE = 240		# s for what takes half a minute on a machine that is not busy


def indices():
    """How many whole indices the hub has mapped."""
    most = 0
    for pid in pids_of("trifold-symbolizerd"):
        try:
            with open(f"/proc/{pid}/maps") as f:
                most = max(most, sum("/memfd:symbols" in line for line in f))
        except OSError:
            pass
    return most


def copies(exe, tmp, join):
    """FILES programs, one after the other, each gone when it has run."""
    with open(exe, "rb") as f:
        template = f.read()
    most = 0
    for i in range(FILES):
        path = os.path.join(tmp, f"copy{i}")
        numbered(template, path, i)
        subprocess.run([path, "150"], preexec_fn=join, check=True)
        os.unlink(path)
        most = max(most, indices())
    return most


def counts(path):
    """{program: {its function, or what stands there: samples}} of what calls no more."""
    found = {}
    for frames, n in folded(path):
        if not frames[-1].endswith("_[k]"):
            at = found.setdefault(frames[0], {})
            at[frames[-1]] = at.get(frames[-1], 0) + n
    return found


@contextlib.contextmanager
def running_on(exe, join):
    """A service that is busy all the time: [which function].  It begins in its second."""
    which, over = [1], threading.Event()
    with services([exe], before=join) as service:
        def work():
            while not over.is_set():
                service.run(which[0])
        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield which
        finally:
            over.set()
            thread.join()


@suite.test
def goes_and_comes():
    """indices go half a minute after the last new name; what runs then has its new names"""
    with scratch() as tmp, cgroups("let-go") as (path, join):
        join = join("let-go")
        exe = compile_c("quiet.c", os.path.join(tmp, "phases"), "-fomit-frame-pointer", "-Wl,--build-id")
        out = os.path.join(tmp, "out.folded")
        with running_on(exe, join) as phases:
            p = subprocess.Popen([TRIFOLD, "record", "--cgroup", path, "--output", out, "--frequency", "49",
                                  "--duration", "900"], stderr=subprocess.PIPE, text=True,
                                 preexec_fn=ends_with_us)
            try:
                wait_for(lambda: indices() > 0, PATIENCE)
                begin = time.time()
                most = copies(exe, tmp, join)
                most = max(most, wait_for(lambda: indices() >= FILES // 2 and indices()))
                # of what runs on, new functions are met now and then
                few = wait_for(lambda: indices() < FILES // 8 and indices() + 1, PATIENCE) - 1
                say(f"{most} indices of {FILES} files that ran once, {few} after {time.time() - begin:.0f} s")
                # the vDSO's stays; that of the one that goes on must have gone, too
                time.sleep(10)
                phases[0] = 2
                time.sleep(20)
            finally:
                p.send_signal(signal.SIGINT)
                said = p.communicate(timeout=60)[1]
                say(said.strip())
            assert p.returncode == 0, said
        found = counts(out)
    stays = found.get("phases", {})
    say(f"of what goes on: {stays}")
    once = {k: v for k, v in found.items() if k.startswith("copy")}
    named = sum(f"only_{int(k[4:]):08d}" in v for k, v in once.items())
    say(f"{named} of {len(once)} programs that ran once have the name of their function")
    assert named > FILES * 3 // 4
    assert stays.get(SECOND, 0) > 200 and stays.get(THIRD, 0) > 50, stays
    # none of both is without its name: samples waited until the file was read again
    without = {k: n for k, n in stays.items() if bare("phases", [k])}
    assert sum(without.values()) <= 0.02 * sum(stays.values()), without


suite.run()
