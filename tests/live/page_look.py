# SPDX-License-Identifier: Apache-2.0
"""page_look - order, colour and contrast of the page, as page_functions.py

Contrast is that of WCAG 2.1: 4.5 to 1 for text, 3 to 1 for the ring of focus.
"""
from page_functions import find_box

# of every element with text of its own: its contrast with what is behind it
TEXTS = """(() => {
const parse = (s) => s.match(/[0-9.]+/g).map(Number);
const lum = (c) => { const [r, g, b] = c.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const ratio = (a, b) => { const [x, y] = [lum(a), lum(b)]; return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05); };
const behind = (e) => { for (; e; e = e.parentElement) { const c = parse(getComputedStyle(e).backgroundColor);
	if (c.length < 4 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
const out = []; let n = 0;
for (const e of document.querySelectorAll('body *')) {
	const text = [...e.childNodes].some(c => c.nodeType === 3 && c.data.trim());
	if (!text || !e.getClientRects().length || e.closest('[hidden], .unseen')) continue;
	const style = getComputedStyle(e), backs = [behind(e)], bar = style.backgroundImage.match(/rgb[^)]*\\)/) ||
		getComputedStyle(e.parentElement).backgroundImage.match(/rgb[^)]*\\)/);
	if (bar) backs.push(parse(bar[0]).slice(0, 3));
	n++;
	for (const back of backs) { const r = ratio(parse(style.color).slice(0, 3), back);
		if (r < 4.5) out.push(`${e.tagName} ${e.id} ${e.className} ${e.textContent.slice(0, 30)}: ${r.toFixed(2)}`); }
}
const css = getComputedStyle(document.documentElement), hex = (s) => [1, 3, 5].map(k => parseInt(s.trim().substr(k, 2), 16));
for (const v of ['--bg', '--panel', '--on']) { const r = ratio(hex(css.getPropertyValue('--focus')), hex(css.getPropertyValue(v)));
	if (r < 3) out.push(`the ring of focus on ${v}: ${r.toFixed(2)}`); }
return [n, out]; })()"""

# of every wide box of the canvas: the contrast of its text, from the pixels
BOXES = """(() => {
const lum = (r, g, b) => { [r, g, b] = [r, g, b].map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const c = document.getElementById('canvas'), w = c.width, h = c.height, d = c.getContext('2d').getImageData(0, 0, w, h).data;
const at = (x, y) => (y * w + x) * 4, same = (a, b) => d[a] === d[b] && d[a + 1] === d[b + 1] && d[a + 2] === d[b + 2];
const first = ((%d - document.getElementById('view').scrollTop) %% 18 + 18) %% 18, out = []; let boxes = 0; const fills = new Set();
for (let y = first; y + 17 < h; y += 18) {
	for (let x = 0; x < w; ) {
		let to = x;
		while (to < w && same(at(x, y), at(to, y))) to++;
		const p = at(x, y + 1);
		if (to - x > 60 && d[p + 3] === 255) {
			const fill = lum(d[p], d[p + 1], d[p + 2]); let best = 1;
			for (let yy = y + 1; yy < y + 16; yy++) for (let xx = x + 1; xx < to - 1; xx++) {
				const q = at(xx, yy), l = lum(d[q], d[q + 1], d[q + 2]);
				best = Math.max(best, (Math.max(l, fill) + 0.05) / (Math.min(l, fill) + 0.05)); }
			boxes++; fills.add([d[p], d[p + 1], d[p + 2]].join());
			if (best < 4.5) out.push(`${[d[p], d[p + 1], d[p + 2]]} at ${x},${y}: ${best.toFixed(2)}`);
		}
		x = to;
	}
}
return [boxes, out, [...fills]]; })()"""


# of each text of the time line: [text, contrast with its background, is a bar or a grid line behind it, is one beside it]
LABELS = """(() => {
const c = document.getElementById('timeline'), ctx = c.getContext('2d'), texts = [], r = devicePixelRatio;
ctx.fillText = function (text, x, y, most = Infinity) { const w = Math.min(most, ctx.measureText(text).width);
	texts.push([text, x, ctx.textBaseline === 'middle' ? y - 6 : y - 12, w, ctx.fillStyle]); CanvasRenderingContext2D.prototype.fillText.call(ctx, text, x, y, most); };
dispatchEvent(new Event('theme'));
delete ctx.fillText;
const lum = (p) => { const [r, g, b] = p.map(v => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
	return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
const rgb = (s) => [1, 3, 5].map(k => parseInt(s.substr(k, 2), 16));
const hex = (s) => rgb(getComputedStyle(document.documentElement).getPropertyValue(s).trim());
const bg = hex('--bg'), back = lum(bg), count = hex('--count').join(), line = hex('--line').join();
const pixels = (x, y, w, h) => { const d = ctx.getImageData(x * r, y * r, w * r, h * r).data, out = [];
	for (let i = 0; i < d.length; i += 4) out.push(bg.map((v, k) => Math.round(v + (d[i + k] - v) * d[i + 3] / 255))); return out; };
const ratio = (a, b) => (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
const behind = (v) => v.some(p => p.join() === count || p.join() === line);
return texts.map(([text, x, y, w, colour]) => {
	const inside = pixels(x, y, w, 12), seen = Math.max(...inside.map(p => ratio(lum(p), back)));
	return [text, seen > 2 ? ratio(lum(rgb(colour)), back) : 0, behind(inside), behind(pixels(x + w + 6, y, 60, 12))]; });
})()"""


def luminance(rgb):
    r, g, b = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in (c / 255 for c in rgb)]
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def ratio(a, b):
    x, y = sorted((luminance(a), luminance(b)))
    return (y + 0.05) / (x + 0.05)


def good_contrast(b, what):
    n, bad = b.eval(TEXTS)
    assert n > 15 and not bad, (what, n, bad)


def boxes(b, what):
    """The fills of the boxes; their text is readable."""
    b.move(2, 2)
    n, bad, fills = b.eval(BOXES % int(b.data("rootTop")))
    assert n > 5 and not bad, (what, n, bad)
    return [tuple(map(int, f.split(","))) for f in fills]


def labels(b):
    """What stands in the time line, each with contrast and nothing behind it; which have a bar beside them."""
    out = {}
    for text, best, covered, beside in b.eval(LABELS):
        assert best >= 4.5 and not covered, (b.data("theme"), text, best, covered)
        out[text] = beside
    return out


def choose_option(b, element, value):
    b.eval(f"{{ const e = document.getElementById('{element}'); e.value = '{value}'; e.dispatchEvent(new Event('change')); }}")
    b.frame()


def contrast(b, _):
    """Contrast of text, boxes and the ring of focus is WCAG AA in both themes."""
    for theme in ("light", "dark"):
        b.scheme(theme)
        assert b.data("theme") == theme
        back = b.eval("getComputedStyle(document.documentElement).getPropertyValue('--bg')").strip()
        back = tuple(int(back[k:k + 2], 16) for k in (1, 3, 5))
        good_contrast(b, theme)
        for colour in ("library", "process", "kind"):
            choose_option(b, "colour", colour)
            boxes(b, (theme, colour))
            good_contrast(b, (theme, colour))
        b.type("query", "libc")
        faded = boxes(b, (theme, "search"))
        if theme == "dark":
            assert all(ratio(f, back) >= 3 for f in faded), [(f, ratio(f, back)) for f in faded]
        good_contrast(b, (theme, "search"))
        b.key("Escape")
        # the ring: one of its colours has contrast with each box, and they with each other
        ring = [(0, 0, 0), (0xff, 0xd8, 0x66)] if theme == "dark" else [(255, 255, 255), (0x0b, 0x3f, 0xbf)]
        assert ratio(*ring) >= 3 and ratio(ring[1], back) >= 3
        for fill in boxes(b, (theme, "all")):
            assert max(ratio(fill, r) for r in ring) >= 3, fill
        find_box(b, "/^ExecSeqScan$/")
        b.type("query", "")
        b.eval("document.getElementById('canvas').focus()")
        b.frame()
        seen = b.eval("(c => { const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, n = {};"
                      "for (let i = 0; i < d.length; i += 4) { const k = [d[i], d[i + 1], d[i + 2]]; n[k] = (n[k] || 0) + 1; }"
                      "return n; })(document.getElementById('canvas'))")
        wide = seen.get(",".join(map(str, ring[1])), 0)
        assert wide > 3 * 2 * 17, f"a ring of {wide} pixels"
        b.press("as-table")
        good_contrast(b, (theme, "table"))
        b.press("as-graph")
        b.eval("document.getElementById('canvas').focus()")
        b.key("ContextMenu")
        good_contrast(b, (theme, "menu"))
        b.key("Escape")
        b.key("Escape")
    b.scheme("light")


def tip_at(b, fraction, level=1):
    """The name of the box at this part of the width, so many levels above the root, without marks."""
    x, y, w, scroll = b.eval("(r => [r.left, r.top, r.width, document.getElementById('view').scrollTop])"
                             "(document.getElementById('canvas').getBoundingClientRect())")
    b.move(x + w * fraction, y + int(b.data("rootTop")) - scroll - 18 * level + 9)
    return b.eval("document.querySelector('#tip b').textContent").replace(" (inlined)", "")


def order(b, stacks):
    """Boxes are sorted by width or by name, reversed, too; the address keeps it."""
    n = {}
    for s in stacks:
        n[s[0]] = n.get(s[0], 0) + 1
    wide = sorted(n, key=lambda k: -n[k])
    assert tip_at(b, 0.01) == wide[0] and tip_at(b, 0.99) == wide[-1], tip_at(b, 0.01)
    choose_option(b, "order", "name")
    assert tip_at(b, 0.01) == min(n) and tip_at(b, 0.99) == max(n), tip_at(b, 0.01)
    assert "order=name" in b.eval("location.hash")
    choose_option(b, "order", "width")
    leaves = {}
    for s in stacks:
        key = (s[1][-1], s[2][-1])
        leaves[key] = leaves.get(key, 0) + 1
    b.press("reverse")
    assert tip_at(b, 0.001) == max(leaves, key=leaves.get)[0], tip_at(b, 0.001)
    b.press("reverse")


def reset(b, _):
    """The button says what it resets."""
    assert b.text("reset") == "Reset zoom", b.text("reset")
    assert b.eval("document.getElementById('reset').getAttribute('aria-disabled')") == "true"
    find_box(b, "/^ExecSeqScan$/")
    assert b.text("reset") == "Reset search", b.text("reset")
    b.key("Enter")
    assert b.text("reset") == "Reset zoom and search", b.text("reset")
    b.key("c")
    assert b.text("reset") == "Reset callers", b.text("reset")
    b.press("reset")
    assert b.text("reset") == "Reset zoom" and b.text("crumbs").startswith("all")


def colours(b, _):
    """A module's and a process's colour comes from its name alone."""
    def legend():
        return dict(b.eval("[...document.querySelectorAll('#legend span')].map(s => [s.textContent, s.firstChild.style.background])"))
    choose_option(b, "colour", "library")
    whole = legend()
    assert {"postgres", "libc.so.6", "node"} <= set(whole) and len(set(whole.values())) > 4, whole
    fills = boxes(b, "library")
    for name in ("postgres", "node"):
        want = tuple(int(v) for v in whole[name][4:-1].split(","))
        assert want in fills, (name, want, fills)
    # of another profile, in which there is less, they are the same
    b.eval("[...document.querySelectorAll('button.facet')].find(e => e.dataset.value === 'postgres').click()")
    b.wait("document.documentElement.dataset.samples < 2000")
    b.frame()
    choose_option(b, "colour", "library")
    part = legend()
    assert "node" not in part and all(whole[k] == v for k, v in part.items() if k in whole), (whole, part)
    b.eval("document.querySelector('.chip').click()")
    choose_option(b, "colour", "process")
    b.wait("document.getElementById('legend').textContent.includes('nginx')")
    assert "colour=process" in b.eval("location.hash")
    choose_option(b, "colour", "kind")


PARTS = [contrast, order, colours, reset]
