/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table - the functions by their samples; it has all that the graph shows, for
 * people who cannot see the graph
 */

const SOME = 200;			/* lines at first; a button shows more */
let lines = SOME;
let sumsOf = null;			/* [tree, row, totals()] of the last call */

function labelTotals()
{
	/* reversing all stacks does not change the sums, but makes them slow to compute */
	const tree = state.reversed ? P.tree : T, row = state.reversed ? 0 : zoom;

	if (!sumsOf || sumsOf[0] !== tree || sumsOf[1] !== row)
		sumsOf = [tree, row, totals(P, tree, row)];
	return sumsOf[2];
}

/* The labels to show, in order. */
function tableOrder(sum)
{
	const out = [], rank = state.sort === "name" ? ranks(P) : null;
	const a = P.tree.now[0] || 1, b = P.tree.base ? P.tree.base[0] || 1 : 1;
	const gain = (l) => sum.self[l] / a - sum.selfBase[l] / b;

	for (let l = 0; l < P.nLabels; l++) {
		if ((sum.total[l] || sum.totalBase[l]) && (!state.query || matched[l]))
			out.push(l);
	}
	out.sort({
		self: (x, y) => sum.self[y] - sum.self[x] || sum.total[y] - sum.total[x],
		total: (x, y) => sum.total[y] - sum.total[x] || sum.self[y] - sum.self[x],
		name: (x, y) => rank[x] - rank[y],
		kind: (x, y) => labelKind(x) - labelKind(y) || sum.self[y] - sum.self[x],
		change: (x, y) => Math.abs(gain(y)) - Math.abs(gain(x)) || sum.self[y] - sum.self[x],
	}[state.sort]);
	return out;
}

function tableLine(l, sum, all, allBase)
{
	const name = el("button", {
		className: "name", textContent: shown(labelName(l)), title: "Show it in the graph",
		onclick: () => showLabel(l),
	});
	name.dataset.id = P.hash[l];
	const cells = [
		el("td", { className: "n" }, number(sum.self[l])),
		el("td", { className: "n" }, percent(sum.self[l], all)),
		el("td", { className: "n" }, number(sum.total[l])),
		el("td", { className: "n" }, percent(sum.total[l], all)),
	];

	if (T.base) {
		cells.push(el("td", { className: "n" },
			signed(sum.self[l] / (all || 1) - sum.selfBase[l] / (allBase || 1))));
	}
	return el("tr", {}, el("th", { scope: "row" }, name), ...cells,
		el("td", { className: "what" }, `${shown(labelModule(l), 80)} (${kindName(labelKind(l))})`));
}

function heading(key, text, columns)
{
	const th = el("th", { scope: "col", colSpan: columns });
	const b = el("button", { textContent: text, onclick() {
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
	if (state.sort === "change" && !T.base)
		state.sort = "self";
	const sum = labelTotals(), order = tableOrder(sum), some = order.slice(0, lines);
	const tree = state.reversed ? P.tree : T, row = state.reversed ? 0 : zoom;
	const all = tree.now[row], allBase = tree.base ? tree.base[row] : 0;
	const heads = [heading("name", "Function", 1), heading("self", "Self", 2), heading("total", "Total", 2)];

	if (T.base)
		heads.push(heading("change", "Change of self", 1));
	heads.push(heading("kind", "Where", 1));
	renew($("table-head"), el("tr", {}, ...heads));
	renew($("table-body"), ...some.map((l) => tableLine(l, sum, all, allBase)));
	$("table-note").textContent = `${number(some.length)} of ${plural(order.length, "name")}` +
		`${state.query ? " that match" : ""}, of ${plural(all, "sample")}` +
		(row ? ` in ${shown(nameOf(row), 80)} and below` : "") +
		". Self: the samples that end in it; total: also those in what it called.";
	$("more").hidden = some.length === order.length;
	page.dataset.tableRows = some.length;
}

/* The widest box of a label in the graph. */
function showLabel(l)
{
	let best = 0;

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
	$("more").addEventListener("click", () => {
		lines *= 4;
		fillTable();
	});
}
