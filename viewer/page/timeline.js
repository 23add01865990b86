/* SPDX-License-Identifier: Apache-2.0 */
/* timeline - samples over time, and the choice of a range */

const LEAST = 120000;			/* ms, the time line is never shorter */
const timeline = $("timeline"), tctx = timeline.getContext("2d");
const line = { from: 0, to: 0, bin_ms: 1000, counts: [], frequency: 0 };	/* what is drawn */
let nowMs = Date.now();			/* the server's clock, from its last answer */
let oldest = 0, coarse = 0;
let dragging = null;			/* [ms, ms] while the mouse is down */

/* The range that is shown. */
function range()
{
	return state.last ? [nowMs - 1000 * state.last, nowMs] : [state.from, state.to];
}

function lineSpan()
{
	const from = Math.min(oldest || nowMs, nowMs - LEAST);

	return [from, nowMs];
}

const timeAt = (x) => line.from + x / timeline.clientWidth * (line.to - line.from);
const xAt = (ms) => (ms - line.from) / (line.to - line.from || 1) * timeline.clientWidth;

function css(name)
{
	return getComputedStyle(page).getPropertyValue(name).trim();
}

/* A round step between the marks of the axis. */
function step(ms, most)
{
	const steps = [1, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600].map((s) => 1000 * s);

	return steps.find((s) => ms / s <= most) || 3600000;
}

function drawMarks(w, h)
{
	const by = step(line.to - line.from, w / 90);

	tctx.font = "11px system-ui, sans-serif";
	tctx.textBaseline = "bottom";
	tctx.fillStyle = css("--dim");
	for (let t = Math.ceil(line.from / by) * by; t < line.to; t += by) {
		const x = xAt(t), text = by < 60000 ? clock(t) : clock(t).slice(0, 5);
		const half = tctx.measureText(text).width / 2;

		tctx.fillRect(x, h - 15, 1, 4);
		if (x - half > 2 && x + half < w - 2)
			tctx.fillText(text, x - half, h);
	}
	if (coarse > line.from) {
		tctx.fillRect(0, h - 15, xAt(coarse), 2);
		tctx.fillText("times less exact", 4, h - 16);
	}
}

/* Text: how many busy CPUs the height of the time line means. */
function drawTop(most)
{
	const cpus = busyCpus(most, line.frequency, line.bin_ms);

	if (!cpus)
		return;
	tctx.font = "11px system-ui, sans-serif";
	tctx.textBaseline = "top";
	tctx.fillStyle = css("--dim");
	tctx.fillText(`${cpus < 0.1 ? cpus.toFixed(3) : cpus.toFixed(1)} CPUs`, 4, 2);
}

function drawRange(from, to, h, fill, edge, name)
{
	const x = xAt(from), w = Math.max(xAt(to) - x, 2);

	tctx.globalAlpha = 0.17;
	tctx.fillStyle = fill;
	tctx.fillRect(x, 0, w, h);
	tctx.globalAlpha = 1;
	tctx.fillStyle = edge;
	tctx.fillRect(x, 0, 2, h);
	tctx.fillRect(x + w - 2, 0, 2, h);
	if (name && w > 8) {
		tctx.font = "bold 11px system-ui, sans-serif";
		tctx.textBaseline = "top";
		tctx.fillText(name, x + 5, 2, Math.max(w - 8, 24));
	}
}

function drawTimeline()
{
	const ratio = devicePixelRatio, w = timeline.clientWidth, h = timeline.clientHeight;
	const most = line.counts.reduce((m, n) => Math.max(m, n), 1), n = line.counts.length;
	const base = dragging && picking === "base" ? dragging : state.base;
	const now = dragging && picking === "now" ? dragging : range();

	if (!w)
		return;
	if (timeline.width !== Math.round(w * ratio) || timeline.height !== Math.round(h * ratio)) {
		timeline.width = Math.round(w * ratio);
		timeline.height = Math.round(h * ratio);
	}
	tctx.setTransform(ratio, 0, 0, ratio, 0, 0);
	tctx.clearRect(0, 0, w, h);
	tctx.fillStyle = css("--count");
	for (let i = 0; i < n; i++) {
		const x = xAt(line.from + i * line.bin_ms), x2 = xAt(line.from + (i + 1) * line.bin_ms);
		const tall = line.counts[i] / most * (h - 20);

		if (tall)
			tctx.fillRect(x, h - 16 - tall, Math.max(1, x2 - x - (x2 - x > 3 ? 1 : 0)), tall);
	}
	drawMarks(w, h);
	drawTop(line.counts.reduce((m, v) => Math.max(m, v), 0));
	if (base)
		drawRange(...base, h - 16, css("--base"), css("--base"), "base");
	drawRange(...now, h - 16, css("--range"), css("--range"), state.base ? "range" : "");
}

function inRange(from, to)
{
	return line.counts.reduce((sum, n, i) => {
		const t = line.from + (i + 0.5) * line.bin_ms;

		return t >= from && t < to ? sum + n : sum;
	}, 0);
}

function rangeText([from, to])
{
	return `${clock(from)} to ${clock(to)} (${span(to - from)})`;
}

function showRange()
{
	const now = range();

	$("range").textContent = (state.last ? `the last ${span(1000 * state.last)}` : rangeText(now)) +
		(state.base ? `, base ${rangeText(state.base)}` : "");
	timeline.setAttribute("aria-valuemin", Math.round(line.from / 1000));
	timeline.setAttribute("aria-valuemax", Math.round(line.to / 1000));
	timeline.setAttribute("aria-valuenow", Math.round(now[1] / 1000));
	timeline.setAttribute("aria-valuetext", (state.last ? "now, " : "") + rangeText(now) +
		`, about ${plural(inRange(...now), "sample")}`);
	press("follow", Boolean(state.last));
	for (const b of document.querySelectorAll("[data-last]"))
		b.setAttribute("aria-pressed", Number(b.dataset.last) === state.last);
	drawTimeline();
}

/* Set the range, or the base of a comparison. */
function choose(from, to)
{
	const least = 1000, lo = Math.min(oldest || from, nowMs - LEAST);

	from = clamp(Math.round(from), lo, nowMs - least);
	to = clamp(Math.round(to), from + least, Math.max(nowMs, from + least));
	if (picking === "base") {
		state.base = [from, to];
	} else {
		state.last = 0;
		[state.from, state.to] = [from, to];
	}
	rangeChanged();
}

let rangeTimer = 0;

/* A key that is held down makes one request, not many. */
function rangeChanged()
{
	showRange();
	remember();
	clearTimeout(rangeTimer);
	rangeTimer = setTimeout(() => source.changed(), 120);
}

function follow(seconds)
{
	state.last = clamp(Math.round(seconds) || 300, 1, 86400);
	rangeChanged();
	say(`Following the last ${span(1000 * state.last)}.`);
}

function pause()
{
	[state.from, state.to] = range().map(Math.round);
	state.last = 0;
	rangeChanged();
	say("Paused.");
}

function timelineKey(e)
{
	const [from, to] = picking === "base" && state.base ? state.base : range();
	const by = Math.max(1000, (to - from) / 10) * (e.key === "ArrowLeft" ? -1 : 1);

	if (e.ctrlKey || e.altKey || e.metaKey)
		return;
	switch (e.key) {
	case "ArrowLeft":
	case "ArrowRight":
		if (e.shiftKey)
			choose(from, to + by);
		else
			choose(clamp(from + by, oldest, nowMs - (to - from)), clamp(to + by, oldest + to - from, nowMs));
		break;
	case "Home":
		choose(oldest, oldest + to - from);
		break;
	case "End":
		if (picking === "base")
			choose(nowMs - (to - from), nowMs);
		else
			follow((to - from) / 1000);
		break;
	default:
		return;
	}
	e.preventDefault();
}

function listenToTimeline()
{
	const at = (e) => timeAt(clamp(e.clientX - timeline.getBoundingClientRect().left, 0, timeline.clientWidth));
	let down = 0;

	timeline.addEventListener("pointerdown", (e) => {
		if (e.button)
			return;
		down = e.clientX;
		timeline.setPointerCapture(e.pointerId);
		dragging = [at(e), at(e)];
		dragging.began = at(e);
	});
	timeline.addEventListener("pointermove", (e) => {
		if (!dragging)
			return;
		const began = dragging.began, t = at(e);

		dragging = Object.assign([Math.min(began, t), Math.max(began, t)], { began });
		drawTimeline();
	});
	timeline.addEventListener("pointerup", (e) => {
		const [from, to] = dragging || [0, 0], now = range(), half = (now[1] - now[0]) / 2;

		if (!dragging)
			return;
		dragging = null;
		/* a click moves the range and keeps its length */
		if (Math.abs(e.clientX - down) > 3)
			choose(from, to);
		else
			choose(at(e) - half, at(e) + half);
		say($("range").textContent);
	});
	timeline.addEventListener("pointercancel", () => {
		dragging = null;
		drawTimeline();
	});
	timeline.addEventListener("keydown", timelineKey);
	for (const b of document.querySelectorAll("[data-last]"))
		b.addEventListener("click", () => follow(Number(b.dataset.last)));
	$("follow").addEventListener("click", () => {
		if (state.last)
			pause();
		else
			follow(Math.min(3600, (state.to - state.from) / 1000));
	});
	addEventListener("theme", drawTimeline);
	new ResizeObserver(drawTimeline).observe(timeline);
}
