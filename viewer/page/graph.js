/* SPDX-License-Identifier: Apache-2.0 */
/* graph - draws the tree as a flame graph */

const ROW = 18;				/* px, height of a box */
const THIN = 0.4;			/* px, narrower boxes are not drawn */
const WIDE = 3;				/* px, narrower boxes are drawn as pixels, which is faster */

const canvas = $("canvas"), ctx = canvas.getContext("2d");
const view = $("view"), space = $("space");
let matched = new Uint8Array(0);	/* by label */
let hover = -1;
let width = 0, height = 0, pending = false, charWidth = 7;
let image = null, pixels = null;	/* the narrow boxes; as large as the canvas */
let below = 0;				/* px below the visible part, after the last scroll */
let ratio = 1, across = 0, down = 0;

/* Is the root not at the bottom?  A tree about a function has it in the middle. */
const hangs = () => state.icicle || T.about >= 0;

/* The y coordinate of a row in the whole graph, px. */
function topOf(i)
{
	const d = T.depth[i];

	if (T.about >= 0)
		return (T.up + (i < T.split ? d : -d)) * ROW;
	return state.icicle ? d * ROW : Math.max(T.levels * ROW, height) - (d + 1) * ROW;
}

/* The rows below row i, or for the root of a tree about a function on one side, from left to right. */
function kids(i, callers = false)
{
	const out = [];
	let c = callers && !i ? T.split : i + 1;

	lay(i, 1);
	for (const to = i || callers ? T.end[i] : T.split; c < to; c = T.end[c])
		out.push(c);
	return out.sort((a, b) => T.start[a] - T.start[b]);
}

function drawBox(i, x, w, faded, y)
{
	let room, name;

	const { css, ink } = colour(i, faded);

	ctx.fillStyle = css;
	ctx.fillRect(x, y, w - 1, ROW - 1);
	room = Math.floor((w - 6) / charWidth);
	if (room < 3)
		return;
	name = nameOf(i) + marksText(T.marks[i]);
	name = shown(name.length > room ? name.slice(0, room - 1) + "\u2026" : name);
	ctx.fillStyle = ink;
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

	lay(T.parent[i], 1);
	if (i < zoom && T.end[i] > zoom)
		return [0, width];
	return [(T.start[i] - T.start[zoom]) * scale, T.total[i] * scale];
}

function outline(i, colour, thick)
{
	const [x, w] = placeX(i), y = topOf(i) - view.scrollTop;

	ctx.strokeStyle = colour;
	ctx.lineWidth = thick;
	ctx.strokeRect(x + thick / 2, y + thick / 2, Math.max(w - thick - 1, 1), ROW - thick - 1);
}

/* The ring of focus around a box: two colours, one of which has contrast with any background. */
function ring(i)
{
	const [x, w] = placeX(i), y = topOf(i) - view.scrollTop;
	const left = clamp(x - 1, 3, width - 9), right = clamp(x + w, left + 6, width - 3);

	for (const [colour, thick] of dark ? [["#000000", 5], ["#ffd866", 3]] : [["#ffffff", 5], ["#0b3fbf", 3]]) {
		ctx.strokeStyle = colour;
		ctx.lineWidth = thick;
		ctx.strokeRect(left, y - 0.5, right - left, ROW);
	}
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
		const y = topOf(i) - scroll, x = (T.start[i] - from) * scale, w = T.total[i] * scale;

		if (y > -ROW && y < height) {
			if (w < WIDE)
				drawThin(i, x, w, y);
			else
				wide.push(i, x, w, y);
		} else if (i && (hangs() && i < T.split ? y >= height : y <= -ROW)) {
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
		drawBox(i, 0, width, true, topOf(i) - scroll);
	}
	for (let k = 0; k < wide.length; k += 4)
		drawBox(wide[k], wide[k + 1], wide[k + 2], false, wide[k + 3]);
	if (hover >= 0)
		outline(hover, dark ? "#ffffff" : "#000000", 1);
	if (cursor >= 0 && document.activeElement === canvas)
		ring(cursor);
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
	page.dataset.rootTop = topOf(0);
	space.style.height = Math.max(T.levels * ROW, height) + "px";
	if (!hangs())
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
	const y = topOf(i);

	if (y < view.scrollTop || y + ROW > view.scrollTop + height)
		view.scrollTop = y - height / 2;
}

function crumbs()
{
	showReset();
	const path = [], out = [];

	for (let i = zoom; i; i = T.parent[i])
		path.unshift(i);
	path.unshift(0);
	if (T.about >= 0)
		out.push(el("button", { textContent: "Everything", onclick: () => setSandwich(-1) }));
	/* only both ends of a long path */
	for (const i of path.length > 14 ? [...path.slice(0, 5), -1, ...path.slice(-8)] : path) {
		if (out.length)
			out.push(el("span", {}, " \u203a "));
		out.push(i < 0 ? el("span", {}, "\u2026") : el("button", {
			textContent: shown(nameOf(i), 120), onclick: () => zoomTo(i),
		}));
		if (i >= 0)
			out[out.length - 1].dataset.id = T.depth[i];
	}
	out.push(el("span", {}, `  ${plural(T.now[zoom], "sample")}, ${percent(T.now[zoom], T.all)}`));
	if (T.about >= 0)
		out.push(el("span", {}, " \u00b7 callers above, callees below"));
	else if (zoom)
		out.push(" ", el("button", { id: "zoom-sandwich", className: "more", textContent: "Callers and callees", onclick: () => setSandwich(T.label[zoom]) }));
	renew($("crumbs"), ...out);
}

function zoomTo(i)
{
	zoom = i;
	lay(i);
	state.zoom = placeOf(P, T, i);
	hideTip();
	crumbs();
	count();
	remember();
	fillTable();
	resize();
	intoSight(i);
}
