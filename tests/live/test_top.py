#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trifold top on a pseudo-terminal: what it shows, its keys, and how it leaves"""
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import time

import live
from screen import Terminal

suite = live.Suite()

EVIL = """
import ctypes, time
ctypes.CDLL(None).prctl(15, b"\\x1b[2J\\x07\\xc2\\x9bX\\xe6\\xbc\\xa2", 0, 0, 0)
end = time.time() + 600
while time.time() < end:
    until = time.time() + 0.02
    while time.time() < until: pass
    time.sleep(0.1)
"""


@contextlib.contextmanager
def load(*words, evil=False):
    """A program whose function is known; with "rest" it is not the first of all; or one with a bad name."""
    with live.scratch() as d:
        argv = ["python3", "-c", EVIL]
        if not evil:
            argv = [live.compile_c("chain.c", d + "/chain", "-fomit-frame-pointer"), "600", *words]
        running = subprocess.Popen(argv)
        try:
            yield running
        finally:
            running.kill()
            running.wait()


@contextlib.contextmanager
def trifold(interval=1):
    """One that runs, with short intervals, s; its account is checked at the end."""
    with live.scratch() as d:
        p = subprocess.Popen([live.TRIFOLD, "run", "--interval", str(interval), "--frequency", "97",
                              "--output", d + "/a.folded"], stderr=subprocess.PIPE, text=True)
        try:
            live.wait_for(lambda: status().get("symbolizerd", {}).get("batches"))
            yield p
            assert p.poll() is None, "it ended"
        finally:
            p.send_signal(signal.SIGINT)
            err = p.communicate(timeout=300)[1]
        live.say(err.strip().splitlines()[-1])
        assert p.returncode == 0, err
        assert " lost" in err and "difference" not in err, err
        assert live.folded(d + "/a.folded"), "its own output is empty"


def status():
    r = subprocess.run([live.TRIFOLD, "status", "--json"], capture_output=True, text=True)
    return json.loads(r.stdout) if r.returncode == 0 else {}


@contextlib.contextmanager
def top(*args, **how):
    t = Terminal([live.TRIFOLD, "top", *args], **how)
    try:
        yield t
    finally:
        t.close()


def first_row(text):
    lines = text.split("\n")
    return lines[4].split() if len(lines) > 4 else []


def row_of(text, name):
    """The cells of the first row whose third is the name."""
    return next((r.split() for r in rows(text) if r.split()[2:3] == [name]), None)


def rows(text):
    return [line for line in text.split("\n")[4:-1] if line.strip()]


def leave(t, want=0):
    got = t.wait()
    assert got == want, f"exit status {got}; the screen:\n{t.screen.text()}"
    t.modes_are_as_before()


def display_of(t):
    """The child that is not root."""
    def find():
        for pid in live.children_of(t.pid):
            if os.stat(f"/proc/{pid}").st_uid or "Uid:\t0" not in open(f"/proc/{pid}/status").read():
                return pid
        return None
    return live.wait_for(find)


def state_of(pid):
    with open(f"/proc/{pid}/stat") as f:
        return f.read().rpartition(")")[2].split()[0]


# --- on its own -----------------------------------------------------------------

@suite.test
def own():
    """without a trifold it starts one: the busy function is on top, q leaves all as it was"""
    with load() as running, top() as t:
        t.until(lambda s: first_row(s)[2:3] == ["chain_10"])
        t.key("2")
        # the first second may have had the CPUs for others
        text = t.until(lambda s: row_of(s, "chain") and float(row_of(s, "chain")[0]) > 10)
        assert int(row_of(text, "chain")[1]) == running.pid, text
        assert len(live.pids_of("trifold-loaderd")) > 0
        t.key("q")
        leave(t)
        live.say(repr(t.screen.raw[-60:]))


@suite.test
def parent_killed():
    """kill -9 of the process with root: the display leaves the terminal, the daemons end"""
    with load("rest"), contextlib.closing(Terminal(["/bin/sh", "-c", f"{live.TRIFOLD} top; read x"])) as t:
        t.until("chain_10")
        os.kill(live.children_of(t.pid)[0], signal.SIGKILL)
        live.wait_for(lambda: not t.pump() and not t.screen.alternate)
        live.wait_for(lambda: not live.pids_of("trifold") + live.pids_of(live.SUPERVISOR))
        t.modes_are_as_before()


@suite.test
def once():
    """--once and no terminal: one plain table; its options"""
    with load() as running:
        r = subprocess.run([live.TRIFOLD, "top", "--duration", "2", "--limit", "5"],
                           capture_output=True, text=True, timeout=300)
        assert r.returncode == 0, r.stderr
        lines = r.stdout.splitlines()
        assert re.search(r"functions: \d+ samples in \d+\.\d s at 19 Hz, lost 0, "
                         r"[\d.]+ of \d+ CPUs? busy \(\d+ %\)$", lines[0]), lines
        assert lines[3].split()[2:4] == ["chain_10", "chain"], r.stdout
        assert len(lines) == 8, r.stdout
        with trifold():
            r = subprocess.run([live.TRIFOLD, "top", "--once", "--duration", "1", "--view",
                                "processes"], capture_output=True, text=True, timeout=300)
            pids = [int(line.split()[1]) for line in r.stdout.splitlines()[3:]]
            assert len(set(pids)) == len(pids) and running.pid in pids, r.stdout
            assert " at 97 Hz" in r.stdout, r.stdout


@suite.test
def json_lines():
    """--json: a line for each batch, one with --once; they add up to the seconds asked for"""
    with load() as running, trifold():
        r = subprocess.run([live.TRIFOLD, "top", "--json", "--duration", "6", "--view",
                            "processes"], capture_output=True, text=True, timeout=300)
        assert r.returncode == 0 and not r.stderr, r
        lines = [json.loads(line) for line in r.stdout.splitlines()]
        live.say([(x["samples"], x["seconds"], x["cpu_seconds"]) for x in lines])
        assert 2 <= len(lines) <= 7 and 2 <= sum(x["seconds"] for x in lines) < 10
        for x in lines:
            assert x["view"] == "processes" and x["frequency"] == 97 and x["cpus"] > 0
            assert sum(p["samples"] for p in x["rows"]) == x["samples"]
        # a second of a busy machine may have been others'
        assert running.pid in [p["pid"] for x in lines for p in x["rows"]]
        r = subprocess.run([live.TRIFOLD, "top", "--json", "--once", "--duration", "1", "--limit",
                            "1"], capture_output=True, text=True, timeout=300)
        (line,) = r.stdout.splitlines()
        (row,) = json.loads(line)["rows"]
        assert row["name"] == "chain_10" and row["kind"] == "native" and row["self"] > 0, row


@suite.test
def json_of_a_long_interval():
    """--json for less than an interval still has its line"""
    with load(), trifold(interval=5):
        r = subprocess.run([live.TRIFOLD, "top", "--json", "--duration", "0.5"],
                           capture_output=True, text=True, timeout=300)
        assert r.returncode == 0 and not r.stderr, r
        (line,) = r.stdout.splitlines()
        assert json.loads(line)["samples"], line


@suite.test
def refusals():
    """wrong options, wrong terminals and ordinary users get a line"""
    r = subprocess.run([live.TRIFOLD, "top", "--view", "x"], capture_output=True, text=True)
    assert r.returncode == 2 and "containers" in r.stderr, r.stderr
    r = subprocess.run(["setpriv", "--reuid", "65534", "--clear-groups", live.TRIFOLD, "top"],
                       capture_output=True, text=True)
    assert r.returncode == 1 or r.returncode == 127, r
    for term in ("dumb", "", "no-such-terminal"):
        with top(term=term) as t:
            assert t.wait() == 1
            assert "--once needs" in t.screen.text().replace("\n", ""), t.screen.text()
            t.modes_are_as_before()
    with live.scratch() as d:
        with top("--libexec", d) as t:
            assert t.wait() == 1
            assert "daemons are not all in" in t.screen.text().replace("\n", ""), t.screen.text()
            t.modes_are_as_before()


# --- beside another --------------------------------------------------------------

@suite.test
def keys():
    """views, sorting, filter, pause, entering, resizing; whom it watches is untouched"""
    with load() as running, trifold():
        with top() as t:
            t.until(lambda s: first_row(s)[2:3] == ["chain_10"])
            switch_views(t, running)
            sort_and_filter(t)
            pause(t)
            enter(t)
            resize(t)
            t.key("q")
            leave(t)
        assert not status()["symbolizerd"]["offences"]


def switch_views(t, running):
    t.key("2")
    t.until(r"\[2 processes\]")
    t.key("3")
    t.until(r"^ *\d+\.\d +\d+\.\d +\[host\]")
    t.key("\t")
    text = t.until(r"\[4 threads\](.*\n)+ *\d+\.\d +\d+ +\d+ +chain +chain")
    assert str(running.pid) in text
    t.key("1")
    t.until("chain_10")
    t.key("?")
    t.until("callers and callees")
    t.key("x")
    t.until("SELF%")


def sort_and_filter(t):
    t.key("s")
    t.until("by TOTAL%")
    t.key("r")
    t.until("by TOTAL%, reversed")
    t.key("ssss")
    t.until("by SELF%$")
    t.key("/chain_")
    t.until("Filter: chain__")
    t.key("\r")
    text = t.until("^filter: chain_")
    assert rows(text) and all("chain_" in r for r in rows(text)), text
    t.key("/" + "\b" * 6 + "/^chain_0?[1-3]$/\r")
    text = t.until(lambda s: len(rows(s)) == 3 and "filter: /" in s)
    assert sorted(r.split()[2] for r in rows(text)) == ["chain_1", "chain_2", "chain_3"], text
    t.key("/" + "\b" * 30 + "/(\r")
    t.until("^filter: .*[Uu]nmatched")
    t.key("\x1b")
    t.pump(0.3)
    t.key("\x1b")
    t.until(lambda s: "filter:" not in s and len(rows(s)) > 3)


def pause(t):
    t.key("p")
    before = t.until("PAUSED")
    t.pump(3)
    assert t.screen.text() == before, "it moved:\n" + t.screen.text()
    t.key("2")
    t.until(lambda s: row_of(s, "chain"))
    t.key("1 ")
    text = t.until(lambda s: "PAUSED" not in s)
    t.until(lambda s: s != text)
    t.key("+")
    t.until(" 15 s ")


def enter(t):
    t.key("2" + "/" + "/^chain$/\r")
    t.until(lambda s: first_row(s)[2:3] == ["chain"])
    t.key("\r")
    t.until(r"^process \d+ chain")
    t.until(lambda s: first_row(s)[2:3] == ["chain_10"])
    t.key("\r")
    text = t.until("^around chain_10")
    assert re.search(r"called .* chain_9 ", text), text
    assert re.search(r"itself .* chain_10 ", text), text
    t.key("\x7f")
    t.until(r"^process \d+ chain")
    t.key("\x7f")
    t.until(r"\[2 processes\]")
    t.key("1")
    t.until("chain_10")


def resize(t):
    for lines, cols in ((40, 160), (12, 50), (7, 30), (3, 10), (1, 1), (24, 100)):
        t.resize(lines, cols)
        if lines > 6:
            t.until(lambda s: "SELF%" in s and s.startswith("trifold top"))
            assert len(t.screen.cells[0]) == cols
        else:
            t.until("^[t~]")
            t.pump(0.3)


@suite.test
def names():
    """names that would play with the terminal are shown escaped"""
    with load(evil=True), trifold(), top("--view", "threads") as t:
        t.until(re.escape(r"\x1b[2J\x07\u{9b}X") + "\u6f22")
        t.key("/\\x1b\r")
        t.pump(1)
        t.key("2q")
        leave(t)


@suite.test
def plain_terminals():
    """vt100, which has no colours and no second screen"""
    with load("rest"), trifold():
        with top(term="vt100") as t:
            t.until("chain_10")
            t.key("q")
            assert t.wait() == 0
            t.modes_are_as_before()


# --- how it ends --------------------------------------------------------------------

@suite.test
def display_killed():
    """kill -9 of the display: the terminal is as it was, and why is said"""
    with load("rest"), trifold(), top() as t:
        t.until("chain_10")
        assert t.screen.alternate
        os.kill(display_of(t), signal.SIGKILL)
        leave(t, 1)
        end = t.screen.raw[t.screen.raw.rindex(b"\x1b[?1049l"):]
        assert b"\x1b[?25h" in end, end
        assert b"the display was killed by signal 9" in end, end


@suite.test
def signals():
    """SIGTERM, SIGHUP and Ctrl-C end it in good order"""
    with load("rest"), trifold():
        for how in (signal.SIGTERM, signal.SIGHUP, "\x03"):
            with top() as t:
                t.until("chain_10")
                if isinstance(how, str):
                    t.key(how)
                else:
                    os.kill(t.pid, how)
                leave(t)


@suite.test
def stopped():
    """Ctrl-Z gives the terminal back, fg takes it again"""
    with load("rest"), trifold(), top() as t:
        t.until("chain_10")
        t.key("\x1a")
        live.wait_for(lambda: not t.pump() and state_of(t.pid) == "T")
        t.modes_are_as_before()
        os.kill(t.pid, signal.SIGCONT)
        live.wait_for(lambda: not t.pump() and t.screen.alternate)
        t.until("chain_10")
        t.key("q")
        leave(t)


@suite.test
def sealed():
    """the display is not root, has no capability and a filter of its system calls"""
    with load("rest"), trifold(), top() as t:
        t.until("chain_10")
        pid = display_of(t)
        with open(f"/proc/{pid}/status") as f:
            s = dict(line.rstrip("\n").split(":\t", 1) for line in f if ":\t" in line)
        assert int(s["CapEff"], 16) == int(s["CapBnd"], 16) == 0, s
        assert s["Seccomp"] == "2" and s["NoNewPrivs"] == "1", s
        assert "0" not in s["Uid"].split() + s["Gid"].split(), s
        fds = sorted(os.readlink(f"/proc/{pid}/fd/{fd}").split(":")[0]
                     for fd in os.listdir(f"/proc/{pid}/fd"))
        assert all(f in ("pipe", "socket") or f.startswith("/dev/pts/") for f in fds), fds
        t.key("q")
        leave(t)


@suite.test
def hub_killed():
    """symbolizerd is killed and comes back: so does the display"""
    with load(), trifold() as p, top() as t:
        t.until("chain_10")
        hub = [c for c in live.children_of(p.pid)
               if os.readlink(f"/proc/{c}/exe").endswith("trifold-symbolizerd")]
        os.kill(hub[0], signal.SIGKILL)
        t.until("waiting for")
        t.until("q quit")
        time.sleep(2)
        t.until(lambda s: first_row(s)[2:3] == ["chain_10"])
        t.key("q")
        leave(t)


if __name__ == "__main__":
    assert shutil.which("setpriv")
    suite.run()
