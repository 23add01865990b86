#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A recording's page whose times or threads are damaged or odd, in headless
Chromium: it shows every sample, without a time line.  Skips without Chromium.
"""
import json
import os
import subprocess
import sys
import tempfile

import page_mock
from browser import Browser, find

ODD = [None, {"length": 7}, -1, 1.5, "7", 1e308]
MARK = 'id="data">'


def changed(data, path, value):
    """A copy with another value there; of a function: what it makes of the old one."""
    data = json.loads(json.dumps(data))
    at = data
    for key in path[:-1]:
        at = at[key]
    if value is KeyError:
        del at[path[-1]]
    else:
        at[path[-1]] = value(at[path[-1]]) if callable(value) else value
    return data


def damages(data):
    """(what, data) of pages that have no times that make sense."""
    times, threads = ("times",), ("threads",)
    names, of = ("threads", "names"), ("threads", "list")
    frame = next(i for i, kind in enumerate(data["labels"][2::3]) if kind)
    for path in (times, threads, names, of):
        yield f"no {path[-1]}", changed(data, path, KeyError)
        for odd in ODD:
            yield f"{path[-1]} {odd!r}", changed(data, path, odd)
    for n in (0, 1, 2, len(data["times"]) // 2, len(data["times"]) - 1):
        yield f"{n} numbers of times", changed(data, times, lambda v, n=n: v[:n])
    yield "more times", changed(data, times, lambda v: v + [0, 0])
    for odd in ODD:
        yield f"a time {odd!r}", changed(data, ("times", 4), odd)
        yield f"a thread {odd!r}", changed(data, ("times", 5), odd)
        yield f"a label {odd!r}", changed(data, ("threads", "list", 0), odd)
        yield f"a name {odd!r}", changed(data, ("threads", "list", 3), odd)
        if odd != "7":
            yield f"a text {odd!r}", changed(data, ("threads", "names", 0), odd)
    yield "a frame as process", changed(data, ("threads", "list", 0), frame)
    yield "a thread's half", changed(data, of, lambda v: v[:-3])
    yield "the last thread gone", changed(data, of, lambda v: v[:-6])
    yield "a time after the end", changed(data, ("times", 0), data["info"]["duration_ms"] + 2)
    for key in ("start_ms", "duration_ms"):
        for odd in (None, "7", -1, 1e308):
            yield f"{key} {odd!r}", changed(data, ("info", key), odd)


def odds(data):
    """Likewise, but times that do make sense."""
    yield "as it was", data
    # 1 ms more than the length: both were cut to whole ms
    yield "the last ms", changed(data, ("times", 0), data["info"]["duration_ms"] + 1)
    yield "no frequency", changed(data, ("info", "frequency"), 0)
    yield "no CPUs", changed(data, ("info", "cpus"), KeyError)
    yield "30 years", changed(data, ("info", "duration_ms"), 10 ** 12)
    # loaderd's report is a second older than the hub's
    yield "more of its own than were taken", changed(data, ("info", "account"), lambda v: {
        **v, "taken": 5, "own": 9, "covered_ns": 10 ** 9})
    yield "no date", changed(data, ("info", "start_ms"), 9 * 10 ** 15)


# rectangles that one drawing of the time line takes
DRAWN = """(() => { const of = CanvasRenderingContext2D.prototype, was = of.fillRect; let n = 0;
of.fillRect = function (...a) { n++; was.apply(this, a); };
dispatchEvent(new Event('theme'));
of.fillRect = was;
return n; })()"""


def look(b, path, timed, samples):
    b.open("about:blank")
    b.open("file://" + path + "#lanes=1&from=1795000001000&to=1795000002000" if not timed else "file://" + path)
    b.wait("document.documentElement.dataset.state === 'ok'", 10)
    assert b.data("samples") == samples, f"shows {b.data('samples')} of {samples} samples"
    hidden = b.eval("document.getElementById('time').hidden")
    assert not b.text("busy-text").startswith("-"), "says of its load " + b.text("busy-text")
    assert hidden != timed, "has a time line" if timed is False else "has no time line"
    assert b.eval("document.querySelector('#order [value=time]').hidden") != timed
    keys = b.eval("[...new Set([...document.querySelectorAll('.facet')].map(e => e.dataset.key))].sort().join()")
    assert ("thread" in keys) == timed and "process" in keys and "kind" in keys, keys
    if timed:
        drawn = b.eval(DRAWN)
        assert 3 < drawn < 1000, f"{drawn} rectangles in a time line"
    else:
        b.eval("document.querySelector('.facet').click()")
        b.wait(f"document.documentElement.dataset.samples < {samples}", 5)
        b.eval("document.querySelector('.facet').click()")
        b.wait(f"document.documentElement.dataset.samples === '{samples}'", 5)
    bad = b.complaints(lambda u: u.startswith(("file://" + path, "about:")))
    assert not bad, bad


def main():
    chromium = find()
    if not chromium:
        print("ok 1 - damaged times # SKIP needs chromium\n1..1")
        return 0
    build = os.environ.setdefault("O", "build")
    subprocess.run(["make", "-s", f"O={build}", f"{build}/live/test_page"], cwd=page_mock.ROOT, check=True)
    failed = n = 0
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "page.html")
        made = subprocess.run([os.path.join(page_mock.ROOT, build, "live", "test_page"), path, "20"],
                              stdout=subprocess.PIPE, check=True, text=True)
        samples = made.stdout.strip()
        with open(path, encoding="utf-8") as f:
            head, rest = f.read().split(MARK)
        text, tail = rest.split("</script>", 1)
        b = Browser(chromium, "1200,700")
        try:
            for timed, cases in ((True, odds), (False, damages)):
                wrong = []
                for what, data in cases(json.loads(text)):
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(head + MARK + json.dumps(data).replace("<", "\\u003c") + "</script>" + tail)
                    try:
                        look(b, path, timed, samples)
                    except AssertionError as e:
                        wrong.append(f"# {what}: {e}")
                        b.events = []
                n += 1
                failed += bool(wrong)
                print("\n".join(wrong + [f"{'not ' if wrong else ''}ok {n} - " + (
                    "times that are odd are shown" if timed else
                    "without times that make sense all samples are shown, and no time line")]), flush=True)
        finally:
            b.end()
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
