#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The live page's server by itself: which users may ask, what it refuses, what it keeps."""
import concurrent.futures
import contextlib
import gzip
import http.client
import os
import re
import shutil
import socket
import subprocess
import threading
import time

import otlp_make
from live import BIN, Suite, say, scratch
from viewer_page import KEY, POST, PROTOBUF, Alone, counts_agree

suite = Suite()


@suite.test
def who_may_ask():
    """no key, other hosts' names, other origins: refused; what a browser is told is strict"""
    with Alone() as v:
        for path in ("/api/v1/info", "/api/v1/profile", "/api/v1/download?format=html"):
            assert v.status(path) == 200
            for key in (None, "0" * 32, KEY[:-1], KEY + "0", KEY.upper()):
                assert v.status(path, key=key) == 401, (path, key)
        # two keys are none, whichever is right
        for first, second in ((KEY, "0" * 32), ("0" * 32, KEY), (KEY, KEY)):
            assert v.status("/api/v1/info", key=first,
                            headers={"Authorization": "Bearer " + second}) == 401, first
        assert v.post(b"") == 200
        assert v.post(b"", key="f" * 32) == 401
        assert v.status("/", key=None) == 200
        for host in ("evil.example", f"evil.example:{v.port}", "localhost", "localhost:1",
                     f"127.0.0.1.evil.example:{v.port}", f"0.0.0.0:{v.port}"):
            for path in ("/", "/api/v1/info"):
                assert v.status(path, host=host) == 403, (path, host)
        for host in (f"127.0.0.1:{v.port}", f"[::1]:{v.port}"):
            assert v.status("/", host=host) == 200, host
        for headers in ({"Origin": "http://evil.example"}, {"Origin": "null"},
                        {"Origin": f"https://localhost:{v.port}"}, {"Origin": "http://localhost:1"},
                        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
            for path in ("/", "/api/v1/info"):
                assert v.status(path, headers=headers) == 403, (path, headers)
        assert v.status("/", headers={"Origin": f"http://localhost:{v.port}",
                                      "Sec-Fetch-Site": "same-origin"}) == 200
        for path in ("/", "/api/v1/info"):
            h = v.ask(path)[0].headers
            assert "default-src 'none'" in h["Content-Security-Policy"], h
            assert "frame-ancestors 'none'" in h["Content-Security-Policy"], h
            assert "unsafe" not in h["Content-Security-Policy"], h
            assert not [k for k in h if k.lower().startswith("access-control-")], h
            for k, want in (("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "no-referrer"),
                            ("Cache-Control", "no-store"), ("X-Frame-Options", "DENY"),
                            ("Cross-Origin-Resource-Policy", "same-origin")):
                assert h[k] == want, (k, h)
        assert KEY.encode() not in v.ask("/")[1]


@suite.test
def others_samples():
    """OTLP is off by default; without a hub there would be nothing to show then"""
    with scratch() as tmp:
        with Alone(source=("--hub", os.path.join(tmp, "status.sock"))) as v:
            r, _ = v.ask(POST, method="POST", body=b"", headers=PROTOBUF)
            assert r.status == 404, r.status
            info = v.api("info")
            assert info["sampling"] is False and info["samples"] == info["lost"] == 0, info
        for args in ((), ("--hub", "status.sock"), ("--hub", "/"), ("--hub-uid", "-1", "--otlp")):
            r = subprocess.run([os.path.join(BIN, "trifold-viewer"), "--listen", "0", *args],
                               capture_output=True, text=True, timeout=60)
            assert r.returncode in (1, 2) and r.stderr.count("\n") == 1, (args, r)


@suite.test
def what_is_refused():
    """other methods and paths, bodies that are too large, not protobuf, not gzip, not whole"""
    with Alone() as v:
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH", "TRACE"):
            r, _ = v.ask("/api/v1/info", method=method)
            assert r.status == 405 and r.headers["Allow"] == "GET, HEAD", (method, r.status)
        r, body = v.ask("/api/v1/info", method="HEAD")
        assert r.status == 200 and not body
        for method in ("GET", "PUT"):
            assert v.status(POST, method=method) == 405
        for path in ("/api/v1/", "/api/v1/info/", "/api/v2/info", "/etc/passwd", "/../x", "/%2e%2e/x",
                     "/favicon.ico", "//", "/v1/traces"):
            assert v.status(path) == 404, path
        for query in ("from=x", "colour=red", "from=2&to=1", "kind=ruby", "bins=0", "limit=-1",
                      "&".join(f"pid={i}" for i in range(600)), "%00=1", "last=%00"):
            assert v.status("/api/v1/profile?" + query) == 400, query
        good = otlp_make.request([time.time_ns() - 10**9] * 5, [["leaf", "main"]])
        packed = gzip.compress(good)
        zipped = dict(PROTOBUF, **{"Content-Encoding": "gzip"})
        assert v.post(good) == 200 and v.post(packed, headers=zipped) == 200
        assert v.api("info")["samples"] == 10
        sent = 10
        if shutil.which("zstd"):
            frame = subprocess.run(["zstd", "-c"], input=good, capture_output=True, check=True).stdout
            zstd = dict(PROTOBUF, **{"Content-Encoding": "zstd"})
            assert v.post(frame, headers=zstd) == 200
            for bad in (good, frame[:-1], frame + b"x", b""):
                assert v.post(bad, headers=zstd) == 400, bad[:20]
            large = subprocess.run(["zstd", "-c"], input=bytes(100 << 20), capture_output=True, check=True).stdout
            assert v.post(large, headers=zstd) == 413
            sent += 5
        assert v.post(good, headers={}) == 415
        assert v.post(good, headers={"Content-Type": "application/json"}) == 415
        for coding in ("deflate", "gzip, gzip", "br"):
            assert v.post(good, headers=dict(PROTOBUF, **{"Content-Encoding": coding})) == 415, coding
        for bad in (good, packed[:-1], packed + b"x", packed[:20] + b"\xff" * 8 + packed[28:], b""):
            assert v.post(bad, headers=zipped) == 400, bad[:20]
        assert v.post(b"\xff" * 100) == 400
        assert v.post(good[:-1]) == 400
        before = v.rss()
        assert v.post(gzip.compress(bytes(100 << 20)), headers=zipped) == 413
        assert v.post(b"x", headers=dict(PROTOBUF, **{"Content-Length": str(33 << 20)})) == 413
        # 16 Mi empty messages in 32 MiB
        assert v.post(gzip.compress(b"\x0a\x00" * ((16 << 20) - 16)), headers=zipped) == 413
        say(f"RSS {before} KiB, afterwards {v.rss()} KiB")
        assert v.rss() < before + (48 << 10)
        assert v.api("info")["samples"] == sent
        # of the future, and too old: taken, and said
        for t in (time.time_ns() + 3600 * 10**9, 10**9):
            r, body = v.ask(POST, method="POST", body=otlp_make.request([t], [["leaf"]]), headers=PROTOBUF)
            assert r.status == 200 and b"older than what is kept" in body, body
        assert v.api("info")["samples"] == sent


@suite.test
def strangers_take_no_places():
    """120 connections that show no key, made again when they are ended: who has the key is served at once"""
    with Alone(says="connections without the key were ended") as v:
        stop = threading.Event()

        def hold(some):
            held = [None] * some
            while not stop.wait(0.05):
                for i, s in enumerate(held):
                    with contextlib.suppress(OSError):
                        if s is None or not s.recv(1, socket.MSG_DONTWAIT):
                            held[i] = socket.create_connection(("127.0.0.1", v.port), timeout=5)
            for s in filter(None, held):
                s.close()
        crowd = [threading.Thread(target=hold, args=(40,)) for _ in range(3)]
        for t in crowd:
            t.start()
        try:
            time.sleep(1)
            for _ in range(30):
                assert v.ask("/api/v1/info", timeout=10)[0].status == 200
        finally:
            stop.set()
            for t in crowd:
                t.join()


@suite.test
def address_is_a_number():
    """the address that is printed is one that is bound: "localhost" may lead to another user's port"""
    for family, host, bound in ((socket.AF_INET, "127.0.0.1", r"127\.0\.0\.1"), (socket.AF_INET6, "::1", r"\[::1\]"),
                                (None, None, r"127\.0\.0\.1")):
        with contextlib.ExitStack() as stack:
            words = ["--listen", "0"]
            if family:
                s = stack.enter_context(socket.socket(family))
                s.bind((host, 0))
                s.listen()
                words = ["--listen-fd", str(s.fileno())]
                os.set_inheritable(s.fileno(), True)
            p = stack.enter_context(subprocess.Popen(
                [os.path.join(BIN, "trifold-viewer"), "--uid", "61200", "--gid", "61200", "--otlp", *words],
                stderr=subprocess.PIPE, text=True, close_fds=False, env={"PATH": os.environ["PATH"]}))
            try:
                line = p.stderr.readline()
                assert re.search(rf"http://{bound}:\d+/#key=[0-9a-f]{{32}}$", line), line
            finally:
                p.kill()


def late_and_slow(port):
    """For how long a client is served that has the key and 8 s later sends a body, a byte now and then, s"""
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        keyed = f"Host: localhost:{port}\r\nAuthorization: Bearer {KEY}\r\n"
        s.sendall(f"GET /api/v1/info HTTP/1.1\r\n{keyed}\r\n".encode())
        assert s.recv(4096).startswith(b"HTTP/1.1 200")
        begin = time.time()
        time.sleep(8)
        s.sendall((f"POST {POST} HTTP/1.1\r\n{keyed}Content-Type: application/x-protobuf\r\n"
                   "Content-Length: 100000\r\n\r\n").encode())
        s.settimeout(0.5)
        while time.time() < begin + 60:
            try:
                s.send(b"x")
                if s.recv(4096) == b"":
                    break
            except TimeoutError:
                pass
            except OSError:
                break
        return time.time() - begin


@suite.test
def slow_clients():
    """clients that send a byte now and then, or nothing, are cut off, first those without the key; others are served"""
    with Alone() as v, concurrent.futures.ThreadPoolExecutor() as pool:
        patient = pool.submit(late_and_slow, v.port)
        slow = []
        head = (f"POST {POST} HTTP/1.1\r\nHost: localhost:{v.port}\r\nAuthorization: Bearer {KEY}\r\n"
                "Content-Type: application/x-protobuf\r\nContent-Length: 100000\r\n\r\n").encode()
        for i in range(20):
            s = socket.create_connection(("127.0.0.1", v.port))
            s.sendall((b"", b"GET / HT", head if i < 6 else b"GET / HTTP/1.1\r\nX: ")[i % 3])
            slow.append(s)
        begin, gone, keyed = time.time(), {}, slow[2:6:3]
        while len(gone) < len(slow):
            assert time.time() - begin < 35, f"{len(slow) - len(gone)} are still connected"
            assert v.api("info")["version"]
            for s in slow:
                if s in gone:
                    continue
                try:
                    s.setblocking(False)
                    s.send(b"x")
                    if s.recv(4096) == b"":
                        raise ConnectionResetError
                except BlockingIOError:
                    pass
                except OSError:
                    gone[s] = time.time() - begin
            time.sleep(0.5)
        say(f"cut off after {min(gone.values()):.1f} to {max(gone.values()):.1f} s")
        assert max(t for s, t in gone.items() if s not in keyed) < min(gone[s] for s in keyed), gone.values()
        for s in slow:
            s.close()
        say(f"one that sent its second request after 8 s was cut off after {patient.result():.1f} s")
        assert 27.5 < patient.result() < 50
        # a request line and headers have a limit too
        for path, headers in (("/?" + "x" * 100000, {}), ("/", {f"X-{i}": "y" * 1000 for i in range(90)})):
            try:
                assert v.status(path, headers=headers) in (413, 414, 431, 500), path[:10]
            except (ConnectionError, http.client.HTTPException):
                pass
        assert v.status("/") == 200


@suite.test
def lines():
    """a profile has the samples of each function by line, of the range that is asked for; not from the leaves"""
    with Alone() as v:
        now = time.time_ns() // 10**6 * 10**6
        stacks = [["f12", "main5"], ["f12", "main5"], ["f14", "main7"], ["main5"]]
        where = {"f12": ("f", "", "/src/f.c", 12), "f14": ("f", "", "/src/f.c", 14),
                 "main5": ("main", "", "/src/m.c", 5), "main7": ("main", "", "/src/m.c", 7)}
        # the first half: only the first two stacks
        for begin, some in ((now - 40 * 10**9, stacks[:2]), (now - 20 * 10**9, stacks)):
            assert v.post(otlp_make.request([begin + i * 10**7 for i in range(400)], some, lines=where)) == 200
        keys = ("files", "own", "own_more", "from", "from_more")
        # rows: prog main f; lines count from the first that was met
        got = [v.api("profile", **{"from": now // 10**6 - a, "to": now // 10**6 - b}) for a, b in ((60000, 30000), (30000, 0))]
        assert [got[0][k] for k in keys] == [["/src/m.c", "/src/f.c"], [0], [], [0], []], got[0]
        assert [got[1][k] for k in keys] == [["/src/m.c", "/src/f.c"], [0, 0], [2, 2, 100], [0], [2, 2, 100]], got[1]
        assert "own" not in v.api("profile", last=60, reverse=1)


@suite.test
def an_hour_in_a_mebibyte():
    """an hour of samples in 1 MiB: the oldest are coarser, no number is lost, all still agree"""
    with Alone("--memory", "1") as v:
        now = time.time_ns()
        sent = 0
        begin = time.time()
        for step in range(700):
            start = now - (3500 - 5 * step) * 10**9
            times = [start + i * 25 * 10**6 for i in range(200)]
            stacks = [[f"leaf_{(step % 10 * 7 + i) % 60}", f"mid_{i % 5}", "main"] for i in range(60)]
            assert v.post(otlp_make.request(times, stacks, process=f"p{step % 3}",
                                           pid=10 + step % 3)) == 200
            sent += 200
        took = time.time() - begin
        info = v.api("info")
        say(f"{sent} samples in {took:.1f} s: {info}, RSS {v.rss()} KiB")
        assert info["bytes"] <= info["budget"] == 1 << 20
        assert info["samples"] + info["dropped"] + info["expired"] == sent
        assert info["dropped"] == info["expired"] == 0, info
        assert info["start_ms"] < info["coarse_ms"] < info["end_ms"]
        sel = {"from": info["start_ms"], "to": info["end_ms"] + 1}
        assert counts_agree(v, **sel) == sent
        assert abs(counts_agree(v, process="p1", **sel) - sent / 3) <= 200
        # a cut anywhere loses nothing
        for cut in (info["start_ms"] + 123456, info["coarse_ms"] - 1000, info["end_ms"] - 30000):
            parts = [counts_agree(v, **{"from": a, "to": b})
                     for a, b in ((sel["from"], cut), (cut, sel["to"]))]
            assert sum(parts) == sent, (cut, parts)
        begin = time.time()
        v.api("profile", **sel)
        say(f"a profile of all of it: {time.time() - begin:.3f} s")


suite.run()
