/* SPDX-License-Identifier: Apache-2.0 */
/* timeline - samples over time, and the choice of a range */

const LEAST = 120000;			/* ms, the live time line is never shorter */
const timeline = $("timeline"), tctx = timeline.getContext("2d");
const line = { from: 0, to: 0, bin_ms: 1000, counts: [], frequency: 0, cpus: 0 };	/* what is drawn */
let nowMs = Date.now();			/* the server's clock, from its last answer; the recording's end */
let oldest = 0, coarse = 0;
let lineLength = LEAST;			/* ms; stays when a range is chosen, so that nothing jumps */
let recorded = false;			/* a recording: times from its start on */
let picking = "now";			/* or "base": the range that the mouse and keys set */
let dragging = null;			/* [ms, ms] while the mouse is down */

/* The range that is shown. */
function range()
{
	if (recorded && !state.to)
		return [oldest, nowMs];
	return state.last ? [nowMs - 1000 * state.last, nowMs] : [state.from, state.to];
}

/* The range of the time line: all; on the live page also the requested time without samples yet. */
function lineSpan()
{
	if (recorded)
		return [oldest, nowMs];
	if (state.last)
		lineLength = Math.max(LEAST, 1000 * state.last);
	return [Math.min(oldest || nowMs, nowMs - lineLength), nowMs];
}

const binsOfLine = () => clamp(Math.round(timeline.clientWidth / 4), 60, 500);

/* A time as text; by: ms between two of them. */
function timeText(ms, by)
{
	const s = (ms - oldest) / 1000;

	if (!recorded)
		return by < 60000 ? clock(ms) : clock(ms).slice(0, 5);
	return `${by < 100 ? s.toFixed(2) : by < 1000 ? s.toFixed(1) : Math.round(s)} s`;
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
	const s = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 10800, 21600, 43200, 86400];

	/* above a day: 10, 100, ... days, since times may be years apart */
	return 1000 * (s.find((by) => ms / by / 1000 <= most) || 86400 * 10 ** Math.ceil(Math.log10(ms / most / 86400000)));
}

/* Text from x on, around the height y, at most so wide, on a background that covers what was drawn before. */
function plate(ctx, text, x, y, colour, most = Infinity)
{
	const w = Math.min(most, ctx.measureText(text).width);

	ctx.textBaseline = "middle";
	ctx.fillStyle = css("--bg");
	ctx.fillRect(x - 4, y - 6.5, w + 8, 13);
	ctx.fillStyle = colour;
	ctx.fillText(text, x, y, w);
}

function drawMarks(w, h)
{
	const by = step(line.to - line.from, w / 90), zero = recorded ? oldest : 0;

	tctx.font = "11px system-ui, sans-serif";
	tctx.textBaseline = "bottom";
	tctx.fillStyle = css("--dim");
	for (let t = zero + Math.ceil((line.from - zero) / by) * by; t < line.to; t += by) {
		const x = xAt(t), text = timeText(t, by);
		const half = tctx.measureText(text).width / 2;

		tctx.fillRect(x, h - 15, 1, 4);
		if (x - half > 2 && x + half < w - 2)
			tctx.fillText(text, x - half, h);
	}
	if (coarse > line.from)
		tctx.fillRect(0, h - 15, xAt(coarse), 2);
}

/* The number of busy CPUs at the top of the time line: all; if that is not known, the most there were. */
function topCpus()
{
	return line.cpus || busyCpus(line.counts.reduce((m, n) => Math.max(m, n), 0), line.frequency, line.bin_ms);
}

function drawGrid(w, h)
{
	tctx.fillStyle = css("--line");
	for (const y of [3, 3 + (h - 20) / 2, h - 17])
		tctx.fillRect(0, y, w, 1);
}

/* The labels of the axis of busy CPUs; drawn over the bars, which may reach the top. */
function drawTop(top, h)
{
	tctx.font = "11px system-ui, sans-serif";
	plate(tctx, line.cpus ? `${plural(line.cpus, "CPU")}` : `${top < 0.1 ? top.toFixed(3) : top.toFixed(1)} CPUs`, 4, 11, css("--fg"));
	plate(tctx, coarse > line.from ? "0; times less exact" : "0", 4, h - 24, css("--fg"));
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
		plate(tctx, name, x + 6, 24, edge, Math.max(w - 12, 24));
	}
}

function drawTimeline()
{
	const ratio = devicePixelRatio, w = timeline.clientWidth, h = timeline.clientHeight;
	const n = line.counts.length, top = topCpus();
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
	if (top)
		drawGrid(w, h);
	tctx.fillStyle = css("--count");
	for (let i = 0; i < n; i++) {
		const x = xAt(line.from + i * line.bin_ms), x2 = xAt(line.from + (i + 1) * line.bin_ms);
		const busy = busyCpus(line.counts[i], line.frequency, line.bin_ms);
		/* at least a pixel, however many CPUs there are */
		const tall = Math.max(1, Math.min(1, busy / (top || 1)) * (h - 20));

		if (line.counts[i])
			tctx.fillRect(x, h - 16 - tall, Math.max(1, x2 - x - (x2 - x > 3 ? 1 : 0)), tall);
	}
	drawMarks(w, h);
	if (base)
		drawRange(...base, h - 16, css("--base"), css("--base"), "base");
	if (!recorded || state.to || dragging)
		drawRange(...now, h - 16, css("--range"), css("--range"), state.base ? "range" : "");
	if (top)
		drawTop(top, h);
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
	if (recorded && !state.to)
		return `all ${span(to - from)}`;
	return recorded ? `${timeText(from, 10)} to ${timeText(to, 10)} (${span(to - from)})` :
		`${clock(from)} to ${clock(to)} (${span(to - from)})`;
}

function showRange()
{
	const now = range();

	page.dataset.axis = `${Math.round(line.from)} ${Math.round(line.to)} ${topCpus()}`;
	$("range").textContent = (state.last ? `the last ${span(1000 * state.last)}` : rangeText(now)) +
		(state.base ? `, base ${rangeText(state.base)}` : "");
	timeline.setAttribute("aria-valuemin", Math.round(line.from / 1000));
	timeline.setAttribute("aria-valuemax", Math.round(line.to / 1000));
	timeline.setAttribute("aria-valuenow", Math.round(now[1] / 1000));
	timeline.setAttribute("aria-valuetext", (state.last ? "now, " : "") + rangeText(now) +
		`, about ${plural(inRange(...now), "sample")}`);
	press("follow", recorded ? !state.to : Boolean(state.last));
	for (const b of document.querySelectorAll("[data-last]"))
		b.setAttribute("aria-pressed", Number(b.dataset.last) === state.last);
	drawTimeline();
}

/* Set the range, or the base of a comparison. */
function choose(from, to)
{
	const least = recorded ? 10 : 1000, lo = recorded ? oldest : lineSpan()[0];

	from = clamp(Math.round(from), lo, Math.max(lo, nowMs - least));
	to = clamp(Math.round(to), from + least, Math.max(nowMs, from + least));
	if (picking === "base") {
		state.base = [from, to];
	} else {
		state.last = 0;
		[state.from, state.to] = [from, to];
	}
	rangeChanged();
}

function rangeToAddress(p)
{
	p.set("from", state.from);
	p.set("to", state.to);
}

const timeOf = (s) => /^[0-9]{1,15}$/.test(s) ? Number(s) : 0;

/* Read the range; both are 0 if the address has none. */
function rangeOfAddress(p)
{
	[state.from, state.to] = [timeOf(p.get("from")), timeOf(p.get("to"))];
	if (state.to <= state.from)
		state.from = state.to = 0;
}

let rangeTimer = 0;

/* A key that is held down causes one request, not many. */
function rangeChanged()
{
	showRange();
	remember();
	clearTimeout(rangeTimer);
	rangeTimer = setTimeout(() => source.changed(), 120);
}

/* A recording: the range is all of it. */
function wholeTime()
{
	state.from = state.to = 0;
	rangeChanged();
	say("All of the recording.");
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
	const by = Math.max(recorded ? 1 : 1000, (to - from) / 10) * (e.key === "ArrowLeft" ? -1 : 1);

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
		if (recorded || picking === "base")
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
		if (recorded)
			wholeTime();
		else if (state.last)
			pause();
		else
			follow(Math.min(3600, (state.to - state.from) / 1000));
	});
	addEventListener("theme", drawTimeline);
	new ResizeObserver(drawTimeline).observe(timeline);
}
