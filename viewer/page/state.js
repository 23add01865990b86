/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state - what the page shows, and how the address keeps it
 *
 * The whole state is in the address, after its #, so that a link shows the
 * same.  The live page's key is never there.
 */

const FILTERS = ["process", "pid", "thread", "tid", "container", "executable", "kind"];

const state = {
	query: "",
	zoom: "", cursor: "",		/* rows, as texts of placeOf() */
	reversed: false,
	lanes: false,			/* a recording: show the threads over time */
	icicle: false,			/* the root at the top */
	table: false,			/* show the table, not the graph */
	list: "functions",		/* or "modules", "processes": what the table lists */
	sandwich: "",			/* a label, as text of labelKey(): its callers and callees */
	/* keys of labels: frames to leave out; only samples, no samples with them */
	hidden: new Set(), focus: new Set(), without: new Set(),
	folded: new Set(),		/* modules, each of which becomes one box */
	colour: "kind",			/* of boxes: a key of COLOURS */
	order: "width",			/* of boxes beside each other: a key of ORDERS */
	sort: "self",			/* column of the table */
	filters: new Map(),		/* key: Set of values */
	last: 300,			/* seconds up to now, or 0: */
	from: 0, to: 0,			/* ms since the epoch */
	base: null,			/* [from, to], ms: the other range of a comparison */
};

let P = null;				/* the profile */
let T = null;				/* the tree that is shown */
let zoom = 0, cursor = -1;		/* rows of T */
/* changed() is called when filters or ranges change; timed(): are times of samples available?  static.js and live.js set them */
const source = { changed() {}, extra() {}, timed: () => false, empty: () => "" };

const HASH = /^[0-9a-z]{1,7}$/;

/* A field of one value; std is not in the address. */
function single(name, std, fits)
{
	return {
		put: () => state[name] === std ? [] : [state[name]],
		take([v]) { state[name] = v !== undefined && fits(v) ? v : std; },
	};
}

function flag(name)
{
	return { put: () => state[name] ? ["1"] : [], take([v]) { state[name] = v === "1"; } };
}

/*
 * The fields of the address, by key: put() gives the texts for
 * a part of the state, take() sets it from texts, which are not trusted.
 * quiet: a change makes no new entry in the browser's history.
 */
let fields = null;

function makeFields()
{
	const out = {
		q: { ...single("query", "", () => true), quiet: true },
		z: single("zoom", "", (v) => /^[0-9]{1,5}\.[0-9a-z]{1,7}$/.test(v)),
		reversed: flag("reversed"), icicle: flag("icicle"), table: flag("table"), lanes: flag("lanes"),
		about: single("sandwich", "", (v) => HASH.test(v)),
		list: single("list", "functions", (v) => Object.hasOwn(LISTS, v)),
		colour: single("colour", "kind", (v) => Object.hasOwn(COLOURS, v)),
		order: single("order", "width", (v) => Object.hasOwn(ORDERS, v)),
		sort: single("sort", "self", (v) => ["total", "name", "kind", "change", "count"].includes(v)),
	};

	for (const key of FILTERS) {
		out[key] = {
			put: () => [...state.filters.get(key) || []],
			take(v) {
				state.filters.delete(key);
				if (v.length)
					state.filters.set(key, new Set(v.slice(0, 64)));
			},
		};
	}
	for (const key of SHAPES) {
		out[key] = {
			put: () => [...state[key]],
			take(v) { state[key] = new Set(v.filter((t) => key === "folded" || HASH.test(t)).slice(0, 64)); },
		};
	}
	return out;
}

function address()
{
	const p = new URLSearchParams();

	fields = fields || makeFields();
	for (const [key, field] of Object.entries(fields)) {
		for (const v of field.put())
			p.append(key, v);
	}
	source.extra(p);
	return p.toString();
}

let written = null;			/* the address as it was written last; null: not yet */
let writtenAt = 0, writtenKeys = "";

/* The keys in which two addresses differ. */
function changedKeys(a, b)
{
	const p = new URLSearchParams(a), q = new URLSearchParams(b), keys = new Set([...p.keys(), ...q.keys()]);

	return [...keys].filter((k) => p.getAll(k).join("\n") !== q.getAll(k).join("\n"));
}

/* Write the state into the address.  A step can be undone with the browser's Back;
 * what is typed, or comes from a key that is held down, is no step. */
function remember()
{
	const now = address(), keys = changedKeys(written || "", now), at = performance.now();
	const held = keys.join() === writtenKeys && at - writtenAt < 350 && keys.every((k) => k === "from" || k === "to");
	const step = written !== null && !held && keys.some((k) => !(fields[k] && fields[k].quiet));

	if (now === written)
		return;
	written = now;
	[writtenAt, writtenKeys] = [at, keys.join()];
	try {
		history[step ? "pushState" : "replaceState"](null, "", now ? "#" + now : location.pathname + location.search);
	} catch (e) {
		/* some browsers refuse this for files, or when it comes too often: ignore that */
	}
}

/* The state is that of the address: the next change is a new step. */
function settle()
{
	written = address();
}

/* Read the state from the address.  Returns all parameters of the address. */
function recall()
{
	const p = new URLSearchParams(location.hash.slice(1));

	fields = fields || makeFields();
	for (const [key, field] of Object.entries(fields))
		field.take(p.getAll(key));
	$("query").value = state.query;
	return p;
}

/* --- names of rows ----------------------------------------------------------- */

const labelName = (l) => l < 0 ? (loadText ? `all: ${loadText}` : "all") : P.strings[P.labels[3 * l]];
const labelModule = (l) => l < 0 ? "" : P.strings[P.labels[3 * l + 1]];
const labelKind = (l) => l < 0 ? 0 : KINDS[P.labels[3 * l + 2]] ? P.labels[3 * l + 2] : KIND_UNKNOWN;
const nameOf = (i) => labelName(T.label[i]);
const moduleOf = (i) => labelModule(T.label[i]);
const kindOf = (i) => labelKind(T.label[i]);
const kindName = (k) => KINDS[k].name;

/* A function's whole name, with parameters and so on. */
const labelFull = (l) => P.full.get(l) || labelName(l);

/* Where a function is in its sources, "file:line"; "": not known. */
function sourceOf(l)
{
	const at = P.lines.get(l);

	return at ? at.file + (at.line ? ":" + at.line : "") : "";
}

/* For each label the marks that all its frames have. */
function marksOfLabels(t)
{
	if (!t.labelMarks) {
		t.labelMarks = new Uint8Array(P.nLabels).fill(255);
		for (let i = 1; i < t.n; i++)
			t.labelMarks[t.label[i]] &= t.marks[i];
	}
	return t.labelMarks;
}

/* Samples in words: number, CPU time, share of all. */
function amount(n)
{
	const seconds = P.info.frequency ? n / P.info.frequency : 0;
	const time = seconds < 1 ? `${Math.round(1000 * seconds)} ms` : `${seconds.toFixed(seconds < 100 ? 2 : 0)} s`;

	return `${plural(n, "sample")}, ${P.info.frequency ? time + " of CPU time, " : ""}${percent(n, P.tree.all)}`;
}

/* The samples of a row, in words. */
function worth(i)
{
	const out = ["total: " + amount(T.now[i])];

	if (zoom || T.about >= 0 || T.all !== P.tree.all)
		out[0] += `, ${percent(T.now[i], T.now[zoom])} of what is shown`;
	if (T.self[i])
		out.push("self: " + amount(T.self[i]));
	if (T.base) {
		out.push(`in the base: ${plural(T.base[i], "sample")}, ${percent(T.base[i], T.allBase)}`);
		out.push(`difference: ${signed(T.now[i] / (T.all || 1) - T.base[i] / (T.allBase || 1))} of all`);
	}
	return out;
}
