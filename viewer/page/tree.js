/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - profiles as columns by row, in preorder; row 0 is everything
 *
 * A profile has names, and a tree of its stacks, merged from their roots.  The
 * columns of a tree: label (-1: everything); depth; self, the samples that end
 * in the row; now, self and all rows below.  A comparison also has selfBase and
 * base, the same for the other range.  selfFirst, if times are known: when the
 * first sample that ends in the row was taken, ms (Infinity: none); first, the
 * same for the row and all below.  marks: special properties of all frames of the
 * row, as bits (MARKS).  start (layOut()) and total are position
 * and width in the graph: in samples, in a comparison in the mean of both shares.
 * end[i] is the first row after i that is not below row i.  all and allBase: the
 * samples that are 100 %.  own, from, ownMore and fromMore, if lines are
 * known: lines.js.
 */

const KIND_UNKNOWN = KINDS.findIndex((k) => k.filter === "unknown");

const COLUMNS = ["label", "depth", "self", "selfBase", "selfFirst", "marks", "own", "from"];

/* Words for the bits of enum profile_mark. */
const MARKS = [[1, "inlined"]];

/* The text after a name with these marks. */
function marksText(bits)
{
	const words = MARKS.filter(([bit]) => bits & bit).map(([, word]) => word);

	return words.length ? ` (${words.join(", ")})` : "";
}

/* Columns that grow as rows are added. */
class Rows {
	constructor(n, diff, timed, lined = null)
	{
		this.n = 0;
		this.label = new Int32Array(n);
		this.depth = new Int32Array(n);
		this.self = new Float64Array(n);
		this.selfBase = diff ? new Float64Array(n) : null;
		this.selfFirst = timed ? new Float64Array(n) : null;
		this.marks = new Uint8Array(n);
		this.own = lined ? new Int32Array(n) : null;
		this.from = lined ? new Int32Array(n) : null;
		this.ownMore = lined ? new Map() : null;
		this.fromMore = lined ? new Map() : null;
	}

	grow()
	{
		for (const k of COLUMNS) {
			const old = this[k];

			if (!old)
				continue;
			this[k] = new old.constructor(old.length * 2);
			this[k].set(old);
		}
	}

	add(label, depth, self, selfBase, first = Infinity, marks = 0)
	{
		if (this.n === this.label.length)
			this.grow();
		this.label[this.n] = label;
		this.depth[this.n] = depth;
		this.self[this.n] = self;
		this.marks[this.n] = marks;
		if (this.selfBase)
			this.selfBase[this.n] = selfBase;
		if (this.selfFirst)
			this.selfFirst[this.n] = self ? first : Infinity;
		this.n++;
	}
}

/* Fill now (and base) from self: the sums of a row and all rows below. */
function sums(self, parent)
{
	const sum = self.slice();

	for (let i = sum.length - 1; i > 0; i--)
		sum[parent[i]] += sum[i];
	return sum;
}

/* The time of the first sample in each row of a tree or below. */
function firsts(t)
{
	if (!t.first) {
		t.first = t.selfFirst.slice();
		for (let i = t.n - 1; i > 0; i--)
			t.first[t.parent[i]] = Math.min(t.first[t.parent[i]], t.first[i]);
	}
	return t.first;
}

/*
 * Make a tree of rows.  split, about, all: of a tree about a function (merge.js);
 * the rows from split on are its callers, the others its callees.
 */
function finish(rows, split = rows.n, about = -1, whole = null)
{
	const n = rows.n, path = [0];
	const t = { n, split, about, levels: 1, parent: new Int32Array(n), end: new Int32Array(n), start: null };

	for (const k of COLUMNS)
		t[k] = rows[k] ? rows[k].subarray(0, n) : null;
	t.ownMore = rows.ownMore;
	t.fromMore = rows.fromMore;
	for (let i = 1; i < n; i++) {
		const d = t.depth[i];

		t.parent[i] = path[d - 1];
		path[d] = i;
		if (d >= t.levels)
			t.levels = d + 1;
	}
	for (let i = n - 1; i > 0; i--) {
		const p = t.parent[i];

		if (!t.end[i])
			t.end[i] = i + 1;
		if (!t.end[p])
			t.end[p] = t.end[i];
	}
	t.end[0] = n;
	t.now = t.total = sums(t.self, t.parent);
	t.base = t.selfBase ? sums(t.selfBase, t.parent) : null;
	for (let c = split; c < n; c = t.end[c]) {
		t.now[0] -= t.now[c];
		if (t.base)
			t.base[0] -= t.base[c];
	}
	t.all = whole ? whole.all : t.now[0];
	t.allBase = whole ? whole.allBase : t.base ? t.base[0] : 0;
	if (t.base) {
		const a = t.all || 1, b = t.allBase || 1;

		t.total = t.now.map((v, i) => v / a + t.base[i] / b);
	}
	return t;
}

/* A map from the first of each n numbers to what make() makes of the others. */
function groupsOf(flat, n, make)
{
	const out = new Map();

	for (let i = 0; i < flat.length; i += n)
		out.set(flat[i], make(...flat.slice(i + 1, i + n)));
	return out;
}

/* The marks of n rows, of their list in profile/formats/html.h. */
function marksOf(flat, n)
{
	const out = new Uint8Array(n);

	for (let k = 0, row = 0; k < flat.length; k += 2) {
		row += flat[k];
		out[row] = flat[k + 1];
	}
	return out;
}

/* The JSON object of profile/formats/html.h, or with a fourth number in each row. */
function decode(data)
{
	const diff = Boolean(data.diff), step = diff ? 4 : 3, r = data.rows;
	const rows = new Rows(r.length / step + 1, diff, data.first), marks = marksOf(data.marks || [], r.length / step);

	rows.add(-1, 0, 0, 0);
	for (let i = 0, d = 0, k = 0; i < r.length; i += step) {
		d += 1 - r[i + 1];
		rows.add(r[i], d, r[i + 2], diff ? r[i + 3] : 0, data.first && r[i + 2] ? data.first[k++] : 0,
			marks[i / step]);
	}
	const p = {
		info: data.info, strings: data.strings, labels: data.labels,
		full: groupsOf(data.full || [], 2, (name) => name),
		lines: groupsOf(data.lines || [], 3, (file, line) => ({ file: data.files[file], line })),
		nLabels: data.labels.length / 3, tree: finish(rows),
	};

	readLines(p, p.tree, data);
	return prepare(p);
}

function textHash(h, s)
{
	for (let k = 0; k < s.length; k++)
		h = Math.imul(h, 31) + s.charCodeAt(k) | 0;
	return h ^ h >>> 15;
}

/* The names of modules, a label for each, and for each label the number of its module; -1: none. */
function modules(p)
{
	const known = new Map();

	p.modules = [];
	p.moduleOf = new Int32Array(p.nLabels).fill(-1);
	for (let l = 0; l < p.nLabels; l++) {
		const name = p.strings[p.labels[3 * l + 1]];

		if (!p.labels[3 * l + 2] || !name)	/* a process has no module */
			continue;
		if (!known.has(name)) {
			known.set(name, p.modules.length);
			p.modules.push({ name, kind: p.labels[3 * l + 2], hash: textHash(7, name) });
		}
		p.moduleOf[l] = known.get(name);
	}
	/* a label for a folded module */
	for (const [m, { name, kind }] of p.modules.entries()) {
		p.modules[m].label = p.nLabels + m;
		p.strings.push(name);
		p.labels.push(p.strings.length - 1, p.strings.length - 1, kind);
	}
	p.moduleOf = Int32Array.from({ length: p.nLabels + p.modules.length },
		(_, l) => l < p.nLabels ? p.moduleOf[l] : l - p.nLabels);
	p.nLabels += p.modules.length;
}

/* A number for each label, the same in every profile. */
function prepare(p)
{
	modules(p);
	p.hash = new Int32Array(p.nLabels);
	for (let i = 0; i < p.nLabels; i++) {
		const kind = p.labels[3 * i + 2];
		let s = p.strings[p.labels[3 * i]];

		if (kind)	/* for a process this is its pid */
			s += "\n" + p.strings[p.labels[3 * i + 1]];
		p.hash[i] = textHash(kind + 7, s);
	}
	return p;
}

/* The position of each label's name in alphabetical order. */
function ranks(p)
{
	const order = Array.from({ length: p.nLabels }, (_, i) => i);
	const name = (i) => p.strings[p.labels[3 * i]];

	if (p.rank)
		return p.rank;
	order.sort((a, b) => name(a) < name(b) ? -1 : name(a) > name(b) ? 1 : a - b);
	p.rank = new Int32Array(p.nLabels);
	order.forEach((l, i) => { p.rank[l] = i; });
	return p.rank;
}

/* --- a row as a text that finds it in another profile ---------------------- */

const MIX = 0x9e3779b1;

function placeOf(p, t, row)
{
	const path = [];
	let h = row < t.split ? 1 : 2;

	for (let i = row; i; i = t.parent[i])
		path.push(p.hash[t.label[i]]);
	while (path.length)
		h = Math.imul(h ^ path.pop(), MIX);
	return row ? `${t.depth[row]}.${(h >>> 0).toString(36)}` : "";
}

/* The rows of such texts; 0 if there is none. */
function rowsAt(p, t, places)
{
	const found = places.map(() => 0), h = new Int32Array(t.n);
	const want = places.map((s) => {
		const [d, hash] = s.split(".");

		return [Number(d), parseInt(hash, 36) | 0];
	});

	if (!want.some(([d]) => d))
		return found;
	h[0] = 1;
	for (let i = 1; i < t.n; i++) {
		h[i] = Math.imul((t.parent[i] || i < t.split ? h[t.parent[i]] : 2) ^ p.hash[t.label[i]], MIX);
		for (let k = 0; k < want.length; k++) {
			if (h[i] === want[k][1] && t.depth[i] === want[k][0])
				found[k] = i;
		}
	}
	return found;
}
