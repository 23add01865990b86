/* SPDX-License-Identifier: Apache-2.0 */
/* graph - draws the tree as a flame graph */

const ROW = 18;				/* px, height of a box */
const THIN = 0.4;			/* px, narrower boxes are not drawn */
const WIDE = 3;				/* px, narrower boxes are drawn as pixels, which is faster */
const SHADES = 16, STEPS = 24;

const canvas = $("canvas"), ctx = canvas.getContext("2d");
const view = $("view"), space = $("space");
let matched = new Uint8Array(0);	/* by label */
let hover = -1, dark = false;
let width = 0, height = 0, pending = false, charWidth = 7;
let palette = [], changes = [], found = null;
let image = null, pixels = null;	/* the narrow boxes; as large as the canvas */
let below = 0;				/* px below the visible part, after the last scroll */
let ratio = 1, across = 0, down = 0;

/* A colour for the canvas and for a pixel.  hue: 0 to 360, sat and light: percent. */
function tone(hue, sat, light)
{
	const a = sat / 100 * Math.min(light, 100 - light) / 100;
	const [r, g, b] = [0, 8, 4].map((n) => {
		const k = (n + hue / 30) % 12;

		return Math.round(255 * (light / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	});

	return { css: `rgb(${r}, ${g}, ${b})`, pixel: (255 << 24 | b << 16 | g << 8 | r) >>> 0 };
}

/* Make the colours: by kind and shade, then the same faded; and by change. */
function mix()
{
	palette = [];
	for (const faded of [0, 1]) {
		for (const { hue, sat } of KINDS) {
			for (let s = 0; s < SHADES; s++) {
				const light = dark ? 24 + s / 1.8 - faded * 8 : 68 + s + faded * 6;

				palette.push(tone((hue + s + 353) % 360, faded ? sat / 2 : sat, light));
			}
		}
	}
	changes = [];
	for (let k = -STEPS; k <= STEPS; k++) {
		const s = (Math.abs(k) / STEPS) ** 0.7;

		if (dark)
			changes.push(k > 0 ? tone(8, 66 * s, 26 + 16 * s) : tone(212, 70 * s, 26 + 18 * s));
		else
			changes.push(k > 0 ? tone(10, 86 * s, 88 - 22 * s) : tone(208, 78 * s, 88 - 20 * s));
	}
	found = dark ? tone(325, 70, 42) : tone(325, 85, 74);
}

const changeColour = (by) => changes[Math.round(by * STEPS) + STEPS];

/*
 * The change of a row in a comparison, -1 to 1.  Above 0 (red) its share has
 * grown, below 0 (blue) it has shrunk: two colours that colour-blind people can
 * tell apart.  Near 0 (pale) the change is small relative to the share, or there
 * are too few samples to be sure.
 */
function change(i)
{
	const a = T.now[i] / (T.now[0] || 1), b = T.base[i] / (T.base[0] || 1);
	const sure = Math.min(1, Math.sqrt((T.now[i] + T.base[i]) / 20));

	return a || b ? (a - b) / Math.max(a, b) * sure : 0;
}

function colour(i, faded)
{
	const l = T.label[i], kind = kindOf(i);

	if (l >= 0 && matched[l])
		return found;
	if (T.base)
		return changeColour(change(i));
	return palette[((faded || state.query ? KINDS.length : 0) + kind) * SHADES +
		(l < 0 ? 8 : P.hash[l] >>> 4 & SHADES - 1)];
}

/* The y coordinate of a level in the whole graph, px. */
function topOf(d)
{
	return state.icicle ? d * ROW : Math.max(T.levels * ROW, height) - (d + 1) * ROW;
}

function drawBox(i, x, w, faded, y)
{
	let room, name;

	ctx.fillStyle = colour(i, faded).css;
	ctx.fillRect(x, y, w - 1, ROW - 1);
	room = Math.floor((w - 6) / charWidth);
	if (room < 3)
		return;
	name = nameOf(i);
	name = shown(name.length > room ? name.slice(0, room - 1) + "\u2026" : name);
	ctx.fillStyle = faded ? (dark ? "#b9c2cd" : "#3f4957") : dark ? "#f2f4f7" : "#14181f";
	ctx.fillText(name, x + 3, y + ROW / 2, w - 5);
}

/* reading image.width and devicePixelRatio is slow: ratio, across, down are copies */
function drawThin(i, x, w, y)
{
	const left = Math.floor(x * ratio);
	const right = Math.min(across, Math.max(left + 1, Math.round((x + w) * ratio)));
	const top = Math.max(0, Math.round(y * ratio));
	const bottom = Math.min(down, Math.round((y + ROW - 1) * ratio));
	const pixel = colour(i, false).pixel;

	for (let row = top * across; row < bottom * across; row += across) {
		for (let k = left; k < right; k++)
			pixels[row + k] = pixel;
	}
}

/* Left edge and width of a row in the graph, px. */
function placeX(i)
{
	const scale = width / (T.total[zoom] || 1);

	if (i < zoom && T.end[i] > zoom)
		return [0, width];
	return [(T.start[i] - T.start[zoom]) * scale, T.total[i] * scale];
}

function outline(i, colour, thick)
{
	const [x, w] = placeX(i), y = topOf(T.depth[i]) - view.scrollTop;

	ctx.strokeStyle = colour;
	ctx.lineWidth = thick;
	ctx.strokeRect(x + thick / 2, y + thick / 2, Math.max(w - thick - 1, 1), ROW - thick - 1);
}

/* Wide boxes go into a list, narrow ones into the image. */
function walk(scroll)
{
	const scale = width / (T.total[zoom] || 1), thin = THIN / scale, from = T.start[zoom];
	const wide = [];

	for (let i = zoom, end = T.end[zoom]; i < end; ) {
		if (T.total[i] < thin) {
			i = T.end[i];
			continue;
		}
		const y = topOf(T.depth[i]) - scroll, x = (T.start[i] - from) * scale, w = T.total[i] * scale;

		if (y > -ROW && y < height) {
			if (w < WIDE)
				drawThin(i, x, w, y);
			else
				wide.push(i, x, w, y);
		} else if (state.icicle ? y >= height : y <= -ROW) {
			i = T.end[i];
			continue;
		}
		i++;
	}
	return wide;
}

function draw()
{
	const began = performance.now(), scroll = view.scrollTop;

	pending = false;
	if (!T || state.table || !canvas.width || !canvas.height)
		return;
	if (!image || across !== canvas.width || down !== canvas.height) {
		across = canvas.width;
		down = canvas.height;
		image = ctx.createImageData(across, down);
		pixels = new Uint32Array(image.data.buffer);
	}
	pixels.fill(0);
	const wide = walk(scroll);

	ctx.putImageData(image, 0, 0);
	ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	ctx.font = "12px ui-monospace, monospace";
	ctx.textBaseline = "middle";
	ctx.direction = "ltr";
	charWidth = ctx.measureText("m").width || 7;
	for (let i = zoom; i > 0; ) {
		i = T.parent[i];
		drawBox(i, 0, width, true, topOf(T.depth[i]) - scroll);
	}
	for (let k = 0; k < wide.length; k += 4)
		drawBox(wide[k], wide[k + 1], wide[k + 2], false, wide[k + 3]);
	if (hover >= 0)
		outline(hover, dark ? "#ffffff" : "#000000", 1);
	if (cursor >= 0 && document.activeElement === canvas)
		outline(cursor, dark ? "#ffd866" : "#0b3fbf", 3);
	page.dataset.drawMs = (performance.now() - began).toFixed(2);
}

function redraw()
{
	if (!pending) {
		pending = true;
		requestAnimationFrame(draw);
	}
}

function resize()
{
	if (!T || view.hidden)
		return;
	width = view.clientWidth;
	height = view.clientHeight;
	ratio = devicePixelRatio;
	canvas.width = width * ratio;
	canvas.height = height * ratio;
	canvas.style.height = height + "px";
	space.style.height = Math.max(T.levels * ROW, height) + "px";
	if (!state.icicle)
		view.scrollTop = view.scrollHeight - view.clientHeight - below;
	redraw();
}

function scrolled()
{
	below = Math.max(0, view.scrollHeight - view.scrollTop - height);
	redraw();
}

function intoSight(i)
{
	const y = topOf(T.depth[i]);

	if (y < view.scrollTop || y + ROW > view.scrollTop + height)
		view.scrollTop = y - height / 2;
}

function crumbs()
{
	const path = [], out = [];

	for (let i = zoom; i; i = T.parent[i])
		path.unshift(i);
	path.unshift(0);
	/* of a long path only both ends */
	for (const i of path.length > 14 ? [...path.slice(0, 5), -1, ...path.slice(-8)] : path) {
		if (out.length)
			out.push(el("span", {}, " \u203a "));
		out.push(i < 0 ? el("span", {}, "\u2026") : el("button", {
			textContent: shown(nameOf(i), 120), onclick: () => zoomTo(i),
		}));
		if (i >= 0)
			out[out.length - 1].dataset.id = T.depth[i];
	}
	out.push(el("span", {}, `  ${plural(T.now[zoom], "sample")}, ${percent(T.now[zoom], T.now[0])}`));
	renew($("crumbs"), ...out);
}

function zoomTo(i)
{
	zoom = i;
	state.zoom = placeOf(P, T, i);
	hideTip();
	crumbs();
	count();
	remember();
	fillTable();
	resize();
	intoSight(i);
}
