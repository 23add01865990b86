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
import urllib.error
import urllib.request

import debuginfod_server as server
from accounts import Watcher
from debuginfod_server import Server
from live import (ROOT, TRIFOLD, Skip, Suite, compile_c, ends_with_us, exporter_uid, has_chain, say,
                  scratch, timed, wait_for)

suite = Suite()
CHAIN = ["main"] + [f"chain_{i}" for i in range(1, 11)]
SOON = 60		# seconds, on a machine with other work
FEW = 5			# samples of a second, likewise


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


class Recording:
    """`trifold record` of some processes, with these variables, until it is told to end."""

    def __init__(self, tmp, paths, **env):
        self.programs = [subprocess.Popen([p, "300"], preexec_fn=ends_with_us) for p in paths]
        self.out = os.path.join(tmp, "all.firefox.json")
        self.w = Watcher()
        pids = [word for p in self.programs for word in ("--pid", str(p.pid))]
        self.p = subprocess.Popen([TRIFOLD, "record", "--frequency", "199", "--output", self.out,
                                   *pids], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, env={**os.environ, **env})

    def __enter__(self):
        wait_for(lambda: self.p.poll() is not None or (self.w.last and self.w.last.taken()))
        assert self.p.poll() is None, self.p.stderr.read()
        return self

    def __getitem__(self, counter):
        return self.w.last[counter]

    def __exit__(self, *_):
        self.p.send_signal(signal.SIGINT)
        err = self.p.communicate(timeout=60)[1]
        for p in self.programs:
            p.kill()
            p.wait()
        self.w.done = True
        self.w.join(6)
        assert self.p.returncode == 0, err
        assert self.w.last.missing() == 0, f"{self.w.last.missing()} samples are nowhere"

    def last_second(self, path):
        """The last samples of this program: (all, with the whole chain, with any name of it)."""
        mine = [(t, f) for t, f in timed(self.out) if f[0] == os.path.basename(path)]
        last = max((t for t, _ in mine), default=0)
        mine = [f for t, f in mine if t > last - 1000]
        return (len(mine), sum(has_chain(f, CHAIN) for f in mine),
                sum(any("chain_" in x for x in f[1:]) for f in mine))


def wait_for_batches(r, n):
    """So many more: names that were there before are in the last one."""
    first = r["hub.batches"]
    wait_for(lambda: r["hub.batches"] >= first + n)


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
def names_soon():
    """stripped programs get names soon by elfutils' server, and none by one that lies"""
    with scratch() as tmp:
        good, wrong, broken = (build_stripped(tmp, n) for n in ("good_one", "wrong_one",
                                                                "broken_one"))
        os.mkdir(f"{tmp}/kept")
        debug = os.path.join(tmp, "kept", "good.debug")
        os.rename(good[2], debug)
        with open(debug, "rb") as f:
            content = f.read()
        with open(broken[2], "rb") as f:
            spoilt = f.read()
        # right up to its build ID's note; then anything
        spoilt = spoilt[:2048] + random.randbytes(len(spoilt) - 2048)
        answers = {wrong[1]: server.found(content), broken[1]: server.found(spoilt)}
        paths = [good[0], wrong[0], broken[0]]
        with Server(answers) as liar, debuginfod(f"{tmp}/kept", good[1]) as url, \
                Recording(tmp, paths, TRIFOLD_DEBUGINFOD_URLS="environment",
                          DEBUGINFOD_URLS=f"{liar.url} {url}") as r:
            wait_for(lambda: r["exporter.debuginfod_found"] == 3, SOON)
            wait_for_batches(r, 2)
            say(f"{r['hub.worker_deaths']} workers died, {r['exporter.debuginfod_asked']} build IDs "
                f"asked for, {r['exporter.debuginfod_requests']} requests")
            for _, build_id, _ in (good, wrong, broken):
                assert liar.asked.count(f"/buildid/{build_id}/debuginfo") == 1, liar.asked
            assert r["exporter.debuginfod_bytes"] == 2 * len(content) + len(spoilt)
            assert r["hub.offences"] == 0
        for path in paths:
            total, named, any_name = r.last_second(path)
            say(f"{os.path.basename(path)}: of the last samples {named} of {total} have names")
            assert total >= FEW
            assert named >= 0.95 * total if path == good[0] else not any_name


def build_apart(tmp, name):
    """(path, build ID of the file that `dwz -m` moved names to, its content)."""
    exe, twin = os.path.join(tmp, name), os.path.join(tmp, name + ".twin")
    for path in (exe, twin):
        subprocess.run(["gcc", "-O2", "-g", "-gdwarf-4", "-o", path,
                        "-Wl,--build-id=0x" + random.randbytes(20).hex(),
                        os.path.join(ROOT, "tests", "live", "cases", "inlined.c")], check=True)
    try:
        subprocess.run(["dwz", "-m", exe + ".dwz", "-M", "/usr/lib/debug/.dwz/" + name, exe, twin],
                       check=True)
    except FileNotFoundError:
        raise Skip("dwz is not installed") from None
    notes = subprocess.run(["readelf", "-n", exe + ".dwz"], capture_output=True, text=True,
                           check=True)
    with open(exe + ".dwz", "rb") as f:
        return exe, re.search(r"Build ID: (\w+)", notes.stdout).group(1), f.read()


@suite.test
def alternate():
    """inlined calls get their names by an alternate file that a server has"""
    with scratch() as tmp:
        exe, build_id, content = build_apart(tmp, "apart")
        with Server({build_id: server.found(content)}) as web:
            with Recording(tmp, [exe], TRIFOLD_DEBUGINFOD_URLS=web.url) as r:
                wait_for(lambda: r["exporter.debuginfod_found"] == 1, SOON)
                wait_for_batches(r, 3)
                assert r["hub.offences"] == r["hub.worker_deaths"] == 0
            assert web.asked.count(f"/buildid/{build_id}/debuginfo") == 1, web.asked
        # it calls itself by its argument
        mine = [(t, f) for t, f in timed(r.out) if f[0] == "300" and "outer" in f]
        last = [f for t, f in mine if t > mine[-1][0] - 1000]
        named = sum("middle" in f for f in last)
        say(f"of the last samples {named} of {len(last)} have all inlined calls")
        assert len(last) > 20 and named >= 0.95 * len(last)


@suite.test
def next_recording_does_not_ask():
    """what one recording downloaded the next one has from the cache"""
    # a damaged file in it: exporter_debuginfod_cases.py, file_of_no_use_is_asked_for_again
    with scratch() as tmp:
        os.chmod(tmp, 0o755)
        cache = os.path.join(tmp, "cache")
        os.mkdir(cache, 0o700)
        os.chown(cache, exporter_uid(), exporter_uid())
        exe, build_id, debug = build_stripped(tmp, "kept_one")
        with open(debug, "rb") as f:
            content = f.read()
        os.unlink(debug)
        file = os.path.join(cache, build_id)
        with Server({build_id: server.found(content)}) as web:
            for cached, served in ((0, 1), (1, 0)):
                with Recording(tmp, [exe], TRIFOLD_DEBUGINFOD_URLS=web.url,
                               TRIFOLD_DEBUGINFOD_CACHE=cache) as r:
                    wait_for(lambda c=cached, s=served: r["exporter.debuginfod_cached"] == c and
                             r["exporter.debuginfod_found"] == s, SOON)
                    wait_for_batches(r, 2)
                    assert r["exporter.debuginfod_cache_bytes"] == len(content)
                    assert r["hub.offences"] == 0
                total, named, _ = r.last_second(exe)
                asked = web.asked.count(f"/buildid/{build_id}/debuginfo")	# not those of libraries
                say(f"{named} of the last {total} samples have names, {asked} requests so far")
                assert total >= FEW and named >= 0.95 * total
                assert asked == 1 and os.listdir(cache) == [build_id] and os.stat(file).st_size == len(content)


@suite.test
def off_by_default():
    """without the switch no server is asked, whatever DEBUGINFOD_URLS says"""
    with scratch() as tmp:
        exe, build_id, debug = build_stripped(tmp, "quiet_one")
        with open(debug, "rb") as f, Server({build_id: server.found(f.read())}) as web:
            with Recording(tmp, [exe], DEBUGINFOD_URLS=web.url) as r:
                # time for the visit, and for the tick after it that would ask
                wait_for_batches(r, 1)
                assert r["exporter.debuginfod_asked"] == 0
            total, _, any_name = r.last_second(exe)
            assert total >= FEW and not any_name, (total, any_name)
            assert web.asked == [], web.asked


suite.run()
