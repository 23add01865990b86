/* SPDX-License-Identifier: Apache-2.0 */
/* merge - trees made of a tree: filtered, from the leaves, about a function; its order */

/* The marks that all these rows have. */
const marksIn = (t, rows) => rows.reduce((bits, i) => bits & t.marks[i], 255);

/*
 * Add the rows `roots` of a tree and all below them to rows, those with the same
 * callers as one.  how: self, base (the samples that end in a row), sum, sumBase
 * (all below it, too), if not those of the tree; as, of each label the one that
 * stands for it (-1: the frame is left out, its samples are its caller's);
 * joined, labels of which a caller and its callee become one.
 */
function merge(p, t, rows, label, roots, how)
{
	const self = how.self || t.self, base = how.base || t.selfBase;
	const sum = how.sum || t.now, sumBase = how.sumBase || t.base, first = t.selfFirst;
	const groupOf = new Int32Array(p.nLabels);
	/* for rows that were left out, and those below: the nearest row above that was kept */
	const over = new Map();
	/* a list, not recursion: stacks may be deeper than the script's own */
	const todo = [[label, roots, 0]];

	function copy(root, depth)
	{
		const by = depth - t.depth[root];

		for (let i = root; i < t.end[root]; i++) {
			rows.add(t.label[i], t.depth[i] + by, self[i], base ? base[i] : 0, first ? first[i] : 0, t.marks[i]);
			if (rows.own)
				copyLines(rows, t, i);
		}
	}

	/* The lines of the row of a list of frames, without those after the first n. */
	function lines(list, n)
	{
		if (list.length === 1 && !over.has(list[0])) {
			copyLines(rows, t, list[0]);
			return;
		}
		const own = new Map(), from = new Map();

		list.forEach((r, k) => {
			if (k >= n) {
				addFrom(own, t, over.get(r), self[r]);
				return;
			}
			addOwn(own, t, r, self[r]);
			addFrom(from, t, over.has(r) ? over.get(r) : r, (sum || t.now)[r]);
		});
		putLines(rows, own, from);
	}

	function put(l, list, depth)
	{
		const row = rows.n, labels = [], groups = [], whole = list.length;

		if (list.length === 1 && !how.sum && !how.as) {
			copy(list[0], depth);
			return;
		}
		/* a module's box is no frame */
		rows.add(l, depth, 0, 0, Infinity, l < p.nLabels - p.modules.length ? marksIn(t, list) : 0);
		/* the list grows by frames that are left out */
		for (let k = 0; k < list.length; k++) {
			const r = list[k];

			rows.self[row] += self[r];
			if (base)
				rows.selfBase[row] += base[r];
			if (first && self[r])
				rows.selfFirst[row] = Math.min(rows.selfFirst[row], first[r]);
			for (let c = r + 1; c < t.end[r]; c = t.end[c]) {
				const at = how.as ? how.as[t.label[c]] : t.label[c];
				let g = groupOf[at];

				if (!sum[c] && !(sumBase && sumBase[c]))
					continue;
				if (rows.own && k >= whole)
					over.set(c, over.get(r));
				if (at < 0 || at === l && how.joined && how.joined.has(at)) {
					list.push(c);
					if (rows.own && k < whole)
						over.set(c, c);
					continue;
				}
				if (labels[g] !== at) {
					g = groupOf[at] = labels.length;
					labels.push(at);
					groups.push([]);
				}
				groups[g].push(c);
			}
		}
		if (rows.own)
			lines(list, whole);
		for (let g = labels.length - 1; g >= 0; g--)
			todo.push([labels[g], groups[g], depth + 1]);
	}

	while (todo.length)
		put(...todo.pop());
}

/*
 * A tree with some of the samples: those for which keepStack(the row where
 * they end) is true.  as, joined: as in merge().
 */
function narrowed(p, t, keepStack, as, joined)
{
	const kept = (v, i) => v && keepStack(i) ? v : 0, self = t.self.map(kept);
	const base = t.selfBase ? t.selfBase.map(kept) : null;
	const rows = new Rows(1024, base, t.selfFirst, t.own);

	merge(p, t, rows, -1, [0], {
		self, base, as, joined, sum: sums(self, t.parent), sumBase: base ? sums(base, t.parent) : null,
	});
	return finish(rows);
}

/*
 * Add stacks to rows, from rows `at` of t to their roots, merged as long as they
 * are the same.  weight and weightBase are their samples, first when they began.
 */
function upward(p, t, out, at, { weight, weightBase, first })
{
	const groupOf = new Int32Array(p.nLabels);
	const order = at.map((_, i) => i), spare = new Int32Array(at.length);
	const todo = [];			/* groups of stacks: first, end, depth */

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
		const groups = labels.map((_, g) => {
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
		let self = 0, selfBase = 0, began = Infinity, n = lo, marks = 255;

		for (let k = lo; k < hi; k++) {
			const s = order[k], up = t.parent[at[s]];

			marks &= t.marks[at[s]];
			if (up) {
				at[s] = up;
				order[n++] = s;
				continue;
			}
			self += weight[s];
			selfBase += weightBase ? weightBase[s] : 0;
			began = first ? Math.min(began, first[s]) : 0;
		}
		out.add(label, depth, self, selfBase, began, marks);
		if (n > lo)
			later(lo, n, depth + 1);
	}

	function later(lo, hi, depth)
	{
		if (hi - lo === 1) {
			todo.push(lo, hi, depth);
			return;
		}
		for (const [from, to] of sort(lo, hi).reverse())
			todo.push(from, to, depth);
	}

	if (at.length)
		later(0, at.length, 1);
	while (todo.length) {
		const depth = todo.pop(), hi = todo.pop();

		put(todo.pop(), hi, depth);
	}
}

/*
 * The same samples, merged from their leaves: the rows below a frame are its
 * callers, at last the process.
 */
function reversed(p, t)
{
	const out = new Rows(t.n, t.selfBase, t.selfFirst), ends = [], of = (column) => column ? ends.map((i) => column[i]) : null;

	for (let i = 1; i < t.n; i++) {
		if (t.self[i] || t.selfBase && t.selfBase[i])
			ends.push(i);
	}
	out.add(-1, 0, t.self[0], t.selfBase ? t.selfBase[0] : 0);
	upward(p, t, out, Int32Array.from(ends), { weight: of(t.self), weightBase: of(t.selfBase), first: of(t.selfFirst) });
	return finish(out);
}

/*
 * A function between its callees, merged, and its callers, merged.  Where it
 * calls itself, its outermost call is taken, so that each sample counts once.
 */
function sandwiched(p, t, label)
{
	const rows = new Rows(1024, t.selfBase, t.selfFirst, t.own), calls = [];

	for (let i = 1; i < t.n; ) {
		if (t.label[i] === label)
			calls.push(i);
		i = t.label[i] === label ? t.end[i] : i + 1;
	}
	merge(p, t, rows, label, calls.slice(), {});
	const split = rows.n, called = calls.filter((i) => t.parent[i]);

	const of = (column) => column ? called.map((i) => column[i]) : null;

	upward(p, t, rows, Int32Array.from(called, (i) => t.parent[i]),
		{ weight: of(t.now), weightBase: of(t.base), first: of(t.selfFirst && firsts(t)) });
	const out = finish(rows, split, label, t);

	out.up = 0;
	out.levels = 1;
	for (let i = 1; i < out.n; i++) {
		if (i < split)
			out.levels = Math.max(out.levels, out.depth[i] + 1);
		else
			out.up = Math.max(out.up, out.depth[i]);
	}
	out.levels += out.up;
	return out;
}

/* --- the order of boxes -------------------------------------------------------- */

const ORDERS = {
	width: (p, t) => (a, b) => t.total[b] - t.total[a],
	name: (p, t) => (a, b) => ranks(p)[t.label[a]] - ranks(p)[t.label[b]],
	/* the first sample of a row or of one below it */
	time: (p, t) => (a, b) => firsts(t)[a] - firsts(t)[b] || 0,
};

/* The order that a tree can have: by time, or else by width, where times are not known. */
const orderOf = (t, order) => order === "time" && !t.selfFirst ? "width" : order;

/*
 * Where boxes begin: those of a caller beside each other, in an order.  What is
 * below a row with a total less than `thin` is left out, which saves most of the work.
 */
function layOut(p, t, order, thin)
{
	const { end, total } = t, start = new Float64Array(t.n), before = ORDERS[order](p, t);
	const list = [];

	/* rows from..to-1, which are below row i */
	function place(i, from, to)
	{
		let n = 0, x = start[i];

		for (let c = from; c < to; c = end[c]) {
			let k = n++;

			/* most lists are short */
			for (; n < 12 && k && before(list[k - 1], c) > 0; k--)
				list[k] = list[k - 1];
			list[k] = c;
		}
		list.length = n;
		if (n >= 12)
			list.sort(before);
		for (let k = 0; k < n; k++) {
			start[list[k]] = x;
			x += total[list[k]];
		}
	}

	place(0, 1, t.split);
	place(0, t.split, t.n);
	for (let i = 1; i < t.n; ) {
		const first = i + 1, to = end[i];

		if (first < to && end[first] === to)
			start[first] = start[i];
		else if (first < to && total[i] >= thin)
			place(i, first, to);
		i = total[i] >= thin ? first : to;
	}
	t.start = start;
	t.order = order;
	t.thin = thin;
}

/* --- sums for tables ------------------------------------------------------------ */

/*
 * For each of n groups of labels its self samples, its total samples and its
 * stacks, each counted once.  as: the group of each label, -1: none.
 */
function totals(t, from, as, n)
{
	const onPath = new Int32Array(n), path = [], sum = {};
	const ends = (v, i) => v || t.selfBase && t.selfBase[i] ? 1 : 0;

	if (!t.stacks)
		t.stacks = sums(t.self.map(ends), t.parent);
	for (const k of ["self", "total", "selfBase", "totalBase", "count"])
		sum[k] = new Float64Array(n);
	for (let i = from || 1; i < t.end[from]; i++) {
		const g = as[t.label[i]], d = t.depth[i] - t.depth[from || 1];

		while (path.length > d) {
			const last = path.pop();

			if (last >= 0)
				onPath[last]--;
		}
		path.push(g);
		if (g < 0)
			continue;
		sum.self[g] += t.self[i];
		if (t.base)
			sum.selfBase[g] += t.selfBase[i];
		if (!onPath[g]++) {
			sum.total[g] += t.now[i];
			sum.count[g] += t.stacks[i];
			if (t.base)
				sum.totalBase[g] += t.base[i];
		}
	}
	return sum;
}
