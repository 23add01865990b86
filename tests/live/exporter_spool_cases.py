#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The cases of test_exporter_spool.sh: what exporterd keeps on disk.
usage: exporter_spool_cases.py BUILD [CASE...]"""
import os
import signal
import subprocess
import tempfile

from exporter_stage import (BATCH, NOBODY, ROOT, Stage, case, directory, equal, free_port, main,
                            make_batch, requests_in, wait_for)
from fake_hub import Done

NAME = "{:016x}-{:08x}-{:08x}.batch"


def stage(path, *more, **how):
    return Stage(options=["--spool", path, *more], **how)


def files(path):
    return sorted(os.listdir(path))


def kept(path):
    """What is kept whatever happens: a file is written under another name first."""
    return [n for n in files(path) if n.endswith(".batch")]


def owned(path):
    if ROOT:
        os.chown(path, NOBODY, NOBODY, follow_symlinks=False)


def away(path, *more, **how):
    """With a receiver that does not run yet, at a port of its own."""
    return stage(path, *more, receiver=False, port=free_port(), host="127.0.0.1", **how)


# --- the receiver is away ---------------------------------------------------------

@case
def all_batches_arrive_once_and_in_order_also_after_two_kills():
    sizes = [20 + 10 * i for i in range(45)]
    batches = [make_batch(events=n) for n in sizes]
    with directory("spool") as d, away(d) as s:
        equal(s.hub.accept(), (0, {}))
        for i in range(45):
            if i in (15, 30):
                # all that was taken is on the disk
                wait_for(lambda: len(kept(d)) == i)
                s.kill()
                s.run()
                equal(s.hub.accept(), (sum(sizes[:i]), {}))
            equal(s.hub.batch(batches[i], sizes[i]), i + 1)
        wait_for(lambda: len(kept(d)) == 45)
        st = s.hub.fresh_stats()
        equal([st["queued"], st["spool_samples"], st["spool_batches"]],
              [sum(sizes), sum(sizes), 45])
        equal(st["spool_bytes"], sum(len(b) + 40 for b in batches))
        # memory holds one of them
        assert st["queued_bytes"] < 20000, st["queued_bytes"]
        s.start_receiver(s.port)
        for i, n in enumerate(sizes):
            equal(s.hub.done(90), Done(i + 1, n, "delivered"))
        lengths = [r["len"] for r in s.requests()]
        equal(len(lengths), 45)
        equal(lengths, sorted(set(lengths)))
        wait_for(lambda: files(d) == [])
        st = s.hub.fresh_stats()
        equal([st[k] for k in ("queued", "spool_samples", "spool_bytes", "spool_full",
                               "spool_damaged", "spool_errors")], [0] * 6)
        s.stop()


@case
def what_the_hub_sends_again_is_sent_once():
    with directory("spool") as d, away(d) as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(3)]
        wait_for(lambda: len(kept(d)) == 3)
        s.kill()
        s.run()
        equal(s.hub.accept(), (60, {}))
        s.hub.batch(BATCH, 20, ident=ids[1])
        # one too many in the books of the hub
        equal(s.hub.done(), Done(ids[1], 20, "gave_up"))
        s.start_receiver(s.port)
        equal([s.hub.done(60) for _ in ids], [Done(i, 20, "delivered") for i in ids])
        equal(len(s.requests()), 3)
        s.stop()


@case
def sigterm_leaves_the_rest_to_the_next_start():
    with directory("spool") as d, away(d) as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(4)]
        wait_for(lambda: len(kept(d)) == 4)
        assert s.stop() < 8
        equal(s.hub.done(), None)
        equal(len(files(d)), 4)
        assert "4 batches stay for the next start" in s.log()
        s.hub.drop()
        s.start_receiver(s.port)
        s.run()
        equal(s.hub.accept()[0] > 0, True)
        equal([s.hub.done(60) for _ in ids], [Done(i, 20, "delivered") for i in ids])
        equal([len(s.requests()), files(d)], [4, []])
        s.stop()


@case
def sighup_leaves_the_rest_to_the_successor():
    with directory("spool") as d, away(d) as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(4)]
        wait_for(lambda: len(kept(d)) == 4)
        s.exporter.send_signal(signal.SIGHUP)
        equal(s.exporter.wait(60), 0)
        s.hub.drop()
        s.run()
        equal(s.hub.accept(), (80, {}))
        s.start_receiver(s.port)
        equal([s.hub.done(60) for _ in ids], [Done(i, 20, "delivered") for i in ids])
        s.stop()


@case
def a_part_that_was_sent_is_not_sent_again():
    # the receiver takes no more than half of it at once, then nothing
    with directory("spool") as d, stage(d, script="413,200,hang") as s:
        equal(s.hub.accept(), (0, {}))
        ident = s.hub.batch(BATCH, 20)
        equal(s.hub.done(), Done(ident, 10, "delivered"))
        equal(files(d), [NAME.format(ident, 10, 10)])
        wait_for(lambda: len(s.requests()) == 3)
        s.kill()
        s.receiver.proc.kill()
        s.receiver.proc.wait()
        s.script = "200"
        os.unlink(f"{s.dir}/requests.jsonl")
        s.start_receiver(s.port)
        s.run()
        s.hub.accept()
        equal(s.hub.done(30), Done(ident, 10, "delivered"))
        equal([len(s.requests()), files(d)], [1, []])
        s.stop()


@case
def without_an_outage_nothing_stays():
    with directory("spool") as d, stage(d) as s:
        equal(s.hub.accept(), (0, {}))
        for _ in range(5):
            ident = s.hub.batch(BATCH, 20)
            equal(s.hub.done(), Done(ident, 20, "delivered"))
            equal(files(d), [])
        equal(s.hub.fresh_stats()["spool_written"], 5)
        s.stop()


@case
def other_receivers_have_their_own_memory():
    port = free_port()
    env = {"TRIFOLD_EXPORTER_2_ENDPOINT": f"http://127.0.0.1:{port}"}
    with directory("spool") as d, away(d, env=env, other=("second", "200", port)) as s:
        s.hub.accept()
        for _ in range(3):
            s.hub.batch(BATCH, 20)
        wait_for(lambda: len(requests_in(f"{s.dir}/second")) == 3 and len(kept(d)) == 3)
        s.stop()


# --- limits ---------------------------------------------------------------------------

@case
def beyond_its_size_the_oldest_go_and_are_counted():
    big = make_batch(events=20000, processes=10, stacks=200)
    fit = (1 << 20) // (len(big) + 40)
    assert fit >= 2, len(big)
    with directory("spool") as d, away(d, "--spool-size", "1") as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(big, 20000) for _ in range(fit + 2)]
        # the first is being sent
        equal([s.hub.done() for _ in range(2)],
              [Done(i, 20000, "queue_full") for i in ids[1:3]])
        wait_for(lambda: len(kept(d)) == fit)
        st = s.hub.fresh_stats()
        equal([st["spool_full"], st["queued"]], [40000, fit * 20000])
        assert "the spool is full" in s.log()
        s.start_receiver(s.port)
        equal([s.hub.done(60) for _ in range(fit)],
              [Done(i, 20000, "delivered") for i in ids[:1] + ids[3:]])
        s.stop()


def fallback(s, path, text):
    """What the disk does not take waits in memory, and arrives."""
    equal(s.hub.accept(), (0, {}))
    ids = [s.hub.batch(BATCH, 20) for _ in range(40)]
    wait_for(lambda: text in s.log())
    st = s.hub.fresh_stats()
    equal(st["queued"], 800)
    kept = len(files(path))
    equal(st["spool_batches"], kept)
    assert kept < 40 and st["spool_errors"] >= 40 - kept, (kept, st["spool_errors"])
    equal(s.log().count("batches wait in memory only"), 1)
    s.start_receiver(s.port)
    equal(sorted(s.hub.done(60) for _ in ids), [Done(i, 20, "delivered") for i in ids])
    equal(len(s.requests()), 40)
    return kept


@case
def a_full_disk_is_no_end():
    with directory("spool", "size=64k") as d, away(d) as s:
        assert fallback(s, d, "No space left on device") > 0
        # there is room again
        for _ in range(2):
            ident = s.hub.batch(BATCH, 20)
            equal(s.hub.done(), Done(ident, 20, "delivered"))
        equal(s.log().count("takes batches again"), 1)
        s.stop()


@case
def a_read_only_disk_is_no_end():
    with directory("spool", "size=64k") as d:
        old = f"{d}/{NAME.format(7, 0, 20)}"
        with open(old, "wb") as f:
            f.write(b"x" * 1000)
        owned(old)
        subprocess.run(["mount", "-o", "remount,ro", d], check=True)
        with away(d) as s:
            equal(s.hub.accept(), (0, {}))
            wait_for(lambda: "Read-only file system" in s.log())
            ids = [s.hub.batch(BATCH, 20) for _ in range(3)]
            s.start_receiver(s.port)
            equal([s.hub.done(60) for _ in ids], [Done(i, 20, "delivered") for i in ids])
            # what could not be removed afterwards was not touched
            equal(files(d), [os.path.basename(old)])
            s.stop()


# --- a hostile directory ------------------------------------------------------------------

@case
def what_is_not_ours_is_counted_and_left_alone():
    with directory("spool") as d, tempfile.TemporaryDirectory() as other:
        os.chmod(other, 0o755)
        with open(f"{other}/secret", "w") as f:
            f.write("secret")
        os.chmod(f"{other}/secret", 0o644)
        os.symlink(f"{other}/secret", f"{d}/{NAME.format(1, 0, 1)}")
        os.symlink("/", f"{d}/{NAME.format(2, 0, 1)}")
        os.mkfifo(f"{d}/{NAME.format(3, 0, 1)}")
        os.mkdir(f"{d}/{NAME.format(4, 0, 1)}")
        with open(f"{d}/{NAME.format(5, 0, 1)}", "wb") as f:
            f.truncate(1 << 40)
        with open(f"{d}/{NAME.format(6, 0, 1 << 31)}", "wb") as f:
            f.write(b"x" * 100)
        for name in (NAME.format(8, 0, 0), "x", "." + NAME.format(9, 0, 1), "-" * 255,
                     NAME.format(0xabc, 0, 1).upper()):
            with open(f"{d}/{name}", "wb") as f:
                f.write(b"x")
        os.symlink(f"{other}/new", f"{d}/new.tmp")
        for name in files(d):
            owned(f"{d}/{name}")
        want = [n for n in files(d) if n != "new.tmp"]
        if ROOT:        # of another user
            with open(f"{d}/{NAME.format(10, 0, 1)}", "wb") as f:
                f.write(b"x" * 1000)
            want.append(NAME.format(10, 0, 1))
        with stage(d) as s:
            equal(s.hub.accept(), (0, {}))
            ident = s.hub.batch(BATCH, 20)
            equal(s.hub.done(), Done(ident, 20, "delivered"))
            equal(files(d), sorted(want))
            equal(os.listdir(other), ["secret"])
            equal(s.hub.fresh_stats()["spool_refused"], len(want))
            s.stop()


@case
def damaged_files_are_given_up_by_name():
    with directory("spool") as d, away(d) as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(6)]
        wait_for(lambda: len(kept(d)) == 6)
        s.kill()
        names = files(d)
        with open(f"{d}/{names[1]}", "r+b") as f:
            f.seek(500)
            f.write(b"\xff")
        os.truncate(f"{d}/{names[2]}", 400)
        with open(f"{d}/{names[3]}", "ab") as f:
            f.write(b"\0" * 8)
        with open(f"{d}/new.tmp", "wb") as f:       # half-written
            f.write(b"x")
        owned(f"{d}/new.tmp")
        os.rename(f"{d}/{names[4]}", f"{d}/{NAME.format(99, 0, 20)}")   # says another id
        s.start_receiver(s.port)
        s.run()
        s.hub.accept()
        want = [Done(ids[0], 20, "delivered"), Done(ids[1], 20, "gave_up"),
                Done(ids[2], 20, "gave_up"), Done(ids[3], 20, "gave_up"),
                Done(ids[5], 20, "delivered"), Done(99, 20, "gave_up")]
        equal(sorted(s.hub.done(30) for _ in want), want)
        equal(files(d), [])
        equal(s.hub.fresh_stats()["spool_damaged"], 80)
        assert "the file is damaged" in s.log()
        s.stop()


@case
def files_that_vanish_are_given_up():
    with directory("spool") as d, away(d) as s:
        equal(s.hub.accept(), (0, {}))
        ids = [s.hub.batch(BATCH, 20) for _ in range(3)]
        wait_for(lambda: len(kept(d)) == 3)
        os.unlink(f"{d}/{files(d)[1]}")
        s.start_receiver(s.port)
        equal([s.hub.done(60) for _ in ids],
              [Done(ids[0], 20, "delivered"), Done(ids[1], 20, "gave_up"),
               Done(ids[2], 20, "delivered")])
        s.stop()


@case
def a_directory_that_is_not_its_own_stops_the_start():
    def refused(path, text, **how):
        with stage(path, receiver=False, **how) as s:
            equal(s.exporter.wait(60), 1)
            assert text in s.log(), s.log()

    with directory("spool") as d:
        os.chmod(d, 0o750)
        refused(d, "others may use it: chmod 700")
        os.chmod(d, 0o700)
        refused(f"{d}/none", "No such file or directory")
        refused(f"{os.path.dirname(d)}", "belongs to user" if ROOT else "others may use it")
        with away(d) as first:
            first.hub.accept()
            refused(d, "another exporterd uses it")
            first.stop()


if __name__ == "__main__":
    main()
