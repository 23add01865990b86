/* SPDX-License-Identifier: Apache-2.0 */
/* page - common to the recorded and the live page */

function setTheme(on)
{
	dark = on;
	page.dataset.theme = on ? "dark" : "light";
	mix();
	legend();
	redraw();
	dispatchEvent(new Event("theme"));
}

/* --- showing a profile --------------------------------------------------------- */

/* There are samples, but none within the filters and the range. */
function nothingChosen()
{
	const filters = state.filters.size > 0;

	return `No samples in this range${filters ? " with these filters" : ""}. Choose another one in the time line` +
		`${filters ? ", or remove a filter" : ""}.`;
}

/* Say why there is nothing to see. */
function showEmpty()
{
	$("empty").hidden = T.n > 1;
	if (T.n <= 1)
		$("empty").textContent = P.tree.n > 1 ? "Nothing is left of what was chosen: take a choice back in the row above." : source.empty();
}

/* Make the tree of P for the state; zoom and cursor stay at their functions. */
function plant()
{
	T = shapedTree();
	hover = -1;
	[zoom, cursor] = rowsAt(P, T, [state.zoom, state.cursor]);
	if (!state.cursor)
		cursor = -1;
	lay(zoom);
	prepareColours();
	showEmpty();
	if (shapeChips().length)
		chips();
	legend();
	showOrders();
	crumbs();
	search();
	resize();
	renewTip();
	page.dataset.rows = T.n - 1;
	page.dataset.samples = T.all;
}

/* Show a profile from decode(). */
function showProfile(p)
{
	const first = !T;

	P = p;
	plant();
	if (first)
		toRoot();
}

/* The key that follows one of an object's keys. */
function after(object, key)
{
	const keys = Object.keys(object);

	return keys[(keys.indexOf(key) + 1) % keys.length];
}

/* What reset() would undo. */
function showReset()
{
	const parts = [];

	if (state.sandwich)
		parts.push("callers");
	if (zoom || !parts.length && !state.query)
		parts.push("zoom");
	if (state.query)
		parts.push("search");
	$("reset").textContent = "Reset " + parts.join(parts.length > 2 ? ", " : " and ");
	$("reset").setAttribute("aria-disabled", !zoom && !state.query && !state.sandwich);
}

function reset()
{
	state.query = $("query").value = "";
	cursor = -1;
	state.cursor = "";
	if (!P) {
		remember();
		return;
	}
	if (state.sandwich) {
		state.sandwich = "";
		plant();
	}
	search();
	zoomTo(0);
	say("Everything is shown.");
}

function press(id, on)
{
	$(id).setAttribute("aria-pressed", on);
}

function setReversed(on)
{
	state.reversed = on;
	state.sandwich = "";
	state.zoom = state.cursor = "";
	press("reverse", on);
	remember();
	if (P) {
		const began = performance.now();

		plant();
		page.dataset.reverseMs = (performance.now() - began).toFixed(1);
		toRoot();
	}
}

function setIcicle(on)
{
	state.icicle = on;
	press("flip", on);
	remember();
	hideTip();
	resize();
	view.scrollTop = on ? 0 : view.scrollHeight;
}

/* Set the controls to the state that recall() read. */
function applyState()
{
	press("reverse", state.reversed);
	press("flip", state.icicle);
	$("colour").value = state.colour;
	showOrders();
	setColour(state.colour);
	chips();
	setTable(state.table);
}

function pageKey(e)
{
	const typing = e.target.matches && e.target.matches("input, select, textarea");

	if (e.key === "Escape" && !$("keys").open) {
		reset();
		$("query").blur();
		return;
	}
	if (typing) {
		if (e.key === "Enter" && e.target === $("query"))
			nextMatch(e.shiftKey ? -1 : 1);
		return;
	}
	if (e.ctrlKey || e.altKey || e.metaKey || $("keys").open)
		return;
	const does = {
		"/": () => $("query").select(),
		"?": () => $("keys").showModal(),
		"g": () => { setTable(false); canvas.focus(); },
		"o": nextOrder,
		"k": () => setColour(after(COLOURS, state.colour)),
		"c": () => {
			const i = cursor > 0 ? cursor : zoom;

			if (T && (i > 0 || state.sandwich))
				setSandwich(i > 0 ? T.label[i] : -1);
		},
		"t": () => { setTable(true); $("table").focus(); },
		"r": () => setReversed(!state.reversed),
		"i": () => setIcicle(!state.icicle),
		"n": () => nextMatch(1),
		"N": () => nextMatch(-1),
	}[e.key];

	if (does) {
		e.preventDefault();
		does();
	}
}

function aboutText(info)
{
	return `${info.host} \u00b7 Linux ${info.kernel} ${info.machine}`;
}

function listen()
{
	const system = matchMedia("(prefers-color-scheme: dark)");
	const theme = stored("localStorage", "trifold-theme");

	setTheme(theme ? theme === "dark" : system.matches);
	system.addEventListener("change", (e) => {
		if (!stored("localStorage", "trifold-theme"))
			setTheme(e.matches);
	});
	$("theme").addEventListener("click", () => {
		setTheme(!dark);
		/* the choice is that of the system: follow the system from now on */
		stored("localStorage", "trifold-theme", dark === system.matches ? null : page.dataset.theme);
	});
	$("query").addEventListener("input", () => {
		state.query = $("query").value;
		if (P)
			search();
		remember();
		say($("matched").textContent);
	});
	$("reset").addEventListener("click", reset);
	$("reverse").addEventListener("click", () => setReversed(!state.reversed));
	$("flip").addEventListener("click", () => setIcicle(!state.icicle));
	$("help").addEventListener("click", () => $("keys").showModal());
	$("keys-close").addEventListener("click", () => $("keys").close());
	addEventListener("keydown", pageKey);
	new ResizeObserver(resize).observe(view);
	listenToTouch();
	listenToGraph();
	listenToTable();
	listenToMenu();
	$("colour").addEventListener("change", () => setColour($("colour").value));
	$("order").addEventListener("change", () => setOrder($("order").value));
	listenToFacets();
	if (innerWidth < 900)
		setFacets(false);
}
