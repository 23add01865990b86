#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hostile test whose reader goes away leaves no process, BPF object or file behind."""
import functools
import os
import signal
import subprocess
import sys

from live import BIN, Suite, say, scratch, wait_for

HOSTILE = os.path.join(os.path.dirname(BIN), "hostile")
suite = Suite()


def running(session):
    """Processes of this session, also those whose parent is gone."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", errors="replace") as f:
                words = f.read().rpartition(")")[2].split()
        except OSError:
            continue
        if int(words[3]) == session and words[0] != "Z":
            found.append(int(pid))
    return found


def close_output(name):
    with scratch() as tmp:
        os.chmod(tmp, 0o1777)
        script = f"mount --bind {tmp} /tmp && exec {HOSTILE}/{name}"
        p = subprocess.Popen(["unshare", "-m", "sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
        try:
            say(p.stdout.readline().decode().strip())
            p.stdout.close()
            say(f"{name} ended with {p.wait(180)}")
            wait_for(lambda: not running(p.pid))
            assert not os.listdir(tmp), os.listdir(tmp)
        finally:
            for pid in running(p.pid):
                os.kill(pid, signal.SIGKILL)
            p.wait()


for program in sys.argv[1:] or ["loader_mutants", "loader_words", "opener"]:
    test = functools.partial(close_output, program)
    test.__doc__ = f"{program}, whose output is closed"
    suite.test(test)
suite.run()
