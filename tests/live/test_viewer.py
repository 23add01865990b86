#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The live page's server as `trifold run` has it."""
import os
import re
import signal
import socket
import subprocess
import time

from accounts import until_known
from chance import least
from live import TRIFOLD, Suite, compile_c, has_chain, parent_of, pids_of, say, scratch, wait_for
from viewer_page import Page, counts_agree, folded_of, tree_of

suite = Suite()
SETTLED_MS = 3000	# at least, until the chain's table is there
FINAL_MS = 5000	# an event waits for names in two later intervals at most (CARRY_MAX), of 1 s here
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]


@suite.test
def of_trifold_run():
    """trifold run: a known program is there, and every number agrees with every other"""
    with scratch() as tmp:
        exe = compile_c("chain.c", os.path.join(tmp, "viewed"), "-fomit-frame-pointer")
        # chain asks the kernel for nothing: the copy is there for the kernel's frames
        copy = ["dd", "if=/dev/zero", "of=/dev/null", "bs=1M", "status=none"]
        with subprocess.Popen([exe, "600"]) as chain, subprocess.Popen(copy) as kernel:
            p = subprocess.Popen([TRIFOLD, "run", "--interval", "1", "--frequency", "97",
                                  "--listen", "localhost:0"],
                                 cwd=tmp, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            try:
                look_at_run(p, chain.pid)
            finally:
                chain.kill()
                kernel.kill()
                p.send_signal(signal.SIGINT)
                rest = p.communicate(timeout=60)[0]
        assert p.returncode == 0, (p.returncode, rest)
        # a hub was killed; what the page showed is in no sum, the file is
        # in the last line; progress has such numbers, too
        m = re.search(r"(\d+) samples, (\d+|none) lost", rest.splitlines()[-1])
        assert m and "difference" not in rest, rest
        assert int(m.group(1)) - int(m.group(2).replace("none", "0")) > 300, rest
        assert os.path.exists(os.path.join(tmp, "trifold.html"))


def look_at_run(p, chain_pid):
    line = ""
    while "live page" not in line:
        line = p.stdout.readline()
        assert line, "no address"
    found = re.search(r"http://127\.0\.0\.1:(\d+)/#key=([0-9a-f]{32})$", line)
    assert found, line
    page = Page(int(found.group(1)), found.group(2))
    wait_for(lambda: page.api("info")["samples"] > 300)
    time.sleep(SETTLED_MS / 1000)
    until_known()
    settled = int(1000 * time.time()) + 1000
    wait_for(lambda: samples_of_chain(page, settled) > 100, 300)
    # neither argument shows the key
    for name in ("trifold", "trifold-supervisor", "trifold-viewer", "trifold-exporterd"):
        for pid in pids_of(name):
            with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
                assert page.key not in f.read(), f"{name} shows the key"
    # the exporter has nothing to do with the page, and needs no network
    for pid in pids_of("trifold-exporterd"):
        with open(f"/proc/{pid}/environ", "rb") as f:
            assert page.key.encode() not in f.read()
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as f:
            assert "--no-network" in f.read().split("\0")
    info = page.api("info")
    # what is asked twice must be the same both times: a range that is over
    sel = {"from": info["start_ms"], "to": info["end_ms"]}
    wait_for(lambda: page.api("info")["end_ms"] > sel["to"] + FINAL_MS)
    n = counts_agree(page, **sel)
    assert n >= 300, n
    known = folded_of(page.download("folded", process="viewed", **sel))
    later = folded_of(page.download("folded", process="viewed",
                                    **dict(sel, **{"from": settled})))
    good = sum(c for s, c in later.items() if has_chain(s.split(";"), CHAIN))
    say(f"{n} samples, {sum(known.values())} of chain, {good} of the later {sum(later.values())} whole")
    assert good > 50 and good >= least(0.99, sum(later.values()))
    for more in ({"process": "viewed"}, {"pid": chain_pid}, {"pid": [1, chain_pid]},
                 {"thread": "viewed"}, {"tid": chain_pid}, {"container": ""},
                 {"process": "viewed", "thread": "viewed"}):
        counts_agree(page, **sel, **more)
    assert counts_agree(page, process="viewed", **sel) == sum(known.values())
    assert counts_agree(page, process="nobody", **sel) == 0
    kinds_and_trees(page, sel)
    differences(page, sel)
    # no other's samples, unless the configuration says so
    assert page.post(b"") == 404
    hub_killed(page, sel)
    killed(page)


def samples_of_chain(page, since):
    end = page.api("info")["end_ms"]
    return end > since and page.api("profile", process="viewed", **{"from": since, "to": end})["info"]["samples"]


def kinds_and_trees(page, sel):
    mark = 5	# stands for missing frames of the process, so not with the kernel's alone
    names = {"kernel": (1,), "native": (2, mark)}
    facet = {v[0]: v[2] for v in page.api("facets", **sel)["kind"]}
    for name, kinds in names.items():
        rows = tree_of(page.api("profile", kind=name, **sel))
        others = [path for path, _ in rows if any(k not in (0, *kinds) for _, k in path)]
        assert rows and not others, (name, others[:3])
        assert sum(c[0] for _, c in rows) == facet[name], name
    forward = {";".join(x for x, _ in path): c[0]
               for path, c in tree_of(page.api("profile", process="viewed", **sel)) if c[0]}
    back = {}
    for path, c in tree_of(page.api("profile", process="viewed", reverse=1, **sel)):
        if c[0]:
            frames = [x for x, k in path if k != 0]
            assert path[-1] == ("viewed", 0), path
            back[";".join(["viewed"] + frames[::-1])] = c[0]
    assert forward == back


def differences(page, sel):
    middle = (sel["from"] + sel["to"]) // 2
    a, b = {"from": middle, "to": sel["to"]}, {"from": sel["from"], "to": middle}
    d = page.api("diff", base_from=b["from"], base_to=b["to"], **a)
    sums = [sum(c[i] for _, c in tree_of(d)) for i in (0, 1)]
    assert d["diff"] is True and d["info"]["samples"] == sums[0], d["info"]
    assert d["info"]["base"]["samples"] == sums[1]
    assert d["info"]["base"]["start_ms"] == b["from"]
    assert sums == [counts_agree(page, **x) for x in (a, b)]
    assert sum(sums) == counts_agree(page, **sel)


def hub_killed(page, sel):
    """Another hub comes: what the page has stays, and more comes."""
    before = counts_agree(page, **sel)
    (pid,) = [p for p in pids_of("trifold-symbolizerd") if parent_is_trifold(p)]
    os.kill(pid, signal.SIGKILL)
    end = page.api("info")["end_ms"]
    wait_for(lambda: page.api("info")["end_ms"] > end + 3000)
    assert page.api("info")["sampling"] is True
    assert counts_agree(page, **sel) == before
    assert len(pids_of("trifold-viewer")) == 1


def parent_is_trifold(pid):
    with open(f"/proc/{parent_of(pid)}/comm", encoding="utf-8") as f:
        return not f.read().startswith("trifold-symb")


def killed(page):
    """The viewer comes back at the same address, and fills again."""
    (pid,) = pids_of("trifold-viewer")
    os.kill(pid, signal.SIGKILL)
    wait_for(lambda: pids_of("trifold-viewer") not in ([], [pid]))

    def again():
        try:
            return page.api("info")["samples"] > 20
        except OSError:
            return False
    wait_for(again, 20)


@suite.test
def the_port():
    """a taken default port is no obstacle, one that was named is; --no-page and record have none"""
    with scratch() as tmp, socket.socket() as s, socket.socket() as other:
        s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        def bound():
            try:
                s.bind(("127.0.0.1", 4328))
                return True
            except OSError:     # a test beside this one has a page
                return False
        wait_for(bound)
        s.listen()
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = str(other.getsockname()[1])

        def run(*args):
            return subprocess.run([TRIFOLD, "run", "--duration", "1", "--interval", "1", *args], cwd=tmp,
                                  capture_output=True, text=True, timeout=60)
        r = run()
        out = r.stdout + r.stderr
        port = re.search(r"live page .*taken.*: http://127\.0\.0\.1:(\d+)/#key=", out)
        assert r.returncode == 0 and port and port.group(1) != "4328", out
        r = run("--listen", taken)
        out = r.stdout + r.stderr
        assert r.returncode == 1 and f"port {taken}" in out, (r.returncode, out)
        r = run("--listen", "0.0.0.0:4328")
        assert r.returncode == 2 and "needs PORT, or HOST:PORT with localhost" in r.stderr, r
        r = run("--no-page")
        assert r.returncode == 0 and "live page" not in r.stdout + r.stderr, r


suite.run()
