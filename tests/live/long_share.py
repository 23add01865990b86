#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An ordinary user starts 50 new programs a second: `trifold run` keeps to its share of the host, all of it counted."""
import os
import signal
import subprocess
import sys
import time

from accounts import Watcher
from live import TRIFOLD, Suite, compile_c, ends_with_us, say, scratch, wait_for

suite = Suite()
HERE = os.path.dirname(os.path.abspath(__file__))
USER = 12345
RATE = 50		# new programs a second
PERCENT = 1		# of the host
SETTLES = 60		# s: what is spare at the start is used up
SECONDS = 60		# in which the share is judged
SLACK = 0.3		# s of CPU time: reports come once a second, a worker's is known when it ends


def spawn(exe, tmp):
    """In a process of its own, as that user: copies are new files, each runs for a second's rest at most."""
    pid = os.fork()
    if pid:
        return pid
    ends_with_us()
    os.setgid(USER)
    os.setuid(USER)
    with open(exe, "rb") as f:
        image = f.read()
    i, due = 0, time.monotonic()
    while True:
        path = os.path.join(tmp, f"new{i}")
        with open(path, "wb") as f:
            f.write(image + str(i).encode())
        os.chmod(path, 0o755)
        os.waitpid(os.posix_spawn(path, [path, "0.02"], {}), 0)
        os.unlink(path)
        i += 1
        due += 1 / RATE
        time.sleep(max(0, due - time.monotonic()))


def used_ns(a):
    """CPU time of all of trifold that the hub knows."""
    return (a.bpf("BPF_RUN_NS") + a["loader.cpu_ns"] + a["loader.opener.cpu_ns"] + a["hub.cpu_ns"] +
            a["hub.worker_cpu_ns"] + a["exporter.cpu_ns"])


@suite.test
def share():
    """everything that trifold uses beside them keeps to limits.cpu_share"""
    with scratch() as tmp:
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        theirs = os.path.join(tmp, "theirs")
        os.mkdir(theirs)
        os.chown(theirs, USER, USER)
        os.chmod(tmp, 0o755)
        config = os.path.join(tmp, "trifold.conf")
        with open(config, "w", encoding="ascii") as f:
            f.write(f"[limits]\ncpu_share = {PERCENT}\n")
        watcher = Watcher()
        # with a receiver it is no recording, which may take more
        receiver = subprocess.Popen([sys.executable, os.path.join(HERE, "receiver.py"), "--dir", tmp], preexec_fn=ends_with_us)
        port = wait_for(lambda: os.path.exists(os.path.join(tmp, "port")) and open(os.path.join(tmp, "port")).read())
        p = subprocess.Popen([TRIFOLD, "run", "--config", config, "--endpoint", f"http://127.0.0.1:{port}"], preexec_fn=ends_with_us, stderr=subprocess.DEVNULL)
        spawner = spawn(exe, theirs)
        try:
            wait_for(lambda: watcher.last and watcher.last["hub.complete"] > 10, 60)
            time.sleep(SETTLES)
            first = watcher.last
            time.sleep(SECONDS)
            last = watcher.last
            seconds = (last.uptime - first.uptime) / 1e9
            host = seconds * os.cpu_count()
            share = (used_ns(last) - used_ns(first)) / 1e9 / host
            parts = {k: round((last[k] - first[k]) / 1e9, 3) for k in (
                "loader.cpu_ns", "loader.opener.cpu_ns", "hub.cpu_ns", "hub.worker_cpu_ns", "exporter.cpu_ns",
                "hub.files_cpu_ns", "hub.line_cpu_ns")}
            say(f"{100 * share:.2f} % of the host in {seconds:.0f} s; CPU {parts}; put off {last['hub.files_put_off']} "
                f"files, {last['hub.jobs_put_off']} jobs; {last['tables.exes'] - first['tables.exes']} files met")
            assert share <= PERCENT / 100 + SLACK / host
            assert last["hub.files_put_off"] + last["hub.jobs_put_off"] > first["hub.files_put_off"] + first["hub.jobs_put_off"]
        finally:
            os.kill(spawner, signal.SIGKILL)
            os.waitpid(spawner, 0)
            p.send_signal(signal.SIGINT)
            p.wait(60)
            receiver.kill()
            receiver.wait()
        watcher.done = True
        watcher.join(6)
        assert watcher.last.missing() == 0, f"{watcher.last.missing()} samples are nowhere"


suite.run()
