#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names of stripped programs from debuginfod servers: elfutils' own, and one that lies."""
import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import debuginfod_server as server
from accounts import Watcher
from debuginfod_server import Server
from live import (TRIFOLD, Skip, Suite, compile_c, ends_with_us, folded, has_chain, learned, record,
                  say, scratch, wait_for)

suite = Suite()
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]
SOON = 90		# seconds: 30 requests a minute, and others that the machine runs come first


def build_stripped(tmp, name):
    """(path, build ID, debug file): each name has a build ID of its own."""
    exe = compile_c("chain.c", os.path.join(tmp, name), "-g", "-fomit-frame-pointer",
                    "-Wl,--build-id=0x" + random.randbytes(20).hex())
    debug = os.path.join(tmp, "debug", name + ".debug")
    os.makedirs(os.path.dirname(debug), exist_ok=True)
    subprocess.run(["objcopy", "--only-keep-debug", exe, debug], check=True)
    subprocess.run(["strip", "-s", exe], check=True)
    notes = subprocess.run(["readelf", "-n", exe], capture_output=True, text=True, check=True)
    return exe, re.search(r"Build ID: (\w+)", notes.stdout).group(1), debug


@contextlib.contextmanager
def running(tmp, **names):
    """`trifold run` with these keys of [names]; its status, as it is told."""
    conf = os.path.join(tmp, "trifold.conf")
    with open(conf, "w", encoding="utf-8") as f:
        f.write("[names]\n" + "".join(f"{k} = {v}\n" for k, v in names.items()))
    os.chmod(conf, 0o600)
    w = Watcher()
    with open(os.path.join(tmp, "log"), "w+", encoding="utf-8") as log:
        p = subprocess.Popen([TRIFOLD, "run", "--config", conf, "--interval", "1", "--frequency",
                              "199", "--no-page", "--output", f"{tmp}/all.folded"],
                             stdout=subprocess.DEVNULL, stderr=log,
                             env={k: v for k, v in os.environ.items()
                                  if not k.startswith(("OTEL_", "TRIFOLD_"))})
        try:
            wait_for(lambda: p.poll() is not None or (w.last and w.last.taken()))
            assert p.poll() is None, "trifold run ended"
            yield w
        finally:
            p.send_signal(signal.SIGINT)
            p.wait(60)
            w.done = True
            w.join(6)
            log.seek(0)
            said = log.read()
    assert p.returncode == 0, said
    assert w.last.missing() == 0, f"{w.last.missing()} samples are nowhere"


@contextlib.contextmanager
def programs(*paths):
    running_now = [subprocess.Popen([p, "300"], preexec_fn=ends_with_us) for p in paths]
    try:
        yield
    finally:
        for p in running_now:
            p.kill()
            p.wait()


def named(tmp, *paths):
    """Of two seconds' samples of each: (all, with the whole chain, with any name of it)."""
    out = os.path.join(tmp, "now.folded")
    record(out, "--duration", "2")
    counts = []
    for path in paths:
        mine = learned([(f, n) for f, n in folded(out) if f[0] == os.path.basename(path)])
        counts.append((sum(n for _, n in mine),
                       sum(n for f, n in mine if has_chain(f, CHAIN)),
                       sum(n for f, n in mine if any("chain_" in x for x in f[1:]))))
    return counts


def named_soon(tmp, path):
    """Within SOON its samples have names, nearly all of them."""
    end = time.time() + SOON
    while True:
        (total, good, _), = named(tmp, path)
        say(f"{os.path.basename(path)}: {total} samples, {good} with the whole chain and its names")
        if total > 40 and good >= 0.95 * total:
            return
        assert time.time() < end, "no names"


def free_port():
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        return sock.getsockname()[1]


@contextlib.contextmanager
def debuginfod(where, build_id):
    """elfutils' server, which has this file."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"

    def there():
        try:
            with urllib.request.urlopen(f"{url}/buildid/{build_id}/debuginfo", timeout=5) as r:
                return r.status == 200
        except (urllib.error.URLError, OSError):
            return False
    try:
        p = subprocess.Popen(["debuginfod", "-p", str(port), "-d", ":memory:", "-F", where],
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                             env={"PATH": os.environ["PATH"], "HOME": where},
                             preexec_fn=ends_with_us)
    except FileNotFoundError:
        raise Skip("debuginfod is not installed") from None
    try:
        wait_for(there)
        yield url
    finally:
        p.terminate()
        p.wait(20)


@suite.test
def real_server():
    """a stripped program has names soon, by elfutils' debuginfod"""
    with scratch() as tmp:
        exe, build_id, debug = build_stripped(tmp, "real_one")
        with debuginfod(os.path.dirname(debug), build_id) as url, \
                programs(exe), running(tmp, debuginfod_urls=url) as w:
            named_soon(tmp, exe)
            a = w.last
            wait_for(lambda: w.last["exporter.debuginfod_found"] == 1)
            assert w.last["exporter.debuginfod_bytes"] == os.path.getsize(debug)
            assert a["hub.worker_deaths"] == 0, a["hub.worker_deaths"]


@suite.test
def server_that_lies():
    """wrong and broken debug files name nothing, and cost nobody else his names"""
    with scratch() as tmp:
        good = build_stripped(tmp, "good_one")
        wrong = build_stripped(tmp, "wrong_one")
        broken = build_stripped(tmp, "broken_one")
        with open(good[2], "rb") as f:
            content = f.read()
        with open(broken[2], "rb") as f:
            spoilt = f.read()
        # right up to its build ID's note; then anything
        spoilt = spoilt[:2048] + random.randbytes(len(spoilt) - 2048)
        answers = {good[1]: server.found(content), wrong[1]: server.found(content),
                   broken[1]: server.found(spoilt)}
        paths = [good[0], wrong[0], broken[0]]
        with Server(answers) as web, programs(*paths), \
                running(tmp, debuginfod_urls=web.url) as w:
            wait_for(lambda: w.last["exporter.debuginfod_found"] == 3, SOON)
            named_soon(tmp, good[0])
            for total, _, any_name in named(tmp, *paths[1:]):
                assert total > 20 and not any_name, (total, any_name)
            say(f"{w.last['hub.worker_deaths']} workers died, {len(web.asked)} requests")
            for build_id in answers:
                assert web.asked.count(f"/buildid/{build_id}/debuginfo") == 1, web.asked
            assert w.last["hub.offences"] == 0


@suite.test
def off_by_default():
    """without the key nobody is asked, whatever DEBUGINFOD_URLS says"""
    with scratch() as tmp:
        exe, build_id, debug = build_stripped(tmp, "quiet_one")
        with open(debug, "rb") as f, Server({build_id: server.found(f.read())}) as web:
            os.environ["DEBUGINFOD_URLS"] = web.url
            try:
                with programs(exe), running(tmp) as w:
                    (total, _, any_name), = named(tmp, exe)
                    assert total > 40 and not any_name, (total, any_name)
                    # a worker has looked for its debug file, and the tick after that asks
                    time.sleep(3)
                    assert w.last["exporter.debuginfod_asked"] == 0
            finally:
                del os.environ["DEBUGINFOD_URLS"]
            assert web.asked == [], web.asked


suite.run()
