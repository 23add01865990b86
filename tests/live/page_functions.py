# SPDX-License-Identifier: Apache-2.0
"""page_functions - the tables, callers and callees, for both kinds of page

Each function takes a Browser that shows a page of page_mock.plain() and the
stacks that it shows: [(process, [function ...])], one for each sample.
"""
import re

NAME = "[...document.querySelectorAll('#table-body tr')].find(r => r.querySelector('.name').textContent === '%s')"


def stacks_of(samples):
    return [(s[2], [f[0] for f in s[6]], [f[1] for f in s[6]]) for s in samples]


def table(b, lists):
    b.press("as-table")
    b.eval(f"document.querySelector('[data-list={lists}]').click()")
    b.frame()
    return {r[0]: r for r in b.eval(
        "[...document.querySelectorAll('#table-body tr')].map(r => [...r.children].map(c => c.textContent))")}


def numbers(row, *columns):
    return [int(row[c].replace(",", "")) for c in columns]


def tables(b, stacks):
    """Self, total and stacks of functions, modules and processes are those of the samples."""
    got = table(b, "functions")
    for name in ("ExecutorRun", "uv_run", "__memmove_avx_unaligned"):
        want = [sum(s[1][-1] == name for s in stacks), sum(name in s[1] for s in stacks),
                len({(s[0], *s[1]) for s in stacks if name in s[1]})]
        assert numbers(got[name], 1, 3, 5) == want, (got[name], want)
    got = table(b, "modules")
    want = [sum(s[2][-1] == "libc.so.6" for s in stacks), sum("libc.so.6" in s[2] for s in stacks)]
    assert numbers(got["libc.so.6"], 1, 3) == want, (got["libc.so.6"], want)
    got = table(b, "processes")
    assert set(got) == {s[0] for s in stacks}, got
    for name, row in got.items():
        assert numbers(row, 3) == [sum(s[0] == name for s in stacks)], row
    assert "list=processes" in b.eval("location.hash")
    b.press("head-count")
    table(b, "functions")
    count = [int(n) for n in b.eval("[...document.querySelectorAll('#table-body tr')].map(r => r.children[5].textContent)")]
    assert count == sorted(count, reverse=True) and count[0] > count[-1], count
    b.press("head-self")
    b.press("as-graph")


def said(b, text):
    b.wait(f"document.getElementById('said').textContent.includes({text!r})", 10)


def sandwich(b, stacks):
    """Callers above, callees below, by the table, by a box and by a key; and the way back."""
    total = sum("ExecutorRun" in s[1] for s in stacks)
    table(b, "functions")
    b.eval(NAME % "ExecutorRun" + ".querySelector('.about').click()")
    b.frame()
    assert f"{total:,} samples" in b.text("crumbs") and "callers above" in b.text("crumbs"), b.text("crumbs")
    assert "about=" in b.eval("location.hash")
    caller = {}
    for s in stacks:
        for f, by in zip(s[1][1:], s[1]):
            if f == "ExecutorRun":
                caller[by] = caller.get(by, 0) + 1
    caller, n = max(caller.items(), key=lambda c: c[1])
    for name in (caller, "exec_simple_query", "PostgresMain"):
        b.key("ArrowUp")
        assert b.text("tip").startswith(name) and f"{n:,} sample" in b.text("tip"), (name, n, b.text("tip"))
    for _ in range(3):
        b.key("ArrowDown")
    assert b.text("tip").startswith("ExecutorRun"), b.text("tip")
    b.key("ArrowDown")
    n = sum("ExecutorRun ExecSeqScan" in " ".join(s[1]) for s in stacks)
    assert b.text("tip").startswith("ExecSeqScan") and f"{n:,} samples" in b.text("tip"), b.text("tip")
    # the box above the function, by the mouse
    x, y, w, scroll = b.eval("(r => [r.left, r.top, r.width, document.getElementById('view').scrollTop])"
                             "(document.getElementById('canvas').getBoundingClientRect())")
    level = int(b.data("rootTop"))
    b.move(x + 20, y + level - scroll - 9)
    assert b.text("tip").startswith(caller), b.text("tip")
    b.move(x + 20, y + level - scroll + 27)
    assert b.text("tip").startswith("ExecSeqScan"), b.text("tip")
    b.key("Escape")
    assert "about=" not in b.eval("location.hash") and b.text("crumbs").startswith("all"), b.text("crumbs")
    # a box, with Shift
    b.type("query", "/^ExecSort$/")
    b.key("Enter")
    b.eval("document.getElementById('canvas').focus()")
    b.key("c")
    n = sum("ExecSort" in s[1] for s in stacks)
    assert re.match(rf"EverythingExecSort *{n:,} samples", b.text("crumbs").replace(" \u203a ", "")), b.text("crumbs")
    b.eval("document.querySelector('#crumbs button').click()")
    b.frame()
    assert b.text("crumbs").startswith("all"), b.text("crumbs")
    b.key("Escape")
    # what calls itself counts once, and names that are not there say so
    where = b.eval("location.hash")
    b.eval(f"location.hash = '{where or '#'}&about=zzzz'")
    b.frame()
    assert b.text("crumbs").startswith("all"), b.text("crumbs")
    b.key("Escape")


def find_box(b, expression):
    """The cursor goes to the first box with this name."""
    b.type("query", expression)
    b.key("Enter")
    b.eval("document.getElementById('canvas').focus()")


def choose(b, text):
    """An item of the open menu, by the keys alone."""
    for _ in range(12):
        if b.eval("document.activeElement.textContent").startswith(text):
            b.key("Enter")
            return
        b.key("ArrowDown")
    raise AssertionError(f"no item {text}: {b.text('menu')}")


def tooltip(b, stacks):
    """The tooltip has the full name, whether it is inlined, file and line, module, samples, CPU time and share."""
    n = sum("main.encode" in s[1] for s in stacks)
    find_box(b, "/^main.encode$/")
    tip = b.text("tip")
    share = f"{100 * n / len(stacks):.2f} %"
    for part in ("main.encode (inlined)", "/src/main.go:111", "worker (Go)", f"{n:,} samples, {n / 19:.2f} s of CPU time, {share}", "self: "):
        assert part in tip, (part, tip)
    find_box(b, "/^ExecutorRun$/")
    for key in ("reverse", "reverse"):
        b.press(key)
        find_box(b, "/^main.encode$/")
        assert b.text("tip").startswith("main.encode (inlined)"), b.text("tip")
    find_box(b, "/^ExecutorRun$/")
    assert b.text("tip").startswith("ExecutorRun(QueryDesc *, ScanDirection)"), b.text("tip")
    assert "inlined" not in b.text("tip"), b.text("tip")
    b.press("as-table")
    b.type("query", "/^main.encode$/")
    where = b.eval("document.querySelector('#table-body tr').lastChild.textContent")
    assert where.startswith("main.go:111"), where
    head = b.eval("document.querySelector('#table-body th').textContent")
    assert head == "main.encode (inlined)", head
    b.press("as-graph")
    b.key("Escape")


def context_menu(b, stacks):
    """The menu by mouse and keys: focus, hide, leave out, search, callers, fold, copies."""
    b.eval("navigator.clipboard.writeText = t => { window.got = t; return Promise.resolve(); }")
    everything = b.data("samples")
    find_box(b, "/^ExecutorRun$/")
    b.key("ContextMenu")
    assert b.eval("document.activeElement.getAttribute('role')") == "menuitem", "the focus is not in the menu"
    b.key("End")
    assert b.eval("document.activeElement.textContent") == "Copy stack"
    b.key("Enter")
    assert b.eval("document.activeElement.id") == "canvas", "the focus does not come back"
    got = b.eval("window.got").splitlines()
    assert got[0] == "ExecutorRun (postgres)" and got[-1].startswith("postgres"), got
    b.key("F10", shift=True)
    choose(b, "Copy name")
    assert b.eval("window.got") == "ExecutorRun(QueryDesc *, ScanDirection)"
    b.key("ContextMenu")
    b.key("Escape")
    assert b.eval("document.getElementById('menu').hidden") and b.text("matched"), "Escape does more than to close"
    b.key("ContextMenu")
    choose(b, "Focus")
    n = sum("ExecutorRun" in s[1] for s in stacks)
    assert b.data("samples") == str(n), (b.data("samples"), n)
    assert "Only with: ExecutorRun" in b.text("chips") and "focus=" in b.eval("location.hash")
    where = b.eval("location.hash")
    b.eval("document.querySelector('.chip').click()")
    b.frame()
    assert b.data("samples") == everything
    b.eval(f"location.hash = '{where}'")
    b.wait(f"document.documentElement.dataset.samples === '{n}'", 20)
    b.eval("document.querySelector('.chip').click()")
    find_box(b, "/^ExecutorRun$/")
    b.key("ContextMenu")
    choose(b, "Leave out")
    assert b.data("samples") == str(len(stacks) - n), (b.data("samples"), len(stacks), n, b.text("chips"))
    b.eval("document.querySelector('.chip').click()")
    find_box(b, "/^ExecutorRun$/")
    b.key("ContextMenu")
    choose(b, "Hide")
    assert b.data("samples") == everything and b.text("matched").startswith("matched 0.00"), b.text("matched")
    b.eval("document.querySelector('.chip').click()")
    find_box(b, "/^uv_run$/")
    b.key("ContextMenu")
    choose(b, "Fold node")
    b.key("Escape")
    rows = table(b, "functions")
    want = sum("node" in s[2] for s in stacks)
    assert "uv_run" not in rows and numbers(rows["node"], 3) == [want], rows.get("node")
    b.press("as-graph")
    b.eval("document.querySelector('.chip').click()")
    b.frame()
    # of the table, by the mouse, with the page's other ways to an item
    b.press("as-table")
    b.eval(NAME % "ExecutorRun" + ".scrollIntoView({ block: 'center' })")
    b.frame()
    x, y = b.eval("(r => [r.left + 5, r.top + 5])(" + NAME % "ExecutorRun" + ".querySelector('.name').getBoundingClientRect())")
    for kind in ("mousePressed", "mouseReleased"):
        b.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="right", buttons=2, clickCount=1)
    b.frame()
    b.key("s")
    assert b.eval("document.activeElement.textContent") == "Search for this"
    b.key("Home")
    b.key("Enter")
    assert b.text("crumbs").startswith("Everything") and f"{n:,} samples" in b.text("crumbs"), b.text("crumbs")
    b.key("Escape")


def nothing_left(b, _):
    """What leaves nothing says how to take it back; a key with nothing chosen, and a copy that is refused."""
    b.type("query", "ExecutorRun")
    b.eval("document.activeElement.blur()")
    b.key("c")
    assert "ExecutorRun" in b.eval("location.hash") and b.text("matched"), "the key has ended the search"
    b.eval("navigator.clipboard.writeText = () => Promise.reject(); document.execCommand = () => false")
    find_box(b, "/^ExecutorRun$/")
    b.key("ContextMenu")
    choose(b, "Copy name")
    said(b, "does not let this page copy the name")
    for item in ("Focus", "Leave out"):
        find_box(b, "/^ExecutorRun$/")
        b.key("ContextMenu")
        choose(b, item)
        b.frame()
    assert not b.eval("document.getElementById('empty').hidden") and "take a choice back" in b.text("empty")
    b.eval("[...document.querySelectorAll('#chips button')].find(c => c.textContent === 'Remove all').click()")
    b.wait("document.getElementById('empty').hidden", 20)	# the live page asks anew
    b.key("Escape")


PARTS = [tables, sandwich, tooltip, context_menu, nothing_left]
