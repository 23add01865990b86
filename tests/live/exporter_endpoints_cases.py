#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_endpoints.sh: several receivers, split requests.
usage: exporter_endpoints_cases.py BUILD [CASE...]"""
import signal
import time

from exporter_stage import BATCH, Stage, case, equal, free_port, main, outcomes, wait_for
from fake_hub import Done


# --- several endpoints --------------------------------------------------------

def more(n, port, **rest):
    env = {f"TRIFOLD_EXPORTER_{n}_ENDPOINT": f"http://127.0.0.1:{port}"}
    env.update({f"TRIFOLD_EXPORTER_{n}_{k}": v for k, v in rest.items()})
    return env


@case
def every_endpoint_gets_the_same_request():
    two, three = free_port(), free_port()
    env = {**more(2, two, HEADERS="api-key=second"), **more(3, three, COMPRESSION="none"),
           "OTEL_EXPORTER_OTLP_HEADERS": "api-key=first"}
    with Stage(env=env) as s:
        a = s.another_receiver("two", port=two)
        b = s.another_receiver("three", port=three)
        outcomes(s, ["delivered"] * 3)
        s.stop()
        got = [x.requests() for x in (s.receiver, a, b)]
        equal([len(x) for x in got], [3, 3, 3])
        for i in range(3):
            bodies = [open(f"{x.dir}/{i:03}.body", "rb").read() for x in (s.receiver, a, b)]
            assert bodies[0] and bodies[0] == bodies[1] == bodies[2], "bodies differ"
        headers = [dict(x[0]["headers"]) for x in got]
        equal([h.get("api-key") for h in headers], ["first", "second", None])
        equal([h.get("Content-Encoding") for h in headers], ["gzip", "gzip", None])
        equal(got[1][0]["path"], "/v1development/profiles")
        assert f"127.0.0.1:{two}/v1development/profiles: 60 samples delivered" in s.log()


@case
def endpoint_that_is_away_delays_no_other():
    two = free_port()
    with Stage(env=more(2, two)) as s:
        outcomes(s, ["delivered"] * 5)
        wait_for(lambda: f"cannot send to http://127.0.0.1:{two}" in s.log())
        # nor one that never answers
        s.another_receiver("two", "hang", two)
        start = time.time()
        for _ in range(20):
            ident = s.hub.batch(BATCH, 20)
            equal(s.hub.done(), Done(ident, 20, "delivered"))
        assert time.time() - start < 3
        equal(s.hub.fresh_stats()["queued"], 0)
        equal(s.hub.stats["retries"], 0)
        s.stop()
        assert "gave up on 500" in s.log()


@case
def hub_hears_of_the_first_endpoint_only():
    two = free_port()
    with Stage(script="400,200", env=more(2, two)) as s:
        other = s.another_receiver("two", "200,400,200", two)
        outcomes(s, ["rejected", "delivered", "delivered"])
        wait_for(lambda: len(other.requests()) == 3)
        # also while it is the one that is away
        s.receiver.proc.kill()
        s.receiver.proc.wait()
        ident = s.hub.batch(BATCH, 20)
        wait_for(lambda: len(other.requests()) == 4)
        s.script = "200"
        s.start_receiver(s.port)
        equal(s.hub.done(), Done(ident, 20, "delivered"))
        s.stop()
        assert "60 samples delivered, 20 rejected" in s.log()
        assert f"http://127.0.0.1:{two}/v1development/profiles refused 20 samples" in s.log()


@case
def another_endpoint_alone_is_the_first():
    two = free_port()
    env = more(4, two, HEADERS="authorization=Bearer%20key")
    # of the first there is all but the endpoint
    env |= {"OTEL_EXPORTER_OTLP_HEADERS": "api-key=secret"}
    with Stage(first=False, receiver=False, env=env) as s:
        r = s.another_receiver("two", "400,200", two)
        outcomes(s, ["rejected", "delivered"])
        s.stop()
        headers = dict(r.requests()[0]["headers"])
        equal(headers["authorization"], "Bearer key")
        assert "api-key" not in headers
        assert "4318" not in s.log()
        equal(s.log().count("sending to"), 1)


@case
def successor_gets_what_the_first_endpoint_did_not_answer():
    two = free_port()
    with Stage(script="503;after=60", env=more(2, two)) as s:
        other = s.another_receiver("two", "slow=0.5", two)
        equal(s.hub.accept(), (0, {}))
        for _ in range(3):
            s.hub.batch(BATCH, 20)
        wait_for(lambda: s.requests() and other.requests())
        s.exporter.send_signal(signal.SIGHUP)
        equal(s.exporter.wait(5), 0)
        # the others have all of it, the hub keeps it for the first
        equal(len(other.requests()), 3)
        equal(s.hub.done(), None)
        assert "60 samples delivered, 0 rejected" in s.log()


@case
def full_queue_of_another_endpoint_is_said():
    two = free_port()
    with Stage(env=more(2, two, TIMEOUT="60000")) as s:
        other = s.another_receiver("two", "hang", two)
        equal(s.hub.accept(), (0, {}))
        for _ in range(300):
            ident = s.hub.batch(BATCH, 20)
            equal(s.hub.done(), Done(ident, 20, "delivered"))
        assert f"queue for http://127.0.0.1:{two}/v1development/profiles is full" in s.log()
        equal(len(other.requests()), 1)
        s.stop()
        # one was being sent, 256 waited
        assert "0 samples delivered, 0 rejected, 860 pushed out of the queue, gave up on 5140" \
            in s.log()


@case
def proxy_is_not_asked_for_this_host():
    two = free_port()
    env = {**more(2, two), "http_proxy": "http://127.0.0.1:1", "no_proxy": "other.example"}
    with Stage(first=False, receiver=False, env=env) as s:
        r = s.another_receiver("two", port=two)
        outcomes(s, ["delivered"])
        equal(r.requests()[0]["path"], "/v1development/profiles")
        s.stop()


if __name__ == "__main__":
    main()
