#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_debuginfod.sh: debug files from servers that are played.
usage: exporter_debuginfod_cases.py BUILD [CASE...]"""
import contextlib
import gzip
import os
import re
import signal
import subprocess

import debuginfod_server as server
from debuginfod_server import Server
from exporter_stage import BATCH, ROOT, Stage, case, directory, equal, free_port, main, wait_for
from fake_hub import DEBUGINFO_WANTED, Done, debuginfo_wanted, send

ID = bytes.fromhex("0123456789abcdef0123456789abcdef01234567")
OTHER = bytes(20)
FILE = os.urandom(300_000)
URL = f"http://127.0.0.1:{{}}/buildid/{ID.hex()}/debuginfo"


def stage(*servers, env=None, **how):
    """Without a receiver, unless how says otherwise."""
    urls = " ".join(s if isinstance(s, str) else s.url for s in servers)
    how = how or {"options": ["--no-receiver"], "receiver": False, "first": False}
    return Stage(env={"TRIFOLD_DEBUGINFOD_URLS": urls, **(env or {})}, **how)


def begin(s):
    equal(s.hub.accept(), (0, {}))
    equal(s.hub.debuginfod, 1)


def counted(s, **want):
    """These counters soon; all others of debuginfod are 0."""
    names = ("asked", "requests", "found", "not_found", "failed", "bytes", "cached",
             "cache_files", "cache_bytes", "cache_evicted", "cache_errors")
    want = {n: want.get(n, 0) for n in names}

    def of(st):
        return {n: st.get("debuginfod_" + n) for n in names}
    equal(of(s.hub.stats_until(lambda st: of(st) == want, 12)), want)


def batches_go_on(s, outcome="no_receiver"):
    ident = s.hub.batch(BATCH, 20)
    equal(s.hub.done(), Done(ident, 20, outcome))


def most_resident(pid):
    """KiB, at any time."""
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))


def none(s, build_id=ID, ident=1):
    s.hub.ask_debuginfo(build_id, ident)
    equal(s.hub.debuginfo(), (ident, None))


@case
def debug_file_is_handed_over_as_it_came():
    with Server({ID.hex(): server.found(FILE)}) as web, stage(web, receiver=True) as s:
        begin(s)
        s.hub.ask_debuginfo(ID, 77)
        equal(s.hub.debuginfo(), (77, FILE))
        assert not s.hub.cached, "there is no cache"
        equal(web.asked, [f"/buildid/{ID.hex()}/debuginfo"])
        # what else does the request say of this host?
        equal(web.agents, {(("Accept", "*/*"), ("User-Agent", "trifold"))})
        counted(s, asked=1, requests=1, found=1, bytes=len(FILE))
        # enough for a while
        none(s, ident=78)
        equal(len(web.asked), 1)
        batches_go_on(s, "delivered")


@case
def nothing_is_asked_without_a_server():
    with Server({ID.hex(): server.found(FILE)}) as web, \
            Stage(env={"DEBUGINFOD_URLS": web.url}) as s:
        equal(s.hub.accept(), (0, {}))
        equal(s.hub.debuginfod, 0)
        batches_go_on(s, "delivered")
        # a hub that asks nevertheless breaks the protocol
        s.hub.ask_debuginfo(ID)
        wait_for(lambda: "invalid message" in s.log())
        equal(web.asked, [])


@case
def switch_takes_the_environments_servers():
    with Server({ID.hex(): server.found(FILE)}) as web, \
            stage("environment", env={"DEBUGINFOD_URLS": f"ima:enforcing {web.url}"}) as s:
        begin(s)
        s.hub.ask_debuginfo(ID)
        equal(s.hub.debuginfo(), (1, FILE))
        assert "skipping a word" in s.log(), "of a word that is no URL"


@case
def no_network_is_no_server_either():
    with Server() as web, stage(web, options=["--no-network"], receiver=False) as s:
        equal(s.hub.accept(), (0, {}))
        equal(s.hub.debuginfod, 0)


@case
def next_server_is_asked():
    with Server() as without, Server({ID.hex(): server.found(FILE)}) as web, \
            stage(f"http://127.0.0.1:{free_port()}", without, web) as s:
        begin(s)
        s.hub.ask_debuginfo(ID)
        equal(s.hub.debuginfo(), (1, FILE))
        equal(len(without.asked), 1)
        counted(s, asked=1, requests=3, found=1, failed=1, bytes=len(FILE))


@case
def what_is_not_there_is_not_asked_again():
    with Server() as web, stage(web) as s:
        begin(s)
        for ident in range(1, 6):
            none(s, ident=ident)
        equal(len(web.asked), 1)
        none(s, OTHER, 6)
        equal(len(web.asked), 2)
        counted(s, asked=2, requests=2, not_found=2)


def refuses(*answers, env=None, **count):
    """Servers with these answers: nothing is handed over, and all goes on."""
    with contextlib.ExitStack() as stack:
        web = [stack.enter_context(Server({ID.hex(): a})) for a in answers]
        with stage(*web, env={"TRIFOLD_DEBUGINFOD_SIZE": "1", **(env or {})}) as s:
            begin(s)
            s.hub.ask_debuginfo(ID)
            batches_go_on(s)
            equal(s.hub.debuginfo(), (1, None))
            none(s, ident=2)
            equal([len(w.asked) for w in web], [1] * len(web))
            counted(s, **{"requests": len(web), "failed": len(web), **count})
            batches_go_on(s)


@case
def endless_body():
    with Server({ID.hex(): server.endless}) as web, \
            stage(web, env={"TRIFOLD_DEBUGINFOD_SIZE": "1"}) as s:
        begin(s)
        none(s)
        st = s.hub.stats_until(lambda st: st.get("debuginfod_failed"))
        assert 900_000 < st["debuginfod_bytes"] <= 1 << 20, st["debuginfod_bytes"]
        batches_go_on(s)


@case
def lengths_that_lie():
    # nothing comes of it: it is not asked for again either
    refuses(server.claims(1 << 40), server.claims(1000), server.empty, asked=1, bytes=100)


@case
def slow_body():
    with Server({ID.hex(): server.slow}) as web, \
            stage(web, env={"TRIFOLD_DEBUGINFOD_TIMEOUT": "3"}) as s:
        begin(s)
        s.hub.ask_debuginfo(ID)
        wait_for(lambda: web.asked)
        batches_go_on(s)
        equal(s.hub.debuginfo(), (1, None))
        assert "too slow" in s.log(), "after a second"


@case
def answers_that_are_none():
    # it may be there when the server works again: that is another question then
    refuses(server.silent, server.garbage, server.status(503), server.status(206),
            server.status(302, Location="file:///etc/passwd"), asked=2,
            env={"TRIFOLD_DEBUGINFOD_TIMEOUT": "1"})


@case
def heads_without_end_and_chunks_that_lie():
    with Server({ID.hex(): server.headers}) as a, Server({ID.hex(): server.continues}) as b, \
            Server({ID.hex(): server.chunks}) as c, \
            stage(a, b, c, env={"TRIFOLD_DEBUGINFOD_TIMEOUT": "3", "TRIFOLD_DEBUGINFOD_SIZE": "1"}) as s:
        begin(s)
        before = most_resident(s.exporter.pid)
        s.hub.ask_debuginfo(ID)
        batches_go_on(s)
        equal(s.hub.debuginfo(), (1, None))
        # and not since a head is none
        assert re.search("Too large response headers|timed out|too slow", s.log()), s.log()
        wait_for(lambda: all(w.asked for w in (a, b, c)))
        equal([len(w.asked) for w in (a, b, c)], [1, 1, 1])
        after = most_resident(s.exporter.pid)
        print(f"# resident: {before} KiB, then at most {after}")
        assert after < before + 4096, (before, after)
        batches_go_on(s)


@case
def what_is_compressed_is_not_unpacked():
    bomb = gzip.compress(bytes(16 << 20))
    with Server({ID.hex(): server.packed(bomb)}) as web, \
            stage(web, env={"TRIFOLD_DEBUGINFOD_SIZE": "1"}) as s:
        begin(s)
        s.hub.ask_debuginfo(ID)
        equal(s.hub.debuginfo(), (1, bomb))


@case
def redirect_leads_to_no_plain_server():
    with Server({ID.hex(): server.found(FILE)}) as other:
        refuses(server.status(302, Location=URL.format(other.port)), asked=2)
        equal(other.asked, [])


@case
def failing_server_is_left_alone():
    with Server({ID.hex(): server.status(500)}) as web, stage(web) as s:
        begin(s)
        for ident in range(1, 6):
            none(s, bytes([ident] * 20) if ident > 1 else ID, ident)
        equal(len(web.asked), 1)


@case
def hub_goes_away_meanwhile():
    with Server({ID.hex(): server.silent, OTHER.hex(): server.found(FILE)}) as web, stage(web) as s:
        begin(s)
        s.hub.ask_debuginfo(ID)
        wait_for(lambda: web.asked)
        s.hub.drop()
        begin(s)
        s.hub.ask_debuginfo(OTHER, 5)
        equal(s.hub.debuginfo(), (5, FILE))


@case
def end_does_not_wait_for_a_server():
    with Server({ID.hex(): server.silent}) as web, stage(web) as s:
        begin(s)
        s.hub.ask_debuginfo(ID)
        wait_for(lambda: web.asked)
        assert s.stop() < 20


@case
def questions_without_sense_are_offences():
    for size in (0, 7, 33, 2 ** 31):
        with Server() as web, stage(web) as s:
            begin(s)
            send(s.hub.conn, DEBUGINFO_WANTED, 1, debuginfo_wanted(bytes(32), size=size))
            wait_for(lambda: "invalid message from symbolizerd: bad content" in s.log())
            equal(web.asked, [])


# --- a cache ------------------------------------------------------------------------

def with_cache(path, *servers, **env):
    return stage(*servers, env={"TRIFOLD_DEBUGINFOD_CACHE": path, **env})


def next_start(s, how=signal.SIGTERM):
    s.exporter.send_signal(how)
    s.exporter.wait(60)
    s.hub.drop()
    s.run()
    begin(s)


def found(s, build_id, content, ident=1, cached=True, useless=0):
    s.hub.ask_debuginfo(build_id, ident, useless)
    equal(s.hub.debuginfo(), (ident, content))
    equal(s.hub.cached, cached)


@case
def next_start_takes_it_from_the_cache():
    with directory("cache") as d, Server({ID.hex(): server.found(FILE)}) as web, \
            with_cache(d, web) as s:
        begin(s)
        found(s, ID, FILE, 1)
        found(s, ID, FILE, 2)
        equal(os.listdir(d), [ID.hex()])
        equal(os.stat(f"{d}/{ID.hex()}").st_mode & 0o777, 0o600)
        counted(s, asked=2, requests=1, found=1, bytes=len(FILE), cached=1, cache_files=1,
                cache_bytes=len(FILE))
        for how in (signal.SIGTERM, signal.SIGKILL):
            next_start(s, how)
            found(s, ID, FILE, 3)
            none(s, OTHER, 4)
            counted(s, asked=2, requests=1, not_found=1, cached=1, cache_files=1,
                    cache_bytes=len(FILE))
        equal(web.asked.count(f"/buildid/{ID.hex()}/debuginfo"), 1)


@case
def killed_while_a_file_comes():
    with directory("cache") as d, Server({ID.hex(): server.claims(1 << 20)}) as web, \
            Server({ID.hex(): server.slow}) as slow, with_cache(d, slow) as s:
        begin(s)
        s.hub.ask_debuginfo(ID)
        wait_for(lambda: os.listdir(d) == ["new.tmp"])
        next_start(s, signal.SIGKILL)
        equal(os.listdir(d), [])
        # one that is cut off
        s.how["env"]["TRIFOLD_DEBUGINFOD_URLS"] = web.url
        next_start(s)
        none(s)
        equal(os.listdir(d), [])


@case
def file_of_no_use_is_asked_for_again():
    with directory("cache") as d, Server({ID.hex(): server.found(b"not this")}) as web, \
            with_cache(d, web) as s:
        begin(s)
        found(s, ID, b"not this")
        next_start(s)
        found(s, ID, b"not this")
        web.answers[ID.hex()] = server.found(FILE)
        found(s, ID, FILE, useless=1)
        found(s, ID, FILE)
        equal(len(web.asked), 2)


@case
def what_others_did_to_the_cache():
    files = {bytes([i] * 20): os.urandom(10_000) for i in range(1, 5)}
    with directory("cache") as d, Server({i.hex(): server.found(c) for i, c in files.items()}) as web, \
            with_cache(d, web) as s:
        begin(s)
        for i, content in files.items():
            found(s, i, content)
        short, link, fifo, strange = (f"{d}/{i.hex()}" for i in files)
        os.truncate(short, 5000)
        os.unlink(link)
        os.symlink("/etc/passwd", link)
        os.unlink(fifo)
        os.mkfifo(fifo)
        if ROOT:
            os.chown(strange, 1, 1)
        # ten minutes have not passed: no server is asked
        for i in list(files)[:3 + ROOT]:
            none(s, i)
        counted(s, asked=4, requests=4, found=4, bytes=40_000, cache_errors=3 + ROOT,
                cache_files=1 - ROOT, cache_bytes=10_000 * (1 - ROOT))
        next_start(s)
        assert f"ignoring {2 + ROOT} files that trifold did not make" in s.log(), s.log()
        for i, content in files.items():
            found(s, i, content)
        assert not os.path.islink(link) and os.stat(short).st_size == 10_000
        batches_go_on(s)


@case
def cache_that_cannot_be_used_is_no_cache():
    with directory("cache") as d, Server({ID.hex(): server.found(FILE)}) as web:
        def without(why, **env):
            with with_cache(d, web, **env) as s:
                begin(s)
                found(s, ID, FILE, cached=False)
                assert why in s.log(), s.log()
                assert ("memory only" in s.log()) == bool(why), s.log()
        without("", TRIFOLD_DEBUGINFOD_CACHE_SIZE="0")
        os.chmod(d, 0o755)
        without("chmod 700")
        os.rmdir(d)
        without("No such file")
        os.mkdir(d, 0o755)
        if ROOT:
            without("belongs to user 0")
        equal(os.listdir(d), [])


@case
def two_exporters_have_not_one_cache():
    with directory("cache") as d, Server({ID.hex(): server.found(FILE)}) as web, \
            with_cache(d, web) as s, with_cache(d, web) as other:
        begin(s)
        begin(other)
        without = [x for x in (s, other) if "another exporterd uses it" in x.log()]
        equal(len(without), 1)
        for x in (s, other):
            found(x, ID, FILE, cached=x not in without)


@case
def full_disk_is_said_and_the_file_comes():
    large, third = os.urandom(600_000), bytes([7] * 20)
    with directory("cache", "size=1m") as d, \
            Server({ID.hex(): server.found(FILE), OTHER.hex(): server.found(large),
                    third.hex(): server.found(FILE)}) as web, with_cache(d, web) as s:
        begin(s)
        found(s, ID, FILE)
        with open(f"{d}/other", "wb") as f:
            f.write(bytes(300_000))
        found(s, OTHER, large, cached=False)
        equal(s.log().count("No space left on device"), 1)
        os.unlink(f"{d}/other")
        found(s, third, FILE)
        assert "takes files again" in s.log(), s.log()
        equal(sorted(os.listdir(d)), sorted([ID.hex(), third.hex()]))
        counted(s, asked=3, requests=3, found=3, bytes=2 * len(FILE) + len(large), cache_files=2,
                cache_bytes=2 * len(FILE), cache_errors=1)
        batches_go_on(s)


@case
def disk_becomes_read_only():
    with directory("cache", "size=2m") as d, \
            Server({ID.hex(): server.found(FILE), OTHER.hex(): server.found(FILE)}) as web, \
            with_cache(d, web) as s:
        begin(s)
        found(s, ID, FILE)
        subprocess.run(["mount", "-o", "remount,ro", d], check=True)
        found(s, ID, FILE)
        found(s, OTHER, FILE, cached=False)
        assert "Read-only file system" in s.log(), s.log()


@case
def cache_has_bounds():
    files = {bytes([i] * 20): os.urandom(400_000) for i in range(1, 5)}
    with directory("cache") as d, Server({i.hex(): server.found(c) for i, c in files.items()}) as web, \
            with_cache(d, web, TRIFOLD_DEBUGINFOD_CACHE_SIZE="1") as s:
        begin(s)
        first = next(iter(files))
        for i, content in files.items():
            found(s, i, content)
            found(s, first, files[first])
        equal(sorted(os.listdir(d)), [first.hex(), list(files)[3].hex()])
        counted(s, asked=8, requests=4, found=4, bytes=1_600_000, cached=4, cache_files=2,
                cache_bytes=800_000, cache_evicted=2)


@case
def mistakes_are_said():
    for name, value in (("CACHE", "here"), ("CACHE_SIZE", "65537"), ("URLS", "ftp://x"),
                        ("URLS", "x"), ("SIZE", "0"), ("SIZE", "513"),
                        ("TIMEOUT", "0"), ("TIMEOUT", "601"),
                        ("URLS", " ".join(["http://x"] * 9))):
        with Stage(env={"TRIFOLD_DEBUGINFOD_URLS": "http://127.0.0.1:1",
                        f"TRIFOLD_DEBUGINFOD_{name}": value}, receiver=False) as s:
            equal(s.exporter.wait(60), 2)
            assert f"TRIFOLD_DEBUGINFOD_{name}" in s.log()


main()
