# SPDX-License-Identifier: Apache-2.0
"""viewer_page - asks the server of the live page, for its tests"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import urllib.parse

from live import BIN, scratch, wait_for
from pprof import read_pprof

KEY = "00112233445566778899aabbccddeeff"
POST = "/v1development/profiles"
PROTOBUF = {"Content-Type": "application/x-protobuf"}


class Page:
    """A client."""

    def __init__(self, port, key):
        self.port, self.key = port, key

    def ask(self, path, method="GET", body=None, headers=None, key="", host=None, timeout=60):
        c = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            c.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
            c.putheader("Host", host or f"localhost:{self.port}")
            if key is not None:
                c.putheader("Authorization", "Bearer " + (key or self.key))
            for k, v in (headers or {}).items():
                c.putheader(k, v)
            if body is not None and "Content-Length" not in (headers or {}):
                c.putheader("Content-Length", str(len(body)))
            c.endheaders()
            if body:
                try:
                    c.send(body)
                except BrokenPipeError:
                    pass
            r = c.getresponse()
            return r, r.read()
        finally:
            c.close()

    def status(self, *args, **more):
        return self.ask(*args, **more)[0].status

    def api(self, name, **params):
        r, body = self.ask(f"/api/v1/{name}?" + urllib.parse.urlencode(params, doseq=True))
        assert r.status == 200, (r.status, body)
        return json.loads(body)

    def download(self, form, **params):
        r, body = self.ask("/api/v1/download?" +
                           urllib.parse.urlencode(dict(params, format=form), doseq=True))
        assert r.status == 200, (r.status, body)
        assert re.fullmatch(r'attachment; filename="trifold-[A-Za-z0-9-]+-\d{8}T\d{6}Z\.[a-z.]+"',
                            r.headers["Content-Disposition"]), r.headers
        return body

    def post(self, body, **more):
        more.setdefault("headers", PROTOBUF)
        return self.status(POST, method="POST", body=body, **more)


class Alone(Page):
    """trifold-viewer without anybody else: it shows what it is sent."""

    def __init__(self, *args, source=("--otlp",), says=None):
        self.says = says        # what each line of its log has; None: there is none
        super().__init__(0, KEY)
        env = {"TRIFOLD_VIEWER_KEY": KEY, "PATH": os.environ["PATH"]}
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        self.p = subprocess.Popen(
            [os.path.join(BIN, "trifold-viewer"), "--uid", "61200", "--gid", "61200",
             "--listen", str(self.port), *source, *args], env=env, stderr=subprocess.PIPE, text=True)

    def __enter__(self):
        def up():
            try:
                return self.status("/") == 200
            except OSError:
                return False
        wait_for(up)
        return self

    def __exit__(self, *why):
        self.p.send_signal(signal.SIGTERM)
        said = self.p.communicate(timeout=60)[1]
        assert self.p.returncode == 0, (self.p.returncode, said)
        said = [s for s in said.splitlines() if "waiting for it" not in s]
        other = [s for s in said if not self.says or self.says not in s]
        assert not other and bool(said) == bool(self.says), said

    def rss(self):
        with open(f"/proc/{self.p.pid}/status", encoding="utf-8") as f:
            return int(re.search(r"VmRSS:\s*(\d+)", f.read()).group(1))


def tree_of(profile):
    """[(path of (name, kind), counts)] of every row."""
    width = 4 if profile.get("diff") else 3
    labels, strings, rows = profile["labels"], profile["strings"], profile["rows"]
    path, out = [], []
    for i in range(0, len(rows), width):
        label, up = rows[i:i + 2]
        if up:
            del path[len(path) - up:]
        path.append((strings[labels[3 * label]], labels[3 * label + 2]))
        out.append((list(path), rows[i + 2:i + width]))
    return out


def folded_of(body):
    out = {}
    for line in body.decode().splitlines():
        stack, _, n = line.rpartition(" ")
        out[stack] = out.get(stack, 0) + int(n)
    return out


def counts_agree(page, **sel):
    """All that one can ask about a range says the same number."""
    n = page.api("profile", **sel)["info"]["samples"]
    for reverse in (0, 1):
        profile = page.api("profile", reverse=reverse, **sel)
        assert sum(c[0] for _, c in tree_of(profile)) == n, sel
    assert sum(page.api("timeline", bins=37, **sel)["counts"]) == n, sel
    facets = page.api("facets", limit=3, **sel)
    for key in ("process", "pid", "thread", "container", "executable"):
        if key not in sel:
            assert sum(v[2] for v in facets[key]) + facets["others"][key] == n, (key, sel)
        counts = [v[2] for v in facets[key]]
        assert counts == sorted(counts, reverse=True) and len(counts) <= 3, facets[key]
    assert sum(folded_of(page.download("folded", **sel)).values()) == n, sel
    with scratch() as tmp:
        with open(os.path.join(tmp, "x"), "wb") as f:
            f.write(page.download("pprof", **sel))
        assert sum(count for _, _, count in read_pprof(os.path.join(tmp, "x"))) == n, sel
    return n
