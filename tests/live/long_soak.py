#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All parts of trifold under a mixed load for half an hour: memory, descriptors and maps
do not grow, the account agrees.

SOAK_MINUTES in the environment: how long.
"""
import os
import signal
import statistics
import subprocess
import sys
import time

from accounts import Watcher
from live import DAEMONS, TRIFOLD, Suite, ends_with_us, pids_of, say, scratch, wait_for
from loads import mixed, storm

suite = Suite()
MINUTES = float(os.environ.get("SOAK_MINUTES", "30"))
EVERY = 5		# s between two looks
HERE = os.path.dirname(os.path.abspath(__file__))
VIEWER_MIB = 64 + 32	# what it keeps of profiles, and itself: it grows until then
# Files that are no longer used stay for ten minutes, tables until 256 MiB are full: so
# the caches would grow all the time, as they should, on a machine where programs are built.
BUDGET = 24		# MiB of tables, in maps of a MiB: they grow until then
CONFIG = f"[tables]\nbudget = {BUDGET}\nidle = 60\n"


def pss(pid):
    """MiB, or None: gone."""
    try:
        with open(f"/proc/{pid}/smaps_rollup") as f:
            return next(int(line.split()[1]) / 1024 for line in f if line.startswith("Pss:"))
    except (OSError, StopIteration):
        return None


def descriptors(pid):
    try:
        return len(os.listdir(f"/proc/{pid}/fd"))
    except OSError:
        return 0


def objects():
    """(BPF maps and programs of loaderd, MiB of its maps) by the kernel."""
    found, size = 0, 0
    for pid in pids_of("trifold-loaderd"):
        for fd in os.listdir(f"/proc/{pid}/fdinfo"):
            try:
                with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                    info = dict(line.split(":", 1) for line in f if ":" in line)
            except OSError:
                continue
            found += "map_id" in info or "prog_id" in info
            size += int(info.get("memlock", 0))
    return found, size / (1 << 20)


def look():
    """{what: number} of all that could grow."""
    now = {}
    for name in DAEMONS:
        alive = [(pid, m) for pid, m in ((p, pss(p)) for p in pids_of(name)) if m is not None]
        now[f"{name} MiB"] = sum(m for _, m in alive)
        now[f"{name} descriptors"] = max((descriptors(p) for p, _ in alive), default=0)
        now[f"{name} processes"] = len(alive)
    now["BPF objects"], now["BPF maps MiB"] = objects()
    return now


def growth(rows, key):
    """(early, late): medians of the second and of the last quarter."""
    values = [r[key] for r in rows]
    n = len(values)
    return statistics.median(values[n // 4:n // 2]), statistics.median(values[-(n // 4):])


def judge(rows):
    grown, maps = [], "BPF maps MiB"
    early, late = growth(rows, maps)
    slabs = max(0, late - early)
    for key in rows[0]:
        early, late = growth(rows, key)
        say(f"{key}: {early:.1f} -> {late:.1f}, at most {max(r[key] for r in rows):.1f}")
        # a quarter of an hour's growth: a leak of 100 bytes a batch or file would show
        slack = 1 + 0.05 * early if key.endswith("MiB") else 2
        if key in ("BPF objects", "trifold-loaderd descriptors"):
            slack += slabs
        limit = {"trifold-viewer MiB": VIEWER_MIB, maps: rows[0][maps] + BUDGET}.get(key, early + slack)
        if late > limit:
            grown.append(f"{key}: {early:.1f} -> {late:.1f}")
    assert not grown, grown


@suite.test
def soak():
    """half an hour under a mixed load: nothing grows, the account agrees"""
    rows = []
    with scratch() as tmp, mixed(), storm():
        receiver = subprocess.Popen([sys.executable, f"{HERE}/receiver.py", "--dir", tmp, "--script", "200"],
                                    preexec_fn=ends_with_us, stdin=subprocess.DEVNULL)
        wait_for(lambda: os.path.exists(f"{tmp}/port") and open(f"{tmp}/port").read())
        with open(f"{tmp}/port") as f:
            port = int(f.read())
        with open(f"{tmp}/conf", "w") as f:
            f.write(CONFIG)
        os.chmod(tmp, 0o755)
        w = Watcher()
        p = subprocess.Popen([TRIFOLD, "run", "--config", f"{tmp}/conf", "--endpoint", f"http://127.0.0.1:{port}"],
                             stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                             preexec_fn=ends_with_us)
        try:
            wait_for(lambda: w.last and w.last.delivered() > 50, 120)
            end = time.time() + 60 * MINUTES
            while time.time() < end and p.poll() is None:
                rows.append(look())
                for name in os.listdir(tmp):	# bodies that came
                    if name.endswith(".body"):
                        os.unlink(os.path.join(tmp, name))
                time.sleep(EVERY)
            assert p.poll() is None, "it ended by itself"
        finally:
            p.send_signal(signal.SIGINT)
            err = p.communicate(timeout=60)[1]
            receiver.kill()
            receiver.wait()
        w.done = True
        w.join(6)
    a = w.last
    say(f"{len(rows)} looks; taken {a.taken()}, delivered {a.delivered()}, lost {a.lost()}, "
        f"restarts {[a['totals.' + x + '_deaths'] for x in ('loader', 'hub', 'exporter')]}")
    judge(rows)
    assert p.returncode == 0, f"trifold ended with {p.returncode}\n{err}"
    assert not w.errors, w.errors
    assert a.missing() == 0, f"{a.missing()} samples are nowhere"


suite.run()
