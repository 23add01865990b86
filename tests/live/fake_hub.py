# SPDX-License-Identifier: Apache-2.0
"""fake_hub - symbolizerd as exporterd sees it, and `trifold record` too

Speaks ipc/message.h.  Every wait has an end.
"""
import fcntl
import os
import re
import select
import socket
import struct
import time
from collections import namedtuple

from accounts import MSG_VERSION, exporter_stats

HELLO_HUB, HELLO_EXPORTER, BATCH, BATCH_DONE, EXPORTER_STATS, STATUS = 2, 3, 18, 19, 20, 21
OUTCOMES = ("delivered", "no_receiver", "queue_full", "rejected", "gave_up", "invalid")
DEBUGINFO_WANTED, DEBUGINFO, DEBUGINFO_NONE = 39, 40, 41
HEADER = struct.Struct("<HHIQ")


def defined(header, name):
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(root, header), encoding="utf-8") as f:
        return int(re.search(rf"^#define {name}\s+(\d+)", f.read(), re.M).group(1))


REC_VERSION = defined("bpf/record.h", "REC_VERSION")
BATCH_VERSION = defined("ipc/batch.h", "BATCH_VERSION")
Done = namedtuple("Done", "id samples outcome")
Hello = namedtuple("Hello", "queued unreported")
PATIENCE = 20
SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW


def sealed(data, seals=fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW):
    fd = os.memfd_create("batch", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    os.write(fd, data)
    fcntl.fcntl(fd, fcntl.F_ADD_SEALS, seals)
    return fd


def debuginfo_wanted(build_id, useless=0, size=None):
    """struct msg_debuginfo_wanted, of owner 0; size: how long the build ID is said to be."""
    return struct.pack("<II32sI", len(build_id) if size is None else size, useless, build_id, 0)


def receive(sock, seconds=PATIENCE):
    """(type, id, payload, fds); None when the peer has closed."""
    if not select.select([sock], [], [], seconds)[0]:
        raise AssertionError(f"no message within {seconds} s")
    data, fds, _, _ = socket.recv_fds(sock, 8192, 4)
    if not data:
        return None
    _, kind, length, ident = HEADER.unpack_from(data)
    assert length == len(data) - HEADER.size, "length of a message"
    return kind, ident, data[HEADER.size:], fds


def send(sock, kind, ident, payload, fds=()):
    data = HEADER.pack(MSG_VERSION, kind, len(payload), ident) + payload
    socket.send_fds(sock, [data], fds) if fds else sock.send(data)


class Hub:
    def __init__(self, path):
        self.path = path
        self.conn = None
        self.stats = {}
        self.next_id = 1
        self.kept = []          # messages that came before the one that was waited for
        self.come()

    def come(self):
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o666)
        self.listener.listen(4)

    def go(self):
        if self.conn:
            self.drop()
        self.listener.close()
        if os.path.exists(self.path):
            os.unlink(self.path)

    def accept(self, seconds=PATIENCE, greet=True):
        """Take a connection and greet, if asked for; returns exporterd's hello."""
        self.listener.settimeout(seconds)
        self.conn, _ = self.listener.accept()
        if greet:
            send(self.conn, HELLO_HUB, 0, struct.pack("<I", REC_VERSION))
        kind, _, payload, _ = receive(self.conn)
        assert kind == HELLO_EXPORTER, kind
        version, self.wants_status, _, self.debuginfod, _, queued, *outcomes = struct.unpack(
            "<IHHII7Q", payload)
        assert version == BATCH_VERSION, version
        return Hello(queued, {n: v for n, v in zip(OUTCOMES, outcomes) if v})

    def batch(self, data, samples, size=None, ident=None, **how):
        """Returns its id; ident: that of one that was sent before."""
        if not ident:
            ident, self.next_id = self.next_id, self.next_id + 1
        fd = sealed(data, **how)
        send(self.conn, BATCH, ident, struct.pack("<QQ", size or len(data), samples), [fd])
        os.close(fd)
        return ident

    def answer(self, kinds, seconds=PATIENCE):
        """The next of these; statistics on the way are kept, and so are other answers."""
        for i, m in enumerate(self.kept):
            if m[0] in kinds:
                return self.kept.pop(i)
        end = time.time() + seconds
        while True:
            m = receive(self.conn, max(0, end - time.time()))
            if m is None or m[0] in kinds:
                return m
            if m[0] == EXPORTER_STATS:
                self.stats = exporter_stats(m[2])
                continue
            assert m[0] in (BATCH_DONE, DEBUGINFO, DEBUGINFO_NONE), m[0]
            self.kept.append(m)

    def done(self, seconds=PATIENCE):
        """The next answer to a batch."""
        m = self.answer((BATCH_DONE,), seconds)
        if m is None:
            return None
        samples, outcome, _ = struct.unpack("<QII", m[2])
        return Done(m[1], samples, OUTCOMES[outcome])

    def fresh_stats(self):
        """The statistics after the next two of their seconds."""
        for _ in range(2):
            m = receive(self.conn)
            assert m and m[0] == EXPORTER_STATS, m
            self.stats = exporter_stats(m[2])
        return self.stats

    def ask_debuginfo(self, build_id, ident=1, useless=0):
        """A question for the debug file of these bytes."""
        send(self.conn, DEBUGINFO_WANTED, ident, debuginfo_wanted(build_id, useless))

    def debuginfo(self, seconds=PATIENCE):
        """The next answer: (id, content or None); .cached: it was a file to read."""
        kind, ident, payload, fds = self.answer((DEBUGINFO, DEBUGINFO_NONE), seconds)
        if kind == DEBUGINFO_NONE:
            return ident, None
        assert len(fds) == 1, fds
        size, = struct.unpack("<Q", payload)
        self.cached = fcntl.fcntl(fds[0], fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY
        if not self.cached:
            assert fcntl.fcntl(fds[0], fcntl.F_GET_SEALS) & SEALS == SEALS, "seals"
        content = os.pread(fds[0], size + 1, 0)
        os.close(fds[0])
        assert len(content) == size, (len(content), size)
        return ident, content

    def stats_until(self, ok, seconds=PATIENCE):
        """The statistics of which ok() is true; the last ones if none come in time."""
        end = time.time() + seconds
        while not ok(self.stats) and time.time() < end:
            kind, _, payload, _ = receive(self.conn, max(0, end - time.time()))
            assert kind == EXPORTER_STATS, kind
            self.stats = exporter_stats(payload)
        return self.stats

    def status(self, payload):
        send(self.conn, STATUS, 0, payload)

    def drop(self):
        self.conn.close()
        self.conn = None
        self.kept = []


class Recorder:
    def __init__(self):
        self.sock, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

    def batch(self, seconds=PATIENCE):
        """(id, bytes, samples, content)"""
        kind, ident, payload, fds = receive(self.sock, seconds)
        assert kind == BATCH and len(fds) == 1, (kind, fds)
        size, samples = struct.unpack("<QQ", payload)
        content = os.pread(fds[0], size + 1, 0)
        os.close(fds[0])
        return ident, size, samples, content

    def done(self, ident, samples, outcome="delivered"):
        send(self.sock, BATCH_DONE, ident,
             struct.pack("<QII", samples, OUTCOMES.index(outcome), 0))

    def close(self):
        self.sock.close()
