#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_tls.sh: TLS, and a real collector.
usage: exporter_tls_cases.py BUILD [CASE...]"""
import os
import subprocess
import tempfile

from exporter_stage import (BATCH, BUILD, HERE, Skip, Stage, case, decoder, equal, free_port,
                            main, outcomes, wait_for)
from fake_hub import Done


@case
def real_collector_takes_it_and_writes_it_back():
    python = decoder()
    run = f"{HERE}/collector/run.sh"
    cache = os.environ.get("COLLECTOR_CACHE", f"{BUILD}/collector")
    built = subprocess.run([run, cache], capture_output=True, text=True, timeout=1200)
    if built.returncode == 77:
        raise Skip(built.stdout.strip().removeprefix("SKIP "))
    equal(built.returncode, 0)
    port = free_port()
    with Stage(receiver=False, port=port) as s:
        out = f"{s.dir}/profiles.jsonl"
        with open(f"{s.dir}/collector.log", "w") as log:
            s.procs.append(subprocess.Popen([run, cache, str(port), out], stdout=log, stderr=log))
        outcomes(s, ["delivered"] * 2)
        s.stop()
        wait_for(lambda: os.path.exists(out) and open(out).read().count("\n") == 2)
        r = subprocess.run([python, f"{HERE}/otlp_check.py", "--jsonl", "--chain",
                            "leaf,middle,root", out], capture_output=True, text=True)
        print("# " + r.stdout.strip().replace("\n", "\n# "))
        equal(r.returncode, 0)
        assert " events=40 " in r.stdout, "events"


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


if __name__ == "__main__":
    main()
