#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_hub.sh: the queue, the hub and the recorder.
usage: exporter_hub_cases.py BUILD [CASE...]"""
import signal
import struct
import time

import mutants
from accounts import packed
from exporter_stage import (BATCH, Stage, case, equal, main, outcomes, wait_for)
from fake_hub import REC_VERSION, Done, debuginfo_wanted


# --- the queue, and the end -------------------------------------------------------

@case
def full_queue_drops_the_oldest_and_counts_them():
    env = {"OTEL_EXPORTER_OTLP_TIMEOUT": "60000"}
    with Stage(script="hang", env=env) as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20)]
        wait_for(lambda: s.requests())
        ids += [s.hub.batch(BATCH, 20) for _ in range(300)]
        # the first is being sent; of the 300 after it, 256 fit
        for i in ids[1:45]:
            equal(s.hub.done(), Done(i, 20, "queue_full"))
        st = s.hub.fresh_stats()
        equal(st["queued"], 257 * 20)
        assert s.stop() < 30	# not the timeout of 60
        left = [s.hub.done() for _ in range(257)]
        equal({d.outcome for d in left}, {"gave_up"})
        equal(sorted(d.id for d in left), [ids[0]] + ids[45:])
        equal(s.hub.done(), None)


@case
def sigterm_sends_what_can_be_sent():
    with Stage(script="slow=1,slow=0.5,200") as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(4)]
        wait_for(lambda: s.requests())
        s.stop()
        for i in ids:
            equal(s.hub.done(), Done(i, 20, "delivered"))
        equal(s.hub.done(), None)


@case
def sigterm_with_no_receiver_reports_the_rest():
    with Stage(receiver=False) as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(4)]
        wait_for(lambda: "cannot send" in s.log())
        assert s.stop() < 30
        equal(sorted(s.hub.done() for _ in ids), [Done(i, 20, "gave_up") for i in ids])


@case
def sigterm_without_a_hub_ends_at_once():
    with Stage() as s:
        s.hub.go()
        wait_for(lambda: "waiting for it" in s.log())
        assert s.stop() < 4.5	# without the 5 s for the rest


# --- the hub ------------------------------------------------------------------------

@case
def hub_that_went_away_is_told_later():
    with Stage(script="slow=1,200") as s:
        equal(s.hub.accept(), (0, {}))
        for _ in range(2):
            s.hub.batch(BATCH, 20)
        wait_for(lambda: s.requests())
        s.hub.drop()
        # still being sent
        equal(s.hub.accept(), (40, {}))
        s.hub.go()
        wait_for(lambda: len(s.requests()) == 2)
        s.settle()
        s.hub.come()
        equal(s.hub.accept(), (0, {"delivered": 40}))
        s.hub.drop()
        # told once, not twice
        equal(s.hub.accept(), (0, {}))
        s.stop()


@case
def hub_that_comes_back_gets_answers_to_old_ids():
    with Stage(script="slow=2,200") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        wait_for(lambda: s.requests())
        s.hub.drop()
        equal(s.hub.accept(), (20, {}))
        equal(s.hub.done(), Done(ident, 20, "delivered"))
        s.stop()


@case
def hub_of_another_user_is_not_believed():
    with Stage(hub_uid=12345) as s:
        for _ in range(3):
            s.hub.accept()
            try:
                s.hub.batch(BATCH, 20)
                assert s.hub.done() is None
            except (BrokenPipeError, ConnectionResetError):
                pass
            s.hub.drop()
        equal(s.requests(), [])
        assert "wrong sender" in s.log()
        s.stop()


@case
def invalid_batches_end_the_connection_and_nothing_else():
    flipped = bytearray(BATCH)
    flipped[0] ^= 1
    bad = [
        dict(data=bytes(flipped), samples=20),
        dict(data=BATCH[:-8], samples=20),
        dict(data=BATCH, samples=21),
        dict(data=BATCH, samples=20, size=len(BATCH) - 8),
        dict(data=BATCH, samples=20, seals=0),
        dict(data=b"short", samples=20),
    ]
    with Stage() as s:
        for i, how in enumerate(bad):
            equal(s.hub.accept(), (0, {}))
            ident = s.hub.batch(**how)
            equal(s.hub.done(), Done(ident, how["samples"], "invalid"))
            equal(s.hub.done(), None)
            s.hub.drop()
        outcomes(s, ["delivered"])
        equal(s.hub.fresh_stats()["offences"], len(bad))
        equal(len(s.requests()), 1)
        s.stop()


def cut_off(s, mutant, greet=True):
    """exporterd closes the connection, and comes again."""
    s.hub.accept(greet=greet)
    mutants.send(s.hub.conn, mutant)
    try:
        while s.hub.done() is not None:     # "invalid", of memory
            pass
    except ConnectionResetError:            # it had not read all
        pass
    except AssertionError as e:
        raise AssertionError(f"{mutant.name}: {e}") from e
    s.hub.drop()


@case
def each_message_that_is_wrong_ends_the_connection():
    batch = struct.pack("<QQ", len(BATCH), 20)
    hello = struct.pack("<I", REC_VERSION)
    wanted = debuginfo_wanted(bytes(8))
    ready = [*mutants.wrong("BATCH", batch, BATCH), *mutants.wrong("STATUS", packed({})),
             *mutants.wrong("DEBUGINFO_WANTED", wanted),
             *mutants.strangers(["BATCH", "STATUS", "DEBUGINFO_WANTED"]), mutants.right("HELLO_HUB", hello)]
    new = [*mutants.wrong("HELLO_HUB", hello), *mutants.strangers(["HELLO_HUB"]),
           mutants.right("BATCH", batch, BATCH), mutants.right("STATUS", packed({}))]
    with Stage(env={"OTEL_METRICS_EXPORTER": "otlp",
                    "TRIFOLD_DEBUGINFOD_URLS": "http://127.0.0.1:1"}) as s:
        for mutant in ready:
            cut_off(s, mutant)
        for mutant in new:
            cut_off(s, mutant, greet=False)
            s.hub.accept()      # so that it comes again soon
            s.hub.drop()
        outcomes(s, ["delivered"])
        equal(s.hub.fresh_stats()["offences"], len(ready) + len(new))
        print(f"# {len(ready) + len(new)} messages refused")
        equal(len([r for r in s.requests() if r["path"].endswith("/profiles")]), 1)
        s.stop()


# --- recorder -----------------------------------------------------------------------

@case
def without_network_there_is_no_receiver():
    with Stage(options=["--no-network"], receiver=False) as s:
        outcomes(s, ["no_receiver"] * 3)
        s.stop()


@case
def recorder_decides_without_network():
    with Stage(options=["--no-network"], receiver=False, recorder=True) as s:
        equal(s.hub.accept(), (0, {}))
        for want in ("delivered", "gave_up"):
            ident = s.hub.batch(BATCH, 20)
            rec, size, samples, content = s.recorder.batch()
            equal((size, samples, content), (len(BATCH), 20, BATCH))
            s.recorder.done(rec, samples, want)
            equal(s.hub.done(), Done(ident, 20, want))
        # more than its window, answered late
        ids = [s.hub.batch(BATCH, 20) for _ in range(40)]
        for i in ids:
            rec, _, samples, _ = s.recorder.batch()
            s.recorder.done(rec, samples)
            equal(s.hub.done(), Done(i, 20, "delivered"))
        s.stop()


@case
def recorder_that_leaves_is_no_receiver():
    with Stage(options=["--no-network"], receiver=False, recorder=True) as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        s.recorder.batch()
        s.recorder.close()
        equal(s.hub.done(), Done(ident, 20, "no_receiver"))
        ident = s.hub.batch(BATCH, 20)
        equal(s.hub.done(), Done(ident, 20, "no_receiver"))
        s.stop()


@case
def recorder_that_lies_is_cut_off():
    with Stage(options=["--no-network"], receiver=False, recorder=True) as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        rec, _, samples, _ = s.recorder.batch()
        s.recorder.done(rec, samples + 1)
        equal(s.hub.done(), Done(ident, 20, "no_receiver"))
        equal(s.hub.fresh_stats()["offences"], 1)
        s.stop()


@case
def each_message_of_a_recorder_that_is_wrong_cuts_it_off():
    done = struct.pack("<QII", 20, 0, 0)
    for mutant in [*mutants.wrong("BATCH_DONE", done), *mutants.strangers(["BATCH_DONE"])]:
        with Stage(options=["--no-network"], receiver=False, recorder=True) as s:
            s.hub.accept()
            ident = s.hub.batch(BATCH, 20)
            s.recorder.batch()
            mutants.send(s.recorder.sock, mutant)
            try:
                equal(s.hub.done(), Done(ident, 20, "no_receiver"))
            except AssertionError as e:
                raise AssertionError(f"{mutant.name}: {e}") from e
            s.stop()


@case
def recorder_beside_the_network_only_listens():
    with Stage(recorder=True) as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        rec, _, samples, content = s.recorder.batch()
        equal(content, BATCH)
        equal(s.hub.done(), Done(ident, 20, "delivered"))
        s.recorder.done(rec, samples, "rejected")
        s.stop()


@case
def sigterm_waits_for_the_recorder():
    with Stage(options=["--no-network"], receiver=False, recorder=True) as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        rec, _, samples, _ = s.recorder.batch()
        s.exporter.send_signal(signal.SIGTERM)
        time.sleep(0.5)
        assert s.exporter.poll() is None
        s.recorder.done(rec, samples)
        equal(s.hub.done(), Done(ident, 20, "delivered"))
        equal(s.exporter.wait(60), 0)


if __name__ == "__main__":
    main()
