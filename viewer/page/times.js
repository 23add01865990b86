/* SPDX-License-Identifier: Apache-2.0 */
/*
 * times - row, thread and time of each sample of a recording, and the samples
 * within filters and range
 *
 * A unit is a sample with its line (0: not known); in a page without times (two files compared) all samples
 * of a row, with a thread for their process.
 */

const THREAD_FIELDS = 6;
let recording = null;			/* that of the page */

const whole = (n) => Number.isSafeInteger(n) && n >= 0;

/* Is v an array of whole numbers from 0 on? */
const wholeNumbers = (v) => Array.isArray(v) && v.every(whole);

/* Threads of profile/formats/html_times.h; null: there are none, or they are invalid. */
function readThreads(data)
{
	const { names, list } = data.threads || {}, out = [];

	if (!Array.isArray(names) || !names.every((s) => typeof s === "string") || !wholeNumbers(list) ||
	    list.length % THREAD_FIELDS)
		return null;
	for (let i = 0; i < list.length; i += THREAD_FIELDS) {
		const [label, pid, tid, ...texts] = list.slice(i, i + THREAD_FIELDS);

		/* of a process: kind 0 */
		if (3 * label >= data.labels.length || data.labels[3 * label + 2] || texts.some((t) => t >= names.length))
			return null;
		const [thread, executable, container] = texts.map((t) => names[t]);

		out.push({ label, process: data.strings[data.labels[3 * label]], pid, tid, thread, executable, container });
	}
	return out;
}

/* The samples of a row by line, [line, number], in their order. */
function linesInOrder(tree, row)
{
	const own = tree.own ? tree.own[row] : 0, more = tree.own && tree.ownMore.get(row), n = tree.self[row];

	return more ? [[own, more.parts.reduce((rest, [, k]) => rest - k, n)], ...more.parts.map((part) => [...part])] : [[own, n]];
}

/* The units of a recording, or null. */
function readTimes(data, tree)
{
	const threads = readThreads(data), v = data.times, n = tree.now[0];
	const { start_ms: start, duration_ms: duration } = data.info;

	if (!threads || !wholeNumbers(v) || v.length !== 2 * n || !whole(start) || !whole(duration))
		return null;
	const u = { n, threads, row: new Int32Array(n), line: new Int32Array(n), thread: new Int32Array(n), ms: new Float64Array(n) };

	for (let row = 1, at = 0; row < tree.n; row++) {
		const lines = linesInOrder(tree, row);

		for (let k = 0, ms = start, line = 0; k < tree.self[row]; k++, at++, lines[line][1]--) {
			if (!lines[line][1]) {
				line++;
				ms = start;
			}
			u.line[at] = lines[line][0];
			ms += v[2 * at];
			/* start and duration were cut to whole ms */
			if (v[2 * at + 1] >= threads.length || ms > start + duration + 1)
				return null;
			u.row[at] = row;
			u.thread[at] = v[2 * at + 1];
			u.ms[at] = ms;
		}
	}
	return u;
}

/* The time of the first sample that ends in each row; Infinity: none does. */
function firstTimes(tree, { n, row, ms })
{
	const first = new Float64Array(tree.n).fill(Infinity);

	for (let i = 0; i < n; i++)
		first[row[i]] = Math.min(first[row[i]], ms[i]);
	return first;
}

/* Without times: a unit for each row in which samples end. */
function unitsOfRows(p, tree)
{
	const rows = [], thread = [], threads = [], known = new Map();

	for (let i = 1, process = 0; i < tree.n; i++) {
		if (tree.depth[i] === 1)
			process = tree.label[i];
		if (!tree.self[i] && !(tree.selfBase && tree.selfBase[i]))
			continue;
		if (!known.has(process)) {
			known.set(process, threads.length);
			threads.push({ label: process, process: p.strings[p.labels[3 * process]] });
		}
		rows.push(i);
		thread.push(known.get(process));
	}
	return { n: rows.length, threads, row: Int32Array.from(rows), thread: Int32Array.from(thread), ms: null };
}

const short = {
	container: (v) => v.slice(0, 12),
	executable: (v) => v.slice(v.lastIndexOf("/") + 1) || v,
	pid: (v, t) => `${v} ${t.process}`,
};

/* The samples of a recording within filters and range. */
class Recording {
	constructor(p, data)
	{
		this.p = p;
		this.all = p.tree;
		this.units = readTimes(data, p.tree);
		this.timed = Boolean(this.units);
		if (this.timed)
			this.all.selfFirst = firstTimes(p.tree, this.units);
		else
			this.units = unitsOfRows(p, p.tree);
		this.keys = this.timed ? ["process", "pid", "thread", "tid", "container", "executable"] : ["process"];
		this.kinds = this.kindsOfRows();
	}

	/* Kinds of the frames from the process to each row, as bits. */
	kindsOfRows()
	{
		const t = this.all, kinds = new Uint16Array(t.n);

		for (let i = 1; i < t.n; i++)
			kinds[i] = kinds[t.parent[i]] | 1 << this.p.labels[3 * t.label[i] + 2];
		return kinds;
	}

	/* For each thread the filters that it does not pass, as bits. */
	refused()
	{
		return this.units.threads.map((t) => this.keys.reduce((bits, key, k) =>
			state.filters.has(key) && !chosen(key, String(t[key])) ? bits | 1 << k : bits, 0));
	}

	/* Bits of the kinds that are chosen; all, if none is. */
	wantedKinds()
	{
		const wanted = state.filters.get("kind");

		return wanted ? KINDS.reduce((bits, { filter }, k) => filter && wanted.has(filter) ? bits | 1 << k : bits, 0) : -1;
	}

	/* Call fn(unit, bits of the filters that it does not pass) for units from `from` to `to`, ms. */
	each(from, to, fn)
	{
		const { n, thread, row, ms } = this.units, refused = this.refused();
		const kinds = this.wantedKinds(), kindBit = 1 << this.keys.length;

		for (let i = 0; i < n; i++) {
			if (!ms || ms[i] >= from && ms[i] < to)
				fn(i, refused[thread[i]] | (this.kinds[row[i]] & kinds ? 0 : kindBit));
		}
	}

	/* The units of each thread in the order of time. */
	unitsByThread()
	{
		const { n, thread, threads, ms } = this.units, out = threads.map(() => []);

		for (let i = 0; i < n; i++)
			out[thread[i]].push(i);
		out.forEach((v) => v.sort((a, b) => ms[a] - ms[b]));
		return out;
	}

	/* Lanes (lanes.js) within filters and range. */
	lanes(from, to)
	{
		const { n, threads, ms, row } = this.units, passes = new Uint8Array(n), { p } = this;
		const at = (unit) => this.all.label[row[unit]];

		this.byThread = this.byThread || this.unitsByThread();
		this.each(from, to, (i, bits) => { passes[i] = bits ? 0 : 1; });
		return this.byThread.map((all, i) => {
			const units = all.filter((u) => passes[u]);

			return {
				...threads[i], hash: p.hash[threads[i].label], samples: units.length, ms: units.map((u) => ms[u]),
				part: (k) => ({ hash: p.hash[at(units[k])], name: p.strings[p.labels[3 * at(units[k])]], note: "" }),
			};
		}).filter((l) => l.samples).sort((a, b) => b.samples - a.samples);
	}

	/* Samples by bin, from `from` on. */
	counts(from, to, bins)
	{
		const out = new Array(bins).fill(0), { ms } = this.units;

		this.each(from, to, (i, bits) => {
			if (!bits)
				out[Math.floor((ms[i] - from) / (to - from) * bins)]++;
		});
		return out;
	}

	/* The tree and the lists of values within filters and range. */
	select(from, to)
	{
		const { row, line, thread, threads, ms } = this.units, all = this.all, kindBit = 1 << this.keys.length;
		const self = new Float64Array(all.n), selfBase = all.selfBase ? new Float64Array(all.n) : null;
		const selfFirst = this.timed ? new Float64Array(all.n).fill(Infinity) : null;
		const sums = this.keys.map(() => new Float64Array(threads.length)), kinds = new Map(), lines = new Map();
		let left = 0;

		this.each(from, to, (i, bits) => {
			const r = row[i], n = this.timed ? 1 : all.self[r] + (all.selfBase ? all.selfBase[r] : 0);

			/* a list counts samples that pass the other filters */
			for (let k = 0; k < sums.length; k++) {
				if (!(bits & ~(1 << k)))
					sums[k][thread[i]] += n;
			}
			if (!(bits & ~kindBit))
				kinds.set(this.kinds[r], (kinds.get(this.kinds[r]) || 0) + n);
			if (bits)
				return;
			left++;
			self[r] += this.timed ? 1 : all.self[r];
			if (selfBase)
				selfBase[r] += all.selfBase[r];
			if (selfFirst && ms[i] < selfFirst[r])
				selfFirst[r] = ms[i];
			if (this.timed && all.own && all.ownMore.has(r)) {
				if (!lines.has(r))
					lines.set(r, new Map());
				lines.get(r).set(line[i], (lines.get(r).get(line[i]) || 0) + 1);
			}
		});
		const ownMore = this.timed ? new Map([...lines].map(([r, sum]) =>
			[r, { sum: self[r], parts: [...sum].filter(([at]) => at !== all.own[r]) }])) : all.ownMore;
		return { lists: this.lists(sums, kinds), tree: left === this.units.n && !state.filters.has("kind") ? all :
			narrowed(this.p, { ...all, self, selfBase, selfFirst, ownMore }, () => true, this.keptLabels()) };
	}

	/* For each label: itself; -1: its frames are left out. */
	keptLabels()
	{
		const wanted = state.filters.get("kind");

		return Int32Array.from({ length: this.p.nLabels }, (_, l) => {
			const kind = this.p.labels[3 * l + 2], key = KINDS[kind]?.filter;

			if (!wanted || !kind)
				return l;
			/* a mark means missing user frames, so the kernel filter alone hides it */
			return (key ? wanted.has(key) : wanted.size > 1 || !wanted.has("kernel")) ? l : -1;
		});
	}

	lists(sums, kinds)
	{
		const lists = { others: {} }, threads = this.units.threads, kindSums = new Map();

		this.keys.forEach((key, k) => {
			const values = new Map();

			threads.forEach((t, i) => {
				const v = String(t[key]), old = values.get(v);

				if (old)
					old[2] += sums[k][i];
				else
					values.set(v, [v, short[key] ? short[key](v, t) : v, sums[k][i]]);
			});
			const sorted = [...values.values()].filter((v) => v[2]).sort((a, b) => b[2] - a[2]);

			lists[key] = sorted.slice(0, 100);
			lists.others[key] = sorted.slice(100).reduce((n, v) => n + v[2], 0);
		});
		for (const [bits, n] of kinds) {
			KINDS.forEach(({ filter }, k) => {
				if (filter && bits >> k & 1)
					kindSums.set(filter, (kindSums.get(filter) || 0) + n);
			});
		}
		lists.kind = [...kindSums].sort((a, b) => b[1] - a[1]).map(([v, n]) => [v, v, n]);
		return lists;
	}
}
