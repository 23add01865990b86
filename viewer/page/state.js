/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state - what the page shows, and how the address keeps it
 *
 * All of the state is in the address, behind its #, so that a link shows the
 * same.  The live page's key is never there.
 */

const FILTERS = ["process", "pid", "thread", "tid", "container", "executable", "kind"];

const state = {
	query: "",
	zoom: "", cursor: "",		/* rows, as texts of placeOf() */
	reversed: false,
	icicle: false,			/* the root at the top */
	table: false,			/* show the table, not the graph */
	sort: "self",			/* column of the table */
	filters: new Map(),		/* key: Set of values */
	last: 300,			/* seconds up to now, or 0: */
	from: 0, to: 0,			/* ms since the epoch */
	base: null,			/* [from, to], ms: the other range of a comparison */
};

let P = null;				/* the profile */
let T = null;				/* the tree that is shown */
let zoom = 0, cursor = -1;		/* rows of T */
/* called when filters or ranges change; static.js and live.js set them */
const source = { changed() {}, extra() {} };

function address()
{
	const p = new URLSearchParams();

	for (const [key, set] of state.filters) {
		for (const v of set)
			p.append(key, v);
	}
	if (state.query)
		p.set("q", state.query);
	if (state.zoom)
		p.set("z", state.zoom);
	for (const k of ["reversed", "icicle", "table"]) {
		if (state[k])
			p.set(k, "1");
	}
	if (state.sort !== "self")
		p.set("sort", state.sort);
	source.extra(p);
	return p.toString();
}

let written = null;

function remember()
{
	const now = address();

	if (now === written)
		return;
	written = now;
	try {
		history.replaceState(null, "", now ? "#" + now : location.pathname + location.search);
	} catch (e) {
		/* some browsers refuse this for files, or when it comes too often: ignore that */
	}
}

/* Read the state from the address.  Returns all parameters of the address. */
function recall()
{
	const p = new URLSearchParams(location.hash.slice(1));
	const z = p.get("z") || "", sort = p.get("sort");

	state.query = $("query").value = p.get("q") || "";
	state.zoom = /^[0-9]{1,5}\.[0-9a-z]{1,7}$/.test(z) ? z : "";
	for (const k of ["reversed", "icicle", "table"])
		state[k] = p.get(k) === "1";
	state.sort = ["total", "name", "kind", "change"].includes(sort) ? sort : "self";
	state.filters = new Map();
	for (const key of FILTERS) {
		if (p.has(key))
			state.filters.set(key, new Set(p.getAll(key).slice(0, 64)));
	}
	return p;
}

/* --- names of rows ----------------------------------------------------------- */

const labelName = (l) => l < 0 ? "all" : P.strings[P.labels[3 * l]];
const labelModule = (l) => l < 0 ? "" : P.strings[P.labels[3 * l + 1]];
const labelKind = (l) => l < 0 ? 0 : KINDS[P.labels[3 * l + 2]] ? P.labels[3 * l + 2] : KIND_UNKNOWN;
const nameOf = (i) => labelName(T.label[i]);
const moduleOf = (i) => labelModule(T.label[i]);
const kindOf = (i) => labelKind(T.label[i]);
const kindName = (k) => KINDS[k].name;

/* The samples of a row, in words. */
function worth(i)
{
	const out = [`${plural(T.now[i], "sample")}, ${percent(T.now[i], T.now[0])}`];

	if (zoom)
		out[0] += `, ${percent(T.now[i], T.now[zoom])} of what is shown`;
	if (T.self[i])
		out.push(`${number(T.self[i])} in itself, ${percent(T.self[i], T.now[0])}`);
	if (T.base) {
		out.push(`in the base: ${plural(T.base[i], "sample")}, ${percent(T.base[i], T.base[0])}`);
		out.push(`difference: ${signed(T.now[i] / (T.now[0] || 1) - T.base[i] / (T.base[0] || 1))} of all`);
	}
	return out;
}
