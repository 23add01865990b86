#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of each process under load: the others go on, it comes back, the
accounts say what was lost, and nothing is left at the end.

KILLS in the environment: how often loaderd is killed.
"""
import os
import random
import signal
import subprocess
import time

from accounts import Taken, Watcher
from live import DAEMONS, TRIFOLD, Suite, children_of, main_of, say, scratch, wait_for
from loads import storm

suite = Suite()
KILLS = int(os.environ.get("KILLS", "5"))


def run_and_kill(choose, times=2):
    """trifold under load; choose() names the pid to kill, so many times."""
    with scratch() as tmp, storm():
        w = Watcher()
        p = subprocess.Popen([TRIFOLD, "run", "--frequency", "97", "--interval", "1",
                              "--output", os.path.join(tmp, "x.folded")],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        try:
            wait_for(lambda: w.last and w.last.delivered() > 50)
            before = {n: main_of(n) for n in DAEMONS}
            for _ in range(times):
                victim, name = choose()
                say(f"kill -9 {name} {victim}")
                os.kill(victim, signal.SIGKILL)
                time.sleep(1)
                wait_for(lambda: all(main_of(n) for n in DAEMONS))
                mark = w.last.delivered()
                wait_for(lambda: w.last.delivered() > mark + 50)
                now = {n: main_of(n) for n in DAEMONS}
                for n in DAEMONS:
                    assert n == name or now[n] == before[n], f"{n} was restarted too"
                before = now
        finally:
            p.send_signal(signal.SIGINT)
            err = p.communicate(timeout=60)[1]
        w.done = True
        w.join(6)
        a = w.last
        say(f"taken {a.taken()}, delivered {a.delivered()}, lost {a.lost()}")
        assert p.returncode == 0, f"trifold ended with {p.returncode}\n{err}"
        assert not w.errors, w.errors
        return a


@suite.test
def loaderd():
    """loaderd is killed: the others go on, what it had taken is accounted for"""
    lives = []

    def choose():
        time.sleep(random.random())     # it speaks once a second
        lives.append(Taken())
        return main_of("trifold-loaderd"), "trifold-loaderd"
    a = run_and_kill(choose, KILLS)
    taken = sum(life.now() for life in lives)
    for life in lives:
        life.close()
    say(f"BPF took {taken} in {KILLS} lives that were ended, the account has {a['totals.former_taken']}")
    assert a["totals.former_taken"] == taken
    assert a.missing() == 0, f"{a.missing()} samples are nowhere"
    assert a["totals.loader_deaths"] == KILLS


@suite.test
def symbolizerd():
    """symbolizerd is killed: its samples are counted as lost, exactly"""
    a = run_and_kill(lambda: (main_of("trifold-symbolizerd"), "trifold-symbolizerd"))
    assert a.missing() == 0, f"{a.missing()} samples are nowhere"
    assert a["totals.hub_deaths"] == 2


@suite.test
def exporterd():
    """exporterd is killed: nothing is lost"""
    a = run_and_kill(lambda: (main_of("trifold-exporterd"), "trifold-exporterd"))
    assert a.missing() == 0, f"{a.missing()} samples are nowhere"
    assert a["totals.exporter_deaths"] == 2


@suite.test
def opener():
    """the opener is killed: nothing else happens"""
    def choose():
        respawner = children_of(main_of("trifold-loaderd"))[0]
        return children_of(respawner)[0], "the opener"
    a = run_and_kill(choose)
    assert a.missing() == 0, f"{a.missing()} samples are nowhere"
    assert not a["totals.loader_deaths"]


suite.run()
