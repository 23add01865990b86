#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_tls.sh: TLS, and a real collector.
usage: exporter_tls_cases.py BUILD [CASE...]"""
import os
import socket
import subprocess
import tempfile

from exporter_stage import (BATCH, BUILD, HERE, Skip, Stage, case, decoder, equal, free_port,
                            main, make_batch, outcomes, wait_for)
from fake_hub import Done

RUN = f"{HERE}/collector/run.sh"


# --- a real collector -------------------------------------------------------------

class Collector:
    """The OpenTelemetry collector beside a stage: what it takes goes to a file."""

    def __init__(self, stage, **env):
        self.out = f"{stage.dir}/profiles.jsonl"
        self.log = f"{stage.dir}/collector.log"
        with open(self.log, "w") as log:
            self.proc = subprocess.Popen([RUN, collector_cache(), str(stage.port), self.out],
                                         stdout=log, stderr=log, env={**os.environ, **env})
        stage.procs.append(self.proc)
        wait_for(lambda: listens(stage.port))

    def taken(self):
        return open(self.out).read().count("\n") if os.path.exists(self.out) else 0

    def check(self, requests, events):
        wait_for(lambda: self.taken() >= requests)
        r = subprocess.run([decoder(), f"{HERE}/otlp_check.py", "--jsonl", self.out],
                           capture_output=True, text=True)
        print("# " + r.stdout.strip().replace("\n", "\n# "))
        equal(r.returncode, 0)
        assert f" events={events} " in r.stdout, "events"


def listens(port):
    with socket.socket() as sock:
        return sock.connect_ex(("127.0.0.1", port)) == 0


def collector_cache():
    cache = os.environ.get("COLLECTOR_CACHE", f"{BUILD}/collector")
    built = subprocess.run([RUN, cache], capture_output=True, text=True, timeout=1200)
    if built.returncode == 77:
        raise Skip(built.stdout.strip().removeprefix("SKIP "))
    equal(built.returncode, 0)
    return cache


@case
def real_collector_takes_it_and_writes_it_back():
    for compression in ("gzip", "zstd", "none"):
        with Stage(receiver=False, port=free_port(),
                   env={"OTEL_EXPORTER_OTLP_COMPRESSION": compression}) as s:
            c = Collector(s)
            outcomes(s, ["delivered"] * 2)
            s.stop()
            c.check(2, 40)


@case
def real_collector_gets_in_parts_what_is_too_large_for_it():
    with Stage(receiver=False, port=free_port()) as s:
        c = Collector(s, OTLP_MAX="20000")
        equal(s.hub.accept(), (0, {}))
        for _ in range(2):
            ident = s.hub.batch(make_batch(1000, 10, 100, 60, 20), 1000)
            n = 0
            while n < 1000:
                d = s.hub.done()
                equal((d.id, d.outcome), (ident, "delivered"))
                n += d.samples
            equal(n, 1000)
        assert "too large: sending it in parts" in s.log()
        s.stop()
        c.check(4, 2000)


# --- TLS --------------------------------------------------------------------------

def make_certificates(where):
    def openssl(*args):
        r = subprocess.run(["openssl", *args], cwd=where, capture_output=True, text=True)
        assert r.returncode == 0, r.stderr
    try:
        openssl("version")
    except FileNotFoundError:
        raise Skip("no openssl command")
    new = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
    openssl("req", "-x509", *new, "-subj", "/CN=test ca", "-days", "2", "-keyout", "ca.key",
            "-out", "ca.pem")
    for who in ("server", "client"):
        openssl("req", *new, "-subj", f"/CN={who}", "-keyout", f"{who}.key", "-out", f"{who}.csr")
        with open(f"{where}/{who}.ext", "w") as f:
            f.write("subjectAltName=DNS:localhost\n")
        openssl("x509", "-req", "-in", f"{who}.csr", "-CA", "ca.pem", "-CAkey", "ca.key",
                "-CAcreateserial", "-days", "2", "-extfile", f"{who}.ext", "-out", f"{who}.pem")
        os.chmod(f"{where}/{who}.key", 0o644)
    os.chmod(where, 0o755)


def with_tls(env_of, want, text=None):
    with tempfile.TemporaryDirectory(prefix="trifold-test-") as d:
        make_certificates(d)
        tls = (f"{d}/server.pem", f"{d}/server.key", f"{d}/ca.pem")
        env = {"OTEL_EXPORTER_OTLP_" + k: f"{d}/{v}" for k, v in env_of.items()}
        with Stage(scheme="https", tls=tls, env=env) as s:
            if want == "delivered":
                outcomes(s, ["delivered"] * 2)
            else:
                equal(s.hub.accept(), (0, {}))
                ident = s.hub.batch(BATCH, 20)
                wait_for(lambda: text in s.log())
                s.stop()
                equal(s.hub.done(), Done(ident, 20, want))
                equal(s.requests(), [])
                return
            s.stop()


@case
def tls_with_client_certificate_works_confined():
    with_tls({"CERTIFICATE": "ca.pem", "CLIENT_CERTIFICATE": "client.pem",
              "CLIENT_KEY": "client.key"}, "delivered")


@case
def tls_receiver_that_nobody_vouches_for_gets_nothing():
    with_tls({"CLIENT_CERTIFICATE": "client.pem", "CLIENT_KEY": "client.key"}, "gave_up",
             "certificate")


@case
def tls_without_the_client_certificate_gets_nothing():
    with_tls({"CERTIFICATE": "ca.pem"}, "gave_up", "cannot send")


def with_collector(env_of, asks, want):
    """want: delivered, or what is said when it is not: one of these."""
    with tempfile.TemporaryDirectory(prefix="trifold-test-") as d:
        make_certificates(d)
        env = {"OTEL_EXPORTER_OTLP_PROFILES_" + k: f"{d}/{v}" for k, v in env_of.items()}
        with Stage(receiver=False, port=free_port(), scheme="https", env=env) as s:
            c = Collector(s, OTLP_CERT=f"{d}/server.pem", OTLP_KEY=f"{d}/server.key",
                          OTLP_CLIENT_CA=f"{d}/ca.pem" if asks else "")
            if want == "delivered":
                outcomes(s, ["delivered"] * 2)
                s.stop()
                c.check(2, 40)
                return
            equal(s.hub.accept(), (0, {}))
            s.hub.batch(BATCH, 20)
            wait_for(lambda: "cannot send" in s.log())
            s.stop()
            assert any(w in s.log() for w in want), s.log()
            equal(s.hub.done().outcome, "gave_up")
            equal(c.taken(), 0)


@case
def real_collector_with_tls():
    with_collector({"CERTIFICATE": "ca.pem"}, False, "delivered")


@case
def real_collector_with_tls_and_client_certificates():
    with_collector({"CERTIFICATE": "ca.pem", "CLIENT_CERTIFICATE": "client.pem",
                    "CLIENT_KEY": "client.key"}, True, "delivered")


@case
def real_collector_that_asks_for_a_certificate_takes_nothing_without():
    # the collector may be gone before its alert was read
    with_collector({"CERTIFICATE": "ca.pem"}, True,
                   ("certificate", "getpeername() failed", "reset by peer"))


@case
def several_endpoints_with_certificates_of_their_own():
    with tempfile.TemporaryDirectory(prefix="trifold-test-") as d:
        make_certificates(d)
        tls = (f"{d}/server.pem", f"{d}/server.key", f"{d}/ca.pem")
        two = free_port()
        env = {"TRIFOLD_EXPORTER_2_ENDPOINT": f"https://localhost:{two}",
               "TRIFOLD_EXPORTER_2_CERTIFICATE": f"{d}/ca.pem",
               "TRIFOLD_EXPORTER_2_CLIENT_CERTIFICATE": f"{d}/client.pem",
               "TRIFOLD_EXPORTER_2_CLIENT_KEY": f"{d}/client.key"}
        with Stage(env=env) as s:
            other = s.another_receiver("two", port=two, tls=tls)
            outcomes(s, ["delivered"] * 2)
            wait_for(lambda: len(other.requests()) == 2)
            s.stop()



if __name__ == "__main__":
    main()
