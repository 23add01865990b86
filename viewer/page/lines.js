/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lines - the lines of a function's source in which samples are
 *
 * A tree with lines has two more columns: own, the line of most samples
 * that end in a row, and from, the line of its caller that most of its samples
 * were called from; 0: not known.  ownMore and fromMore have the other lines of a
 * row: { sum, parts: [[line, samples], ...] }, of `sum` samples; the rest is in
 * the column.  If only some of the samples are selected, lines have the same share.
 */

const LINES_SHOWN = 6;			/* in the text about a frame */

const integers = (v) => Array.isArray(v) && v.every(Number.isSafeInteger);

/* Fill the tree's columns from the lists of profile/formats/html.h, if these are there and valid. */
function readLines(p, t, data)
{
	const begins = new Int32Array(p.nLabels).fill(-1), begin = (l) => begins[l] ?? -1;
	const own = new Int32Array(t.n), from = new Int32Array(t.n);
	let a = 0, b = 0;

	function more(flat, sums, starts)
	{
		const out = new Map();

		for (let k = 0, row = 1; k < flat.length; k += 3) {
			row += flat[k];
			const start = starts(row), n = flat[k + 2], has = out.get(row) || { sum: sums[row], parts: [] };

			if (!(row >= 1 && row < t.n) || start < 0 || !(n >= 1))
				return null;
			has.parts.push([start + flat[k + 1], n]);
			out.set(row, has);
		}
		return out;
	}

	if (![data.own, data.own_more, data.from, data.from_more].every(integers))
		return;
	for (const [l, { line }] of p.lines)
		begins[l] = line || 0;
	for (let i = 1; i < t.n; i++) {
		const mine = begin(t.label[i]), caller = begin(t.label[t.parent[i]]);

		if (t.self[i] && mine >= 0)
			own[i] = mine + data.own[a++];
		if (caller >= 0)
			from[i] = caller + data.from[b++];
	}
	const ownMore = more(data.own_more, t.self, (row) => begin(t.label[row]));
	const fromMore = more(data.from_more, t.now, (row) => begin(t.label[t.parent[row]]));

	if (a + b && a === data.own.length && b === data.from.length && ownMore && fromMore)
		Object.assign(t, { own, from, ownMore, fromMore });
}

/* Add n samples of a row to a Map of samples by line. */
function addLines(to, line, more, n)
{
	let rest = n;

	for (const [other, k] of more ? more.parts : []) {
		const part = more.sum ? k * n / more.sum : 0;

		to.set(other, (to.get(other) || 0) + part);
		rest -= part;
	}
	if (rest > 1e-6)
		to.set(line, (to.get(line) || 0) + rest);
}

const addOwn = (to, t, i, n) => addLines(to, t.own[i], t.ownMore.get(i), n);
const addFrom = (to, t, i, n) => addLines(to, t.from[i], t.fromMore.get(i), n);

/* Samples by line as the value of a column, and the rest for its Map, if any. */
function ofLines(sums)
{
	const [most, ...parts] = [...sums].sort((a, b) => b[1] - a[1]);

	return [most ? most[0] : 0, parts.length ? { sum: parts.reduce((n, [, k]) => n + k, most[1]), parts } : null];
}

/* Set the lines of the last row of rows. */
function putLines(rows, own, from)
{
	const at = rows.n - 1;

	for (const [column, map, sums] of [["own", "ownMore", own], ["from", "fromMore", from]]) {
		const [line, more] = ofLines(sums);

		rows[column][at] = line;
		if (more)
			rows[map].set(at, more);
	}
}

/* Set the lines of the last row of rows: those of row i of a tree. */
function copyLines(rows, t, i)
{
	const at = rows.n - 1;

	rows.own[at] = t.own[i];
	rows.from[at] = t.from[i];
	for (const map of ["ownMore", "fromMore"]) {
		if (t[map].has(i))
			rows[map].set(at, t[map].get(i));
	}
}

/* The lines of a row's function that its samples are in: a Map from each line to [self, total]. */
function linesOfRow(t, i)
{
	const self = new Map(), total = new Map();

	addOwn(self, t, i, t.self[i]);
	addOwn(total, t, i, t.self[i]);
	for (let c = i + 1, to = i ? t.end[i] : t.split; c < to; c = t.end[c])
		addFrom(total, t, c, t.now[c]);
	return new Map([...total].map(([line, n]) => [line, [self.get(line) || 0, n]]));
}

/*
 * The same for labels, of row `from` and below: a Map for each label with a
 * source, or only for one.  Where a function calls itself, the total is of its
 * outermost calls, so each sample counts once.
 */
function linesOfLabels(t, from, only = -1)
{
	const out = new Map(), onPath = new Int32Array(P.nLabels), path = [];

	for (let i = from || 1; i < t.end[from]; i++) {
		const l = t.label[i], d = t.depth[i] - t.depth[from || 1];

		while (path.length > d)
			onPath[path.pop()]--;
		path.push(l);
		if (onPath[l]++ && !t.self[i] || !P.lines.has(l) || only >= 0 && l !== only)
			continue;
		const lines = out.get(l) || new Map(), outer = onPath[l] === 1;

		out.set(l, lines);
		for (const [line, [self, total]] of linesOfRow(t, i)) {
			const has = lines.get(line) || [0, 0];

			has[0] += self;
			has[1] += outer ? total : 0;
			lines.set(line, has);
		}
	}
	for (const lines of out.values())
		lines.forEach((n) => { n[1] = Math.max(n[0], n[1]); });
	return out;
}

/* The lines of row i of the shown tree; of the whole function, if the tree is merged from its leaves. */
function linesAt(i)
{
	const l = T.label[i], t = P.view;

	if (!P.lines.has(l) || !t.own)
		return new Map();
	if (T.own && (T.about < 0 || i < T.split))
		return linesOfRow(T, i);
	if (!t.lineCache)
		t.lineCache = new Map();
	if (!t.lineCache.has(l))
		t.lineCache.set(l, linesOfLabels(t, 0, l).get(l) || new Map());
	return t.lineCache.get(l);
}

/* The last part of the path of a label's source. */
const sourceName = (l) => P.lines.get(l).file.replace(/^.*\/(?=.)/, "");

/* The lines of row i with most samples: [[text, self, total], ...]; the last may be of all others. */
function topLines(i, most = LINES_SHOWN)
{
	const all = [...linesAt(i)], known = all.filter(([line]) => line > 0).sort((a, b) => b[1][1] - a[1][1] || a[0] - b[0]);
	const shownLines = known.slice(0, known.length === most + 1 ? most + 1 : most), left = all.filter((v) => !shownLines.includes(v));
	const sum = (k) => left.reduce((n, v) => n + v[1][k], 0), l = T.label[i];

	if (!known.length)
		return [];
	const out = shownLines.map(([line, n]) => [`${shownPath(sourceName(l), 40)}:${line}`, ...n]);

	return left.length ? [...out, ["other lines", sum(0), sum(1)]] : out;
}

/* A list of lines for the text about a frame; null: there are none. */
function linesElement(i)
{
	const lines = topLines(i), cell = (n) => el("td", {}, n > 0.5 ? percent(n, P.tree.all) : "");

	if (!lines.length)
		return null;
	return el("table", {}, el("tr", {}, el("th", {}, "line"), el("th", {}, "self"), el("th", {}, "total")),
		...lines.map(([text, self, total]) => el("tr", {}, el("th", {}, text), cell(self), cell(total))));
}

/* The lines of all functions, as groups of the table (table.js). */
function lineGroups(t, row)
{
	const groups = [], sum = { self: [], total: [], selfBase: [], totalBase: [], count: [] };

	for (const [label, lines] of t.own ? linesOfLabels(t, row) : []) {
		for (const [line, [self, total]] of lines) {
			if (line <= 0)
				continue;
			groups.push({ label, line });
			sum.self.push(self);
			sum.total.push(total);
		}
	}
	P.lineGroups = groups;
	return sum;
}
