# SPDX-License-Identifier: Apache-2.0
"""pprof - reads profiles of that format (github.com/google/pprof, profile.proto)"""
import gzip

from wire import fields, numbers


def read_pprof(path):
    """[(labels, frames, count)]: frames as "function file:line", innermost first; without
    names "?", or "[no name]" if no file has them."""
    with gzip.open(path) as f:
        top = list(fields(f.read()))
    strings = [v.decode() for n, v in top if n == 6]
    functions, places, out = {}, {}, []
    for n, v in top:
        if n == 5:
            f = dict(fields(v))
            functions[f[1]] = (strings[f[2]], strings[f.get(4, 0)])
    for n, v in top:
        if n != 4:
            continue
        here, number, mapping = [], 0, 0
        for k, x in fields(v):
            if k == 1:
                number = x
            elif k == 2:
                mapping = x
            elif k == 4:
                line = dict(fields(x))
                name, file = functions[line[1]]
                here.append(f"{name} {file}:{line.get(2, 0)}")
        places[number] = here or ["?" if mapping else "[no name]"]
    for n, v in top:
        if n != 2:
            continue
        labels, frames, count = {}, [], 0
        for k, x in fields(v):
            if k == 1:
                frames = [f for i in numbers(x) for f in places[i]]
            elif k == 2:
                count = numbers(x)[0]
            elif k == 3:
                label = dict(fields(x))
                if 2 in label:
                    labels[strings[label[1]]] = strings[label[2]]
                elif 3 in label:
                    labels[strings[label[1]]] = label[3]
        out.append((labels, frames, count))
    return out
