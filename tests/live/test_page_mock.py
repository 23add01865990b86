#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The live page in headless Chromium, beside a make-believe server that has
unusual data and misbehaves (page_mock.py).  Skips without Chromium.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time

import page_functions
import page_look
import page_mock
from browser import Browser, find
from page_mock import Mock

ROOT = page_mock.ROOT
TESTS = []
STARTING = threading.Lock()
EMPTY = "document.getElementById('empty')"
ROWS = "document.documentElement.dataset.rows > 0"
FACET = "[...document.querySelectorAll('button.facet')].find(e => e.dataset.key === '%s' && e.dataset.value === '%s')"


def test(samples):
    def add(fn):
        TESTS.append((fn, samples))
        return fn
    return add


def idle(b):
    """Until the page has what was chosen."""
    time.sleep(0.2)
    n = int(b.data("loads") or 0)
    b.wait(f"document.documentElement.dataset.loads > {n}")
    b.frame()


def enter(b, m, more=""):
    b.open("about:blank")
    b.open(m.url + "#key=" + m.key + more)
    b.wait(ROWS)
    b.frame()


def count(m, **q):
    return sum(1 for _ in m.chosen({k: [v] for k, v in q.items()}))


@test(lambda: page_mock.plain(3000))
def key_is_taken_and_hidden(b, m):
    """the key leaves the address, is in no request's address, and is asked for"""
    b.open(m.url)
    assert "trifold run" in b.wait("document.getElementById('notice').textContent")
    assert b.data("state") == "key"
    assert not [p for p, _ in m.asked if p != "/"], "asks without a key"
    b.open(m.url + "#last=600&key=nonsense")
    b.wait("document.getElementById('notice').textContent.includes('not the one')")
    b.eval("document.getElementById('key').value = '%s#key=%s'" % (m.url, m.key))
    b.eval("document.querySelector('#notice button').click()")
    b.wait(ROWS)
    assert b.eval("document.getElementById('notice').hidden")
    assert b.eval("location.hash") == "#last=600", b.eval("location.hash")
    assert not [q for _, q in m.asked if "key" in q or m.key in str(q)], "the key is in an address"
    b.press("link")
    assert b.wait("document.documentElement.dataset.link") and m.key not in b.data("link")
    assert "from=" in b.data("link")
    b.open("about:blank")
    b.open(m.url + "#q=node")          # the tab still has the key
    b.wait(ROWS)
    assert b.text("matched").startswith("matched"), b.text("matched")


@test(lambda: page_mock.plain(3000))
def filters_choose_samples(b, m):
    """filters by container, process and kind of frame; chips; the address"""
    enter(b, m, "&last=3600")
    assert b.data("samples") == "3000", b.data("samples")
    b.eval(FACET % ("container", "db") + ".click()")
    b.wait(f"document.documentElement.dataset.samples === '{count(m, container='db')}'")
    b.eval(FACET % ("kind", "kernel") + ".click()")
    n = count(m, container="db", kind="kernel")
    b.wait(f"document.documentElement.dataset.samples === '{n}'")
    where = b.eval("location.hash")
    assert "container=db" in where and "kind=kernel" in where, where
    enter(b, m, "&" + where[1:])
    assert b.data("samples") == str(n) and "db" in b.text("chips")
    b.eval("[...document.querySelectorAll('.chip')].pop().click()")
    b.wait("document.documentElement.dataset.samples === '3000'")


@test(lambda: page_mock.plain(6000))
def ranges_by_mouse_and_key(b, m):
    """a range is dragged, moved and extended by keys, followed, paused"""
    enter(b, m, "&last=600")
    box = b.eval("(r => [r.left, r.top, r.width])(document.getElementById('timeline').getBoundingClientRect())")
    x, y, w = box
    b.drag(x + w * .2, y + 30, x + w * .4, y + 40)
    b.wait("location.hash.includes('from=')")
    b.wait("document.documentElement.dataset.samples < 2500")
    lo, hi = (int(b.eval(f"new URLSearchParams(location.hash.slice(1)).get('{k}')")) for k in ("from", "to"))
    assert 100e3 < hi - lo < 140e3, hi - lo
    n = sum(1 for s in m.samples if lo <= s[0] < hi)
    b.wait(f"document.documentElement.dataset.samples === '{n}'")
    b.eval("document.getElementById('timeline').focus()")
    b.key("ArrowRight")
    lo2, hi2 = (int(b.eval(f"new URLSearchParams(location.hash.slice(1)).get('{k}')")) for k in ("from", "to"))
    assert lo2 > lo and abs(hi2 - lo2 - (hi - lo)) <= 1, (lo, hi, lo2, hi2)
    b.key("ArrowRight", shift=True)
    lo3, hi3 = (int(b.eval(f"new URLSearchParams(location.hash.slice(1)).get('{k}')")) for k in ("from", "to"))
    assert lo3 == lo2 and hi3 > hi2
    spoken = b.eval("document.getElementById('timeline').getAttribute('aria-valuetext')")
    assert " to " in spoken and "samples" in spoken, spoken
    b.key("End")
    assert b.eval("document.getElementById('follow').getAttribute('aria-pressed')") == "true"
    b.press("follow")
    assert "from=" in b.eval("location.hash")
    b.eval("document.querySelector('[data-last=\"60\"]').click()")
    b.wait("location.hash === '#last=60'")
    idle(b)
    before = b.data("loads")
    b.wait(f"document.documentElement.dataset.loads > {before}")


@test(lambda: page_mock.plain(40000))
def busy(b, m):
    """never more than 100 %: samples are of the range whose length is known, and rounding is cut off"""
    enter(b, m, "&last=240")
    for path in "profile", "facets":
        q = [q for p, q in m.asked if p.endswith(path)][-1]
        assert "last" not in q and int(q["to"][0]) - int(q["from"][0]) == 240000, q
    text = b.eval("document.getElementById('busy-text').textContent")
    used, most, share = re.match(r"([\d.]+) of ([\d.]+) CPU-seconds busy \((\d+) %\)$", text).groups()
    assert float(used) == float(most) and share == "100", text


@test(lambda: page_mock.plain(6000))
def comparison(b, m):
    """two ranges compared: the base by mouse, the difference in tip and table"""
    enter(b, m, "&last=240")
    b.press("compare")
    b.wait("document.getElementById('legend').textContent.includes('more than in the base')")
    x, y, w = b.eval("(r => [r.left, r.top, r.width])(document.getElementById('timeline').getBoundingClientRect())")
    b.drag(x + w * .1, y + 30, x + w * .3, y + 30)
    idle(b)
    q = b.eval("location.hash")
    assert "base=" in q and "from=" in q, q
    b.eval("document.getElementById('canvas').focus()")
    b.key("Home")
    b.key("ArrowUp")
    tip = b.text("tip")
    assert "in the base:" in tip and "difference: " in tip, tip
    b.press("as-table")
    b.press("head-change")
    first = b.eval("document.querySelector('#table-body tr').children[5].textContent")
    assert first[0] in "+\u2212", first
    names = b.eval("[...document.querySelectorAll('#table-body th')].slice(0, 6).map(e => e.textContent)")
    assert any("runtime" in n or "jpeg" in n or "main." in n for n in names), names
    b.press("reverse")
    assert b.data("state") == "ok"
    b.press("compare")
    b.wait("!location.hash.includes('base=')")


@test(lambda: page_mock.plain(2000))
def downloads(b, m):
    """downloads ask for the range and the filters, in each format; too much is said"""
    enter(b, m, "&process=node&last=3600")
    for fmt, ending in (("pprof", ".pb.gz"), ("folded", ".folded"), ("html", ".html"), ("otlp", ".otlp"),
                        ("speedscope", ".speedscope.json"), ("firefox", ".firefox.json")):
        b.eval(f"document.querySelector('[data-format={fmt}]').click()")
        end = time.time() + 60
        while time.time() < end:
            # the name may be there before the contents are
            got = [f for f in os.listdir(b.downloads) if f.endswith(ending) and
                   os.path.getsize(os.path.join(b.downloads, f))]
            if got:
                break
            time.sleep(0.05)
        assert got, f"no {ending}: {os.listdir(b.downloads)}"
        with open(os.path.join(b.downloads, got[0]), encoding="utf-8") as f:
            q = json.load(f)
        assert q["format"] == [fmt] and q["process"] == ["node"] and "from" in q, q
    m.mode = "large"
    b.eval("document.querySelector('[data-format=html]').click()")
    b.wait("document.getElementById('notice').textContent.includes('choose a shorter range')")
    b.events = [e for e in b.events if e["method"] != "Log.entryAdded" or " 413 " not in str(e)]


@test(lambda: page_mock.plain(2000))
def lists_under_the_pointer(b, m):
    """filters keep their places while the pointer is on them: until it moves away, or leaves the page"""
    enter(b, m, "&last=3600")
    x, y = b.eval("(r => [r.left + 20, r.top + 20])(document.getElementById('facets').getBoundingClientRect())")
    there, every = f"!!{FACET % ('container', 'db')}", m.samples
    gone = "document.documentElement.dispatchEvent(new Event('pointerleave'))"
    for leave in (lambda: b.move(x + 400, y), lambda: b.eval(gone)):
        b.wait(there)
        b.move(x, y)
        m.samples = [s for s in every if s[5] != "db"]
        b.wait(f"document.documentElement.dataset.samples === '{len(m.samples)}'")
        idle(b)
        assert b.eval(there), "a filter is gone under the pointer"
        leave()
        assert not b.eval(there), "the lists are not let go"
        m.samples = every


@test(lambda: page_mock.hostile(4000))
def hostile_names(b, m):
    """names that are markup, bidirectional controls, 10,000 characters"""
    enter(b, m)
    for step in ("as-table", "head-name", "head-kind", "as-graph", "reverse", "flip", "compare"):
        b.press(step)
    idle(b)
    b.eval("document.getElementById('canvas').focus()")
    for key in ("Home", "ArrowDown", "ArrowDown", "ArrowRight", "Enter", "ArrowDown", "Enter"):
        b.key(key)
    b.eval("document.querySelector('button.facet').click()")
    idle(b)
    assert b.eval("document.images.length") == 0 and b.eval("document.scripts.length") == 1
    text = b.eval("document.body.textContent")
    assert "<b>host</b>" in text and "onerror" in text
    bad = [hex(ord(c)) for c in set(text) if c in "\u202e\u202c\u2066\u2069\u200b\0"]
    assert not bad, bad
    wide = b.eval("document.documentElement.scrollWidth > innerWidth")
    assert not wide, "a name makes the page wider than its window"


@test(lambda: [])
def nothing_there(b, m):
    """no samples yet; an idle machine, and a nearly idle one; no samples in this range"""
    b.open(m.url + "#key=" + m.key)
    b.wait(f"{EMPTY}.textContent.includes('No samples yet')")
    m.up_ms = 60000
    b.wait(f"{EMPTY}.textContent.includes('only running code is sampled')")
    m.samples = page_mock.plain(500)
    b.wait(ROWS)
    b.wait(f"{EMPTY}.hidden")
    b.open("about:blank")
    b.open(m.url + "#key=" + m.key + "&last=3600")
    b.wait(ROWS)
    # 500 samples in ten minutes at 19 Hz
    b.wait("document.getElementById('account').textContent.includes('Nearly idle: 0.04')")
    # 12.3 ms of two CPUs' minute
    b.wait("document.getElementById('account').textContent.includes('trifold itself takes 0.01 %')")
    enter(b, m, "&last=3600")
    b.eval("location.hash = '#process=nobody'")
    b.wait(f"!{EMPTY}.hidden && {EMPTY}.textContent.includes('filters')")
    assert "nobody" in b.text("facet-lists"), "a filter without samples cannot be let go of"


@test(lambda: page_mock.plain(2000))
def server_misbehaves(b, m):
    """errors, garbage, a server that ends and comes back: the picture stays"""
    enter(b, m, "&last=3600")
    rows = b.data("rows")
    for mode, says in (("500", "(500): <b>out of memory</b>"), ("garbage", "cannot show what")):
        m.mode = mode
        b.wait(f"document.getElementById('notice').textContent.includes('{says}')")
        assert b.data("rows") == rows
        m.mode = "ok"
        b.wait("document.getElementById('notice').hidden")
    port = m.port
    m.end()
    b.wait("document.getElementById('notice').textContent.includes('No answer from trifold')")
    assert b.data("rows") == rows and b.data("state") == "lost"
    b.again = Mock(m.samples, port=port)
    b.wait("document.getElementById('notice').hidden")
    b.again.key = "another"
    b.wait("document.documentElement.dataset.state === 'key'")
    b.again.end()
    b.events = [e for e in b.events if e["method"] != "Log.entryAdded"]


@test(lambda: page_mock.plain(500))
def policy(b, m):
    """the policy: no other server is asked, no text becomes markup"""
    enter(b, m)
    assert b.eval("fetch('http://127.0.0.1:1/').then(() => 'sent', e => String(e))") != "sent"
    assert "TypeError" in b.eval("try { document.body.innerHTML = '<p>'; 'set' } catch (e) { String(e) }")
    assert "EvalError" in b.eval("try { Function('1'); 'ran' } catch (e) { String(e) }")
    blocked = [e for e in b.events if "Content Security Policy" in str(e)]
    assert blocked, "the browser names no policy"
    b.events = []


@test(lambda: page_mock.plain(3000))
def news_keep_the_focus(b, m):
    """new samples leave the focus where it is, and what is said is of them"""
    enter(b, m)
    active = "(e => e.dataset.id || e.id)(document.activeElement)"
    b.press("as-table")
    for where in ("#table-body button", "#table-head button", "button.facet", "#crumbs button"):
        b.eval(f"document.querySelector('{where}').focus()")
        at = b.eval(active)
        idle(b)
        assert b.eval(active) == at and at, f"{where}: {at}, then {b.eval(active)}"
    b.press("as-graph")
    b.eval("document.getElementById('canvas').focus()")
    b.key("Home")
    old = b.text("tip")
    m.samples = m.samples[:1500]
    b.wait("document.documentElement.dataset.samples < 1000")
    assert b.text("tip") != old and b.data("samples") + " samples" in b.text("tip"), b.text("tip")


@test(lambda: page_mock.plain(1000))
def names_for_screen_readers(b, m):
    """what can be reached by key has a name that is read out"""
    enter(b, m)
    b.call("Accessibility.enable")
    nodes = b.call("Accessibility.getFullAXTree")["nodes"]
    seen = set()
    for n in nodes:
        role = n.get("role", {}).get("value")
        if n.get("ignored") or role not in ("button", "searchbox", "slider", "application", "dialog", "region"):
            continue
        seen.add(role)
        assert n.get("name", {}).get("value"), f"a {role} without a name"
    assert {"button", "searchbox", "slider", "application"} <= seen, seen
    b.call("Accessibility.disable")


@test(lambda: page_mock.plain(3000))
def functions(b, m):
    """tables, callers and callees, tooltip, menu"""
    m.still = True
    enter(b, m, "&last=3600")
    for part in page_functions.PARTS:
        part(b, page_functions.stacks_of(m.samples))


@test(lambda: page_mock.deep(20000))
def deep_stacks(b, m):
    """stacks deeper than a script may call itself: reversed, merged, filtered"""
    enter(b, m, "&last=3600")
    b.press("reverse")
    assert b.data("rows") == "20002", b.data("rows")
    b.press("reverse")
    b.press("as-table")
    b.eval("document.querySelector('#table-body .about').click()")
    b.wait("document.getElementById('crumbs').textContent.includes('callers above')")
    assert b.text("crumbs").startswith("Everything"), b.text("crumbs")


@test(lambda: page_mock.plain(3000))
def look(b, m):
    """order, colour, contrast in both themes, what Reset is of"""
    enter(b, m, "&last=3600")
    for part in page_look.PARTS:
        part(b, page_functions.stacks_of(m.samples))


@test(lambda: page_mock.plain(3000))
def lanes(b, m):
    """threads over time: asked for when shown, bounded; tip, keys, zoom, one thread, back, too much"""
    enter(b, m, "&last=600")
    assert not [p for p, _ in m.asked if p.endswith("lanes")], "asks for lanes that are not shown"
    b.press("as-lanes")
    b.wait("document.documentElement.dataset.lanes === '4'")
    q = [q for p, q in m.asked if p.endswith("lanes")][-1]
    assert int(q["bins"][0]) * int(q["limit"][0]) <= 100000 and int(q["to"][0]) - int(q["from"][0]) == 600000, q
    assert "lanes=1" in b.eval("location.hash")
    colours = b.eval("(c => new Set(new Uint32Array(c.getContext('2d').getImageData(c.width / 2, 0, 400, 60).data.buffer)).size)"
                     "(document.getElementById('lane-canvas'))")
    assert colours > 5, colours
    n = {}
    for s in m.samples:
        n[s[2]] = n.get(s[2], 0) + 1
    wide = sorted(n, key=lambda k: -n[k])
    x, y, w = b.eval("(r => [r.left, r.top, r.width])(document.getElementById('lane-canvas').getBoundingClientRect())")
    b.move(x + w * .7, y + 8)
    tip = b.text("tip")
    leaves = {s[6][-1][0] for s in m.samples if s[2] == wide[0]}
    assert tip.startswith(wide[0]) and any(leaf in tip for leaf in leaves), tip
    # with a box chosen in the graph, too, it stays when the picture is made anew
    b.eval("document.getElementById('canvas').focus()")
    b.key("ArrowUp")
    b.move(x + w * .7, y + 9)
    b.key("r")
    assert b.text("tip") == tip and b.eval("document.getElementById('tip').style.display") == "block", b.text("tip")
    b.key("r")
    b.eval("document.getElementById('lane-canvas').focus()")
    b.key("ArrowRight")
    b.key("ArrowDown")
    b.wait("document.getElementById('said').textContent.includes('thread 2 of 4')")
    idle(b)
    b.key("Enter")
    b.wait("location.hash.includes('tid=') && document.documentElement.dataset.lanes === '1'")
    second = b.eval("location.hash").split("tid=")[1].split("&")[0]
    assert {s[2] for s in m.samples if str(s[1]) == second} == {wide[1]}, (second, wide)
    b.eval("history.back()")
    b.wait("document.documentElement.dataset.lanes === '4'")
    b.drag(x + w * .25, y + 8, x + w * .5, y + 8)
    b.wait("location.hash.includes('from=')")
    length = b.eval("(p => p.get('to') - p.get('from'))(new URLSearchParams(location.hash.slice(1)))")
    assert abs(length - 150000) < 3000, length
    idle(b)
    m.mode = "large"
    b.press("as-lanes")
    b.press("as-lanes")
    b.wait("document.getElementById('lane-note').textContent.includes('choose a shorter range')")
    assert b.data("state") == "ok" and b.eval("document.getElementById('notice').hidden"), "too much is an error"
    m.mode = "ok"
    m.samples = [(s[0], 100 + i % 150, *s[2:]) for i, s in enumerate(m.samples)]
    b.press("as-lanes")
    b.press("as-lanes")
    b.wait("document.documentElement.dataset.lanes === '100'")
    assert " more threads, " in b.text("lane-note"), b.text("lane-note")
    b.events = [e for e in b.events if e["method"] != "Log.entryAdded" or " 413 " not in str(e)]


@test(lambda: page_mock.plain(400))
def first_seen(b, m):
    """boxes by time: asked for when chosen, reversed, about a function; in no comparison"""
    enter(b, m, "&last=3600")
    assert not [q for _, q in m.asked if "first" in q], "asks for times that are not wanted"
    for k in ("name", "time"):
        b.eval("document.getElementById('canvas').focus()")
        b.key("o")
        assert b.eval("document.getElementById('order').value") == k
    b.wait("location.hash.includes('order=time')")
    idle(b)
    assert [q for p, q in m.asked if p.endswith("profile")][-1].get("first") == ["1"]
    seen = sorted(m.samples)
    by_process = list(dict.fromkeys(s[2] for s in seen))
    assert [page_look.tip_at(b, x) for x in (0.001, 0.999)] == [by_process[0], by_process[-1]], by_process
    b.press("reverse")
    leaves = list(dict.fromkeys(s[6][-1][0] for s in seen))
    assert [page_look.tip_at(b, x) for x in (0.0005, 0.9995)] == [leaves[0], leaves[-1]], leaves
    b.press("reverse")
    page_functions.find_box(b, "/^exec_simple_query$/")
    b.key("c")
    called = list(dict.fromkeys(s[6][5][0] for s in seen if len(s[6]) > 5 and s[6][4][0] == "exec_simple_query"))
    b.frame()
    assert page_look.tip_at(b, 0.001, -1) == called[0], (page_look.tip_at(b, 0.001, -1), called)
    b.key("Escape")
    b.press("compare")
    b.wait("document.querySelector('#order [value=time]').hidden")
    assert b.eval("document.getElementById('order').value") == "width"
    b.press("compare")
    idle(b)
    assert b.eval("document.getElementById('order').value") == "time"
    since = float(b.eval("new URLSearchParams(location.hash.slice(1)).get('from')"))
    want = next(s[2] for s in seen if s[0] >= since)
    assert page_look.tip_at(b, 0.001) == want, (page_look.tip_at(b, 0.001), want)


@test(lambda: [(s[0], s[1], *(["", "", "", ""] if k % 2 else s[2:6]), s[6]) for k, s in enumerate(page_mock.plain(100))])
def nameless(b, m):
    """what has no name is called as `top` and docs/SUPPORT.md call it: filters, chips, lanes"""
    enter(b, m, "&last=3600&lanes=1")
    for key, word in (("process", "[unknown process]"), ("thread", "[unknown thread]"), ("container", "[host]"),
                      ("executable", "(none)")):
        assert b.eval(FACET % (key, "") + ".querySelector('.label').textContent") == word, key
    b.eval(FACET % ("thread", "") + ".click()")
    b.wait("document.getElementById('chips').textContent.includes('Thread: [unknown thread]')")
    b.wait("document.documentElement.dataset.lanes > 0")
    b.eval("document.getElementById('lane-canvas').focus()")
    b.key("ArrowDown")
    b.wait("document.getElementById('said').textContent.includes('[unknown process] 1')", 5)


@test(lambda: page_mock.plain(300))
def saturated(b, m):
    """bars that are as high as the time line leave its labels readable, in both themes"""
    info, timeline = m.info, m.timeline
    m.timeline = lambda q: {**(line := timeline(q)), "counts": [int(19 * 2 * line["bin_ms"] / 1000) + 1] * int(q["bins"][0])}
    m.info = lambda q: {**info(q), "coarse_ms": int(time.time() * 1000 - 30e3)}
    for theme in ("light", "dark"):
        b.scheme(theme)
        enter(b, m, "&last=60")
        idle(b)
        assert page_look.labels(b).items() >= {("2 CPUs", True), ("0; times less exact", True)}, page_look.labels(b)
        b.press("compare")
        b.wait("document.getElementById('legend').textContent.includes('more than in the base')")
        assert {"base", "range", "2 CPUs"} <= set(page_look.labels(b)), page_look.labels(b)
    b.scheme("light")


@test(lambda: page_mock.many(20000))
def many_stacks(b, m):
    """20,000 distinct stacks stay smooth"""
    m.still = True
    enter(b, m, "&last=3600")
    own, gap = b.redraw_ms()
    print(f"# {b.data('rows')} rows: {b.data('loadMs')} ms to load, {own:.1f} ms to draw, "
          f"{gap:.1f} ms from frame to frame (medians)")
    start = time.time()
    b.type("query", "/function_4.*1/")
    print(f"# a search: {1000 * (time.time() - start):.0f} ms")
    assert b.text("matched").startswith("matched"), b.text("matched")
    b.press("reverse")
    print(f"# reversed: {b.data('reverseMs')} ms, {b.data('rows')} rows")
    own, gap = b.redraw_ms()
    print(f"# {own:.1f} ms to draw them, {gap:.1f} from frame to frame")


def one(chromium, number, what):
    fn, samples = what
    start = time.time()
    m = Mock(samples())
    with tempfile.TemporaryDirectory() as downloads:
        with STARTING:
            b = Browser(chromium, "1200,700", downloads)
        b.downloads = downloads
        try:
            fn(b, m)
            bad = [c for c in b.complaints(lambda u: u.startswith((m.url, "blob:", "about:")))
                   if " 401 " not in c and " 500 " not in c]
            assert not bad, bad
            print(f"ok {number} - {fn.__doc__} ({time.time() - start:.1f} s)", flush=True)
            return True
        except AssertionError as e:
            print(f"# {e}".replace("\n", "\n# "))
            try:
                print(f"# {b.eval('location.href')} {b.text('notice')}")
                if "SHOT" in os.environ:
                    b.shot(os.environ["SHOT"])
            except AssertionError:
                pass
            print(f"not ok {number} - {fn.__doc__}", flush=True)
            return False
        finally:
            b.end()
            m.end()


def main():
    chromium = find()
    if not chromium:
        print("ok 1 - the live page in a browser # SKIP needs chromium\n1..1")
        return 0
    os.environ.setdefault("O", "build")
    subprocess.run(["make", "-s", "O=" + os.environ["O"], os.environ["O"] + "/viewer/live.html"],
                   cwd=ROOT, check=True)
    some = [t for t in TESTS if len(sys.argv) < 2 or t[0].__name__ in sys.argv[1:]]
    # they wait more than they work; what is timed comes last, alone
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        good = list(pool.map(lambda t: one(chromium, *t), enumerate(some[:-1], 1)))
    good.append(one(chromium, len(some), some[-1]))
    print(f"1..{len(some)}")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
