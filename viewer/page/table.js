/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - the functions by their samples: everything that the graph shows, for
 * people who cannot see the graph
 */

const SOME = 200;			/* rows at first; a button shows more */
let some = SOME;
let sumsOf = null;			/* { tree, row, list, sum } of the last call */

/*
 * What can be listed.  groups(): the group of each label (-1: none) and their
 * number, or sums() the result of totals(); the rest is about a group: its name,
 * the text after it, its source, what a click does.
 */
const LISTS = {
	functions: {
		head: "Function", what: "function",
		groups: () => [Int32Array.from({ length: P.nLabels }, (_, l) => l), P.nLabels],
		name: (l) => labelName(l),
		rank: (l) => ranks(P)[l],
		kind: (l) => labelKind(l),
		mark: (l) => marksText(marksOfLabels(P.view)[l]),
		where: (l) => (sourceOf(l) ? shownPath(sourceOf(l).replace(/^.*\//, ""), 60) + " \u00b7 " : "") +
			`${shown(labelModule(l), 80)} (${kindName(labelKind(l))})`,
		matches: (l) => matched[l],
		id: (l) => P.hash[l],
		show: (l) => showLabel(l),
		about: (l) => l,
		label: (l) => l,
	},
	modules: {
		head: "Module", what: "module",
		groups: () => [P.moduleOf, P.modules.length],
		name: (m) => P.modules[m].name,
		rank: (m) => moduleRank()[m],
		hash: (m) => P.modules[m].hash,
		kind: (m) => P.modules[m].kind,
		where: (m) => kindName(P.modules[m].kind),
		matches: (m) => nameMatches(P.modules[m].name),
		id: (m) => P.modules[m].name,
		label: (m) => P.modules[m].label,
		show: (m) => showMatches(P.modules[m].name),
	},
	processes: {
		head: "Process", what: "process",
		hash: (l) => P.hash[l],
		groups: () => [Int32Array.from({ length: P.nLabels }, (_, l) => P.labels[3 * l + 2] ? -1 : l), P.nLabels],
		name: (l) => labelName(l),
		rank: (l) => ranks(P)[l],
		kind: () => 0,
		where: (l) => shown(labelModule(l), 80),
		label: (l) => l,
		matches: (l) => matched[l],
		id: (l) => P.hash[l],
		show: (l) => showLabel(l),
	},
};

/* Functions by line; they have no stacks of their own. */
LISTS.lines = {
	...LISTS.functions, head: "Line and function", what: "line", sums: lineGroups,
	name: (g) => `${sourceName(P.lineGroups[g].label)}:${P.lineGroups[g].line}`,
	rank: (g) => ranks(P)[P.lineGroups[g].label],
	kind: (g) => labelKind(P.lineGroups[g].label),
	mark: (g) => ` ${shown(labelName(P.lineGroups[g].label), 160)}`,
	where: (g) => `${shown(labelModule(P.lineGroups[g].label), 80)} (${kindName(labelKind(P.lineGroups[g].label))})`,
	matches: (g) => matched[P.lineGroups[g].label] || nameMatches(sourceOf(P.lineGroups[g].label)),
	id: (g) => `${P.hash[P.lineGroups[g].label]}-${P.lineGroups[g].line}`,
	show: (g) => showLabel(P.lineGroups[g].label),
	about: (g) => P.lineGroups[g].label,
	label: (g) => P.lineGroups[g].label,
};

/* The position of each module's name in alphabetical order. */
function moduleRank()
{
	if (!P.moduleRank) {
		const order = P.modules.map((_, m) => m).sort((a, b) => P.modules[a].name < P.modules[b].name ? -1 : 1);

		P.moduleRank = new Int32Array(order.length);
		order.forEach((m, i) => { P.moduleRank[m] = i; });
	}
	return P.moduleRank;
}

/* The tree and the row that the table is about. */
function tableOf()
{
	/* reversing all stacks does not change the sums, but makes them slow to compute */
	const other = T !== P.view;

	return [P.view, other || state.list === "processes" ? 0 : zoom];
}

function groupTotals()
{
	const [tree, row] = tableOf(), list = state.list;

	if (!sumsOf || sumsOf.tree !== tree || sumsOf.row !== row || sumsOf.list !== list)
		sumsOf = { tree, row, list, sum: LISTS[list].sums ? LISTS[list].sums(tree, row) : totals(tree, row, ...LISTS[list].groups()) };
	return sumsOf.sum;
}

/* The groups to show, in order. */
function tableOrder(sum)
{
	const out = [], of = LISTS[state.list];
	const a = P.view.all || 1, b = P.view.allBase || 1;
	const gain = (l) => sum.self[l] / a - sum.selfBase[l] / b;

	for (let l = 0; l < sum.total.length; l++) {
		if ((sum.total[l] || sum.totalBase[l]) && (!state.query || of.matches(l)))
			out.push(l);
	}
	out.sort({
		self: (x, y) => sum.self[y] - sum.self[x] || sum.total[y] - sum.total[x],
		total: (x, y) => sum.total[y] - sum.total[x] || sum.self[y] - sum.self[x],
		name: (x, y) => of.rank(x) - of.rank(y),
		kind: (x, y) => of.kind(x) - of.kind(y) || sum.self[y] - sum.self[x],
		count: (x, y) => sum.count[y] - sum.count[x] || sum.total[y] - sum.total[x],
		change: (x, y) => Math.abs(gain(y)) - Math.abs(gain(x)) || sum.self[y] - sum.self[x],
	}[state.sort]);
	return out;
}

function tableLine(l, sum, all, allBase)
{
	const of = LISTS[state.list], text = shown(of.name(l));
	const name = el("button", { className: "name", textContent: text, title: "Show it in the graph", onclick: () => of.show(l) });
	const mark = of.mark ? of.mark(l) : "";
	const first = el("th", { scope: "row" }, el("div", {}, name, ...mark ? [el("span", {}, mark)] : []));
	const n = (text) => el("td", { className: "n" }, text);

	name.dataset.id = of.id(l);
	name.dataset.key = of.label ? labelKey(of.label(l)) : "";
	if (of.about) {
		const b = el("button", { className: "about", title: "Callers and callees", onclick: () => setSandwich(of.about(l)) });

		b.setAttribute("aria-label", "Callers and callees of " + text);
		b.dataset.id = "about-" + of.id(l);
		first.append(b);
	}
	const cells = [n(number(sum.self[l])), n(percent(sum.self[l], all)), n(number(sum.total[l])), n(percent(sum.total[l], all))];

	if (T.base && !of.sums)
		cells.push(n(signed(sum.self[l] / (all || 1) - sum.selfBase[l] / (allBase || 1))));
	if (!of.sums)
		cells.push(n(number(sum.count[l])));
	return el("tr", {}, first, ...cells, el("td", { className: "what" }, of.where(l)));
}

function heading(key, text, columns, title = "")
{
	const th = el("th", { scope: "col", colSpan: columns });
	const b = el("button", { textContent: text, title, onclick() {
		state.sort = key;
		remember();
		fillTable();
	} });

	b.id = b.dataset.id = "head-" + key;
	th.append(b);
	if (state.sort === key)
		th.setAttribute("aria-sort", key === "name" || key === "kind" ? "ascending" : "descending");
	return th;
}

function fillTable()
{
	if (!state.table || !T)
		return;
	if (state.sort === "change" && (!T.base || LISTS[state.list].sums) || state.sort === "count" && LISTS[state.list].sums)
		state.sort = "self";
	const sum = groupTotals(), order = tableOrder(sum), listed = order.slice(0, some), of = LISTS[state.list];
	const [tree, row] = tableOf();
	const all = tree.now[row], allBase = tree.base ? tree.base[row] : 0;
	const heads = [heading("name", of.head, 1), heading("self", "Self", 2), heading("total", "Total", 2)];

	if (T.base && !of.sums)
		heads.push(heading("change", "Change of self", 1));
	if (!of.sums)
		heads.push(heading("count", "Stacks", 1, "Distinct stacks that it is in"));
	heads.push(heading("kind", state.list === "functions" || of.sums ? "Module" : "Where", 1));
	renew($("table-head"), el("tr", {}, ...heads));
	renew($("table-body"), ...listed.map((l) => tableLine(l, sum, all, allBase)));
	$("table-note").textContent = `${number(listed.length)} of ${plural(order.length, of.what, of.what === "process" ? "es" : "s")}` +
		`${state.query ? " that match" : ""}, of ${plural(all, "sample")}` +
		(row ? ` in ${shown(nameOf(row), 80)} and below` : "") +
		". Self: the samples that end in it; total: also those in what it called." +
		(of.sums && !tree.own ? " No lines are known: of native code they are in its debug information (-g)." : "");
	$("more").hidden = listed.length === order.length;
	for (const b of document.querySelectorAll("[data-list]"))
		b.setAttribute("aria-pressed", b.dataset.list === state.list);
	/* of folded stacks lines are a part of the names (trifold diff --by line) */
	document.querySelector("[data-list=lines]").hidden = Boolean(P.info.files);
	$("table").dataset.lists = state.list;
	page.dataset.tableRows = listed.length;
}

/* Show the graph with this text searched for. */
function showMatches(text)
{
	state.query = $("query").value = queryFor(text);
	setTable(false);
	search();
	remember();
	canvas.focus();
	nextMatch(1);
}

/* The widest box of a label in the graph. */
function showLabel(l)
{
	let best = 0;

	if (state.sandwich) {
		state.sandwich = "";
		plant();
	}
	state.query = $("query").value = queryFor(labelName(l));
	setTable(false);
	if (zoom && !inside(l))
		zoomTo(0);
	for (let i = Math.max(zoom, 1); i < T.end[zoom]; i++) {
		if (T.label[i] === l && (!best || T.total[i] > T.total[best]))
			best = i;
	}
	search();
	remember();
	canvas.focus();
	pointTo(best);
}

function inside(l)
{
	for (let i = zoom; i < T.end[zoom]; i++) {
		if (T.label[i] === l)
			return true;
	}
	return false;
}

function setTable(on)
{
	state.table = on;
	$("view").hidden = on;
	$("table").hidden = !on;
	$("as-graph").setAttribute("aria-pressed", !on);
	$("as-table").setAttribute("aria-pressed", on);
	hideTip();
	remember();
	if (on)
		fillTable();
	else
		resize();
}

function listenToTable()
{
	$("as-graph").addEventListener("click", () => setTable(false));
	$("as-table").addEventListener("click", () => setTable(true));
	for (const b of document.querySelectorAll("[data-list]")) {
		b.addEventListener("click", () => {
			state.list = b.dataset.list;
			some = SOME;
			remember();
			fillTable();
		});
	}
	$("more").addEventListener("click", () => {
		some *= 4;
		fillTable();
	});
}
