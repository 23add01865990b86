#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sampling goes on while loaderd is away: what it puts into systemd's descriptor store
is taken over by the next one.  Hub and loaderd are started here; the store is as
sd_pid_notify_with_fds(3) and sd_listen_fds(3) describe it."""
import array
import contextlib
import json
import os
import signal
import socket
import subprocess
import threading
import time

import units
from accounts import Taken
from chance import clump, fewest, least
from live import (BIN, LEARNING, Suite, burns, cpu_time, ends_with_us, leftovers, nothing_more_than, say, scratch, timed,
                  wait_for)
from rows import be_nice, leads_a_session

suite = Suite()
FREQUENCY = 199
INTERVAL = "--interval=4"	# no exporter takes the batches: the 16 that the hub holds are of a minute
BUSY = f"busy-{os.getpid()}"
EVENTS = os.cpu_count() + 1	# and the map of what they run


class Store:
    """What systemd does with the notifications of a service."""
    def __init__(self, path):
        self.kept, self.path, self.lock = [], path, threading.Lock()
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(path)
        os.chmod(path, 0o777)
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            data, ancillary, _, _ = self.socket.recvmsg(4096, 4096)
            fds = array.array("i")
            for _, _, part in ancillary:
                fds.frombytes(part[:len(part) // 4 * 4])
            words = dict(line.split("=", 1) for line in data.decode().splitlines() if line)
            with self.lock:
                if words.get("FDSTORE") == "1":
                    assert words["FDPOLL"] == "0"
                    self.kept += [(words["FDNAME"], fd) for fd in fds]
                elif words.get("FDSTOREREMOVE") == "1":
                    for name, fd in self.kept:
                        if name == words["FDNAME"]:
                            os.close(fd)
                    self.kept = [k for k in self.kept if k[0] != words["FDNAME"]]
                else:
                    assert not fds

    def names(self):
        with self.lock:
            return [name for name, _ in self.kept]

    def clear(self):
        """systemctl stop"""
        with self.lock:
            for _, fd in self.kept:
                os.close(fd)
            self.kept = []


class Machine:
    """A hub, and a loaderd with a store."""
    def __init__(self, tmp):
        self.store = Store(f"{tmp}/notify")
        self.sockets = units.listening()
        self.hub = units.hub(self.sockets, INTERVAL)
        self.start()

    def start(self, frequency=FREQUENCY):
        with self.store.lock:
            kept = list(self.store.kept)

        def child():
            ends_with_us()
            high = [os.dup2(fd, 1000 + i) for i, (_, fd) in enumerate(kept)]
            for i, fd in enumerate(high):
                os.dup2(fd, 3 + i)
            os.closerange(3 + len(high), 1000 + len(high))
        self.loaderd = subprocess.Popen(
            ["/bin/sh", "-c", 'LISTEN_PID=$$ exec "$@"', "sh", *units.loaderd_words(frequency)],
            preexec_fn=child, close_fds=False, stdin=subprocess.DEVNULL,
            env={"LISTEN_FDS": str(len(kept)), "LISTEN_FDNAMES": ":".join(n for n, _ in kept),
                 "NOTIFY_SOCKET": self.store.path, "PATH": os.environ["PATH"]})

    def samples(self):
        wait_for(lambda: "event" in self.store.names() and units.account().get("loaderd_up"))

    def end(self, signal_=signal.SIGKILL):
        """From now on it is away."""
        self.loaderd.send_signal(signal_)
        self.loaderd.wait(30)

    def close(self):
        self.end(signal.SIGTERM)
        self.store.clear()
        self.hub.terminate()
        self.hub.wait(30)
        units.close(self.sockets)


@contextlib.contextmanager
def machine():
    with scratch() as tmp:
        m = Machine(tmp)
        try:
            m.samples()
            yield m, tmp
        finally:
            m.close()


@contextlib.contextmanager
def busy():
    """perl by another name: this test may run beside one that has a perl, too.  It has a CPU before what runs
    beside it."""
    with scratch() as tmp:
        os.symlink("/usr/bin/perl", f"{tmp}/{BUSY}")
        p = subprocess.Popen([f"{tmp}/{BUSY}", "-e", "1 while 1"], preexec_fn=leads_a_session)
        be_nice(p.pid, -19)
        try:
            yield p
        finally:
            p.kill()
            p.wait()


def goes_on():
    """Samples of now arrive."""
    at = units.account()["samples"]["taken"]
    wait_for(lambda: units.account()["samples"]["taken"] > at)


@contextlib.contextmanager
def recorded(tmp):
    """What a recording beside them has: [(s since 1970, frames)] of perl, when it is over.  It has begun
    when its command runs, and ends with it."""
    out, found = f"{tmp}/x.firefox.json", []
    p = subprocess.Popen([f"{BIN}/trifold", "record", "--all", "--output", out, "--",
                          "/bin/sh", "-c", "echo; read -r _"], stdin=subprocess.PIPE,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert p.stdout.readline() == "\n"
        yield found
        err = p.communicate("\n", timeout=120)[1]
    finally:
        p.terminate()
        p.wait(60)
    assert p.returncode == 0, err
    with open(out, encoding="utf-8") as f:
        begin = json.load(f)["meta"]["startTime"] / 1000
    found += sorted((begin + t / 1000, f) for t, f in timed(out) if f[0] == BUSY)


class Window:
    """A time, and the CPU time of a process in it."""
    def __init__(self, pid):
        self.pid, self.begin, self.cpu = pid, time.time(), cpu_time(pid)

    def end(self):
        self.over, self.cpu = time.time(), cpu_time(self.pid) - self.cpu

    def of(self, samples):
        return sum(self.begin <= t < self.over for t, _ in samples)

    def fewest(self, hz):
        """Samples of this CPU time, but for chance."""
        return clump(hz) * fewest(hz * self.cpu / clump(hz))


def agrees():
    a = units.account()
    say(", ".join(f"{k} {a['samples'][k]}" for k in ("taken", "lost", "under_way", "difference")))
    assert a["samples"]["difference"] == 0, a
    return a


def away(signal_, seconds, lost_at_most):
    with machine() as (m, tmp), busy() as perl:
        with recorded(tmp) as samples:
            burns(0.5, perl.pid)
            before, taken = units.account()["samples"], Taken()
            m.end(signal_)
            at, without = taken.now(), Window(perl.pid)
            time.sleep(seconds)         # so long it is away; not longer, for the ring has an end
            without.end()
            more = taken.now() - at
            say(f"{more} samples in {seconds} s without a loaderd, which had {without.cpu:.2f} s of CPU time")
            assert more >= without.fewest(FREQUENCY)
            taken.close()
            m.start()
            m.samples()
            wait_for(lambda: units.account()["samples"]["taken"] > before["taken"] + more)
            goes_on()
        # of perl's first ones, before it was known; from when it is, whatever becomes of loaderd, all count
        early = [f for t, f in samples if t < without.begin and set(LEARNING) & set(f)]
        whole = sum("main" in f or "_start" in f for _, f in samples)
        arrived, wanted = without.of(samples), without.fewest(FREQUENCY)
        say(f"{len(samples)} samples of perl, {whole} to its start, {len(early)} before it was known; {arrived} of then, at least {wanted:.0f} wanted")
        assert arrived >= wanted, "they did not arrive"
        assert len(early) < len(samples) / 2 and whole >= least(0.95, len(samples) - len(early))
        now = agrees()["samples"]
        assert now["lost"] - before["lost"] <= lost_at_most, (before, now)


@suite.test
def killed():
    """loaderd is killed: it goes on without one, and what was taken then arrives"""
    # what was out of the ring, and not with the hub: a quarter of a second's
    away(signal.SIGKILL, 2, FREQUENCY)


@suite.test
def restarted():
    """loaderd is restarted by its unit: likewise, and nothing is lost"""
    away(signal.SIGUSR1, 2, 0)


@suite.test
def stopped():
    """SIGTERM ends it: no sample is taken any more, none is lost, and nothing is kept"""
    with machine() as (m, _), busy() as perl:
        burns(0.3, perl.pid)
        taken = Taken()
        m.end(signal.SIGTERM)
        at = taken.now()
        burns(0.5, perl.pid)
        assert taken.now() == at
        assert "event" not in m.store.names(), m.store.names()
        wait_for(lambda: not units.account()["loaderd_up"])
        a = agrees()["samples"]
        assert a["taken"] == at and a["lost"] == 0, (at, a)
        taken.close()
        m.start()
        m.samples()
        wait_for(lambda: units.account()["samples"]["taken"] > at)
        agrees()


def slabs_of(m):
    names = set(m.store.names())
    return sum(n.startswith("slab") for n in names) - ("slabs" in names)


@suite.test
def again_and_again():
    """killed ten times, some times before it has taken over: the account agrees, the store does not grow"""
    with machine() as (m, _), busy():
        sizes = []
        for i in range(10):
            m.end()
            m.start()
            if i % 3 != 2:
                m.samples()
                goes_on()
                sizes.append(len(m.store.names()))
            else:
                time.sleep(0.3 + 0.1 * i)       # it is somewhere in its start
        m.samples()
        goes_on()
        wait_for(lambda: slabs_of(m) == units.account()["loaderd"]["slabs"])
        agrees()
        names = m.store.names()
        say(f"descriptors in the store: {sizes}, {slabs_of(m)} of them slabs")
        assert len(names) == len(set(names)) + EVENTS - 1, "one stands there twice"
        assert names.count("event") == EVENTS


@suite.test
def both():
    """hub and loaderd are killed: the account goes on"""
    with machine() as (m, _), busy():
        wait_for(lambda: units.account()["samples"]["taken"] > 2 * FREQUENCY)
        before = units.account()["samples"]["taken"]
        m.end()
        m.hub.kill()
        m.hub.wait()
        m.hub = units.hub(m.sockets, INTERVAL)
        m.start()
        m.samples()
        wait_for(lambda: units.account()["samples"]["taken"] > before)
        agrees()


@suite.test
def other_layouts():
    """what a loaderd with other layouts has left is let go, and its program ends"""
    with machine() as (m, _), busy() as perl:
        burns(0.3, perl.pid)
        taken = Taken()
        m.end()
        with m.store.lock:
            m.store.kept = [("1" if n.isdigit() else n, fd) for n, fd in m.store.kept]
            others = len(m.store.kept)
        m.start()
        m.samples()
        at = taken.now()
        burns(0.5, perl.pid)
        assert taken.now() == at
        taken.close()
        with m.store.lock:
            names = [n for n, _ in m.store.kept]
        say(f"{others} descriptors before, {len(names)} after")
        assert "1" not in names and names.count("event") == EVENTS
        agrees()


@suite.test
def frequency():
    """another frequency holds from the takeover on"""
    with machine() as (m, tmp), busy() as perl:
        m.end(signal.SIGUSR1)
        m.start(49)
        m.samples()
        goes_on()
        with recorded(tmp) as samples:
            then = Window(perl.pid)
            burns(3, perl.pid)
            then.end()
        n, wanted = then.of(samples), then.fewest(49)
        say(f"{n} samples of perl in {then.cpu:.1f} s of its CPU time, at least {wanted:.0f} wanted")
        assert wanted <= n < 100 * then.cpu
        agrees()


@suite.test
def nothing_left():
    """after the unit's end there is no program, no map and no process"""
    before = leftovers()
    with machine():
        pass
    nothing_more_than(before)


suite.run()
