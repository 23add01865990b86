#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`trifold status`: each process and each receiver, against /proc and what the
receivers got.

Usage: test_status.py
"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

from browser import Browser, find
from live import (DAEMONS, ROOT, SUPERVISOR, TRIFOLD, Suite, parent_of, pids_of, say, scratch, wait_for)
from loads import storm

suite = Suite()


def status():
    r = subprocess.run([TRIFOLD, "status", "--json"], capture_output=True, text=True, timeout=60)
    assert r.returncode == 0, r.stderr
    return json.loads(r.stdout)


def delivered(n):
    """Is there a trifold that has delivered more?"""
    r = subprocess.run([TRIFOLD, "status", "--json"], capture_output=True, text=True, timeout=60)
    return r.returncode == 0 and json.loads(r.stdout)["samples"]["delivered"] > n


def table():
    return subprocess.run([TRIFOLD, "status"], capture_output=True, text=True, check=True,
                          timeout=60).stdout


@contextlib.contextmanager
def receiver(tmp, name, script):
    path = os.path.join(tmp, name)
    os.mkdir(path)
    p = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests/live/receiver.py"),
                          "--dir", path, "--script", script])
    try:
        wait_for(lambda: os.path.exists(os.path.join(path, "port")))
        with open(os.path.join(path, "port"), encoding="utf-8") as f:
            yield f"http://user:secret@localhost:{f.read()}"
    finally:
        p.terminate()
        p.wait()


@contextlib.contextmanager
def running(tmp, *args, **env):
    """trifold run; its account is exact in the end."""
    with open(os.path.join(tmp, "said"), "w+", encoding="utf-8") as said:
        p = subprocess.Popen([TRIFOLD, "run", *args], env={**os.environ, **env}, cwd=tmp,
                             stdout=subprocess.DEVNULL, stderr=said)
        try:
            yield p
        finally:
            p.send_signal(signal.SIGINT)
            p.wait(timeout=60)
            said.seek(0)
            text = said.read()
        assert p.returncode == 0 and " lost" in text and "difference" not in text, text


def rss_of(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def all_processes():
    """Those that status lists, if they are those that are there (a worker may come or go)."""
    got = status()["processes"]
    want = {pid for name in ("trifold", SUPERVISOR, *DAEMONS) for pid in pids_of(name)}
    return got if {q["pid"] for q in got} == want else None


@suite.test
def processes():
    """all that run a program of ours below the supervisor, and no other"""
    with scratch() as tmp, storm():
        stranger = shutil.copy(shutil.which("sleep"), os.path.join(tmp, "trifold-sleep"))
        with subprocess.Popen([stranger, "60"]) as other, running(tmp) as p:
            wait_for(lambda: delivered(50))
            got = wait_for(all_processes)
            mine = {q["pid"] for q in got}
            assert got[0]["pid"] == p.pid and got[0]["name"] == SUPERVISOR, got[0]
            assert other.pid not in mine
            seen = {p.pid}
            for q in got[1:]:
                assert q["parent"] in seen, "a child before its parent"
                seen.add(q["pid"])
            assert {q["name"] for q in got} == {SUPERVISOR, "trifold-front", "trifold-opener", "trifold-record", *DAEMONS}, got
            for q in got:
                if q["parent"] == p.pid:
                    assert q["rss_bytes"] > 1 << 20
                    assert 0.5 < q["rss_bytes"] / rss_of(q["pid"]) < 2, q
            assert sum(q["cpu_ns"] for q in got) > 20e6, got
            # another hub: the socket is the supervisor's
            os.kill(next(q for q in pids_of("trifold-symbolizerd") if parent_of(q) == p.pid),
                    signal.SIGKILL)
            time.sleep(1)
            text = wait_for(lambda: subprocess.run([TRIFOLD, "status"], capture_output=True,
                                                   text=True).stdout, 20)
            assert f"{SUPERVISOR} {p.pid}" in text and "trifold-viewer" in text, text
            other.kill()


@suite.test
def receivers():
    """what became of the samples at each receiver; its URL without the password"""
    with scratch() as tmp, storm(), receiver(tmp, "a", "200") as a, receiver(tmp, "b", "400") as b:
        env = {"OTEL_EXPORTER_OTLP_ENDPOINT": a, "TRIFOLD_EXPORTER_3_ENDPOINT": b,
               "OTEL_METRICS_EXPORTER": "none"}
        with running(tmp, "--interval", "1", **env):
            wait_for(lambda: delivered(150))

            def both():
                """exporterd says each second what it counts"""
                s = status()
                n = [r["delivered"] + r["rejected"] for r in s["receivers"]]
                return len(n) == 2 and n[0] > 100 and n[1] > 50 and s
            s = wait_for(both)
            say(s["receivers"])
            # the page is no receiver: it subscribes to the hub
            assert [r["number"] for r in s["receivers"]] == [1, 3], s["receivers"]
            one, three = s["receivers"]
            assert one["url"] == a.replace("user:secret@", "") + "/v1development/profiles"
            assert one["delivered"] > 100 and not one["rejected"] and one["http_status"] == 200
            assert three["rejected"] > 50 and not three["delivered"] and three["http_status"] == 400
            text = table()
            for said in (f"Receiver 1: {one['url']}", f"Receiver 3: {three['url']}",
                         "lost: rejected", "last HTTP status"):
                assert said in text, (said, text)
            assert "secret" not in text + json.dumps(s)


BUSY = re.compile(r"([\d.]+) of ([\d.]+) CPU-seconds busy \((\d+) %\)")


def busy_text(samples, frequency, covered_ns):
    """What profile/busy.h defines."""
    used, all_s = samples / frequency, covered_ns / 1e9
    return f"{used:.1f} of {all_s:.1f} CPU-seconds busy ({100 * used / all_s:.0f} %)"


def page_says(path):
    """The account in a recording's page, and its own words, if there is a browser."""
    with open(path, encoding="utf-8") as f:
        info = json.loads(re.search(r'^.*?({"info":.*})', f.read(), re.M | re.S)[1].split("</script>")[0])["info"]
    if not find():
        return info, None
    b = Browser(find())
    try:
        b.open("file://" + path)
        return info, b.text("busy-text")
    finally:
        b.end()


def is_busy(samples, seconds):
    """At 97 Hz; not all of it is ours.  What is sampled can be all there is, and a sample more of each CPU."""
    say(f"{samples} samples in {seconds:.1f} CPU-seconds")
    return 0.5 < samples / 97 / seconds < 1.2


def top_is_busy():
    """In some batch: samples that wait for names, of other tests' programs too, come in a later one."""
    top = json.loads(subprocess.run([TRIFOLD, "top", "--once", "--json"], capture_output=True,
                                    text=True, timeout=60, check=True).stdout)
    return is_busy(top["samples"], top["cpus"] * top["seconds"])


@suite.test
def busy():
    """how busy the CPUs were is the same in status, top, the last line and the page, and at most all"""
    spin = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    with scratch() as tmp:
        page = os.path.join(tmp, "x.html")
        p = subprocess.Popen([TRIFOLD, "record", "--frequency", "97", "--duration", "600", "--output", page],
                             stderr=subprocess.PIPE, text=True)
        try:
            wait_for(lambda: delivered(300))
            wait_for(top_is_busy)
            s = status()["samples"]
        finally:
            for q in spin:
                q.kill()
                q.wait()
            p.send_signal(signal.SIGINT)
            said = p.communicate(timeout=60)[1]
        assert p.returncode == 0, said
        say(said.strip().splitlines()[-1])
        info, words = page_says(page)
        a = info["account"]
        assert is_busy(s["taken"] - s["own"], s["covered_ns"] / 1e9), s
        assert a["covered_ns"] >= s["covered_ns"] and a["missed_ns"] == s["missed_ns"] == 0, (a, s)
        assert info["samples"] == a["delivered"] == a["taken"] - a["own"], a
        want = BUSY.search(said)
        assert float(want[1]) <= float(want[2]) and int(want[3]) <= 100, said
        used = min(info["samples"], int(97 * a["covered_ns"] / 1e9))
        assert want[0] in (busy_text(used, 97, a["covered_ns"]), busy_text(used + 1, 97, a["covered_ns"])), (said, a)
        assert words in (None, want[0]), (words, said)


suite.run()
