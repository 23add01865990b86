/* SPDX-License-Identifier: Apache-2.0 */
/* live - the page that `trifold run` serves: polls its server */

const KEY = "trifold-key";
let key = "";
let info = null;
let asking = null;			/* AbortController of the request under way */
let timer = 0;
let lost = 0;				/* time of the first request without an answer, ms; 0: none */
let wrong = false;			/* the server refused the key */

class Refused extends Error {
	constructor(status, text)
	{
		super(text);
		this.status = status;
	}
}

/* --- requests --------------------------------------------------------------------- */

/* The text of {"error":"text"}, or else the whole answer. */
function errorText(body)
{
	try {
		return String(JSON.parse(body).error || body);
	} catch (e) {
		return body;
	}
}

/* There was no answer, or an incomplete one. */
class Lost extends Error {}

async function request(path, params, signal, how)
{
	const options = {
		headers: { Authorization: "Bearer " + key },
		cache: "no-store", credentials: "omit", redirect: "error", signal,
	};
	let status = 0, body;

	try {
		const r = await fetch(`/api/v1/${path}?${params}`, options);

		status = r.ok ? 0 : r.status;
		body = await (status ? r.text() : r[how]());
	} catch (e) {
		throw new Lost(e.message);
	}
	if (status)
		throw new Refused(status, errorText(body));
	return body;
}

const ask = async (path, params, signal) => JSON.parse(await request(path, params, signal, "text"));

/*
 * Parameters of a request: the filters, and the range unless another one is given.  It is never
 * "the last seconds": the server's clock goes on, and there would be samples of a longer time than is shown.
 */
function selection([from, to] = range())
{
	const p = new URLSearchParams();

	p.set("from", Math.round(from));
	p.set("to", Math.round(to));
	for (const [k, set] of state.filters) {
		for (const v of set)
			p.append(k, v);
	}
	return p;
}

function profileRequest(signal)
{
	const p = selection();

	if (!state.base) {
		if (state.order === "time")
			p.set("first", 1);
		return request("profile", p, signal, "text");
	}
	p.set("base_from", state.base[0]);
	p.set("base_to", state.base[1]);
	return request("diff", p, signal, "text");
}

async function askTime(signal)
{
	info = await ask("info", "", signal);
	nowMs = info.now_ms;
	oldest = info.start_ms || nowMs;
	coarse = info.coarse_ms || 0;
	aboutLive();
	const p = selection(lineSpan());

	p.set("bins", binsOfLine());
	Object.assign(line, await ask("timeline", p, signal), { frequency: info.frequency, cpus: info.cpus });
	showRange();
}

async function askProfile(signal)
{
	const p = selection();

	p.set("limit", 100);
	const [facets, profile] = await Promise.all([ask("facets", p, signal), profileRequest(signal), askLanes(signal)]);
	const began = performance.now();

	const [from, to] = range();

	showFacets(facets);
	/* the root of the graph shows it, too */
	const shownProfile = decode(JSON.parse(profile));
	showLoad(shownProfile.tree.all, info.frequency, info.cpus, to - Math.max(from, oldest));
	showProfile(shownProfile);
	page.dataset.loadMs = (performance.now() - began).toFixed(1);
}

/* --- polling ---------------------------------------------------------------------- */

let stale = true;			/* the filters or the range have changed since the last answer */

async function refresh()
{
	const mine = new AbortController(), began = performance.now();

	clearTimeout(timer);
	if (asking)
		asking.abort();
	if (!key || wrong || document.hidden && !stale)
		return;
	asking = mine;
	try {
		await askTime(mine.signal);
		if (state.last || stale)
			await askProfile(mine.signal);
		stale = false;
		connected();
	} catch (e) {
		if (mine.signal.aborted)
			return;
		failed(e);
	}
	if (asking === mine)
		asking = null;
	if (!wrong)
		timer = setTimeout(refresh, lost ? 2000 : Math.max(state.last ? 2500 : 5000, 6 * (performance.now() - began)));
}

function connected()
{
	if (lost)
		say("Connected again.");
	lost = 0;
	notice();
	page.dataset.state = "ok";
	page.dataset.loads = Number(page.dataset.loads || 0) + 1;
}

function failed(e)
{
	if (e instanceof Refused && e.status === 401) {
		wrong = true;
		askForKey("The page's key is not the one of the trifold that answers. It may have been started again since.");
		return;
	}
	lost = lost || Date.now();
	page.dataset.state = "lost";
	if (e instanceof Refused) {
		notice(`The server refused (${e.status}): ${shown(e.message, 300)}`, "What is shown is the last picture. Trying again.");
	} else if (e instanceof Lost) {
		notice(`No answer from trifold since ${clock(lost)}.`,
			"Has it ended? What is shown is the last picture. Trying again every two seconds.");
	} else {
		notice(`The page cannot show what the server sent: ${shown(e.message, 300)}`);
		if (!(e instanceof SyntaxError))
			reportError(e);
	}
}

/* --- messages --------------------------------------------------------------------- */

/* Show paragraphs of text; none: hide the notice.  Screen readers speak it only when it changes. */
function notice(...parts)
{
	const old = $("notice").dataset.text, text = parts.join("\n");

	if (old === text)
		return;
	$("notice").dataset.text = text;
	$("notice").replaceChildren(...parts.map((s) => typeof s === "string" ? el("p", {}, s) : s));
	$("notice").hidden = !parts.length;
	resize();
}

/* text: the key, or the printed address that contains it. */
function takeKey(text)
{
	const found = /(?:[#&?]|^)key=([^&\s]+)/.exec(text);

	key = found ? decodeURIComponent(found[1]) : text.trim();
	wrong = false;
	stale = true;
	stored("sessionStorage", KEY, key);
	notice();
	refresh();
}

function askForKey(why)
{
	const input = el("input", { id: "key", autocomplete: "off", spellcheck: false });
	const b = el("button", { textContent: "Use it", onclick: () => input.value.trim() && takeKey(input.value) });

	input.setAttribute("aria-label", "The address, or its key");
	input.addEventListener("keydown", (e) => {
		if (e.key === "Enter")
			b.click();
		e.stopPropagation();
	});
	page.dataset.state = "key";
	stored("sessionStorage", KEY, null);
	notice(why, "Open the address that `trifold run` printed in its terminal when it started: it ends in #key=\u2026 " +
		"and nobody can see the profile without it. Or paste it here:", el("p", {}, input, " ", b));
}

const FIRST_MS = 15000;			/* after this time the first samples should be here */
const LEAST_IDLE_MS = 10000;		/* a shorter range is no proof that the machine is idle */

/* A sentence if the machine was nearly idle in the range, else "". */
function idle()
{
	const [from, to] = range(), ms = to - Math.max(from, oldest);
	const busy = P && P.tree.n > 1 ? busyCpus(P.tree.now[0], info.frequency, ms) : 1;

	if (state.filters.size || state.base || ms < LEAST_IDLE_MS || busy >= IDLE_CPUS)
		return "";
	return idleText(busy);
}

source.empty = () => {
	if (info && info.sampling && info.up_ms > FIRST_MS && !state.filters.size && (state.last || !info.samples))
		return "Nothing ran: only running code is sampled.";
	return info && !info.samples ? "No samples yet. The first ones come about five seconds after trifold has started." : nothingChosen();
};

function aboutLive()
{
	const parts = [aboutText(info)], mib = (n) => `${(n / 1048576).toFixed(1)} MiB`;

	if (info.samples)
		parts.push(`${info.frequency} Hz`, `${plural(info.samples, "sample")} since ${clock(oldest)}`);
	parts.push(`${mib(info.bytes)} of ${mib(info.budget)}`);
	$("about").textContent = parts.map((s) => shown(s)).join(" \u00b7 ");
	const account = [idle()];

	if (info.cpu_ns < info.host_ns)
		account.push(`trifold itself takes ${(100 * info.cpu_ns / info.host_ns).toFixed(2)} % of this host's CPU time, its start included.`);
	if (info.dropped)
		account.push(`${plural(info.dropped, "sample")} had no room and ${info.dropped === 1 ? "is" : "are"} gone.`);
	if (info.lost)
		account.push(`${plural(info.lost, "sample")} did not reach this page.`);
	$("account").textContent = account.join(" ");
	document.title = `trifold: ${shown(info.host)}`;
}

/* --- downloads, links -------------------------------------------------------------- */

const ENDINGS = {
	pprof: "pb.gz", folded: "folded", html: "html", otlp: "otlp",
	speedscope: "speedscope.json", firefox: "firefox.json",
};

async function download(format)
{
	const p = selection(), [from] = range();

	p.set("format", format);
	try {
		const url = URL.createObjectURL(await request("download", p, undefined, "blob"));
		const day = new Date(from).toISOString().slice(0, 19).replace(/[:-]/g, "");

		el("a", { href: url, download: `trifold-${day}.${ENDINGS[format]}` }).click();
		setTimeout(() => URL.revokeObjectURL(url), 60000);
		say("Downloaded.");
	} catch (e) {
		notice(e instanceof Refused && e.status === 413 ?
			"Too many samples for this format: choose a shorter range or filters." :
			`The download failed: ${shown(e.message, 300)}`);
	}
}

/* An address with the range as times: opened later it shows the same range. */
async function copyLink()
{
	const last = state.last;

	if (last)
		[state.from, state.to] = range().map(Math.round);
	state.last = 0;
	const link = `${location.origin}${location.pathname}#${address()}`;

	state.last = last;
	try {
		await navigator.clipboard.writeText(link);
		say("Link copied.");
		$("link").textContent = "Copied";
		setTimeout(() => { $("link").textContent = "Copy link"; }, 1500);
	} catch (e) {
		notice(`The address of what is shown: ${link}`);
	}
	page.dataset.link = link;
}

/* --- the start ----------------------------------------------------------------------- */

source.extra = (p) => {
	if (!state.last)
		rangeToAddress(p);
	else if (state.last !== 300)
		p.set("last", state.last);
	if (state.base)
		p.set("base", state.base.join("-"));
};

source.changed = () => {
	stale = true;
	refresh();
};

/* a comparison of two ranges has no times */
source.timed = () => !state.base;

function recallLive()
{
	const p = recall(), base = (p.get("base") || "").split("-").map(timeOf);

	rangeOfAddress(p);
	state.last = state.to ? 0 : clamp(Math.round(Number(p.get("last"))) || 300, 1, 86400);
	state.base = base.length === 2 && base[0] && base[1] > base[0] ? base : null;
	settle();
	pick("now");
	showLanes();
	applyState();
	if (P)
		plant();
	showRange();
}

/* Take the key out of the address. */
function readAddress()
{
	const p = new URLSearchParams(location.hash.slice(1)), given = p.get("key");

	if (given) {
		p.delete("key");
		history.replaceState(null, "", p.size ? `#${p}` : location.pathname);
		written = null;
		key = given;
		wrong = false;
		stored("sessionStorage", KEY, key);
		notice();
	}
	/* an address with nothing but a key keeps the current state */
	if (!given || p.size || !info && page.dataset.state !== "key")
		recallLive();
	else
		remember();
}

function liveMain()
{
	key = stored("sessionStorage", KEY) || "";
	page.dataset.state = "loading";
	listen();
	listenToTimeline();
	listenToCompare();
	listenToLanes(source.changed);
	readAddress();
	for (const b of document.querySelectorAll("[data-format]"))
		b.addEventListener("click", () => download(b.dataset.format));
	$("link").addEventListener("click", copyLink);
	addEventListener("hashchange", () => {
		readAddress();
		source.changed();
	});
	document.addEventListener("visibilitychange", () => {
		if (!document.hidden)
			refresh();
	});
	if (key)
		refresh();
	else
		askForKey("This page shows nothing without the key of the trifold that serves it.");
}

liveMain();
