# SPDX-License-Identifier: Apache-2.0
"""wire - reads protobuf messages, field by field (protobuf.dev, "Encoding")"""


def varint(b, i):
    """The number at b[i], and where it ends."""
    v = shift = 0
    while True:
        v |= (b[i] & 0x7f) << shift
        shift += 7
        i += 1
        if not b[i - 1] & 0x80:
            return v, i


def fields(b):
    """(number, value) of each field: a number, or bytes (those of fixed numbers, too)."""
    i = 0
    while i < len(b):
        key, i = varint(b, i)
        kind = key & 7
        if kind == 0:
            v, i = varint(b, i)
        else:
            n, i = varint(b, i) if kind == 2 else ({1: 8, 5: 4}[kind], i)
            v = b[i:i + n]
            i += n
        yield key >> 3, v


def below(b, *path):
    """The values of a field of a field of ..."""
    for number, v in fields(b):
        if number == path[0]:
            yield from below(v, *path[1:]) if len(path) > 1 else [v]


def numbers(b):
    """Those of a packed field."""
    i, out = 0, []
    while i < len(b):
        v, i = varint(b, i)
        out.append(v)
    return out
