# SPDX-License-Identifier: Apache-2.0
"""targets - processes, cgroups and containers to be told from others"""
import contextlib
import os
import shutil
import signal
import subprocess
import time

from accounts import Watcher
from live import TRIFOLD, Skip, burns, compile_c, cpu_time, ends_with_us, folded, say, scratch, wait_for

HEX64 = "0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"


@contextlib.contextmanager
def programs(*names, noise=True):
    """A directory with family.c under these names, and a neighbour that burns a CPU."""
    with scratch() as tmp, contextlib.ExitStack() as stack:
        exe = compile_c("family.c", os.path.join(tmp, "family"), "-fomit-frame-pointer",
                        "-pthread")
        for name in names + ("noise",):
            shutil.copy(exe, os.path.join(tmp, name))
        if noise:
            stack.enter_context(running(os.path.join(tmp, "noise"), "twin", "left", "600"))
        yield tmp


class Recording:
    """`trifold record`; .said when it has ended."""
    def __init__(self, *words):
        self.said = None
        self.p = subprocess.Popen(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  preexec_fn=ends_with_us)

    def ends(self):
        """By itself, since what it records has ended."""
        wait_for(lambda: self.p.poll() is not None)


@contextlib.contextmanager
def recording(output, *args, within=()):
    """A Recording that samples when the body begins, and ends with it."""
    r = Recording(*within, TRIFOLD, "record", "--output", output, *args)
    try:
        wait_for(lambda: r.p.poll() is not None or ((a := Watcher.once()) and a.frequency))
        yield r
    finally:
        r.p.send_signal(signal.SIGINT)
        r.said = r.p.communicate(timeout=300)[1]
    assert r.p.returncode == 0, r.said


def record_long(output, seconds, cpu, pids, *args):
    """Record for so many seconds by the clock, and until each of these had so much CPU time in it."""
    with recording(output, *args):
        until = {pid: cpu_time(pid) + cpu for pid in pids}
        time.sleep(seconds)
        wait_for(lambda: all(cpu_time(pid) >= at for pid, at in until.items()), 300)


def record_of(output, *args, pids=(), within=()):
    """Record until each of these processes had so much CPU time that it has samples, whatever else runs."""
    with recording(output, *args, "--frequency", "199", within=within):
        burns(0.5, *pids)


@contextlib.contextmanager
def running(*words, before=None):
    p = subprocess.Popen(words, preexec_fn=before, stdout=subprocess.DEVNULL)
    try:
        yield p
    finally:
        p.kill()
        p.wait()


def by_name(path):
    names = {}
    for frames, n in folded(path):
        names[frames[0]] = names.get(frames[0], 0) + n
    say(names)
    return names


def functions(path):
    return {f for frames, _ in folded(path) for f in frames[1:]}


def hierarchy():
    for path in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
        r = subprocess.run(["stat", "-fc", "%T", path], capture_output=True, text=True)
        if r.stdout.strip() == "cgroup2fs":
            return path
    raise Skip("no cgroup v2")


@contextlib.contextmanager
def cgroups(*names, end=""):
    """A cgroup of our own, whose name has this end, with these below it; how to join one of them."""
    top = os.path.join(hierarchy(), f"trifold-test-{os.getpid()}{end}")
    made = [os.path.join(top, n) for n in ("",) + names]

    def join(name):
        def enter():
            with open(os.path.join(top, name, "cgroup.procs"), "w") as f:
                f.write(str(os.getpid()))
        return enter

    try:
        for path in made:
            os.makedirs(path, exist_ok=True)
    except OSError as e:
        raise Skip(f"no cgroup can be made: {e}")
    try:
        yield os.path.relpath(top, hierarchy()), join
    finally:
        def gone():
            for path, _, _ in os.walk(top, topdown=False):
                with contextlib.suppress(OSError):
                    os.rmdir(path)
            return not os.path.exists(top)
        wait_for(gone)


@contextlib.contextmanager
def engine_files():
    """A directory for engines' files, and the words before a command that sees it as /var/lib."""
    with scratch() as tmp:
        within = ["unshare", "--mount", "sh", "-c", 'mount --bind "$0" /var/lib && exec "$@"', tmp]
        if subprocess.run(within + ["true"], capture_output=True).returncode:
            raise Skip("no mount namespace can be made")
        yield tmp, within
