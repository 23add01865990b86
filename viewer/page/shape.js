/* SPDX-License-Identifier: Apache-2.0 */
/* shape - which tree of a profile is shown: from the roots, from the leaves, about a function */

/* A label as a text by which it is found in another profile. */
const labelKey = (l) => (P.hash[l] >>> 0).toString(36);

/* The label of such a text; -1: the profile has none. */
function labelAt(key)
{
	if (!P.byKey) {
		P.byKey = new Map();
		for (let l = P.nLabels - 1; l >= 0; l--)
			P.byKey.set(labelKey(l), l);
	}
	return P.byKey.has(key) ? P.byKey.get(key) : -1;
}

const SHAPES = ["focus", "without", "hidden", "folded"];
const SHAPE_NAMES = { focus: "Only with", without: "Without", hidden: "Hidden", folded: "Folded" };

/* The labels of this profile that are in a set of the state, as a column; a module's label is for all of its functions. */
function labelSet(set)
{
	const out = new Uint8Array(P.nLabels);

	for (const key of set) {
		const l = labelAt(key), m = l - P.nLabels + P.modules.length;

		if (l >= 0)
			out[l] = 1;
		for (let k = 0; m >= 0 && k < P.nLabels; k++)
			out[k] |= P.moduleOf[k] === m ? 1 : 0;
	}
	return out;
}

/* The profile's tree without what is hidden, and with modules folded. */
function chosenTree()
{
	const key = JSON.stringify(SHAPES.map((k) => [...state[k]])), t = P.tree;

	if (SHAPES.every((k) => !state[k].size))
		return t;
	if (P.chosen && P.chosenKey === key)
		return P.chosen;
	const [focus, without, hidden] = SHAPES.map((k) => labelSet(state[k]));
	const as = Int32Array.from({ length: P.nLabels }, (_, l) => hidden[l] ? -1 : l), joined = new Set();

	for (const { name, label } of P.modules) {
		if (state.folded.has(name))
			joined.add(label);
	}
	for (let l = 0; l < P.nLabels; l++) {
		const m = P.moduleOf[l];

		if (as[l] >= 0 && m >= 0 && joined.has(P.modules[m].label))
			as[l] = P.modules[m].label;
	}
	/* has a row, or one above it, a label of focus (1), of without (2)? */
	const has = new Uint8Array(t.n);

	for (let i = 1; i < t.n; i++)
		has[i] = has[t.parent[i]] | focus[t.label[i]] | without[t.label[i]] << 1;
	P.chosen = narrowed(P, t, (i) => has[i] === (state.focus.size ? 1 : 0), as, joined);
	P.chosenKey = key;
	return P.chosen;
}

/* Add a value to a set of the state, or remove it. */
function toggleShape(which, key)
{
	const on = !state[which].delete(key);

	if (on)
		state[which].add(key);
	say(`${SHAPE_NAMES[which]} ${shapeName(which, key)}${on ? "." : ": no longer."}`);
	shapeChanged();
}

function shapeChanged()
{
	plant();
	chips();
	remember();
}

function shapeName(which, key)
{
	const l = which === "folded" ? -1 : labelAt(key);

	return which === "folded" ? shown(key, 60) : l >= 0 ? shown(labelName(l), 60) : "(a function that is not here)";
}

/* A button for each hidden function and so on, which shows it again. */
function shapeChips()
{
	return P ? SHAPES.flatMap((which) => [...state[which]].map((key) => el("button", {
		className: "chip", title: "Take this back", onclick: () => toggleShape(which, key),
	}, `${SHAPE_NAMES[which]}: ${shapeName(which, key)} `, el("b", { textContent: "\u00d7" })))) : [];
}

/* The tree for the state. */
function shapedTree()
{
	const about = state.sandwich ? labelAt(state.sandwich) : -1, t = P.view = chosenTree();

	if (about >= 0) {
		if (!P.about || P.about.about !== about || P.aboutOf !== t)
			P.about = sandwiched(P, t, about);
		P.aboutOf = t;
		return P.about;
	}
	if (state.reversed && (!P.reversedTree || P.reversedOf !== t)) {
		P.reversedTree = reversed(P, t);
		P.reversedOf = t;
	}
	return state.reversed ? P.reversedTree : t;
}

const NARROW = 1 / 16384;		/* of the width: narrower boxes are never drawn */

/* Lay out the part of the tree below row i. */
function lay(i, part = NARROW)
{
	const least = T.total[i] * part, order = orderOf(T, state.order);

	if (T.order !== order || least < T.thin)
		layOut(P, T, order, i ? 0 : least);
}

/* Fill the list of orders with the possible ones, and choose the current one. */
function showOrders()
{
	const time = $("order").querySelector("[value=time]"), timed = source.timed();

	time.hidden = time.disabled = !timed;
	$("order").value = timed || state.order !== "time" ? state.order : "width";
}

/* The order after the current one. */
function nextOrder()
{
	const next = after(ORDERS, $("order").value);

	setOrder(next === "time" && !source.timed() ? after(ORDERS, next) : next);
}

/* Sort the boxes that are beside each other. */
function setOrder(by)
{
	state.order = by;
	showOrders();
	remember();
	if (!P)
		return;
	if (orderOf(T, by) !== by)
		source.changed();	/* requests times */
	hideTip();
	lay(zoom);
	redraw();
	say(`Boxes ${$("order").selectedOptions[0].textContent}.`);
}

/* Show the callers and callees of a label; -1: everything again. */
function setSandwich(l)
{
	const was = T && T.about, name = l >= 0 ? shown(labelName(l), 160) : "";

	state.sandwich = l >= 0 ? labelKey(l) : "";
	/* a search would fade all but the function */
	state.query = $("query").value = "";
	state.zoom = "";
	state.cursor = l >= 0 ? "0.0" : "";
	if (!P)
		return;
	if (state.table)
		setTable(false);
	hideTip();
	plant();
	remember();
	if (l < 0) {
		toRoot();
		if (was >= 0)
			showLabel(was);
		say("Everything is shown.");
		return;
	}
	view.scrollTop = topOf(0) - (height - ROW) / 2;
	canvas.focus();
	redraw();
	say(`${name} between its callers and its callees.`);
}

/* Scroll to the root. */
function toRoot()
{
	view.scrollTop = hangs() ? 0 : view.scrollHeight;
}
