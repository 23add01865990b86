/* SPDX-License-Identifier: Apache-2.0 */
/* static - the page of one recording; the data are in the page */

/* A page of `trifold diff`: folded stacks have neither host nor time. */
function aboutFiles(info)
{
	const [a, b] = info.files.map((f) => shown(f));

	$("about").textContent = `A: ${a}, ${plural(info.base.samples, "sample")} \u00b7 B: ${b}, ${plural(info.samples, "sample")}`;
	$("account").textContent = "Red has a greater share in B than in A, blue a smaller one. A is the base.";
	document.title = `trifold: ${a} and ${b}`;
}

function account(info)
{
	if (info.files) {
		aboutFiles(info);
		return;
	}
	const a = info.account, parts = [aboutText(info)], when = new Date(info.start_ms);
	const seconds = info.duration_ms / 1000;

	/* 0: the time is not known */
	if (info.start_ms) {
		parts.push(isNaN(when) ? "?" : when.toISOString().replace("T", " ").slice(0, 19) + " UTC");
		parts.push(`${seconds.toFixed(1)} s at ${info.frequency} Hz`);
	}
	parts.push(plural(info.samples, "sample"));
	if (info.command)
		parts.push(info.command);
	$("about").textContent = parts.map((s) => shown(s)).join(" \u00b7 ");
	document.title = `trifold: ${shown(info.command || info.host)}`;
	if (!a) {
		$("account").textContent = "No account: the profiler did not say how many samples it took.";
		return;
	}
	$("account").textContent = `Account: ${number(a.taken)} taken, ${number(a.delivered)} delivered, ` +
		`${number(a.own)} of trifold itself left out, ` +
		`${number(a.lost)} lost${a.reasons ? ` (${shown(a.reasons)})` : ""}, difference ${a.difference}` +
		(a.missed_ns >= 5e7 ? `; ${(a.missed_ns / 1e9).toFixed(1)} CPU-seconds not sampled` : "");
	$("account").className = a.difference ? "bad" : "";
}

function startTime(info)
{
	recorded = true;
	state.last = 0;
	oldest = info.start_ms;
	/* rounding of start and duration must not exclude the last sample */
	nowMs = info.start_ms + info.duration_ms + 2;
	listenToTimeline();
	listenToLanes(chooseLanes);
}

function drawTime()
{
	const [from, to] = lineSpan(), { frequency, cpus } = recording.p.info;
	/* at least two samples of a busy CPU in a bin, so that the height is in CPUs */
	const bins = Math.max(1, Math.min(binsOfLine(), Math.floor((to - from) * frequency / 2000)));

	Object.assign(line, { from, to, frequency, cpus, bin_ms: (to - from) / bins, counts: recording.counts(from, to, bins) });
	showRange();
}

function chooseLanes()
{
	if (state.lanes)
		setLanes(recording.lanes(...range()), 1000 / (recording.p.info.frequency || 1), "");
}

/* Of the whole recording the account is exact: of CPU time, and of samples that were lost on their way. */
function showBusy(samples)
{
	const { info } = recording.p, [from, to] = range(), a = info.account;
	const whole = a && a.covered_ns && !state.to;

	showLoad(whole && samples === info.samples ? Math.max(0, a.taken - a.own) : samples, info.frequency, info.cpus, to - from,
		whole && info.cpus ? a.covered_ns / 1e9 : undefined);
}

source.changed = () => {
	const { lists, tree } = recording.select(...range());

	if (recording.timed)
		showBusy(tree.all);
	showFacets(lists);
	showProfile({ ...recording.p, tree });
	if (recording.timed) {
		drawTime();
		showLanes();
		chooseLanes();
	}
};

source.timed = () => recording.timed;

source.empty = () => (recording.p.info.samples ? nothingChosen() :
	"No samples: the target used no CPU. Only running code is sampled.");

source.extra = (p) => {
	if (state.to)
		rangeToAddress(p);
};

function recallStatic()
{
	rangeOfAddress(recall());
	settle();
	source.changed();
	applyState();
}

function staticMain()
{
	const began = performance.now(), data = JSON.parse($("data").textContent), whole = decode(data);

	recording = new Recording(whole, data);
	recorded = true;
	account(whole.info);
	listen();
	$("time").hidden = !recording.timed;
	if (recording.timed)
		startTime(whole.info);
	recallStatic();
	addEventListener("hashchange", recallStatic);
	page.dataset.loadMs = (performance.now() - began).toFixed(1);
	page.dataset.state = "ok";
}

staticMain();
