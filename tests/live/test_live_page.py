#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `trifold run` shows in a browser: a known program is profiled, its
function is found, clicked, filtered, compared, downloaded.  Needs root and
Chromium.  SHOTS=DIRECTORY keeps pictures of the page.
"""
import gzip
import os
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request

from browser import Browser, find
from live import BIN, ROOT, TRIFOLD, Skip, Suite, compile_c, folded, has_chain, say, scratch, wait_for

suite = Suite()
CHAIN = [f"chain_{i}" for i in range(1, 11)]
VIEWER = os.path.join(BIN, "trifold-viewer")
ROWS = "document.documentElement.dataset.rows > 0"
SHOTS = os.environ.get("SHOTS")


class Run:
    """trifold run, and the address that it prints."""

    def __init__(self, directory):
        self.process = subprocess.Popen(
            [TRIFOLD, "run", "--frequency", "199", "--output", os.path.join(directory, "end.html")],
            cwd=directory, text=True, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.address, self.said = None, []
        self.there = threading.Event()
        threading.Thread(target=self.read, daemon=True).start()
        assert self.there.wait(30), "no address:\n" + "".join(self.said)

    def read(self):
        for text in self.process.stderr:
            self.said.append(text)
            m = re.search(r"http://127\.0\.0\.1:\d+/#key=\w+", text)
            if m:
                self.address = m.group(0)
                self.there.set()

    def end(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGINT)
        return self.process.wait(30)


def shot(b, name):
    if SHOTS:
        b.shot(os.path.join(SHOTS, name + ".png"))


def param(b, name):
    return b.eval(f"new URLSearchParams(location.hash.slice(1)).get('{name}')")


def facet(b, key, value):
    b.eval(f"[...document.querySelectorAll('button.facet')].find(e => e.dataset.key === '{key}' && "
           f"e.dataset.value === '{value}').click()")


def find_and_click(b):
    """The function, by search; then the frame itself, with the mouse, while new samples do not move it."""
    b.press("follow")
    idle(b)
    b.type("query", "chain_10")
    b.wait("!document.getElementById('matched').textContent.startsWith('matched 0.00')")
    say(f"search: {b.text('matched')}")
    of = int(re.search(r"([\d,]+) samples", b.text("matched")).group(1).replace(",", ""))
    for _ in range(9):                  # past stacks that were cut
        b.key("Enter")
        tip = b.text("tip")
        if 2 * int(re.search(r"([\d,]+) sample", tip).group(1).replace(",", "")) > of:
            break
    assert tip.startswith("chain_10") and "chain (native)" in tip and "self: " in tip, tip
    x, y = b.eval("(r => [r.left, r.top])(document.getElementById('tip').getBoundingClientRect())")
    box = b.eval("(r => [r.left, r.top, r.width, r.height])"
                 "(document.getElementById('canvas').getBoundingClientRect())")
    # the tip stands beside the frame it is about: above or below it
    for at in ((x - 14, y - 10), (x - 14, y + 100)):
        b.move(*at)
        if b.text("tip").startswith("chain_10"):
            break
    assert box[0] <= at[0] <= box[0] + box[2]
    shot(b, "search")
    b.click(*at)
    b.wait("document.getElementById('crumbs').textContent.includes('chain_10')")
    crumbs = re.sub(r"\s+", " ", b.text("crumbs"))
    assert "chain_9 \u203a chain_10" in crumbs, crumbs
    say(f"zoomed: {crumbs}")
    b.key("Escape")
    b.press("follow")
    idle(b)


def table_agrees(b):
    b.press("as-table")
    b.type("query", "/^chain_10$/")
    row = b.eval("[...document.querySelector('#table-body tr').children].map(e => e.textContent)")
    assert row[0] == "chain_10" and float(row[2].split()[0]) > 5, row
    shot(b, "table")
    b.eval("document.querySelector('#table-body button').click()")
    b.frame()
    assert b.text("tip").startswith("chain_10"), b.text("tip")
    b.key("Escape")


def idle(b):
    """Until the page has what was chosen."""
    time.sleep(0.3)
    n = int(b.data("loads") or 0)
    b.wait(f"document.documentElement.dataset.loads > {n}")
    b.frame()


def choose(b, lo, hi):
    """A range by mouse, as parts of the time line."""
    x, y, w = b.eval("(r => [r.left, r.top, r.width])(document.getElementById('timeline').getBoundingClientRect())")
    b.drag(x + w * lo, y + 30, x + w * hi, y + 30)
    idle(b)


@suite.test
def page():
    """search, click, table, filter, range, comparison, download, link; the end"""
    chromium = find()
    if not chromium:
        raise Skip("needs chromium")
    with scratch() as tmp:
        # a name of its own: other chains may run here
        chain = compile_c("chain.c", os.path.join(tmp, "chain"), "-fomit-frame-pointer")
        # and one with neither CFI nor frame pointers: guesses, or an early end; other names
        alone = compile_c("chain.c", os.path.join(tmp, "alone"), "-fomit-frame-pointer",
                          "-fno-asynchronous-unwind-tables", "-fno-unwind-tables",
                          *(f"-D{name}={name.replace('chain', 'alone')}" for name in CHAIN))
        burners = [subprocess.Popen([chain, "100"]), subprocess.Popen([alone, "100"])]
        run = b = None
        try:
            run = Run(tmp)
            b = Browser(chromium, "1400,800", tmp)
            b.size(1400, 800)
            b.scheme("light")
            use(b, run, tmp)
        finally:
            for burner in burners:
                burner.kill()
                burner.wait()
            if run:
                status = run.end()
            if b:
                b.end()
        assert status == 0, "".join(run.said)


def use(b, run, tmp):
    origin = run.address.split("#")[0]
    start = time.time()
    b.open(run.address)
    b.wait(ROWS)
    say(f"first samples in the page after {time.time() - start:.1f} s")
    assert "key" not in b.eval("location.href"), b.eval("location.href")
    b.wait("[...document.querySelectorAll('[data-key=process]')].some(e => e.dataset.value === 'chain')")
    time.sleep(12)                      # enough for two ranges
    shot(b, "page")
    find_and_click(b)
    table_agrees(b)
    facet(b, "process", "alone")
    b.type("query", "/caller guessed|stack ends: no_row/")     # chain_6 has too large a frame for guesses
    b.wait("!document.getElementById('matched').textContent.startsWith('matched 0.00')")
    say(f"stacks of a program without unwind information: {b.text('matched')}")
    b.key("Escape")
    facet(b, "process", "alone")        # again: no filter
    idle(b)

    b.press("follow")                   # paused: the numbers stay
    idle(b)
    # no comparison of sums: samples of the range's last seconds still come
    facet(b, "process", "chain")
    b.wait("document.querySelectorAll('[data-key=process][aria-pressed=true]').length === 1")
    idle(b)
    facet(b, "kind", "native")
    b.wait("location.hash.includes('kind=native')")
    idle(b)
    assert int(b.data("samples")) > 0

    # of the five minutes that were followed; the newest samples may still be on their way
    lo, hi, top = b.data("axis").split()
    assert int(hi) - int(lo) >= 299000 and int(top) == os.cpu_count(), b.data("axis")
    choose(b, .94, .97)
    assert param(b, "from") and param(b, "to")
    ms = int(param(b, "to")) - int(param(b, "from"))
    assert 1000 <= ms < 60000, ms
    here = b.data("samples")
    downloads(b, tmp)
    b.press("compare")
    b.wait("document.getElementById('legend').textContent.includes('more than in the base')")
    b.eval("document.getElementById('canvas').focus()")
    b.key("Home")
    assert "difference: " in b.text("tip"), b.text("tip")
    shot(b, "compare")
    b.press("compare")
    b.wait("!document.getElementById('legend').textContent.includes('base')")

    b.press("link")
    link = b.wait("document.documentElement.dataset.link")
    b.open("about:blank")
    b.open(link)
    b.wait(ROWS)
    assert b.data("samples") == here, f"{b.data('samples')} by the link, not {here}"
    assert "chain" in b.text("chips")
    own, gap = b.redraw_ms()
    say(f"{b.data('rows')} rows: {own:.1f} ms to draw, {gap:.1f} from frame to frame")
    bad = b.complaints(lambda u: u.startswith((origin, "blob:", "about:")))
    assert not bad, bad
    rows = b.data("rows")
    assert run.end() == 0
    b.wait("document.getElementById('notice').textContent.includes('No answer from trifold')")
    assert b.data("rows") == rows, "the last picture is gone"


def downloads(b, tmp):
    for fmt, ending in (("folded", ".folded"), ("pprof", ".pb.gz"), ("html", ".html")):
        b.eval(f"document.querySelector('[data-format={fmt}]').click()")
        end = time.time() + 60
        got = []
        while not got and time.time() < end:
            time.sleep(0.1)
            got = [os.path.join(tmp, f) for f in os.listdir(tmp) if f.startswith("trifold-") and f.endswith(ending)]
        assert got, f"no {ending} came: {os.listdir(tmp)} {b.text('notice')}"
        if fmt == "folded":
            stacks = folded(got[0])
            assert any(has_chain(s, CHAIN) for s, _ in stacks), stacks[:5]
            assert all(s[0] == "chain" for s, _ in stacks), "downloads what is filtered away"
        elif fmt == "pprof":
            with gzip.open(got[0]) as f:
                assert b"chain_10" in f.read()
        else:
            with open(got[0], encoding="utf-8") as f:
                assert "chain_10" in f.read()


@suite.test
def many_stacks():
    """100,000 distinct stacks through trifold-viewer stay smooth"""
    chromium = find()
    if not chromium:
        raise Skip("needs chromium")
    writer = os.path.join(ROOT, "build", "live", "test_page")
    subprocess.run(["make", "-s", "build/live/test_page"], cwd=ROOT, check=True)
    with scratch() as tmp, open(os.path.join(tmp, "log"), "w+", encoding="utf-8") as log:
        port = free_port()
        origin, key = f"http://localhost:{port}/", "0123456789abcdef" * 2
        viewer = subprocess.Popen(
            [VIEWER, "--uid", "61200", "--gid", "61200", "--listen", str(port), "--memory", "128", "--otlp"],
            env={"TRIFOLD_VIEWER_KEY": key}, stderr=log)
        b = Browser(chromium, "1400,800")
        try:
            b.size(1400, 800)
            otlp = os.path.join(tmp, "many.otlp")
            # ten seconds that end a while ago
            samples = subprocess.run([writer, otlp, "100000", str(int(time.time()) - 15)],
                                     check=True, text=True, capture_output=True).stdout.strip()
            wait_for(lambda: send(origin, key, otlp))
            show_many(b, origin, key, samples)
            bad = b.complaints(lambda u: u.startswith((origin, "about:")))
            assert not bad, bad
        finally:
            b.end()
            viewer.terminate()
            viewer.wait()
            log.seek(0)
            say(log.read())


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def send(origin, key, path):
    with open(path, "rb") as f:
        r = urllib.request.Request(origin + "v1development/profiles", f.read(), {
            "Authorization": "Bearer " + key, "Content-Type": "application/x-protobuf"})
    try:
        return urllib.request.urlopen(r).status == 200
    except urllib.error.URLError as e:
        if isinstance(e, urllib.error.HTTPError):
            raise AssertionError(f"{e}: {e.read()}") from e
        return False


def show_many(b, origin, key, samples):
    start = time.time()
    b.open(origin + "#key=" + key)
    b.wait(ROWS)
    say(f"opened and shown in {time.time() - start:.1f} s, {b.data('loadMs')} ms of it in the page "
        f"to read and draw {b.data('rows')} rows")
    assert b.data("samples") == samples, f"{b.data('samples')}, not {samples}"
    b.press("follow")
    idle(b)
    for what in ("as they are", "reversed"):
        own, gap = b.redraw_ms()
        say(f"{what}: {own:.1f} ms to draw, {gap:.1f} from frame to frame (medians)")
        if what == "reversed":
            break
        b.press("reverse")
        say(f"reversed in {b.data('reverseMs')} ms: {b.data('rows')} rows")
        assert b.data("samples") == samples
    b.press("reverse")
    start = time.time()
    b.type("query", "/parse_.*0$/")
    say(f"a search takes {1000 * (time.time() - start):.0f} ms: {b.text('matched')}")
    b.press("compare")
    b.wait("document.getElementById('legend').textContent.includes('base')")
    say(f"compared: {b.data('loadMs')} ms in the page, {b.redraw_ms()[0]:.1f} ms to draw")


# An answer has 20 s (HTTP_REQUEST_NS): a browser that others keep from a CPU so long loses it.
if not os.getuid():
    os.nice(-10)
suite.run()
