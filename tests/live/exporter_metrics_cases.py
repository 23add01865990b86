#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_metrics.sh.
usage: exporter_metrics_cases.py BUILD [CASE...]"""
import json
import os
import shutil
import subprocess
import time

from accounts import packed
from exporter_stage import (BATCH, HERE, ROOT, Skip, Stage, case, decoder, equal, free_port, main,
                            wait_for)
from fake_hub import Done, STATUS, send

OTLP = "OTEL_EXPORTER_OTLP_"
ON = {"OTEL_METRICS_EXPORTER": "otlp"}
PATH = "/v1/metrics"
START = 1_700_000_000_000_000_000


def every(ms, **more):
    return {**ON, "OTEL_METRIC_EXPORT_INTERVAL": str(ms), **more}


def status(**values):
    v = {"loader.start_ns": START, "hub.start_ns": START + 1, "hub.rss_bytes": 8192}
    v.update({k.replace("__", "."): n for k, n in values.items()})
    return packed(v)


def metrics_in(where):
    """[(line of requests.jsonl, path of the body)] of metrics."""
    out = []
    try:
        with open(f"{where}/requests.jsonl") as f:
            for line in f:
                r = json.loads(line)
                if r["path"].endswith("/metrics"):
                    out.append((r, f"{where}/{r['n']:03}.body"))
    except FileNotFoundError:
        pass
    return out


def decoded(path):
    r = subprocess.run([decoder(), f"{HERE}/metrics_check.py", path], capture_output=True, text=True)
    equal((r.returncode, r.stderr), (0, ""))
    return json.loads(r.stdout)


def value(request, name, **attributes):
    want = {k.replace("__", "."): v for k, v in attributes.items()}
    found = [p for p in request["metrics"][name]["points"]
             if want.items() <= p["attributes"].items()]
    equal(len(found), 1)
    return found[0]["value"]


# --- what arrives -------------------------------------------------------------

@case
def numbers_arrive_each_interval():
    with Stage(env=every(400)) as s:
        equal(s.hub.accept(), (0, {}))
        equal(s.hub.wants_status, 1)
        s.hub.status(status(loader__drained=41, totals__hub_bad=3))
        wait_for(lambda: len(metrics_in(s.dir)) >= 2)
        s.hub.status(status(loader__drained=43, totals__hub_bad=3))
        n = len(metrics_in(s.dir))
        wait_for(lambda: len(metrics_in(s.dir)) >= n + 2)
        got = metrics_in(s.dir)
        line = got[1][0]
        equal(line["path"], PATH)
        h = {k.lower(): v for k, v in line["headers"]}
        equal((h["content-type"], h["content-encoding"]), ("application/x-protobuf", "gzip"))
        assert "otlp-profiles-development-version" not in h, h
        first, last = decoded(got[1][1]), decoded(got[-1][1])
        equal(value(first, "trifold.sample.drained"), 41)
        equal(value(last, "trifold.sample.drained"), 43)
        equal(value(last, "trifold.samples", outcome="lost", reason="hub_bad"), 3)
        equal(value(last, "trifold.up", process__executable__name="trifold-loaderd"), 1)
        equal(value(last, "process.memory.usage", process__executable__name="trifold-symbolizerd",
                    role="main"), 8192)
        assert 1e6 < value(last, "process.memory.usage",
                           process__executable__name="trifold-exporterd") < 1e8
        cpu = [value(r, "process.cpu.time", process__executable__name="trifold-exporterd")
               for r in (first, last)]
        assert 0 < cpu[0] <= cpu[1] < 10, cpu
        for name in ("trifold.sample.drained", "trifold.batches", "trifold.export.requests"):
            starts = {r["metrics"][name]["points"][0]["start"] for r in (first, last)}
            equal(len(starts), 1)
        res = last["resource"]
        equal(res["service.name"], "trifold")
        equal(res["host.name"], os.uname().nodename)
        assert res["service.version"] and len(res["service.instance.id"]) == 36, res
        s.stop()


@case
def last_request_says_how_it_ended():
    with Stage(env=ON) as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(s.hub.done(), Done(ident, 20, "delivered"))
        s.hub.status(status(totals__handed=20))
        # all that was sent is read before the signal is
        s.settle()
        assert s.stop() < 4.5	# without the 5 s for the rest
        got = metrics_in(s.dir)
        equal(len(got), 1)
        r = decoded(got[0][1])
        equal(value(r, "trifold.sample.handed"), 20)
        equal(value(r, "trifold.export.requests"), 1)
        equal(value(r, "trifold.export.queue.samples"), 0)


@case
def without_a_hub_exporterd_speaks_for_itself():
    with Stage(env=every(500)) as s:
        equal(s.hub.accept(), (0, {}))
        s.hub.status(status())
        s.hub.go()
        wait_for(lambda: metrics_in(s.dir))
        assert "trifold.batches" in decoded(metrics_in(s.dir)[0][1])["metrics"]
        def names():
            return decoded(metrics_in(s.dir)[-1][1])["metrics"]
        wait_for(lambda: "trifold.batches" not in names())
        assert "trifold.export.requests" in names(), names()
        s.stop()


# --- where to -----------------------------------------------------------------

@case
def endpoint_of_its_own():
    port = free_port()
    first = free_port()
    env = every(300, **{OTLP + "METRICS_ENDPOINT": f"http://127.0.0.1:{port}/in/metrics",
                        OTLP + "METRICS_HEADERS": "who=metrics", OTLP + "HEADERS": "who=all",
                        OTLP + "METRICS_COMPRESSION": "none",
                        OTLP + "PROFILES_ENDPOINT": f"http://127.0.0.1:{first}/p"})
    with Stage(first=False, receiver=False, env=env) as s:
        s.start_receiver(first)
        m = s.another_receiver("metrics", port=port)
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(s.hub.done(), Done(ident, 20, "delivered"))
        wait_for(lambda: metrics_in(m.dir))
        s.stop()
        line = m.requests()[0]
        h = dict(line["headers"])
        equal((line["path"], h["who"]), ("/in/metrics", "metrics"))
        assert "Content-Encoding" not in h, h
        equal([r["path"] for r in s.requests()], ["/p"])
        equal(dict(s.requests()[0]["headers"])["who"], "all")


@case
def metrics_alone():
    port = free_port()
    env = {**ON, OTLP + "METRICS_ENDPOINT": f"http://127.0.0.1:{port}/v1/metrics"}
    with Stage(first=False, receiver=False, env=env) as s:
        m = s.another_receiver("metrics", port=port)
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(s.hub.done(), Done(ident, 20, "no_receiver"))
        s.stop()
        equal([r["path"] for r in m.requests()], ["/v1/metrics"])


@case
def not_sent_when_told_or_not_asked():
    port = free_port()
    alone = {OTLP + "PROFILES_ENDPOINT": f"http://127.0.0.1:{port}/p",
             "OTEL_METRIC_EXPORT_INTERVAL": "100", "OTEL_METRICS_EXPORTER": ""}
    off = {"OTEL_METRICS_EXPORTER": "none", "OTEL_METRIC_EXPORT_INTERVAL": "100"}
    for env, first in ((alone, False), (off, True)):
        with Stage(env=env, first=first, receiver=first) as s:
            if not first:
                s.start_receiver(port)
            equal(s.hub.accept(), (0, {}))
            equal(s.hub.wants_status, 0)
            time.sleep(0.5)
            s.stop()
            equal(metrics_in(s.dir), [])


@case
def certificate_of_its_own():
    if not shutil.which("openssl"):
        raise Skip("needs openssl")
    port = free_port()
    with Stage(first=False, receiver=False, env=ON) as s:
        cert, key = f"{s.dir}/cert.pem", f"{s.dir}/key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-subj", "/CN=localhost",
                        "-addext", "subjectAltName=DNS:localhost", "-days", "1", "-keyout", key,
                        "-out", cert], check=True, capture_output=True)
        env = every(300, **{OTLP + "METRICS_ENDPOINT": f"https://localhost:{port}/v1/metrics",
                            OTLP + "METRICS_CERTIFICATE": cert})
        s.tls = [cert, key]
        s.start_receiver(port)
        with Stage(first=False, receiver=False, env=env) as t:
            equal(t.hub.accept(), (0, {}))
            wait_for(lambda: metrics_in(s.dir))
            t.stop()


# --- answers ------------------------------------------------------------------

def answered(script, n, log, **want):
    port = free_port()
    env = every(500, **{OTLP + "METRICS_ENDPOINT": f"http://127.0.0.1:{port}/v1/metrics"})
    with Stage(first=False, receiver=False, env=env, other=("metrics", script, port)) as s:
        equal(s.hub.accept(), (0, {}))
        wait_for(lambda: len(metrics_in(f"{s.dir}/metrics")) >= n)
        times = [r["time"] for r, _ in metrics_in(f"{s.dir}/metrics")]
        gaps = [b - a for a, b in zip(times, times[1:])]
        # intervals of half a second, not what Retry-After says
        assert all(0.3 < g < 8 for g in gaps), gaps
        st = s.hub.fresh_stats()
        equal({k: st[k] for k in want}, want)
        for text, times in log.items():
            equal((text, s.log().count(text)), (text, times))
        s.stop()


@case
def failures_are_counted_and_not_repeated():
    answered("503;after=9,400,404,200", 5,
             {"cannot send metrics: HTTP 503": 1, "sending metrics again": 1},
             metrics_failed=3, metrics_rejected=0)


@case
def partial_success_is_counted():
    answered("partial=3,200", 2, {"receiver refused 3 data points: no": 1},
             metrics_failed=0, metrics_rejected=3)


@case
def warning_is_said():
    answered("warning,200", 2, {"receiver accepted metrics, with a message: hm": 1}, metrics_failed=0)


@case
def broken_connections_are_failures():
    answered("reset,garbage,nototlp,200", 4, {"cannot send metrics": 1}, metrics_failed=2)


@case
def receiver_that_hangs_ends_with_exporterd():
    port = free_port()
    env = every(200, **{OTLP + "METRICS_ENDPOINT": f"http://127.0.0.1:{port}/v1/metrics"})
    with Stage(env=env, first=False, receiver=False) as s:
        s.another_receiver("metrics", "hang", port)
        equal(s.hub.accept(), (0, {}))
        wait_for(lambda: metrics_in(f"{s.dir}/metrics"))
        time.sleep(0.5)
        # one at a time
        equal(len(metrics_in(f"{s.dir}/metrics")), 1)
        assert 4.5 < s.stop() < 30


@case
def receiver_that_is_away_costs_no_profile():
    port = free_port()
    env = every(200, **{OTLP + "METRICS_ENDPOINT": f"http://127.0.0.1:{free_port()}/v1/metrics",
                        OTLP + "PROFILES_ENDPOINT": f"http://127.0.0.1:{port}/p"})
    with Stage(env=env, first=False, receiver=False) as s:
        s.start_receiver(port)
        equal(s.hub.accept(), (0, {}))
        for _ in range(3):
            ident = s.hub.batch(BATCH, 20)
            equal(s.hub.done(), Done(ident, 20, "delivered"))
        wait_for(lambda: "cannot send metrics" in s.log())
        assert s.stop() < 4.5	# without the 5 s for the rest


# --- the hub's word -----------------------------------------------------------

@case
def status_that_is_wrong_ends_the_connection():
    good = status()
    bad = [good[:-8], good + bytes(8), packed({}, version=99), packed({}, loader_up=2),
           packed({}, exporter_up=255)]
    with Stage(env=ON) as s:
        for payload in bad:
            s.hub.accept()
            s.hub.status(payload)
            equal(s.hub.done(), None)
            s.hub.drop()
        s.hub.accept()
        s.hub.status(good)
        equal(s.hub.fresh_stats()["offences"], len(bad))
        s.stop()


@case
def status_that_nobody_asked_for_is_an_offence():
    with Stage() as s:
        s.hub.accept()
        equal(s.hub.wants_status, 0)
        send(s.hub.conn, STATUS, 0, status())
        equal(s.hub.done(), None)
        s.hub.drop()
        s.hub.accept()
        equal(s.hub.fresh_stats()["offences"], 1)
        s.stop()


if __name__ == "__main__":
    if not ROOT:
        print("# without root: exporterd is not confined")
    main()
