# SPDX-License-Identifier: Apache-2.0
"""otlp_make - small OTLP profile requests, written by hand (profiles.proto 1.11.0)"""
import struct


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out) + bytes([n])


def num(field, n):
    return varint(field << 3) + varint(n)


def data(field, b):
    if isinstance(b, str):
        b = b.encode()
    return varint(field << 3 | 2) + varint(len(b)) + b


def packed(field, numbers):
    return data(field, b"".join(map(varint, numbers)))


def any_of(v):
    return data(1, v) if isinstance(v, str) else num(3, v)


def attribute(k, v):
    """Of a resource."""
    return data(1, data(1, k) + data(2, any_of(v)))


def request(times_ns, stacks, process="prog", pid=1, thread="worker", tid=2, hz=100, lines=None, **more):
    """One process, one thread; stacks: [[function, leaf first]]; time i goes to stack i mod n; lines:
    {function: (name, system name, file, line)} where it is not just a name."""
    strings = ["", "profile.frame.type", "thread.name", "thread.id", "samples", "count", "cpu",
               "nanoseconds"]

    at = {s: i for i, s in enumerate(strings)}

    def string(s):
        if s not in at:
            at[s] = len(strings)
            strings.append(s)
        return at[s]

    names = {f: i + 1 for i, f in enumerate(sorted({f for s in stacks for f in s}))}
    lines = {f: (lines or {}).get(f, (f, "", "", 0)) for f in names}
    functions = data(3, b"") + b"".join(
        data(3, num(1, string(name)) + num(2, string(system)) + num(3, string(file)))
        for name, system, file, _ in lines.values())
    locations = data(2, b"") + b"".join(
        data(2, num(2, 16 * (i + 1)) + data(3, num(1, i + 1) + num(2, lines[f][3])) + packed(4, [1]))
        for i, f in enumerate(names))
    table = data(7, b"") + b"".join(
        data(7, packed(1, [names[f] for f in s])) for s in stacks)
    attrs = data(6, b"") + b"".join(
        data(6, num(1, string(k)) + data(2, any_of(v)))
        for k, v in (("profile.frame.type", "native"), ("thread.name", thread), ("thread.id", tid)))
    samples = b"".join(
        data(2, num(1, i + 1) + packed(2, [2, 3]) +
             data(5, b"".join(struct.pack("<Q", t) for t in times_ns[i::len(stacks)])))
        for i in range(len(stacks)) if times_ns[i::len(stacks)])
    profile = (data(1, num(1, string("samples")) + num(2, string("count"))) + samples +
               data(5, num(1, string("cpu")) + num(2, string("nanoseconds"))) + num(6, 10**9 // hz))
    resource = b"".join(attribute(k, v) for k, v in (
        ("process.pid", pid), ("process.executable.name", process),
        ("process.executable.path", "/opt/" + process), *more.items()))
    dictionary = (data(1, b"") + locations + functions + data(4, b"") +
                  b"".join(data(5, s) for s in strings) + attrs + table)
    return data(1, data(1, resource) + data(2, data(2, profile))) + data(2, dictionary)
