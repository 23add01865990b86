#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trifold's own processes are counted and left out; no other is, whatever its name."""
import contextlib
import os
import re
import signal
import subprocess
import time

from accounts import Watcher
from live import TRIFOLD, Suite, burns, compile_c, folded, main_of, record, say, scratch, wait_for
from pprof import read_pprof

suite = Suite()

BURN = r"""
#include <sys/prctl.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	volatile unsigned long n = 0;

	prctl(PR_SET_NAME, argv[1]);
	alarm(60);
	for (;;)
		n++;
}
"""


def by_process(path):
    names = {}
    for frames, n in folded(path):
        names[frames[0]] = names.get(frames[0], 0) + n
    return names


def ours(names):
    return {n: k for n, k in names.items() if n.startswith("trifold")}


def left_out(said):
    m = re.search(r"(\d+) of trifold itself left out", said)
    return int(m[1]) if m else 0


@contextlib.contextmanager
def burning(tmp):
    """{process number: name} of two that have a daemon's name, of their file and their own."""
    source = os.path.join(tmp, "burn.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(BURN)
    started = {}
    for name in ("trifold-loaderd", "trifold-symbolizerd"):
        p = subprocess.Popen([compile_c(source, os.path.join(tmp, name), "-O1"), name[:15]])
        started[p.pid] = p
    try:
        yield {pid: os.path.basename(p.args[0]) for pid, p in started.items()}
    finally:
        for p in started.values():
            p.kill()
            p.wait()


@suite.test
def left_out_by_default():
    """trifold's own samples are counted, not shown; a process with a daemon's name, of its file and its own, is"""
    with scratch() as tmp, burning(tmp) as others:
        out = os.path.join(tmp, "out.pb.gz")
        w = Watcher()
        said = record(out, "--duration", "4", "--frequency", "997")
        w.done = True
        w.join(6)
        say(said.splitlines()[-1])
        samples = [(labels["pid"], labels.get("comm", ""), n) for labels, _, n in read_pprof(out)]
        shown = {pid for pid, name, _ in samples if name.startswith("trifold")}
        assert shown == set(others), (shown, others)
        for pid, name in others.items():
            got = sum(n for p, _, n in samples if p == pid)
            assert got > 100, f"{name}: {got}"
        assert left_out(said) > 0 and left_out(said) == w.last.own(), (said, w.last.own())
        assert w.last.missing() == 0, w.last.missing()
        assert sum(n for *_, n in samples) == w.last.delivered()


@suite.test
def shown_by_a_switch():
    """--include-self: they are in the recording"""
    # dd's samples give trifold work
    with scratch() as tmp, subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "status=none"]) as load:
        out = os.path.join(tmp, "out.folded")
        try:
            said = record(out, "--duration", "4", "--frequency", "997", "--include-self")
        finally:
            load.kill()
        say(ours(by_process(out)))
        assert ours(by_process(out)) and not left_out(said), said


def become(pid, argv):
    """Start argv with this number, if it is free; None: another one was faster."""
    for _ in range(50):
        with open("/proc/sys/kernel/ns_last_pid", "w", encoding="ascii") as f:
            f.write(str(pid - 1))
        p = subprocess.Popen(argv)
        if p.pid == pid:
            return p
        p.kill()
        p.wait()
        if os.path.exists(f"/proc/{pid}"):
            return None
    return None


@suite.test
def a_number_used_again():
    """a process that gets the number of a daemon that died is shown"""
    with scratch() as tmp:
        source, prog = os.path.join(tmp, "burn.c"), os.path.join(tmp, "heir")
        with open(source, "w", encoding="utf-8") as f:
            f.write(BURN)
        compile_c(source, prog, "-O1")
        out = os.path.join(tmp, "x.folded")
        p = subprocess.Popen([TRIFOLD, "run", "--frequency", "199", "--interval", "1", "--no-page",
                              "--output", out], stderr=subprocess.PIPE, text=True)
        heir = None
        # without a load all samples may be ours, which are left out
        load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "status=none"])
        try:
            wait_for(lambda: (a := Watcher.once()) and a.delivered() > 5)
            load.kill()
            for _ in range(5):
                victim = wait_for(lambda: main_of("trifold-exporterd"))
                os.kill(victim, signal.SIGKILL)
                wait_for(lambda: not os.path.exists(f"/proc/{victim}"))
                heir = become(victim, [prog, "heir"])
                if heir:
                    break
                time.sleep(1)
            assert heir, "no number could be used again"
            burns(1, heir.pid)
        finally:
            load.kill()
            load.wait()
            if heir:
                heir.kill()
                heir.wait()
            p.send_signal(signal.SIGINT)
            said = p.communicate(timeout=60)[1]
        names = by_process(out)
        say(said.splitlines()[-1])
        assert p.returncode == 0, said
        assert names.get("heir", 0) > 50, names


suite.run()
