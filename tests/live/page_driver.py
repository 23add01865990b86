#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
#
# Clicks, searches and presses keys in a page of tests/live/test_page.c and
# looks at what the page then says: page_driver.py CHROMIUM PAGE SAMPLES [PNG]
# Fails with a line for each thing wrong.

import os
import sys
import time

from browser import Browser

BOX = "document.getElementById('canvas').getBoundingClientRect()"


def look(b, page, samples, expect):
    start = time.time()
    b.open("file://" + os.path.abspath(page))
    took = time.time() - start
    print(f"# loaded and drawn in {took:.2f} s, {b.data('loadMs')} ms in the page, {b.data('rows')} rows")
    expect(took < 20, f"takes {took:.1f} s to load")
    expect(b.data("samples") == samples, "shows other samples than there are")
    expect(b.eval("document.images.length") == 0, "has an image")
    expect(b.eval("document.scripts.length") == 2, "has another script")
    expect("<b>host</b>" in b.text("about"), "lacks the host's name")
    expect("difference 0" in b.text("account"), "lacks the account")


def use_mouse(b, expect):
    x = b.eval(BOX + ".left") + 30
    y = b.eval(BOX + ".bottom") - 27          # the line above "all": processes
    b.move(x, y)
    tip = b.text("tip")
    expect("</script><img" in tip and "samples" in tip, "tip says " + tip)
    b.click(x, y)
    crumbs = b.text("crumbs")
    expect("all" in crumbs and "</script><img" in crumbs, "crumbs say " + crumbs)
    where = b.eval("location.hash")
    expect("z=" in where, "forgets where it is")
    b.key("Escape")
    expect("100.00 %" in b.text("crumbs"), "Escape does not reset")
    b.eval(f"location.hash = '{where}'")
    b.frame()
    expect(b.text("crumbs") == crumbs, "does not go by its address")
    b.key("Escape")


def use_search(b, expect):
    b.key("/")
    expect(b.eval("document.activeElement.id") == "query", "/ does not search")
    b.call("Input.insertText", text="gcc")
    b.frame()
    expect(b.text("matched").startswith("matched "), "does not search")
    expect("matched 0.00" not in b.text("matched"), "does not find gcc")
    b.key("Enter")
    expect(b.text("tip").startswith("gcc"), "Enter goes to " + b.text("tip"))
    b.type("query", "/^(gcc|java|postgres)$/")
    expect("matched 0.00" not in b.text("matched"), "finds no expression")
    expect(", 3 places" in b.text("matched"), "finds " + b.text("matched"))
    b.type("query", "/(/")
    expect("not a regular" in b.text("matched"), "takes a bad expression")
    expect(b.eval("document.getElementById('query').getAttribute('aria-invalid')") == "true",
           "says to nobody that the expression is bad")
    b.key("Escape")
    expect(b.text("matched") == "", "Escape does not end the search")


def use_keys(b, expect):
    b.eval("document.getElementById('canvas').focus()")
    b.key("Home")
    b.key("ArrowUp")                 # the widest process
    first = b.wait("document.getElementById('said').textContent")
    time.sleep(0.1)
    said = b.text("said")
    expect("Level 1" in said and " of 7" in said, f"says {said} after {first}")
    b.key("ArrowLeft")
    b.key("ArrowUp")
    time.sleep(0.1)
    expect("Level 2" in b.text("said"), "arrow up says " + b.text("said"))
    b.key("Enter")
    expect(b.text("crumbs").count("\u203a") == 2, "Enter zooms to " + b.text("crumbs"))
    b.key("ArrowDown")
    b.key("Enter")
    expect(b.text("crumbs").count("\u203a") == 1, "the way back is " + b.text("crumbs"))
    b.key("?")
    expect(b.eval("document.getElementById('keys').open"), "? shows no keys")
    b.key("Escape")
    expect(not b.eval("document.getElementById('keys').open"), "Escape closes no list")
    b.key("Escape")
    for name in ("flip", "theme", "flip", "theme"):
        b.press(name)


def use_reversed(b, samples, expect):
    b.press("reverse")
    print(f"# reversed in {b.data('reverseMs')} ms, {b.data('rows')} rows")
    expect(b.data("samples") == samples, "loses samples when reversed")
    expect("reversed=1" in b.eval("location.hash"), "forgets that it is reversed")
    b.press("reverse")


def rows_of(b):
    return b.eval("[...document.querySelectorAll('#table-body tr')].map(r => "
                  "[...r.children].map(c => c.textContent))")


def use_table(b, samples, expect):
    b.press("as-table")
    rows = rows_of(b)
    number = [int(r[1].replace(",", "")) for r in rows]
    expect(len(rows) > 20 and number == sorted(number, reverse=True), "table is not sorted")
    b.press("head-total")
    rows = rows_of(b)
    number = [int(r[3].replace(",", "")) for r in rows]
    expect(number == sorted(number, reverse=True), "table is not sorted by total")
    expect(b.eval("document.querySelectorAll('[aria-sort=descending]').length") == 1,
           "does not say how the table is sorted")
    b.type("query", "/^gcc$/")
    rows = rows_of(b)
    expect(len(rows) == 1 and rows[0][0] == "gcc", f"table filters to {rows}")
    total = int(rows[0][3].replace(",", ""))
    b.eval("document.querySelector('#table-body button').click()")
    b.frame()
    expect(f"{total:,} samples" in b.text("tip"), "table leads to " + b.text("tip"))
    expect(not b.eval("document.getElementById('view').hidden"), "table leads nowhere")
    b.key("Escape")
    expect(int(samples) > total > 0, f"gcc has {total}")


def use_facets(b, samples, expect):
    find = ("[...document.querySelectorAll('button.facet')]"
            ".find(e => e.dataset.value === '%s')")
    n = int(b.eval(find % "gcc" + ".lastChild.textContent").replace(",", ""))
    b.eval(find % "gcc" + ".click()")
    b.frame()
    expect(b.data("samples") == str(n), f"filter leaves {b.data('samples')}, not {n}")
    expect("gcc" in b.text("chips"), "chips say " + b.text("chips"))
    expect("process=gcc" in b.eval("location.hash"), "forgets its filters")
    b.eval(find % "java" + ".click()")
    b.frame()
    two = int(b.data("samples"))
    expect(two > n, "a second process adds nothing")
    b.eval(find % "unknown" + ".click()")
    b.frame()
    expect(0 < int(b.data("samples")) <= two, "kind of frame filters nothing")
    b.press("as-table")
    kinds = {r[-1].rsplit("(", 1)[1] for r in rows_of(b)}
    expect(kinds <= {"process)", "no file)", "frames missing)"}, f"keeps frames of {kinds}")
    b.press("as-graph")
    b.eval("[...document.querySelectorAll('.chip')].pop().click()")
    b.frame()
    expect(b.data("samples") == samples, "filters are not removed")


def main():
    chromium, page, samples = sys.argv[1:4]
    failed = []

    def expect(ok, what):
        if not ok:
            failed.append(what)
            print("# the page " + what)

    b = Browser(chromium)
    try:
        look(b, page, samples, expect)
        use_mouse(b, expect)
        use_search(b, expect)
        use_keys(b, expect)
        use_reversed(b, samples, expect)
        use_table(b, samples, expect)
        use_facets(b, samples, expect)
        own, gap = b.redraw_ms()
        print(f"# {own:.1f} ms to draw, {gap:.1f} ms from frame to frame (medians)")
        # not its speed (docs/BENCHMARKS.md), which a busy machine decides:
        # that not every box of the profile is drawn each time
        expect(own < 300, f"takes {own:.0f} ms to draw")
        for c in b.complaints(lambda url: url.startswith("file://") and
                              url.split("#")[0].endswith(os.path.basename(page))):
            expect(False, c)
        if len(sys.argv) > 4:
            b.shot(sys.argv[4])
    finally:
        b.end()
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
