# SPDX-License-Identifier: Apache-2.0
"""accounts - the hub's status messages, read by the test itself

The layout is taken from ipc/counters*.h and bpf/{stop,count}.h, so that it cannot
drift; the sums are computed here again, not by trifold.
"""
import ctypes
import os
import re
import socket
import struct
import threading
import time

from live import ROOT, held, is_ours

SOCKET = "/run/trifold/status.sock"
LIBC = ctypes.CDLL(None)


def header(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return re.sub(r"/\*.*?\*/", "", f.read(), flags=re.S)


def stop_names():
    text = header("bpf/stop.h")
    body = re.search(r"#define STOP_NAMES(.*?)\n\n", text, re.S).group(1)
    return re.findall(r'"([^"]+)"', body)


def enum(text, name):
    body = re.search(r"enum %s \{(.*?)\}" % name, text, re.S).group(1)
    names = [n.split("=")[0].strip() for n in body.split(",") if n.strip()]
    return {n: i for i, n in enumerate(names)}


STOPS = stop_names()
BPF = enum(header("bpf/count.h"), "bpf_count")
N_BPF = BPF["BPF_STOP"] + len(STOPS)
OUTCOMES = enum(header("ipc/counters.h"), "batch_outcome")["BATCH__OUTCOMES"]
TYPES = re.findall(r"MSG_([A-Z]\w+) = (\d+)", header("ipc/message.h") + header("ipc/message_hub.h"))
MSG_STATUS = int(dict(TYPES)["STATUS"])
MSG_VERSION = int(re.search(r"#define MSG_VERSION\s+(\d+)", header("ipc/message.h")).group(1))


def fields(name):
    text = header("ipc/counters_loader.h") + header("ipc/counters.h")
    body = re.search(r"struct %s \{(.*?)\n\};" % name, text, re.S).group(1)
    out = []
    for decl in body.split(";"):
        decl = decl.strip()
        m = re.match(r"uint64_t (\w+)\[(\w+)\]$", decl)
        if m:
            n = {"BPF_COUNTS": N_BPF, "BATCH__OUTCOMES": OUTCOMES}[m.group(2)]
            out += [f"{m.group(1)}{i}" for i in range(n)]
        elif decl.startswith("uint64_t "):
            out += [x.strip() for x in decl[9:].split(",")]
        elif decl.startswith(("char ", "struct receiver ")):
            pass            # read by receivers_in()
        elif decl.startswith("struct "):
            kind, var = decl.split()[1:3]
            out += [f"{var}.{x}" for x in fields(kind)]
        elif decl:
            raise ValueError(decl)
    return out


PARTS = [("loader", "loader_stats"), ("tables", "table_stats"), ("totals", "hub_totals"), ("hub", "hub_stats"),
         ("exporter", "exporter_stats")]
SHOWN, PATH, RECEIVERS, URL = (
    int(re.search(rf"#define {x}\s+(\d+)", header("ipc/counters.h")).group(1))
    for x in ("QUARANTINE_SHOWN", "QUARANTINE_PATH", "RECEIVERS_MAX", "RECEIVER_URL"))
RECEIVER = struct.Struct(f"={URL}s{len(fields('receiver'))}Q")


def receivers_in(data):
    """[{"url": ..., "number": 1, "delivered": ...}] of the receivers that there are."""
    out = []
    for url, *numbers in RECEIVER.iter_unpack(data):
        if url.strip(b"\0"):
            out.append({"url": url.rstrip(b"\0").decode(), **dict(zip(fields("receiver"), numbers))})
    assert not any(data[len(out) * RECEIVER.size:]), "a receiver after the last one"
    return out


def exporter_stats(data):
    """A struct exporter_stats: its numbers by name, and "receivers"."""
    names = fields("exporter_stats")
    numbers = struct.unpack_from(f"={len(names)}Q", data)
    return {**dict(zip(names, numbers)), "receivers": receivers_in(data[8 * len(names):])}


def packed(values, loader_up=1, exporter_up=1, uptime=10 ** 9, version=MSG_VERSION):
    """A status as the hub sends it; values: {"loader.drained": 5}, else 0."""
    names = [f"{part}.{f}" for part, kind in PARTS for f in fields(kind)]
    unknown = set(values) - set(names)
    if unknown:
        raise ValueError(unknown)
    return (struct.pack("=IBBxxQII", version, loader_up, exporter_up, uptime, 19, 5000) +
            struct.pack(f"={len(names)}Q", *(values.get(n, 0) for n in names)) +
            bytes(RECEIVERS * RECEIVER.size + SHOWN * PATH))


class Account:
    def __init__(self, data):
        self.version, self.loader_up, self.exporter_up, self.uptime, self.frequency, \
            self.interval_ms = struct.unpack_from("=IBBxxQII", data)
        at = 24
        self.v = {}
        for part, kind in PARTS:
            for f in fields(kind):
                self.v[f"{part}.{f}"] = struct.unpack_from("=Q", data, at)[0]
                at += 8
        self.receivers = receivers_in(data[at:at + RECEIVERS * RECEIVER.size])
        at += RECEIVERS * RECEIVER.size + SHOWN * PATH
        if at != len(data):
            raise ValueError(f"status: {len(data)} bytes, {at} expected")

    def __getitem__(self, key):
        return self.v[key]

    def bpf(self, name):
        return self.v[f"loader.bpf{BPF[name]}"]

    def stops(self):
        base = BPF["BPF_STOP"]
        return {s: self.v[f"loader.bpf{base + i}"] for i, s in enumerate(STOPS)
                if self.v[f"loader.bpf{base + i}"]}

    def taken(self):
        return self.bpf("BPF_TAKEN") + self["totals.former_taken"]

    def delivered(self):
        return self["totals.outcomes.samples0"]

    def lost(self):
        out = {"ring_full": self.bpf("BPF_RING_FULL")}
        for k in ("loader.no_hub", "loader.bad_record", "totals.hub_bad",
                  "totals.hub_dropped", "totals.lost_hub", "totals.former_lost"):
            out[k.split(".")[1]] = self[k]
        for i in range(1, 6):
            out[f"outcome{i}"] = self[f"totals.outcomes.samples{i}"]
        return {k: n for k, n in out.items() if n}

    def own(self):
        """Samples of trifold itself, left out."""
        return self["totals.own"]

    def missing(self):
        """Samples taken that are neither delivered, left out nor lost: 0 at the end."""
        return self.taken() - self.delivered() - self.own() - sum(self.lost().values())


def until_known(at_most=60):
    """Until no executable that samples met waits for its table and names; those of other tests count, too, so for
    so many seconds at most.  How it ends is judged by what was sampled then."""
    end = time.time() + at_most
    while time.time() < end and (Watcher.once() or {"hub.exes_waiting": 1})["hub.exes_waiting"]:
        time.sleep(0.05)


class Taken:
    """What BPF counts for the loaderd that runs now, by bpf(2): also when that is dead.

    The map is freed at close().
    """
    ELEMENT = 192       # struct cpu_counts

    def __init__(self):
        self.fd = None
        ours = held(is_ours)
        start = 0
        while True:
            attr = self.bpf(12, struct.pack("=II", start, 0))       # MAP_GET_NEXT_ID
            if not attr:
                break
            start = struct.unpack_from("=II", attr)[1]
            if ("map", start) not in ours:
                continue
            got = self.bpf(14, struct.pack("=I", start))            # MAP_GET_FD_BY_ID
            if got and not self.keep(got[0]):
                os.close(got[0])
        assert self.fd is not None, "no map of counts"

    @staticmethod
    def bpf(command, attr):
        """(result, attr) or None."""
        buf = ctypes.create_string_buffer(attr, 128)
        r = LIBC.syscall({"x86_64": 321}.get(os.uname().machine, 280), command, buf, 128)
        if r < 0:
            return None
        return buf.raw if command == 12 else (r, buf.raw)

    def keep(self, fd):
        """The newest one is that of the present loaderd."""
        info = ctypes.create_string_buffer(128)
        self.bpf(15, struct.pack("=IIQ", fd, 128, ctypes.addressof(info)))    # OBJ_GET_INFO_BY_FD
        value, n = struct.unpack_from("=II", info.raw, 12)
        if info.raw[24:40].rstrip(b"\0") != b"counts" or value != self.ELEMENT:
            return False
        if self.fd is not None:
            os.close(self.fd)
        self.fd, self.n = fd, n
        return True

    def now(self):
        total = 0
        for cpu in range(self.n):
            key = ctypes.c_uint32(cpu)
            value = ctypes.create_string_buffer(self.ELEMENT)
            r = self.bpf(1, struct.pack("=IIQQ", self.fd, 0, ctypes.addressof(key), ctypes.addressof(value)))
            assert r, "cannot look up"
            total += struct.unpack_from("=Q", value.raw, 8 * BPF["BPF_TAKEN"])[0]
        return total

    def close(self):
        os.close(self.fd)


class Watcher(threading.Thread):
    """Follows the status messages until the hub ends; .last is the newest.

    A hub that was killed is followed by another on the same socket.
    """

    def __init__(self):
        super().__init__(daemon=True)
        self.last = None
        self.done = False
        self.errors = []
        self.start()

    @staticmethod
    def once():
        """The status that a new client is told at once; None: there is no hub."""
        try:
            with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                s.connect(SOCKET)
                s.settimeout(1)
                while True:
                    m = s.recv(16384)
                    if not m:
                        return None
                    if struct.unpack_from("=HH", m)[1] == MSG_STATUS:
                        return Account(m[16:])
        except OSError:
            return None

    def run(self):
        while not self.done:
            try:
                with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as s:
                    s.connect(SOCKET)
                    s.settimeout(5)
                    while True:
                        m = s.recv(16384)
                        if not m:
                            break
                        if struct.unpack_from("=HH", m)[1] == MSG_STATUS:
                            self.last = Account(m[16:])
            except OSError:
                time.sleep(0.05)
            except ValueError as e:
                self.errors.append(e)
                return
