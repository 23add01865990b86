#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The receiver is away for longer than symbolizerd holds batches, and processes are
killed meanwhile: with a spool all samples arrive, once, and the account is exact."""
import hashlib
import os
import signal
import subprocess
import sys
import time

from accounts import Watcher
from live import DAEMONS, TRIFOLD, Suite, ends_with_us, exporter_uid, main_of, say, scratch, wait_for
from loads import drizzle

suite = Suite()
HERE = os.path.dirname(os.path.abspath(__file__))
HELD = 16		# BATCHES_HELD of symbolizerd/knowledge/batches.h


def kill(name):
    victim = main_of(name)
    say(f"kill -9 {name} {victim}")
    os.kill(victim, signal.SIGKILL)
    wait_for(lambda: main_of(name) not in (None, victim))


def start_receiver(where, port):
    return subprocess.Popen([sys.executable, f"{HERE}/receiver.py", "--dir", where, "--script",
                             "200", "--port", str(port)], stdin=subprocess.DEVNULL,
                            preexec_fn=ends_with_us)


def free_port(where):
    """That of a receiver that was there."""
    r = start_receiver(where, 0)
    wait_for(lambda: os.path.exists(f"{where}/port") and open(f"{where}/port").read())
    r.kill()
    r.wait()
    with open(f"{where}/port") as f:
        return int(f.read())


def bodies(where):
    return [hashlib.sha256(open(f"{where}/{n}", "rb").read()).digest()
            for n in sorted(os.listdir(where)) if n.endswith(".body")]


def outage(victims, seconds=0, load=drizzle):
    """The account at the end.  The receiver is away while the victims are killed, and for so long at least."""
    with scratch() as tmp, load():
        os.chmod(tmp, 0o755)
        spool = f"{tmp}/spool"
        os.mkdir(spool, 0o700)
        os.chown(spool, exporter_uid(), exporter_uid())
        port, began = free_port(tmp), time.time()
        w = Watcher()
        p = subprocess.Popen([TRIFOLD, "run", "--interval", "1", "--no-page"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             env={**os.environ, "TRIFOLD_EXPORTER_SPOOL": spool,
                                  "OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{port}",
                                  "OTEL_METRICS_EXPORTER": "none"})
        receiver = None
        try:
            for n, name in enumerate(victims, 1):
                wait_for(lambda: p.poll() is not None or
                         len(os.listdir(spool)) >= n * HELD * 2 // 3)
                assert p.poll() is None, p.stderr.read()
                kill(name)
            time.sleep(max(0, began + seconds - time.time()))
            wait_for(lambda: len(os.listdir(spool)) > HELD + 4)
            wait_for(lambda: all(main_of(n) for n in DAEMONS if n != "trifold-viewer"))
            kept = len(os.listdir(spool))
            assert w.last.delivered() == 0, w.last.delivered()
            receiver = start_receiver(tmp, port)
            # up to a minute until it tries again, then twice as fast as batches come
            wait_for(lambda: len(bodies(tmp)) > kept and not w.last["exporter.spool_batches"], 150 + 2 * kept + 2 * seconds)
            time.sleep(1)
        finally:
            p.send_signal(signal.SIGINT)
            err = p.communicate(timeout=60)[1]
            if receiver:
                receiver.kill()
                receiver.wait()
        w.done = True
        w.join(6)
        a, got = w.last, bodies(tmp)
        say(f"{kept} batches were in the spool; taken {a.taken()}, delivered {a.delivered()}, "
            f"lost {a.lost()}, {len(got)} requests")
        assert p.returncode == 0, f"trifold ended with {p.returncode}\n{err}"
        assert not w.errors, w.errors
        assert os.listdir(spool) == [], os.listdir(spool)
        assert len(set(got)) == len(got), "a batch arrived twice"
        assert a.missing() == 0, f"{a.missing()} samples are nowhere"
        return a


@suite.test
def exporterd_killed_twice():
    """exporterd is killed twice while the receiver is away: all arrives once"""
    a = outage(["trifold-exporterd"] * 2)
    assert a["totals.exporter_deaths"] == 2, a["totals.exporter_deaths"]
    assert a.lost() == {}, a.lost()


@suite.test
def both_killed():
    """exporterd and symbolizerd are killed: lost is only what symbolizerd had not batched"""
    a = outage(["trifold-exporterd", "trifold-symbolizerd"])
    assert a["totals.hub_deaths"] == 1, a["totals.hub_deaths"]
    assert set(a.lost()) <= {"lost_hub", "no_hub"}, a.lost()


if __name__ == "__main__":
    suite.run()
