#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More executables than there is room for, and nothing is left of them.

loaderd gets a small byte budget and a short memory.  A swarm of distinct
executables runs: tables are evicted one at a time, sampling goes on, and no
stack is of another file than its process.  Then all of them end and are
deleted, and the maps hold what they held before.

SCALE=FILES,PROCESSES,RATE,SECONDS in the environment makes it larger.
"""
import os
import re
import signal
import subprocess
import time

from accounts import Watcher
from live import BIN, DAEMONS, TRIFOLD, Suite, folded, say, scratch, wait_for
from loads import swarm

suite = Suite()
FILES, PROCESSES, RATE, SECONDS = map(int, os.environ.get("SCALE", "450,450,200,15").split(","))
US = min(1500, 700000 // PROCESSES)	# of work a process and second
TABLE = 17600	# bytes of one of the swarm's tables
IDLE = 3	# seconds until loaderd forgets what is not used
HELD = ("tables.files", "tables.tables", "tables.table_rows", "tables.table_bytes", "tables.rules", "loader.slabs")


def daemons(tmp, options):
    """A directory of daemons whose loaderd has these options, too."""
    os.mkdir(tmp)
    for name in DAEMONS:
        real = os.path.join(BIN, name)
        path = os.path.join(tmp, name)
        if name != "trifold-loaderd":
            os.symlink(real, path)
            continue
        with open(path, "w", encoding="ascii") as f:
            f.write(f'#!/bin/sh\nexec {real} "$@" {options}\n')
        os.chmod(path, 0o755)


def held(a):
    return {k: a[k] for k in HELD}


def more_than(after, before):
    """What is held now and was not; the rest of the machine may have started something."""
    return [k for k in HELD if after[k] > 1.15 * before[k] + 2]


class Run:
    """trifold, and what it said of itself every half second."""

    def __init__(self, tmp, options):
        libexec = os.path.join(tmp, "libexec" + options)
        daemons(libexec, options)
        self.out = os.path.join(tmp, "out.folded")
        self.watcher = Watcher()
        self.series = []
        # on an idle machine there may be no sample, since ours are left out
        self.load = subprocess.Popen(["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "status=none"])
        self.p = subprocess.Popen([TRIFOLD, "run", "--libexec", libexec, "--frequency", "199",
                                   "--output", self.out],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def watch(self, seconds):
        end = time.time() + seconds
        while time.time() < end:
            assert self.p.poll() is None, "trifold ended"
            time.sleep(0.5)
            self.series.append(self.watcher.last)
        return self.watcher.last

    def stop(self):
        self.load.kill()
        self.load.wait()
        self.p.send_signal(signal.SIGINT)
        self.p.wait(60)
        self.watcher.done = True
        self.watcher.join(6)
        assert not self.watcher.errors, self.watcher.errors
        return self.watcher.last


def budget(tmp):
    """MiB: what this machine keeps running, and seven tenths of the swarm."""
    run = Run(tmp, f"--idle={IDLE}")
    try:
        wait_for(lambda: run.watcher.last and run.watcher.last["hub.complete"])
        a = run.watch(2 * IDLE + 3)
    finally:
        run.stop()
    return max(2, round((a["tables.table_bytes"] + 0.7 * FILES * TABLE) / (1 << 20)))


def check_eviction(series, mib):
    """As many as needed, not all: once the room is used, most of it stays used.

    By bytes: what else this machine runs meanwhile takes its share of the room.
    """
    last = series[-1]
    room = [a["tables.table_bytes"] / (mib << 20) for a in series]
    assert max(room) > 0.7, f"only {max(room):.2f} of {mib} MiB were ever used"
    used = [r > 0.7 for r in room].index(True)
    least = min(room[used:])
    say(f"evicted {last['tables.evicted']}, forgotten {last['tables.forgotten']}, refused {last['tables.table_full']}; "
        f"{last['tables.exes']} files met, by {last['tables.numbers']} numbers, {last['tables.tables']} with a table; "
        f"of the room at most {max(room):.2f} was used, and then never less than {least:.2f}")
    assert max(room) <= 1
    assert last["tables.evicted"] > 0
    assert least > 0.4


def check_stacks(out):
    """Processes u17: the file is theirs, the functions follow each other."""
    total = whole = 0
    for frames, n in folded(out):
        m = re.match(r"u(\d+)$", frames[0])
        if not m:
            continue
        own = [f for f in frames if re.match(r"(fn|only)_", f)]
        for f in own:
            assert not f.startswith("only_") or int(f[5:]) == int(m.group(1)), f"wrong file: {frames}"
        places = [int(f[3:], 8) for f in own if f.startswith("fn_")]
        for a, b in zip(places, places[1:]):
            assert b == (7 * a + 1) % 512, f"wrong caller: {frames}"
        if places:
            total += n
            whole += n * (frames[1] == "_start" and own[0].startswith("only_"))
    say(f"{total} samples in functions of the swarm, {whole} of them from _start up")
    assert total > 100 and whole > 0.2 * total


@suite.test
def comes_and_goes():
    """a swarm of executables beyond the budget comes, and all of it goes"""
    with scratch() as tmp:
        mib = budget(tmp)
        say(f"budget {mib} MiB")
        run = Run(tmp, f"--table-budget={mib} --idle={IDLE}")
        try:
            wait_for(lambda: run.watcher.last and run.watcher.last["hub.complete"])
            before = run.watch(IDLE + 3)
            run.series.clear()
            with swarm(FILES, PROCESSES, RATE, us=US) as p:
                during = run.watch(SECONDS)
                assert p.poll() is None
                check_eviction(run.series, mib)
            end = time.time() + 20 + FILES / 30
            after = run.watch(2 * IDLE)
            while time.time() < end and more_than(after, before):
                after = run.watch(1)
        finally:
            end = run.stop()
        taken = during.taken() - before.taken()
        native = during["hub.native"] - before["hub.native"]
        complete = during["hub.complete_native"] - before["hub.complete_native"]
        say(f"{taken} samples in {SECONDS} s, {native} native, {100 * complete / native:.1f} % of them complete")
        say(f"before {held(before)}")
        say(f"during {held(during)}")
        say(f"after  {held(after)}")
        assert taken > 20 * SECONDS
        assert end.missing() == 0, f"{end.missing()} samples are nowhere"
        assert complete >= 0.3 * native
        check_stacks(run.out)
        assert not more_than(after, before), more_than(after, before)
        assert during["tables.rules"] > 512	# one for each function of the swarm
        assert end["tables.table_bad"] == 0


suite.run()
