#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a live test beside others: beside.py COMMAND...

The test has a mount namespace of its own with an empty /run, so that its trifold is the only
one there (the lock and the sockets are in /run/trifold), and it is the only owner of what it
starts: whatever loses its parent becomes a child of this process, which is told to live.py by
TRIFOLD_TEST_ROOT.  Processes that outlive the test are a failure, and are killed.
"""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
GRACE_S = 5		# for what ends by itself, once the test has ended


def descendants():
    """{pid: command} of all below this process; no zombies."""
    parents, names = {}, {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/stat", errors="replace") as f:
                stat = f.read()
        except OSError:
            continue
        state, parent = stat.rpartition(")")[2].split()[:2]
        if state != "Z":
            parents[int(pid)] = int(parent)
            names[int(pid)] = stat.partition("(")[2].rpartition(")")[0]
    below = {os.getpid()}
    found = True
    while found:
        found = {p for p, parent in parents.items() if parent in below} - below
        below |= found
    return {p: names[p] for p in below - {os.getpid()}}


def reap():
    try:
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except ChildProcessError:
        pass


def wait_for_test(pid):
    """The test's exit status; what it leaves behind is reaped meanwhile."""
    while True:
        ended, status = os.wait()
        if ended == pid:
            return os.waitstatus_to_exitcode(status)


def kill_all():
    left = descendants()
    while left:
        for pid in left:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        reap()
        left = descendants()


def left_behind():
    end = time.monotonic() + GRACE_S
    while True:
        reap()
        left = descendants()
        if not left or time.monotonic() > end:
            return left
        time.sleep(0.1)


def enter():
    """In the test, before its exec: it ends when this process does."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def main():
    if os.getuid() != 0:	# the test says why it skips
        os.execvp(sys.argv[1], sys.argv[1:])
    if "TRIFOLD_TEST_ROOT" not in os.environ:
        env = {**os.environ, "TRIFOLD_TEST_ROOT": "unshared"}
        os.execvpe("unshare", ["unshare", "--mount", "--propagation", "private", "sh", "-ec",
                               'mount -t tmpfs -o mode=755 run /run; mkdir -m 1777 /run/lock; '
                               'mkdir /run/netns; exec "$@"', "sh", sys.executable, *sys.argv], env)
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    env = {**os.environ, "TRIFOLD_TEST_ROOT": str(os.getpid())}
    try:
        status = wait_for_test(subprocess.Popen(sys.argv[1:], env=env, preexec_fn=enter).pid)
        left = left_behind()
    finally:
        kill_all()
    if left:
        print(f"not ok - processes outlive the test: {left}", flush=True)
    if os.path.exists("/run/trifold"):
        print("not ok - /run/trifold outlives the test", flush=True)
    sys.exit(status if status >= 0 else 128 - status)


if __name__ == "__main__":
    main()
