# SPDX-License-Identifier: Apache-2.0
"""mutants - messages that are right but for one thing, in every way there is

The types, their lengths, senders and descriptors are those of the table in
docs/PROTOCOL.md.  tests/hostile/mutants.h does the same in C.
"""
import fcntl
import os
import re
import socket
from collections import namedtuple

from accounts import MSG_VERSION, TYPES
from fake_hub import HEADER, sealed
from live import ROOT

LEN_MAX = 4608
FDS_ROOM = 16
NUMBERS = {name: int(n) for name, n in TYPES if int(n)}

Rule = namedtuple("Rule", "name number sender states least most fds")
Mutant = namedtuple("Mutant", "name data fds")    # fds: closed by send()


def rules():
    """{name: Rule} by docs/PROTOCOL.md"""
    with open(os.path.join(ROOT, "docs", "PROTOCOL.md"), encoding="utf-8") as f:
        rows = re.findall(r"^\| ([A-Z_]+) \| ([\w, ]+) \| ([\w, ]+) \| (\d+)(?:-(\d+))? \| (\d+) \|",
                          f.read(), re.M)
    found = {}
    for name, sender, states, least, most, fds in rows:
        found[name] = Rule(name, NUMBERS[name], sender.split(", "), states.split(", "),
                           int(least), int(most or least), int(fds))
    assert len(found) == len(NUMBERS), set(NUMBERS) - set(found)
    return found


RULES = rules()


def header(number, length, version=MSG_VERSION):
    return HEADER.pack(version, number, length & 0xffffffff, 1)


def any_file():
    return os.open("/proc/self/exe", os.O_RDONLY | os.O_CLOEXEC)


def not_memory():
    """(what it is, a function that opens it)"""
    def half(pair):
        keep, other = pair
        os.close(other)
        return keep
    return [
        ("a pipe", lambda: half(os.pipe())),
        ("a socket", lambda: half([s.detach() for s in socket.socketpair()])),
        ("a file", any_file),
        ("a directory", lambda: os.open("/", os.O_RDONLY)),
        ("a device", lambda: os.open("/dev/zero", os.O_RDONLY)),
    ]


def of_memory(data):
    """(what is wrong, a function that makes it) of memory that is to be sealed."""
    seals = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW
    return not_memory() + [
        ("not sealed", lambda: sealed(data, fcntl.F_SEAL_SEAL)),
        ("can grow", lambda: sealed(data, seals & ~fcntl.F_SEAL_GROW)),
        ("can shrink", lambda: sealed(data, seals & ~fcntl.F_SEAL_SHRINK)),
        ("cut", lambda: sealed(data[:-1])),
        ("too long", lambda: sealed(data + b"\0")),
        ("empty", lambda: sealed(b"")),
    ]


def descriptors(rule, memory):
    return [sealed(memory) if memory is not None else any_file() for _ in range(rule.fds)]


def right(name, payload=b"", memory=None):
    """It is taken; but not in every state."""
    rule = RULES[name]
    assert rule.least <= len(payload) <= rule.most, (name, len(payload))
    return Mutant(f"{name} now", header(rule.number, len(payload)) + payload,
                  descriptors(rule, memory))


def wrong(name, payload=b"", memory=None):
    """The mutants of a message that is taken; memory: what its descriptor has."""
    rule = RULES[name]

    def good():
        return descriptors(rule, memory)

    def mutant(what, data, fds=None):
        return Mutant(f"{name}: {what}", data, good() if fds is None else fds)

    n, size = rule.number, len(payload)
    assert rule.least <= size <= rule.most, (name, size)
    long = payload + bytes(rule.most + 1 - size)
    yield mutant("version before", header(n, size, MSG_VERSION - 1) + payload)
    yield mutant("version behind", header(n, size, MSG_VERSION + 1) + payload)
    if rule.least:
        yield mutant("too short", header(n, rule.least - 1) + payload[:rule.least - 1])
        yield mutant("header says less", header(n, size - 1) + payload)
    yield mutant("too long", header(n, len(long)) + long)
    yield mutant("larger than any", header(n, LEN_MAX + 1) + bytes(LEN_MAX + 1))
    yield mutant("header says more", header(n, size + 1) + payload)
    yield mutant("header says 4 GiB", header(n, -1) + payload)
    yield mutant("header cut off", header(n, size)[:-1])
    if rule.fds:
        yield mutant("descriptor missing", header(n, size) + payload, [])
    yield mutant("descriptor too many", header(n, size) + payload, good() + [any_file()])
    yield mutant("descriptors without end", header(n, size) + payload,
                 [any_file() for _ in range(FDS_ROOM + 4)])
    for what, make in of_memory(memory) if memory is not None else []:
        yield mutant(f"memory is {what}", header(n, size) + payload, [make()])


def strangers(takes):
    """Messages as their rules say, of all types but these, and of types that are none."""
    for rule in RULES.values():
        if rule.name not in takes:
            yield Mutant(rule.name, header(rule.number, rule.least) + bytes(rule.least),
                         [any_file() for _ in range(rule.fds)])
    for number in (0, max(NUMBERS.values()) + 1, 65535):
        yield Mutant(f"type {number}", header(number, 0), [])


def send(sock, mutant):
    try:
        if mutant.fds:
            socket.send_fds(sock, [mutant.data], mutant.fds)
        else:
            sock.send(mutant.data)
    except (BrokenPipeError, ConnectionResetError):
        pass
    for fd in mutant.fds:
        os.close(fd)
