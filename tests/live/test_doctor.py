#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""trifold doctor on this host, and trifold status --json of one that runs"""
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile

import live

suite = live.Suite()


def doctor(*args, **how):
    r = subprocess.run([how.pop("program", live.TRIFOLD), "doctor", *args],
                       capture_output=True, text=True, timeout=60, **how)
    return r.returncode, r.stdout


@suite.test
def root():
    """as root text and JSON agree, and tests run here, so nothing is "no\""""
    status, text = doctor()
    again, out = doctor("--json")
    said = json.loads(out)
    assert status == again == said["exit_status"] and status in (0, 1), text
    assert len(text.split("\n\n")[0].splitlines()) >= len(said["checks"])
    for c in said["checks"]:
        assert c["state"] in ("OK", "less", "unknown"), c
        assert c["state"] != "less" or (c["cost"] and c["remedy"]), c


@suite.test
def nobody():
    """as an ordinary user it says what needs root"""
    with tempfile.TemporaryDirectory(prefix="trifold-test-") as d:
        os.chmod(d, 0o755)
        for name in ("trifold",) + live.DAEMONS:
            shutil.copy(os.path.join(live.BIN, name), d)
        status, out = doctor("--json", program=os.path.join(d, "trifold"),
                             user=65534, group=65534, extra_groups=[])
    state = {c["name"]: c["state"] for c in json.loads(out)["checks"]}
    assert status == 1, out
    assert state["capabilities"] == state["runtime"] == "unknown", out


@suite.test
def debuginfod():
    """it knows servers of the variable, and asks none of them"""
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        sock.settimeout(0)
        url = f"http://127.0.0.1:{sock.getsockname()[1]}"

        def said(**env):
            out = doctor("--json", env={**os.environ, **env})[1]
            return next(c for c in json.loads(out)["checks"] if c["name"] == "debuginfod")
        for env, text in (({}, "off "), ({"TRIFOLD_DEBUGINFOD_URLS": f"{url} {url}/x"}, "2 servers"),
                          ({"TRIFOLD_DEBUGINFOD_URLS": "environment", "DEBUGINFOD_URLS": url}, "1 server gets")):
            c = said(**env)
            assert c["state"] == "OK" and text in c["finding"], c
        try:
            sock.accept()
            raise AssertionError("a server was asked")
        except BlockingIOError:
            pass


@suite.test
def usage():
    """a wrong option is 2, missing daemons are 3"""
    assert doctor("--nope")[0] == 2
    assert doctor("--libexec", "/nonexistent")[0] == 3


@suite.test
def account():
    """status --json of a running trifold adds up"""
    with live.scratch() as d:
        p = subprocess.Popen([live.TRIFOLD, "run", "--output", d + "/a.html"],
                             stderr=subprocess.DEVNULL)
        try:
            def ask():
                r = subprocess.run([live.TRIFOLD, "status", "--json"],
                                   capture_output=True, text=True)
                s = json.loads(r.stdout) if r.returncode == 0 else None
                return s if s and s["samples"]["taken"] else None
            said = live.wait_for(ask)
        finally:
            p.send_signal(signal.SIGINT)
            p.wait(120)
    s = said["samples"]
    assert s["difference"] == 0, s
    assert s["taken"] == s["delivered"] + s["own"] + s["lost"] + s["under_way"], s
    assert s["lost"] == sum(s["lost_by"].values()), s
    assert said["loaderd_up"] is True and said["quarantined"] >= 0


suite.run()
