#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_endpoints.sh: several receivers, split requests.
usage: exporter_endpoints_cases.py BUILD [CASE...]"""
import signal
import time
from collections import Counter

from exporter_stage import (BATCH, Stage, case, check_events, equal, free_port, main, make_batch,
                            outcomes, wait_for)
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
        equal([r["url"] for r in s.hub.fresh_stats()["receivers"]],
              [f"http://{at}/v1development/profiles" for at in
               (f"localhost:{s.port}", f"127.0.0.1:{two}", f"127.0.0.1:{three}")])
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
    with Stage(env=more(2, two, TIMEOUT="60000")) as s:
        outcomes(s, ["delivered"] * 5)
        wait_for(lambda: f"cannot send to http://127.0.0.1:{two}" in s.log())
        # nor one that never answers
        s.another_receiver("two", "hang", two)
        start = time.time()
        for _ in range(20):
            ident = s.hub.batch(BATCH, 20)
            equal(s.hub.done(), Done(ident, 20, "delivered"))
        assert time.time() - start < 55	# its timeout is a minute
        equal(s.hub.fresh_stats()["queued"], 0)
        equal(s.hub.stats["retries"], 0)
        one, other = s.hub.stats["receivers"]
        equal([one["number"], one["delivered"], one["queued"], one["requests"], one["http_status"]],
              [1, 500, 0, 25, 200])
        equal([other["number"], other["delivered"], other["queued"], other["http_status"]],
              [2, 0, 500, 0])
        assert other["retries"] >= 1, other
        s.stop()
        assert "500 given up" in s.log()


@case
def hub_hears_of_the_first_endpoint_only():
    two = free_port()
    with Stage(script="400,200", env=more(2, two)) as s:
        other = s.another_receiver("two", "200,400,200", two)
        outcomes(s, ["rejected", "delivered", "delivered"])
        wait_for(lambda: len(other.requests()) == 3)
        equal([[r["number"], r["delivered"], r["rejected"], r["http_status"]]
               for r in s.hub.fresh_stats()["receivers"]], [[1, 40, 20, 200], [2, 40, 20, 200]])
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
        equal([r["number"] for r in s.hub.fresh_stats()["receivers"]], [4])
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
        equal(s.exporter.wait(30), 0)
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
        other = s.hub.fresh_stats()["receivers"][1]
        equal([other["queue_full"], other["queued"]], [860, 5140])
        s.stop()
        # one was being sent, 256 waited
        assert "0 samples delivered, 0 rejected, 860 pushed out of the queue, 5140 given up" \
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


# --- splitting ----------------------------------------------------------------

def told(hub, ident, samples):
    """What becomes of a batch in the end, part by part."""
    sums = Counter()
    while sum(sums.values()) < samples:
        d = hub.done()
        equal(d.id, ident)
        sums[d.outcome] += d.samples
    equal(sum(sums.values()), samples)
    return dict(sums)


@case
def large_batch_is_split_before_it_is_sent():
    with Stage() as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(make_batch(400, 5, 400, 60, 900), 400)
        equal(told(s.hub, ident, 400), {"delivered": 400})
        sizes = [r["len"] for r in s.requests()]
        assert len(sizes) > 1 and max(sizes) <= 8 << 20 and sum(sizes) > 8 << 20, sizes
        outcomes_after(s)
        s.stop()
        check_events(s, range(len(sizes)), 400)


def outcomes_after(s):
    ident = s.hub.batch(BATCH, 20)
    equal(s.hub.done(), Done(ident, 20, "delivered"))


@case
def request_that_is_too_large_is_halved_until_it_fits():
    with Stage(script="limit=60000") as s:
        equal(s.hub.accept(), (0, {}))
        data = make_batch(1000, 10, 100, 60, 20)
        ident = s.hub.batch(data, 1000)
        equal(told(s.hub, ident, 1000), {"delivered": 1000})
        got = s.requests()
        fit = [r["n"] for r in got if r["len"] <= 60000]
        over = len(got) - len(fit)
        assert over > 1 and len(fit) > 2, (over, len(fit))
        check_events(s, fit, 1000)
        assert "too large: sending it in parts" in s.log()
        # the next one is not tried as a whole again
        ident = s.hub.batch(data, 1000)
        equal(told(s.hub, ident, 1000), {"delivered": 1000})
        again = s.requests()[len(got):]
        equal([r["len"] for r in again if r["len"] > 60000], [])
        check_events(s, [r["n"] for r in again], 1000)
        st = s.hub.fresh_stats()
        equal([st["queued"], st["queued_bytes"], st["retries"]], [0, 0, 0])
        s.stop()


@case
def uncompressed_request_is_halved_too():
    with Stage(script="limit=4000", env={"OTEL_EXPORTER_OTLP_COMPRESSION": "none"}) as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(make_batch(100, 5, 10, 10, 20), 100)
        equal(told(s.hub, ident, 100), {"delivered": 100})
        check_events(s, [r["n"] for r in s.requests() if r["len"] <= 4000], 100)
        s.stop()


@case
def single_samples_that_are_too_large_are_refused():
    with Stage(script="limit=10") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(told(s.hub, ident, 20), {"rejected": 20})
        assert 8 < len(s.requests()) < 20, len(s.requests())
        ident = s.hub.batch(make_batch(5000, 50, 500, 60, 20), 5000)
        equal(told(s.hub, ident, 5000), {"rejected": 5000})
        assert len(s.requests()) < 40, len(s.requests())
        s.stop()


@case
def part_that_fails_is_counted_alone():
    # halves of 10; of the second half, 5 and 5
    with Stage(script="413,200,413,400,200") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(told(s.hub, ident, 20), {"delivered": 15, "rejected": 5})
        s.stop()


@case
def parts_are_tried_again_and_given_up_like_others():
    with Stage(script="413,503,200,503;after=3600") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(s.hub.done(60), Done(ident, 10, "delivered"))
        wait_for(lambda: len(s.requests()) == 4)
        s.stop()
        equal(s.hub.done(), Done(ident, 10, "gave_up"))
    with Stage(script="413,hang") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        wait_for(lambda: len(s.requests()) == 2)
        equal(s.hub.fresh_stats()["queued"], 20)
        s.stop()
        equal(told(s.hub, ident, 20), {"gave_up": 20})


@case
def batch_that_was_begun_is_finished_before_a_successor_comes():
    with Stage(script="413,slow=0.3,slow=0.5,200") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        s.hub.batch(BATCH, 20)
        equal(s.hub.done(), Done(ident, 10, "delivered"))
        s.exporter.send_signal(signal.SIGHUP)
        equal(s.exporter.wait(30), 0)
        equal(s.hub.done(), Done(ident, 10, "delivered"))
        equal(s.hub.done(), None)
        equal(len(s.requests()), 3)


@case
def one_endpoint_splits_and_the_other_need_not():
    two = free_port()
    with Stage(script="limit=1500", env=more(2, two)) as s:
        other = s.another_receiver("two", port=two)
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(told(s.hub, ident, 20), {"delivered": 20})
        assert len(s.requests()) > 2
        wait_for(lambda: other.requests())
        s.stop()
        equal(len(other.requests()), 1)
        check_events(other, [0], 20)


if __name__ == "__main__":
    main()
