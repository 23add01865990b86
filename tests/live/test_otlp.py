#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The known chain in the formats that others read, by readers that are not ours,
and some batches of this machine to a real OpenTelemetry Collector.
"""
import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request

import otlp_decoder
import otlp_make
from live import ROOT, TRIFOLD, Skip, Suite, compile_c, record, say, scratch, wait_for
from loads import processes

suite = Suite()
LIVE = os.path.join(ROOT, "tests", "live")
CHECK = os.path.join(LIVE, "otlp_check.py")
METRICS = os.path.join(LIVE, "metrics_check.py")
RUN = os.path.join(LIVE, "collector", "run.sh")
# The newest that builds; long_collector.py has an older one, with a cache of its own.
CACHE = os.environ.get("COLLECTOR_CACHE", os.path.join(ROOT, "build", "collector"))
VERSION = os.environ.get("COLLECTOR_VERSION", "v0.165.0")
CHAIN = [f"chain_{i}" for i in range(10, 0, -1)] + ["main"]
COLLECTOR_SECONDS = os.environ.get("COLLECTOR_SECONDS", "20")


def decoder():
    python, why = otlp_decoder.decoder()
    if why:
        raise Skip(why)
    return python


def go():
    return shutil.which("go") or shutil.which("/usr/local/go/bin/go")


@suite.test
def otlp_file():
    """the chain is in the .otlp file, by the published Python decoder"""
    python = decoder()
    with scratch() as tmp:
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        out = os.path.join(tmp, "out.otlp")
        with processes([f"exec {exe} 100 rest", f"exec {exe} 100 syscall rest"], tmp):
            record(out, "--duration", "4", "--frequency", "97")
        r = subprocess.run([python, CHECK, "--chain", ",".join(CHAIN), out],
                           capture_output=True, text=True)
        say(r.stdout + r.stderr)
        assert r.returncode == 0


@suite.test
def pprof_file():
    """the chain is in the pprof file, by go tool pprof"""
    if not go():
        raise Skip("needs go")
    with scratch() as tmp:
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        out = os.path.join(tmp, "out.pb.gz")
        with processes([f"exec {exe} 100 rest"], tmp):
            record(out, "--duration", "4", "--frequency", "97")
        # where Go has the tool as source it is built: once for all tests
        env = dict(os.environ, HOME=tmp, PPROF_TMPDIR=tmp, GOCACHE=os.path.join(ROOT, "build", "gocache"))
        text = subprocess.run([go(), "tool", "pprof", "-symbolize=none", "-sample_index=samples",
                               "-traces", "-focus=chain_10", out], env=env, check=True,
                              capture_output=True, text=True).stdout
    traces = []
    for block in text.split("-----------+"):
        names = [line.split()[-1] for line in block.splitlines() if line.startswith(" ") and line.split()]
        if "chain_10" in names:
            traces.append(names)
    good = [t for t in traces if t[t.index("chain_10"):][:len(CHAIN)] == CHAIN and "_start" in t]
    say(f"{len(traces)} distinct stacks with chain_10, {len(good)} with the whole chain up to _start")
    assert good, text[:2000]


def built():
    build = subprocess.run([RUN, CACHE], capture_output=True, text=True)
    if build.returncode == 77:
        raise Skip(build.stdout.strip().removeprefix("SKIP "))
    assert build.returncode == 0, build.stdout + build.stderr


@suite.test
def collector():
    """a real OpenTelemetry Collector takes profiles and metrics without an error"""
    python = decoder()
    built()
    with scratch() as tmp:
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            port = s.getsockname()[1]
        got = os.path.join(tmp, "profiles.jsonl")
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        log = open(os.path.join(tmp, "collector.log"), "w+", encoding="utf-8")
        c = subprocess.Popen([RUN, CACHE, str(port), got],
                             stdout=log, stderr=log)
        try:
            wait_for(lambda: listens(port))
            with processes([f"exec {exe} 1000 rest", f"exec {exe} 1000 syscall rest"], tmp):
                r = subprocess.run([TRIFOLD, "run", "--duration", COLLECTOR_SECONDS,
                                    "--endpoint", f"http://127.0.0.1:{port}"],
                                   cwd=tmp, capture_output=True, text=True, timeout=200,
                                   env=dict(os.environ, OTEL_METRIC_EXPORT_INTERVAL="5000"))
            time.sleep(0.5)
        finally:
            c.send_signal(signal.SIGTERM)
            c.wait(20)
        log.seek(0)
        errors = [line for line in log.read().splitlines()
                  if "\terror\t" in line or "\twarn\t" in line]
        say(r.stderr.strip().splitlines()[-1])
        check = subprocess.run([python, CHECK, "--jsonl", "--chain", ",".join(CHAIN), got],
                               capture_output=True, text=True)
        say(check.stdout + check.stderr)
        metrics = subprocess.run([python, METRICS, "--jsonl", got + ".metrics"],
                                 capture_output=True, text=True)
        say(metrics.stderr)
        assert r.returncode == 0, r.stderr
        assert not errors, errors
        assert check.returncode == 0
        assert ", none lost" in r.stderr and "difference" not in r.stderr, r.stderr
        assert metrics.returncode == 0
        check_metrics([json.loads(line) for line in metrics.stdout.splitlines()], r.stderr)


@suite.test
def recipe():
    """docs/recipes/collector.yaml passes a recording on to a backend, over gRPC"""
    built()
    with contextlib.ExitStack() as stack:
        ports = []
        for _ in range(3):
            s = stack.enter_context(socket.socket())
            s.bind(("127.0.0.1", 0))
            ports.append(s.getsockname()[1])
    with scratch() as tmp, contextlib.ExitStack() as stack:
        got, out = os.path.join(tmp, "got.jsonl"), os.path.join(tmp, "x.otlp")
        log = stack.enter_context(open(os.path.join(tmp, "log"), "w+", encoding="utf-8"))

        def start(argv, **env):
            p = subprocess.Popen(argv, stdout=log, stderr=log, env={**os.environ, **env})
            stack.callback(p.wait, 20)
            stack.callback(p.terminate)
        start([RUN, CACHE, str(ports[0]), got], OTLP_GRPC_PORT=str(ports[1]))
        start([os.path.join(CACHE, "dist", "otelcol-trifold-test"), "--config",
               os.path.join(ROOT, "docs", "recipes", "collector.yaml"),
               "--feature-gates=service.profilesSupport"],
              BACKEND=f"127.0.0.1:{ports[1]}", LISTEN=f"127.0.0.1:{ports[2]}")
        exe = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        record(out, "--frequency", "199", "--", "timeout", "1", exe, "60", check=False)
        wait_for(lambda: listens(ports[1]) and listens(ports[2]))
        with open(out, "rb") as f:
            q = urllib.request.Request(f"http://127.0.0.1:{ports[2]}/v1development/profiles", f.read(),
                                       {"Content-Type": "application/x-protobuf"})
        with urllib.request.urlopen(q, timeout=30) as answer:
            assert answer.status == 200
        wait_for(lambda: os.path.exists(got) and os.stat(got).st_size > 0)
        time.sleep(0.5)
        with open(got, encoding="utf-8") as f:
            text = f.read()
        log.seek(0)
        errors = [line for line in log.read().splitlines() if "\terror\t" in line]
        assert not errors, errors
        assert '"chain_10"' in text and '"process.executable.name"' in text, text[:400]


@suite.test
def passed_on():
    """behind a Collector: service.name arrives, by a plain key up to 0.160, by reference from 0.161 on"""
    python = decoder()
    built()
    with scratch() as tmp, contextlib.ExitStack() as stack:
        there, port = os.path.join(tmp, "backend"), free_port()
        os.mkdir(there)
        log = stack.enter_context(open(os.path.join(tmp, "log"), "w+", encoding="utf-8"))

        def start(argv, **env):
            p = subprocess.Popen(argv, stdout=log, stderr=log, env={**os.environ, **env})
            stack.callback(p.wait, 20)
            stack.callback(p.terminate)
        start([sys.executable, os.path.join(LIVE, "receiver.py"), "--dir", there])
        wait_for(lambda: os.path.exists(os.path.join(there, "port")))
        with open(os.path.join(there, "port"), encoding="ascii") as f:
            start([RUN, CACHE, str(port), "none"], OTLP_NEXT=f"http://127.0.0.1:{f.read()}")
        body = os.path.join(tmp, "body")
        with open(body, "wb") as f:
            f.write(otlp_make.request([10**18], [["leaf", "main"]], **{"service.name": "shop"}))
        wait_for(lambda: listens(port))
        with open(body, "rb") as f:
            q = urllib.request.Request(f"http://127.0.0.1:{port}/v1development/profiles", f.read(),
                                       {"Content-Type": "application/x-protobuf"})
        with urllib.request.urlopen(q, timeout=30) as answer:
            assert answer.status == 200
        wait_for(lambda: os.path.exists(os.path.join(there, "000.body")))
        time.sleep(0.5)
        look = subprocess.run([python, os.path.join(LIVE, "otlp_service.py"), body,
                               os.path.join(there, "000.body")],
                              check=True, capture_output=True, text=True).stdout
        sent, came = map(json.loads, look.splitlines())
        say(f"sent {sent}")
        say(f"passed on by {VERSION}: {came}")
        assert came["services"] == sent["services"] and came["profiles"] == sent["profiles"]
        # docs/RECIPES.md and `trifold doctor` say it
        how = "plain" if int(VERSION.split(".")[1]) < 161 else "reference"
        assert set(came["how"]) == {how}, came


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def check_metrics(requests, said):
    """The last one has the sums that trifold has said."""
    last = requests[-1]["metrics"]
    taken = last["trifold.sample.taken"]["points"][0]["value"]
    ended = {(p["attributes"]["outcome"], p["attributes"].get("reason")): p["value"]
             for p in last["trifold.samples"]["points"]}
    cpu = {tuple(p["attributes"].values()): round(p["value"], 3)
           for p in last["process.cpu.time"]["points"]}
    say(f"{len(requests)} requests with metrics, CPU seconds {cpu}")
    assert len(requests) > 2
    assert f"{taken} samples, none lost" in said, said
    # profile/busy.h, at 19 Hz
    used, all_s = (taken - ended["own", None]) / 19, last["trifold.cpu.covered"]["points"][0]["value"]
    busy = f"; {min(used, all_s):.1f} of {all_s:.1f} CPU-seconds busy ("
    assert busy in said, (busy, said)
    assert sum(ended.values()) == taken, ended
    assert ended["delivered", None] + ended["own", None] == taken, ended
    assert last["trifold.sample.difference"]["points"][0]["value"] == 0
    assert len(cpu) == 5 and all(0 < c < 30 for c in cpu.values()), cpu


def listens(port):
    with socket.socket() as s:
        return s.connect_ex(("127.0.0.1", port)) == 0


suite.run()
