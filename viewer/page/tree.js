/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree - profiles as columns by row, in preorder; row 0 is everything
 *
 * A profile has names, and a tree of its stacks, merged from their roots.  The
 * columns of a tree: label (-1: everything); depth; self, the samples that end
 * in the row; now, self and all rows below.  A comparison also has selfBase and
 * base, the same for the other range.  start and total are position and width in
 * the graph: in samples, in a comparison in the mean of both shares.  end[i] is
 * the first row after i that is not below row i.
 */

const KIND_UNKNOWN = KINDS.findIndex((k) => k.filter === "unknown");

/* Columns that grow as rows are added. */
class Rows {
	constructor(n, diff)
	{
		this.n = 0;
		this.label = new Int32Array(n);
		this.depth = new Int32Array(n);
		this.self = new Float64Array(n);
		this.selfBase = diff ? new Float64Array(n) : null;
	}

	grow()
	{
		for (const k of ["label", "depth", "self", "selfBase"]) {
			const old = this[k];

			if (!old)
				continue;
			this[k] = new old.constructor(old.length * 2);
			this[k].set(old);
		}
	}

	add(label, depth, self, selfBase)
	{
		if (this.n === this.label.length)
			this.grow();
		this.label[this.n] = label;
		this.depth[this.n] = depth;
		this.self[this.n] = self;
		if (this.selfBase)
			this.selfBase[this.n] = selfBase;
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

/* Make a tree of rows. */
function finish(rows)
{
	const n = rows.n, path = [0], next = [0, 0];
	const t = { n, levels: 1, parent: new Int32Array(n), end: new Int32Array(n), start: new Float64Array(n) };

	for (const k of ["label", "depth", "self", "selfBase"])
		t[k] = rows[k] ? rows[k].subarray(0, n) : null;
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
	if (t.base) {
		const a = t.now[0] || 1, b = t.base[0] || 1;

		t.total = t.now.map((v, i) => v / a + t.base[i] / b);
	}
	for (let i = 1; i < n; i++) {
		const d = t.depth[i];

		t.start[i] = next[d];
		next[d] += t.total[i];
		next[d + 1] = t.start[i];
	}
	return t;
}

/* The JSON object of profile/formats/html.h, or with a fourth number in each row. */
function decode(data)
{
	const diff = Boolean(data.diff), step = diff ? 4 : 3, r = data.rows;
	const rows = new Rows(r.length / step + 1, diff);

	rows.add(-1, 0, 0, 0);
	for (let i = 0, d = 0; i < r.length; i += step) {
		d += 1 - r[i + 1];
		rows.add(r[i], d, r[i + 2], diff ? r[i + 3] : 0);
	}
	return prepare({
		info: data.info, strings: data.strings, labels: data.labels,
		nLabels: data.labels.length / 3, tree: finish(rows),
	});
}

/* A number for each label, the same in every profile. */
function prepare(p)
{
	p.hash = new Int32Array(p.nLabels);
	for (let i = 0; i < p.nLabels; i++) {
		const kind = p.labels[3 * i + 2];
		let s = p.strings[p.labels[3 * i]], h = kind + 7;

		if (kind)	/* of a process this is its pid */
			s += "\n" + p.strings[p.labels[3 * i + 1]];
		for (let k = 0; k < s.length; k++)
			h = Math.imul(h, 31) + s.charCodeAt(k) | 0;
		p.hash[i] = h ^ h >>> 15;
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

/* Make a tree of rows in any order; each has its parent. */
function ordered(p, rows, parent)
{
	const rank = ranks(p), n = rows.n, place = new Int32Array(p.nLabels + 1);
	const byRank = new Int32Array(n), first = new Int32Array(n), next = new Int32Array(n);
	const out = new Rows(n, rows.selfBase);

	for (let i = 1; i < n; i++)
		place[rank[rows.label[i]] + 1]++;
	for (let k = 1; k <= p.nLabels; k++)
		place[k] += place[k - 1];
	for (let i = 1; i < n; i++)
		byRank[place[rank[rows.label[i]]]++] = i;
	for (let k = n - 2; k >= 0; k--) {
		const i = byRank[k];

		next[i] = first[parent[i]];
		first[parent[i]] = i;
	}
	for (let i = 0; ; ) {
		out.add(rows.label[i], rows.depth[i], rows.self[i], rows.selfBase ? rows.selfBase[i] : 0);
		if (first[i]) {
			i = first[i];
			continue;
		}
		while (i && !next[i])
			i = parent[i];
		if (!i)
			return finish(out);
		i = next[i];
	}
}

/*
 * A tree with a part of the samples: those for which keepStack(the row where
 * they end) is true, with those frames for which keepFrame(row) is true.
 */
function narrowed(p, t, keepStack, keepFrame)
{
	const kept = (v, i) => v && keepStack(i) ? v : 0, self = t.self.map(kept);
	const base = t.selfBase ? t.selfBase.map(kept) : new Float64Array(t.n);
	const sum = sums(self, t.parent), sumBase = sums(base, t.parent);
	const place = new Int32Array(t.n), parent = [0];
	const rows = new Rows(1024, t.selfBase), known = new Map();

	rows.add(-1, 0, self[0], base[0]);
	for (let i = 1; i < t.n; i++) {
		const above = place[t.parent[i]], key = above * p.nLabels + t.label[i];

		if (!sum[i] && !sumBase[i])
			continue;
		if (!keepFrame(i)) {
			place[i] = above;
		} else if (known.has(key)) {
			place[i] = known.get(key);
		} else {
			known.set(key, rows.n);
			place[i] = rows.n;
			parent.push(above);
			rows.add(t.label[i], rows.depth[above] + 1, 0, 0);
		}
		rows.self[place[i]] += self[i];
		if (rows.selfBase)
			rows.selfBase[place[i]] += base[i];
	}
	return ordered(p, rows, parent);
}

/*
 * The same samples, merged from their leaves: the rows below a frame are its
 * callers, at last the process.  A stack is kept as its next row; stacks that
 * share their rows so far are a group.
 */
function reversed(p, t)
{
	const rank = ranks(p), out = new Rows(t.n, t.selfBase);
	const stacks = [], groupOf = new Int32Array(p.nLabels);
	let order, spare, at;

	function sort(lo, hi)
	{
		const labels = [], count = [], where = [];
		let sum = lo;

		for (let k = lo; k < hi; k++) {
			const l = t.label[at[order[k]]];
			let g = groupOf[l];

			if (labels[g] !== l) {
				g = groupOf[l] = labels.length;
				labels.push(l);
				count.push(0);
			}
			count[g]++;
		}
		if (labels.length === 1)
			return [[lo, hi]];
		const sorted = labels.map((_, i) => i).sort((a, b) => rank[labels[a]] - rank[labels[b]]);
		const groups = sorted.map((g) => {
			where[g] = sum;
			sum += count[g];
			return [where[g], sum];
		});
		for (let k = lo; k < hi; k++)
			spare[where[groupOf[t.label[at[order[k]]]]]++] = order[k];
		order.set(spare.subarray(lo, hi), lo);
		return groups;
	}

	/* add a row for a group of stacks, then go on with those that have more frames */
	function put(lo, hi, depth)
	{
		const label = t.label[at[order[lo]]];
		let self = 0, selfBase = 0, n = lo;

		for (let k = lo; k < hi; k++) {
			const s = order[k], up = t.parent[at[s]];

			if (up) {
				at[s] = up;
				order[n++] = s;
				continue;
			}
			self += t.self[stacks[s]];
			selfBase += t.selfBase ? t.selfBase[stacks[s]] : 0;
		}
		out.add(label, depth, self, selfBase);
		if (n > lo)
			group(lo, n, depth + 1);
	}

	function group(lo, hi, depth)
	{
		if (hi - lo === 1) {
			put(lo, hi, depth);
			return;
		}
		for (const [from, to] of sort(lo, hi))
			put(from, to, depth);
	}

	for (let i = 1; i < t.n; i++) {
		if (t.self[i] || t.selfBase && t.selfBase[i])
			stacks.push(i);
	}
	at = Int32Array.from(stacks);
	order = at.map((_, i) => i);
	spare = new Int32Array(stacks.length);
	out.add(-1, 0, 0, 0);
	if (stacks.length)
		group(0, stacks.length, 1);
	return finish(out);
}

/* For each label its self samples, and its total samples, each counted once. */
function totals(p, t, from)
{
	const onPath = new Int32Array(p.nLabels), path = [];
	const sum = {};

	for (const k of ["self", "total", "selfBase", "totalBase"])
		sum[k] = new Float64Array(p.nLabels);
	for (let i = from || 1; i < t.end[from]; i++) {
		const l = t.label[i];

		while (path.length > t.depth[i] - t.depth[from || 1])
			onPath[path.pop()]--;
		sum.self[l] += t.self[i];
		if (t.base)
			sum.selfBase[l] += t.selfBase[i];
		if (!onPath[l]) {
			sum.total[l] += t.now[i];
			if (t.base)
				sum.totalBase[l] += t.base[i];
		}
		onPath[l]++;
		path.push(l);
	}
	return sum;
}

/* --- a row as a text that finds it in another profile ---------------------- */

const MIX = 0x9e3779b1;

function placeOf(p, t, row)
{
	const path = [];
	let h = 1;

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
		h[i] = Math.imul(h[t.parent[i]] ^ p.hash[t.label[i]], MIX);
		for (let k = 0; k < want.length; k++) {
			if (h[i] === want[k][1] && t.depth[i] === want[k][0])
				found[k] = i;
		}
	}
	return found;
}
