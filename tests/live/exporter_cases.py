#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter.sh.  usage: exporter_cases.py BUILD [CASE...]"""
import os
import platform
import shutil
import subprocess
import time

from exporter_stage import (BATCH, BUILD, HERE, NOBODY, ROOT, Skip, Stage, case, check_events,
                            decoder, equal, free_port, main, make_batch, outcomes, wait_for)
from fake_hub import Done


# --- sending ------------------------------------------------------------------

@case
def request_is_as_the_specification_wants_it():
    with Stage(options=["--header", "X-Scope-OrgID=me",
                        "--header", "otlp-profiles-development-version=2"]) as s:
        outcomes(s, ["delivered"] * 3)
        equal(s.hub.fresh_stats()["http_status"], 200)
        st = s.hub.stats
        r = s.requests()
        equal([len(r), st["requests"], st["retries"], st["queued"]], [3, 3, 0, 0])
        equal(st["request_bytes"], sum(x["len"] for x in r))
        equal(st["wire_bytes"], sum(x["wire"] for x in r))
        equal(r[0]["path"], "/v1development/profiles")
        h = {}
        for name, value in r[0]["headers"]:
            assert name.lower() not in h, f"{name} twice"
            h[name.lower()] = value
        h.pop("host"), h.pop("accept"), h.pop("content-length")
        agent = h.pop("user-agent").split(" ")
        assert agent[0].startswith("trifold/"), agent
        equal(agent[1], "OTel-OTLP-Exporter-C/" + agent[0][8:])
        equal(h, {"content-type": "application/x-protobuf", "content-encoding": "gzip",
                  "accept-encoding": "gzip",
                  "otlp-profiles-development-version": "1", "x-scope-orgid": "me"})
        s.stop()


@case
def request_keeps_every_rule_says_another_decoder():
    python = decoder()
    env = {"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=t%C3%A4st"}
    with Stage(env=env) as s:
        equal(s.hub.accept(), (0, {}))
        big = make_batch(5000, 50, 500, 60, 20)
        for data, n in ((BATCH, 20), (big, 5000)):
            ident = s.hub.batch(data, n)
            equal(s.hub.done(), Done(ident, n, "delivered"))
        out = subprocess.run([python, f"{HERE}/otlp_check.py", "--chain", "leaf,middle,root",
                              f"{s.dir}/000.body", f"{s.dir}/001.body"],
                             capture_output=True, text=True)
        print("# " + out.stdout.strip().replace("\n", "\n# "))
        equal(out.returncode, 0)
        assert " events=5020 " in out.stdout, "events"
        s.stop()


@case
def resources_say_which_host_and_system():
    release = platform.freedesktop_os_release()
    want = {"os.type": "linux", "os.name": release["NAME"], "host.name": platform.node(),
            "host.arch": {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()],
            "telemetry.distro.name": "trifold",
            "os.description": f"{release['PRETTY_NAME']}, Linux {platform.release()}"}
    if "VERSION_ID" in release:
        want["os.version"] = release["VERSION_ID"]
    try:
        with open("/etc/machine-id") as f:
            want["host.id"] = f.read().strip()
    except FileNotFoundError:
        pass
    with Stage() as s:
        outcomes(s, ["delivered"])
        s.stop()
        check_events(s, [0], 20, want)
    # what is given wins over what is found
    mine = {"host.id": "i-1", "os.name": "mine", "service.name": "shop"}
    env = {"OTEL_RESOURCE_ATTRIBUTES": "host.id=i-1,os.name=mine,service.name=no",
           "OTEL_SERVICE_NAME": "shop"}
    with Stage(env=env) as s:
        outcomes(s, ["delivered"])
        s.stop()
        check_events(s, [0], 20, want | mine)


@case
def resources_are_what_is_asked_for():
    # 20 samples of two processes of one program
    for env, profiles, want in (
            ({"TRIFOLD_RESOURCE_PRESET": "pyroscope"}, 1,
             {"service.name": "prog", "host.name": platform.node()}),
            ({"TRIFOLD_RESOURCE_PRESET": "collector", "TRIFOLD_RESOURCE_PER": "process"}, 2,
             {"service.name": "prog"}),
            ({"TRIFOLD_RESOURCE_PER": "host", "TRIFOLD_RESOURCE_ONLY": "host.name"}, 1,
             {"service.name": platform.node(), "host.name": platform.node()})):
        with Stage(env=env) as s:
            outcomes(s, ["delivered"])
            s.stop()
            said = check_events(s, [0], 20, want)
            assert f" profiles={profiles} " in said, said
    wrong = subprocess.run([f"{BUILD}/bin/trifold-exporterd", "--hub", "/x/y", "--hub-uid", "0"],
                           env={"TRIFOLD_RESOURCE_PER": "pod"}, capture_output=True, text=True)
    equal(wrong.returncode, 2)
    assert "write process, service or host" in wrong.stderr, wrong.stderr


@case
def uncompressed_when_told():
    env = {"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}
    with Stage(env=env) as s:
        outcomes(s, ["delivered"])
        r = s.requests()[0]
        equal(r["wire"], r["len"])
        assert "Content-Encoding" not in dict(r["headers"])
        s.stop()


@case
def zstd_when_told():
    if not shutil.which("zstd"):
        raise Skip("no zstd command")
    with Stage(env={"OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION": "zstd"}) as s:
        equal(s.hub.accept(), (0, {}))
        data = make_batch(5000, 50, 500, 60, 20)
        for _ in range(2):
            ident = s.hub.batch(data, 5000)
            equal(s.hub.done(), Done(ident, 5000, "delivered"))
        r = s.requests()[0]
        equal(dict(r["headers"])["Content-Encoding"], "zstd")
        assert r["len"] > 3 * r["wire"], r
        s.stop()
        check_events(s, [0, 1], 10000)


@case
def receiver_that_knows_no_zstd_is_told_apart():
    with Stage(script="415", env={"OTEL_EXPORTER_OTLP_COMPRESSION": "zstd"}) as s:
        outcomes(s, ["rejected"])
        assert "set OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION=gzip" in s.log()
        s.stop()


@case
def connection_is_kept_alive():
    with Stage(host="127.0.0.1") as s:
        outcomes(s, ["delivered"] * 5)
        n = subprocess.run(["ss", "-tn", "state", "established", f"( dport = :{s.port} )"],
                           capture_output=True, text=True)
        if n.returncode:
            raise Skip("no ss")
        equal(n.stdout.count("127.0.0.1:" + str(s.port)), 1)
        s.stop()


@case
def variables_for_profiles_win_over_those_for_all_signals():
    env = {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1",
           "OTEL_EXPORTER_OTLP_HEADERS": "all=1",
           "OTEL_EXPORTER_OTLP_TIMEOUT": "60000",
           "OTEL_EXPORTER_OTLP_COMPRESSION": "gzip",
           "OTEL_EXPORTER_OTLP_PROFILES_HEADERS": "api-key=a%20b,x=%C3%A4",
           "OTEL_EXPORTER_OTLP_PROFILES_TIMEOUT": "700",
           "OTEL_EXPORTER_OTLP_PROFILES_COMPRESSION": "none",
           "OTEL_EXPORTER_OTLP_PROFILES_PROTOCOL": "http/protobuf"}
    port = free_port()
    env["OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT"] = f"http://127.0.0.1:{port}/in/profiles?k=v"
    with Stage(script="hang,200", env=env, receiver=False, first=False) as s:
        s.start_receiver(port)
        start = time.time()
        outcomes(s, ["delivered"])
        assert 1.1 < time.time() - start < 30	# not the minute of all signals
        r = s.requests()[-1]
        h = {k.lower(): v for k, v in r["headers"]}
        equal((r["path"], h["api-key"], h["x"]), ("/in/profiles?k=v", "a b", "\u00c3\u00a4"))
        assert "all" not in h and "content-encoding" not in h, h
        assert "sending to http://127.0.0.1" in s.log() and "k=v" not in s.log()
        s.stop()


# --- answers --------------------------------------------------------------------

def retried(script, requests):
    with Stage(script=script) as s:
        start = time.time()
        outcomes(s, ["delivered"])
        took = time.time() - start
        equal(len(s.requests()), requests)
        st = s.hub.fresh_stats()
        equal([st["requests"], st["retries"]], [requests, requests - 1])
        s.stop()
        return took


@case
def status_503_and_429_are_tried_again():
    # waits of 0.5 to 2 s and 0.5 to 4 s
    took = retried("503,429,200", 3)
    assert 0.9 < took < 60, took


@case
def status_502_and_504_are_tried_again():
    retried("502,504,200", 3)


@case
def retry_after_in_seconds_is_kept():
    assert retried("503;after=4,200", 2) >= 4


@case
def retry_after_is_kept_whatever_was_waited_before():
    with Stage(script="503,503,503,503;after=2,200") as s:
        outcomes(s, ["delivered"])
        took = [r["time"] for r in s.requests()]
        wait = took[-1] - took[-2]
        # what the backoff would be by now is up to 16 s
        assert 2 <= wait, wait
        print(f"# {wait:.2f} s after 'Retry-After: 2'")
        s.stop()


@case
def status_500_is_tried_again_a_few_times():
    retried("500,500,200", 3)
    # at most six times; then the next batch has one try
    with Stage(script=",".join(["500;after=1"] * 8) + ",200") as s:
        outcomes(s, ["gave_up", "gave_up", "delivered"])
        equal(len(s.requests()), 9)
        s.stop()


@case
def what_waited_comes_with_gaps():
    with Stage(script="503;after=1,200") as s:
        equal(s.hub.accept(), (0, {}))
        data = make_batch(span=1500)
        ids = [s.hub.batch(data, 20) for _ in range(12)]
        for i in ids:
            equal(s.hub.done(60), Done(i, 20, "delivered"))
        came = [r["time"] for r in s.requests()][2:]
        gaps = [b - a for a, b in zip(came, came[1:])]
        print("# gaps of " + ", ".join(f"{g:.2f}" for g in gaps) + " s")
        # none is known to be long, but all ten together are
        assert sum(gaps) > 1.5, gaps
        s.stop()


@case
def receiver_that_throttles_gets_everything():
    with Stage(script="rate=1") as s:
        equal(s.hub.accept(), (0, {}))
        data = make_batch(span=1000)
        ids = [s.hub.batch(data, 20) for _ in range(10)]
        for i in ids:
            equal(s.hub.done(120), Done(i, 20, "delivered"))
        st = s.hub.fresh_stats()
        print(f"# 10 batches in {st['requests']} requests, {st['retries']} of them again")
        assert st["requests"] == 10 + st["retries"], st
        s.stop()


@case
def retry_after_as_a_date_is_kept():
    assert retried("429;date=4,200", 2) >= 4


@case
def long_retry_after_is_waited_for():
    # of a bound (unit/sender): nothing is given up, and nothing sent, until the end
    for script in ("503;after=3600", "429;after=99999999999999999999999999", "429;date=9999999999"):
        with Stage(script=script) as s:
            equal(s.hub.accept(), (0, {}))
            ids = [s.hub.batch(BATCH, 20) for _ in range(3)]
            wait_for(lambda: s.requests())
            time.sleep(3)
            st = s.hub.fresh_stats()
            equal((len(s.requests()), st["queued"], st["requests"]), (1, 60, 1))
            s.stop()
            equal(sorted(s.hub.done() for _ in ids), [Done(i, 20, "gave_up") for i in ids])


@case
def absurd_retry_after_is_as_if_it_were_not_there():
    with Stage(script="429;after=-1,429;after=1e9,429;after=0x10,200") as s:
        outcomes(s, ["delivered"])
        took = [r["time"] for r in s.requests()]
        equal(len(took), 4)
        assert all(b - a >= 0.4 for a, b in zip(took, took[1:])), took
        s.stop()


@case
def redirects_are_not_followed():
    with Stage() as other:
        with Stage(script=",".join(f"{n};to={other.port}" for n in (301, 302, 303, 307, 308)) +
                   ",200") as s:
            outcomes(s, ["rejected"] * 5 + ["delivered"])
            equal(len(s.requests()), 6)
            s.stop()
        equal(other.requests(), [])
        other.stop()


@case
def answers_without_end_are_cut_off():
    env = {"OTEL_EXPORTER_OTLP_TIMEOUT": "3000"}
    with Stage(script="200,headers,chunks,continue,200", env=env) as s:
        outcomes(s, ["delivered"])
        before = memory(s.exporter.pid)["Rss"]
        ident = s.hub.batch(BATCH, 20)
        got = [s.hub.done(60)]
        while len(s.requests()) < 5:        # whether tried again or refused
            ident = s.hub.batch(BATCH, 20)
            got.append(s.hub.done(60))
        equal(got[-1], Done(ident, 20, "delivered"))
        after = memory(s.exporter.pid)["Rss"]
        print(f"# {[d.outcome for d in got]}; Rss {before} -> {after} KiB")
        assert after < before + 12000, (before, after)
        s.stop()


@case
def broken_connections_are_tried_again():
    retried("close,reset,200", 3)


@case
def garbage_is_tried_again():
    retried("garbage,200", 2)


@case
def other_statuses_are_final():
    with Stage(script="400,401,403,404,408,409,415,501,501,301,200") as s:
        outcomes(s, ["rejected"] * 10 + ["delivered"])
        equal(len(s.requests()), 11)
        assert "HTTP 400: told to" in s.log()
        s.stop()


@case
def partial_success_is_counted_and_not_tried_again():
    with Stage(script="partial=1,partial=2,warning,200") as s:
        # batches of two profiles and 20 samples
        equal(s.hub.accept(), (0, {}))
        for want in ([(10, "rejected"), (10, "delivered")], [(20, "rejected")],
                     [(20, "delivered")], [(20, "delivered")]):
            ident = s.hub.batch(BATCH, 20)
            equal([s.hub.done() for _ in want], [Done(ident, *w) for w in want])
        st = s.hub.fresh_stats()
        equal([st["partial_rejected"], st["requests"], st["retries"]], [3, 4, 0])
        assert "refused 1 of 2 profiles: no" in s.log()
        s.stop()


@case
def compressed_answers_are_read_and_limited():
    limit = 4 << 20
    with Stage(script="gzip:400") as s:
        outcomes(s, ["rejected"])
        assert "HTTP 400: told to" in s.log()
        s.stop()
    with Stage(script=f"gzip:partial=2,gzip:huge={limit},gzip:huge={100 << 20},"
               "badgzip,200") as s:
        outcomes(s, ["rejected", "delivered", "rejected"])
        assert "refused 2 of 2 profiles: no" in s.log(), s.log()
        # what cannot be decompressed is no answer
        ident = s.hub.batch(BATCH, 20)
        equal(s.hub.done(), Done(ident, 20, "delivered"))
        equal(len(s.requests()), 5)
        s.stop()


@case
def answer_that_drips_is_cut_off():
    with Stage(script="drip,drip=503,200", env={"OTEL_EXPORTER_OTLP_TIMEOUT": "1500"}) as s:
        start = time.time()
        outcomes(s, ["delivered"])
        took = time.time() - start
        assert 4 < took < 60, took
        equal(len(s.requests()), 3)
        equal(s.hub.fresh_stats()["retries"], 2)
        s.stop()


@case
def answer_that_is_not_otlp_still_counts():
    with Stage(script="nototlp") as s:
        outcomes(s, ["delivered"])
        assert "not OTLP" in s.log()
        s.stop()


@case
def answer_of_4_mib_is_read_and_one_byte_more_is_refused():
    limit = 4 << 20
    with Stage(script=f"huge={limit},huge={limit + 1},huge={100 << 20},200") as s:
        outcomes(s, ["delivered", "rejected", "rejected", "delivered"])
        s.stop()


@case
def slow_receiver_is_cut_off_and_tried_again():
    env = {"OTEL_EXPORTER_OTLP_TIMEOUT": "3000"}	# a receiver that answers does so sooner on a busy machine, too
    with Stage(script="hang,200", env=env) as s:
        start = time.time()
        outcomes(s, ["delivered"])
        assert time.time() - start > 2.9
        equal(len(s.requests()), 2)
        s.stop()


@case
def receiver_that_comes_later_gets_everything():
    with Stage() as s:
        s.procs[0].kill()
        s.procs[0].wait()
        port = s.port
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(3)]
        wait_for(lambda: "cannot send" in s.log())
        s.start_receiver(port)
        for i in ids:
            equal(s.hub.done(), Done(i, 20, "delivered"))
        assert "sending again" in s.log()
        s.stop()


@case
def name_that_does_not_exist_is_tried_again():
    with Stage(receiver=False, host="no-such-host.invalid") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        wait_for(lambda: "cannot send" in s.log())
        s.stop()
        equal(s.hub.done(), Done(ident, 20, "gave_up"))


@case
def proxy_of_the_environment_is_used():
    port = free_port()
    env = {"http_proxy": f"http://127.0.0.1:{port}", "no_proxy": "other.example"}
    with Stage(env=env, receiver=False, host="collector.example") as s:
        s.start_receiver(port)
        outcomes(s, ["delivered"])
        equal(s.requests()[0]["path"], "http://collector.example:1/v1development/profiles")
        s.stop()
    env["no_proxy"] = "localhost"
    with Stage(env=env) as s:
        outcomes(s, ["delivered"])
        equal(s.requests()[0]["path"], "/v1development/profiles")
        s.stop()


# --- what it is -----------------------------------------------------------------------

@case
def confined_process_is_what_confine_says():
    if not ROOT:
        raise Skip("needs root")
    with Stage() as s:
        outcomes(s, ["delivered"])
        pid = s.exporter.pid
        with open(f"/proc/{pid}/status") as f:
            st = dict(line.rstrip("\n").split(":\t", 1) for line in f)
        equal(st["Uid"].split(), [str(NOBODY)] * 4)
        equal(st["Gid"].split(), [str(NOBODY)] * 4)
        equal(st["Groups"].split(), [])
        equal({st[c] for c in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")}, {"0" * 16})
        equal((st["NoNewPrivs"], st["Seccomp"]), ("1", "2"))
        for ns in ("mnt", "ipc", "uts"):
            assert os.readlink(f"/proc/{pid}/ns/{ns}") != os.readlink(f"/proc/self/ns/{ns}"), ns
        equal(os.readlink(f"/proc/{pid}/ns/net"), os.readlink("/proc/self/ns/net"))
        root = set(os.listdir(f"/proc/{pid}/root"))
        assert root <= {"etc", "usr", "run", "var", "tmp"}, root
        assert not os.path.exists(f"/proc/{pid}/root/etc/passwd")
        assert not os.path.exists(f"/proc/{pid}/root/proc")
        s.stop()


@case
def idle_process_is_small():
    if not ROOT:
        raise Skip("needs root")
    with Stage() as s:
        equal(s.hub.accept(), (0, {}))
        s.hub.fresh_stats()
        before = memory(s.exporter.pid)
        for _ in range(5):
            data = make_batch(200, 5, 50, 40, 20)
            ident = s.hub.batch(data, 200)
            equal(s.hub.done(), Done(ident, 200, "delivered"))
        print(f"# idle {before} KiB, after five batches {memory(s.exporter.pid)} KiB")
        assert before["Pss"] < 4096, before
        s.stop()


def memory(pid):
    with open(f"/proc/{pid}/smaps_rollup") as f:
        lines = [line.split() for line in f]
    return {x[0][:-1]: int(x[1]) for x in lines if x[0] in ("Rss:", "Pss:")}


@case
def wrong_use_is_said_and_ends_with_2():
    for env, options in (({"OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, []),
                         ({}, ["--endpoint", "localhost:4318"]),
                         ({"OTEL_EXPORTER_OTLP_HEADERS": "x"}, []),
                         ({"OTEL_EXPORTER_OTLP_COMPRESSION": "deflate"}, [])):
        r = subprocess.run([f"{BUILD}/bin/trifold-exporterd", "--hub", "/x/y", "--hub-uid", "0",
                            *options], env=env, capture_output=True, text=True)
        equal(r.returncode, 2)
        equal(len(r.stderr.splitlines()), 1)


if __name__ == "__main__":
    main()
