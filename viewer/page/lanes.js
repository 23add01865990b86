/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes - a lane for each thread: what it ran over time
 *
 * Lanes show the chosen range, so a narrower range is a zoom.  A lane
 * has parts, in the colour of the function that ran, or, if the graph is
 * coloured by process, of the process.  In a recording a part is a sample, on the live page
 * a period of time (live_lanes.js).  A lane:
 *
 *	process, pid, thread, tid, samples	of its thread
 *	hash		of the process's label
 *	ms		the start of each part, ascending
 *	part(k)		{ hash, name, note } of the function of part k
 */

const LANE = 17;			/* px */
const lanes = $("lanes"), laneCanvas = $("lane-canvas"), lctx = laneCanvas.getContext("2d");
let laneList = [];			/* the lanes with samples in the range, most first */
let lanePeriod = 1;			/* of a part, ms */
let laneAt = 0, lanePart = -1;		/* the position of the keys: lane and part */
let laneHeld = null;			/* the lane that the keys chose */
let laneDrag = null;			/* [ms, ms] while the mouse is down */
let laneMouse = null;			/* the tip is of the lane at this event */

/* Show the lanes within filters and range; note: a text about the others, or "". */
function setLanes(list, period, note)
{
	/* the position of the keys stays at a thread and a time */
	const was = laneHeld, ms = was && lanePart >= 0 ? was.ms[lanePart] : NaN;
	const at = was ? list.findIndex((l) => l.pid === was.pid && l.tid === was.tid) : -1;

	laneList = list;
	lanePeriod = period;
	laneAt = at >= 0 ? at : clamp(laneAt, 0, Math.max(0, list.length - 1));
	lanePart = at >= 0 && ms >= 0 ? nearestPart(list[at], ms) : -1;
	$("lane-note").textContent = note;
	$("lane-note").hidden = !note;
	page.dataset.lanes = list.length;
	drawLanes();
}

function laneName(t)
{
	return `${shown(t.process, 60)} ${t.pid}` +
		(t.tid === t.pid ? "" : t.tid || t.thread ? `, thread ${shown(t.thread || NO_NAME.thread, 60)} ${t.tid}` : ", its threads");
}

function laneText(lane, k)
{
	const { name, note } = lane.part(k);

	return `${timeText(lane.ms[k], 10)}: ${shown(name, 160)}${note}`;
}

const laneX = (ms) => {
	const [from, to] = range();

	return (ms - from) / (to - from || 1) * laneCanvas.clientWidth;
};

function laneTime(x)
{
	const [from, to] = range();

	return from + clamp(x / (laneCanvas.clientWidth || 1), 0, 1) * (to - from);
}

/* The first part, from number k on, that does not begin before a time. */
function partFrom(lane, time, k = 0)
{
	for (let end = lane.ms.length; k < end;) {
		const middle = k + end >>> 1;

		if (lane.ms[middle] < time)
			k = middle + 1;
		else
			end = middle;
	}
	return k;
}

function drawLane(lane, y)
{
	const [from, to] = range(), pixels = laneCanvas.clientWidth / (to - from || 1);
	const wide = Math.max(1, lanePeriod * pixels), name = laneName(lane);
	const process = state.colour === "process";

	/* the first of several in a pixel */
	for (let k = 0, x; k < lane.ms.length; k = partFrom(lane, from + (x + 1) / pixels, k + 1)) {
		x = Math.floor((lane.ms[k] - from) * pixels);
		lctx.fillStyle = groupColour(process ? lane.hash : lane.part(k).hash).css;
		lctx.fillRect(x, y + 1, wide, LANE - 2);
	}
	plate(lctx, name, 4, y + LANE / 2, css("--fg"));
}

function drawLanes()
{
	const w = lanes.clientWidth, h = lanes.clientHeight, r = devicePixelRatio, scroll = lanes.scrollTop;

	if (lanes.hidden || !w)
		return;
	$("lane-space").style.height = `${Math.max(1, laneList.length) * LANE}px`;
	laneCanvas.style.height = `${h}px`;
	laneCanvas.width = laneCanvas.clientWidth * r;
	laneCanvas.height = h * r;
	lctx.setTransform(r, 0, 0, r, 0, 0);
	lctx.font = "11px system-ui, sans-serif";
	lctx.direction = "ltr";
	for (let k = Math.floor(scroll / LANE); k < laneList.length && k * LANE < scroll + h; k++)
		drawLane(laneList[k], k * LANE - scroll);
	if (laneDrag) {
		lctx.globalAlpha = 0.25;
		lctx.fillStyle = css("--range");
		lctx.fillRect(laneX(laneDrag[0]), 0, laneX(laneDrag[1]) - laneX(laneDrag[0]), h);
		lctx.globalAlpha = 1;
	}
	if (document.activeElement === laneCanvas && laneList[laneAt]) {
		const ms = laneList[laneAt].ms[lanePart];

		lctx.strokeStyle = css("--focus");
		lctx.lineWidth = 2;
		lctx.strokeRect(1, laneAt * LANE - scroll + 1, laneCanvas.clientWidth - 2, LANE - 2);
		if (ms !== undefined)
			lctx.strokeRect(laneX(ms) - 1, laneAt * LANE - scroll + 1, 4, LANE - 2);
	}
}

/* The number of a lane's part that is nearest to a time. */
function nearestPart(lane, time)
{
	const k = partFrom(lane, time);

	return k && (k === lane.ms.length || time - lane.ms[k - 1] <= lane.ms[k] - time) ? k - 1 : k;
}

function laneSpoken()
{
	const lane = laneList[laneAt];

	return !lane ? "No thread has samples." : `${laneName(lane)}. ${lanePart < 0 ? "" : `${laneText(lane, lanePart)}. `}` +
		`${plural(lane.samples, "sample")}, thread ${laneAt + 1} of ${laneList.length}.`;
}

/* Filter by this thread, or remove the filter. */
function toggleLane(lane)
{
	toggle("tid", String(lane.tid));
}

/* Make the range `by` times as long, around a time. */
function zoomTime(by, at)
{
	const [from, to] = range();

	choose(at - (at - from) * by, at + (to - at) * by);
}

function laneKey(e)
{
	const lane = laneList[laneAt], [from, to] = range();
	const at = lane && lanePart >= 0 ? lane.ms[lanePart] : (from + to) / 2;
	const step = (k) => { lanePart = lane ? clamp(lanePart + k, 0, lane.ms.length - 1) : -1; };
	const go = (k) => {
		laneAt = clamp(laneAt + k, 0, Math.max(0, laneList.length - 1));
		lanePart = lanePart < 0 || !laneList[laneAt] ? -1 : nearestPart(laneList[laneAt], at);
	};
	const does = {
		ArrowUp: () => go(-1), ArrowDown: () => go(1), ArrowLeft: () => step(-1), ArrowRight: () => step(1),
		"+": () => zoomTime(0.5, at), "-": () => zoomTime(2, at), Home: recorded ? wholeTime : () => follow(300), Enter: () => lane && toggleLane(lane),
	}[e.key];

	if (!does || e.ctrlKey || e.altKey || e.metaKey)
		return;
	e.preventDefault();
	e.stopPropagation();
	does();
	laneHeld = laneList[laneAt];
	lanes.scrollTop = clamp(lanes.scrollTop, (laneAt + 1) * LANE - lanes.clientHeight, laneAt * LANE);
	drawLanes();
	if (e.key.startsWith("Arrow"))
		say(laneSpoken());
}

function laneTip(e)
{
	const box = laneCanvas.getBoundingClientRect();
	const lane = laneList[Math.floor((e.clientY - box.top + lanes.scrollTop) / LANE)];

	laneMouse = lane ? e : null;
	if (!lane) {
		tip.style.display = "none";
		return;
	}
	const k = nearestPart(lane, laneTime(e.clientX - box.left));

	tip.replaceChildren(el("b", {}, laneName(lane)), el("span", {}, laneText(lane, k)), el("span", {}, plural(lane.samples, "sample")));
	tip.style.display = "block";
	tip.style.left = `${clamp(e.clientX + 14, 4, Math.max(4, innerWidth - tip.offsetWidth - 8))}px`;
	tip.style.top = `${e.clientY + 18}px`;
}

function listenToLaneMouse()
{
	const at = (e) => laneTime(e.clientX - laneCanvas.getBoundingClientRect().left);
	let down = null;

	laneCanvas.addEventListener("pointerdown", (e) => {
		if (e.button)
			return;
		down = e.clientX;
		laneHeld = null;
		laneDrag = [at(e), at(e)];
		laneDrag.began = at(e);
		laneCanvas.setPointerCapture(e.pointerId);
	});
	laneCanvas.addEventListener("pointermove", (e) => {
		if (laneDrag) {
			const { began } = laneDrag, t = at(e);

			laneDrag = Object.assign([Math.min(began, t), Math.max(began, t)], { began });
			drawLanes();
		}
		laneTip(e);
	});
	laneCanvas.addEventListener("pointerup", (e) => {
		const drag = laneDrag, box = laneCanvas.getBoundingClientRect();
		const lane = laneList[Math.floor((e.clientY - box.top + lanes.scrollTop) / LANE)];

		laneDrag = null;
		if (drag && Math.abs(e.clientX - down) > 3)
			choose(...drag);
		else if (drag && lane)
			toggleLane(lane);
		drawLanes();
	});
	laneCanvas.addEventListener("pointercancel", () => {
		laneDrag = null;
		drawLanes();
	});
	laneCanvas.addEventListener("pointerleave", () => {
		laneMouse = null;
		tip.style.display = "none";
	});
}

/* Show or hide the lanes according to the state. */
function showLanes()
{
	press("as-lanes", state.lanes);
	lanes.hidden = !state.lanes;
	drawLanes();
}

/* changed(): called when the lanes are shown or hidden. */
function listenToLanes(changed)
{
	$("as-lanes").addEventListener("click", () => {
		state.lanes = !state.lanes;
		remember();
		showLanes();
		changed();
	});
	laneCanvas.addEventListener("keydown", laneKey);
	laneCanvas.addEventListener("focus", () => {
		drawLanes();
		say(laneSpoken());
	});
	laneCanvas.addEventListener("blur", drawLanes);
	lanes.addEventListener("scroll", drawLanes);
	listenToLaneMouse();
	addEventListener("theme", drawLanes);
	new ResizeObserver(drawLanes).observe(lanes);
}
