/* SPDX-License-Identifier: Apache-2.0 */
/* facets - the filters: lists of processes, threads, containers ... */

const FACETS = [
	["process", "Process"], ["thread", "Thread"], ["container", "Container"],
	["executable", "Executable"], ["kind", "Kind of frame"], ["pid", "Process ID"],
];
const FACET_NAMES = new Map([...FACETS, ["tid", "Thread ID"]]);
const closed = new Set(["pid"]);	/* collapsed lists */

/* A kind of frame has its name from the legend. */
const filterText = (key, v, most) => {
	const kind = key === "kind" && KINDS.find((k) => k.filter && k.filter === v);

	return kind ? kind.name : v === "" ? NO_NAME[key] || "(none)" : shown(v, most);
};
const chosen = (key, value) => state.filters.has(key) && state.filters.get(key).has(value);

function toggle(key, value)
{
	const set = state.filters.get(key) || new Set();

	if (!set.delete(value))
		set.add(value);
	if (set.size)
		state.filters.set(key, set);
	else
		state.filters.delete(key);
	say(`${FACET_NAMES.get(key)} ${filterText(key, value, 80)} ${set.has(value) ? "chosen" : "no longer chosen"}.`);
	chips();
	remember();
	source.changed();
}

function chips()
{
	const out = [];

	for (const [key, set] of state.filters) {
		for (const v of set) {
			out.push(el("button", {
				className: "chip", title: "Remove this filter",
				onclick: () => toggle(key, v),
			}, `${FACET_NAMES.get(key)}: ${filterText(key, v, 60)} `, el("b", { textContent: "\u00d7" })));
		}
	}
	out.push(...shapeChips());
	if (out.length > 1) {
		out.push(el("button", { className: "chip", textContent: "Remove all", onclick() {
			state.filters.clear();
			SHAPES.forEach((k) => state[k].clear());
			chips();
			remember();
			source.changed();
		} }));
	}
	$("chips").replaceChildren(...out);
	$("chips").hidden = !out.length;
}

function facetLine(key, [value, label, samples], most)
{
	const b = el("button", { className: "facet", onclick: () => toggle(key, value) },
		el("span", { className: "label", textContent: filterText(key, String(label || value), 120) }),
		el("span", { className: "n", textContent: number(samples) }));

	b.dataset.key = key;
	b.dataset.value = value;
	b.dataset.id = `${key}=${value}`;
	b.setAttribute("aria-pressed", chosen(key, value));
	b.style.backgroundSize = `${most ? 100 * samples / most : 0}% 100%`;
	return el("li", {}, b);
}

/* others: number of samples of the values that are not in the list. */
function facetList(key, title, values, others)
{
	const list = values.map(([v, l, n]) => [String(v), l, n]);
	const most = list.reduce((m, v) => Math.max(m, v[2]), 0);

	/* a chosen value without samples stays in the list, so that it can be removed */
	for (const v of state.filters.get(key) || []) {
		if (!list.some((x) => x[0] === v))
			list.push([v, v, 0]);
	}
	/* a list with "no container" only is useless */
	if (!list.length || !holding && list.length === 1 && list[0][0] === "" && !state.filters.has(key))
		return null;
	const summary = el("summary", {}, title, el("span", { className: "n" }, ` ${number(list.length)}`));

	summary.dataset.id = key;
	const d = el("details", { open: !closed.has(key) },
		summary,
		el("ul", {}, ...list.map((v) => facetLine(key, v, most))));

	d.dataset.key = key;
	if (others) {
		d.lastChild.append(el("li", { className: "others" }, "others",
			el("span", { className: "n", textContent: number(others) })));
	}
	d.addEventListener("toggle", () => {
		if (d.open)
			closed.delete(key);
		else
			closed.add(key);
	});
	return d;
}

let holding = false;			/* the pointer is in the lists: their entries must not move */
let newest = null;			/* the lists of the last answer */
let placed = null;			/* the lists that are shown */

/* The shown lists with new numbers: under the pointer no value appears, disappears or moves. */
function heldLists(lists)
{
	const out = { others: lists.others };

	for (const [key] of FACETS) {
		const now = new Map((lists[key] || []).map((v) => [String(v[0]), v[2]]));

		out[key] = (placed[key] || []).map(([v, l]) => [v, l, now.get(String(v)) || 0]);
	}
	return out;
}

/* e: where the pointer is now; it may have left the page. */
function release(e)
{
	const inside = e.type !== "pointerleave" && $("facets").contains(e.target);

	if (inside === holding)
		return;
	holding = inside;
	if (!inside && newest)
		showFacets(newest);
}

/* lists: the answer to GET /api/v1/facets. */
function showFacets(lists)
{
	const scroll = $("facets").scrollTop;
	/* for each list */
	const inner = new Map([...document.querySelectorAll("#facets details")].map((d) => [d.dataset.key, d.lastChild.scrollTop]));

	newest = lists;
	placed = lists = holding && placed ? heldLists(lists) : lists;

	renew($("facet-lists"), ...FACETS.map(([k, title]) => facetList(k, title, lists[k] || [],
		lists.others ? lists.others[k] : 0)).filter((d) => d));
	for (const d of document.querySelectorAll("#facets details"))
		d.lastChild.scrollTop = inner.get(d.dataset.key) || 0;
	$("facets").scrollTop = scroll;
}

function setFacets(on)
{
	$("facets").hidden = !on;
	$("filters").setAttribute("aria-expanded", on);
	resize();
}

function listenToFacets()
{
	for (const kind of ["pointermove", "pointerdown"])
		document.addEventListener(kind, release, { capture: true, passive: true });
	document.documentElement.addEventListener("pointerleave", release);
	$("filters").addEventListener("click", () => setFacets($("facets").hidden));
	$("filters").setAttribute("aria-expanded", !$("facets").hidden);
}
