/* SPDX-License-Identifier: Apache-2.0 */
/* pointer - mouse and keys in the graph, and the text about a frame */

const tip = $("tip");
let mouse = null;			/* its last event in the graph */

function rowAt(event)
{
	const box = canvas.getBoundingClientRect();
	const x = event.clientX - box.left, y = event.clientY - box.top + view.scrollTop;
	let d = hangs() ? Math.floor(y / ROW) : Math.ceil((topOf(0) + ROW - y) / ROW) - 1;
	let at = zoom, callers = false;

	if (T.about >= 0) {
		callers = d < T.up;
		d = Math.abs(d - T.up);
	}
	if (d < 0 || d >= T.levels || x < 0 || x >= width || d && zoom && callers !== zoom >= T.split)
		return -1;
	while (T.depth[at] > d)
		at = T.parent[at];
	const where = T.start[zoom] + x / width * T.total[zoom];
	const here = (c) => where >= T.start[c] && where < T.start[c] + T.total[c];

	while (T.depth[at] < d) {
		let c = callers && !at ? T.split : at + 1;
		const to = at || callers ? T.end[at] : T.split;

		while (c < to && !here(c))
			c = T.end[c];
		if (c >= to)
			return -1;
		at = c;
	}
	return at;
}

function showTip(i, x, y)
{
	const l = T.label[i], lines = [el("b", {}, shown(labelFull(l), 1000) + marksText(T.marks[i]))];

	if (!menu.hidden)
		return;
	if (sourceOf(l))
		lines.push(el("span", {}, shownPath(sourceOf(l))));
	if (moduleOf(i))
		lines.push(el("span", {}, `${shown(moduleOf(i))} (${kindName(kindOf(i))})`));
	const byLine = linesElement(i);

	tip.replaceChildren(...lines, ...worth(i).map((s) => el("span", {}, s)), ...byLine ? [byLine] : []);
	tip.style.display = "block";
	tip.style.left = clamp(x + 14, 4, Math.max(4, innerWidth - tip.offsetWidth - 8)) + "px";
	tip.style.top = (y + 20 + tip.offsetHeight > innerHeight ? Math.max(2, y - tip.offsetHeight - 10) : y + 18) + "px";
}

function hideTip()
{
	tip.style.display = "none";
	if (hover >= 0) {
		hover = -1;
		redraw();
	}
}

/* Row i and its siblings, from left to right. */
const siblings = (i) => i ? kids(T.parent[i], i >= T.split) : [0];

function spoken(i)
{
	const all = siblings(i), below = T.end[i] - i - 1;
	const byLine = topLines(i, 3).map(([text, , total]) => `${text} ${percent(total, P.tree.all)}`).join(", ");
	const module = moduleOf(i) ? `, ${shown(moduleOf(i), 80)}` : "";

	return `${shown(nameOf(i), 160)}${marksText(T.marks[i])}${module}, ${kindName(kindOf(i))}. ${worth(i).join(". ")}. ${byLine ? `Lines: ${byLine}. ` : ""}` +
		`Level ${T.depth[i]}, ${all.indexOf(i) + 1} of ${all.length}` + (below ? "." : ", nothing below.");
}

function tipAtCursor()
{
	const box = canvas.getBoundingClientRect(), [x, w] = placeX(cursor);

	showTip(cursor, box.left + clamp(x + w / 2, 0, width), box.top + topOf(cursor) - view.scrollTop);
}

/* The frame that keys act on. */
function pointTo(i)
{
	cursor = i;
	state.cursor = placeOf(P, T, i) || "0.0";
	intoSight(i);
	redraw();
	say(spoken(i));
	tipAtCursor();
}

/* The graph has changed: update the text about the frame below the mouse. */
function renewTip()
{
	if (tip.style.display !== "block")
		return;
	if (laneMouse)
		laneTip(laneMouse);
	else if (mouse)
		mouseMoved(mouse);
	else if (cursor >= 0)
		tipAtCursor();
	else
		hideTip();
}

/* The widest of the rows below row i; -1: none. */
const widest = (i, callers) => kids(i, callers).reduce((best, c) => best < 0 || T.total[c] > T.total[best] ? c : best, -1);

/* The row that a key moves to from row i; -1: none. */
function leadsTo(key, i)
{
	const above = T.about >= 0 ? i >= T.split || !i && key === "ArrowUp" : !state.icicle;
	const out = above ? "ArrowDown" : "ArrowUp";
	const inside = i >= zoom && i < T.end[zoom] && i !== zoom;
	let all, at;

	switch (key) {
	case "ArrowUp":
	case "ArrowDown":
		if (key === out)
			return i ? T.parent[i] : -1;
		/* outside the zoomed frame only its callers are shown */
		if (i < zoom) {
			for (at = zoom; T.parent[at] !== i; )
				at = T.parent[at];
			return T.about >= 0 && !i && at >= T.split !== above ? -1 : at;
		}
		return widest(i, above && T.about >= 0);
	case "Home":
		return zoom;
	case "ArrowLeft":
	case "ArrowRight":
		if (!inside)
			return -1;
		all = siblings(i);
		at = all.indexOf(i) + (key === "ArrowLeft" ? -1 : 1);
		return at >= 0 && at < all.length ? all[at] : -1;
	}
	return -1;
}

function graphKey(e)
{
	const at = cursor >= 0 ? cursor : zoom;
	let to;

	if (!T || T.n < 2 || e.ctrlKey || e.altKey || e.metaKey)
		return;
	if (e.key === "Enter" || e.key === " ") {
		e.preventDefault();
		zoomTo(at);
		pointTo(at);
		return;
	}
	if (!["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Home"].includes(e.key))
		return;
	e.preventDefault();
	to = leadsTo(e.key, at);
	if (to >= 0)
		pointTo(to);
	else
		say("No frame there.");
}

function mouseMoved(e)
{
	const i = T ? rowAt(e) : -1;

	mouse = e;
	if (i < 0) {
		hideTip();
		return;
	}
	if (i !== hover) {
		hover = i;
		redraw();
	}
	showTip(i, e.clientX, e.clientY);
}

function listenToGraph()
{
	canvas.addEventListener("mousemove", mouseMoved);
	canvas.addEventListener("mouseleave", () => {
		mouse = null;
		hideTip();
	});
	canvas.addEventListener("click", (e) => {
		const i = T ? rowAt(e) : -1;

		if (i > 0 && e.shiftKey) {
			setSandwich(T.label[i]);
		} else if (i >= 0) {
			cursor = i;
			state.cursor = placeOf(P, T, i) || "0.0";
			zoomTo(i);
		}
	});
	canvas.addEventListener("keydown", graphKey);
	canvas.addEventListener("focus", () => {
		/* spoken only if the focus came by key */
		if (T && T.n > 1 && canvas.matches(":focus-visible"))
			pointTo(cursor >= 0 ? cursor : zoom);
		redraw();
	});
	canvas.addEventListener("blur", () => {
		hideTip();
		redraw();
	});
	view.addEventListener("scroll", scrolled);
	addEventListener("resize", resize);
}
