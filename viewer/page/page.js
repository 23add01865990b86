/* SPDX-License-Identifier: Apache-2.0 */
/* page - common to the recorded and the live page */

function legend()
{
	let items = KINDS.map(({ name }, k) => [name, palette[k * SHADES + 8].css]);

	if (T && T.base) {
		items = [["less than in the base", -1], ["", -0.4], ["the same", 0], ["", 0.4], ["more than in the base", 1]]
			.map(([name, by]) => [name, changeColour(by).css]);
	}
	$("legend").replaceChildren(...items.map(([name, colour]) => {
		const box = el("i");

		box.style.background = colour;
		return el("span", {}, box, name);
	}));
}

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

/* Make the tree of P that the state asks for; zoom and cursor stay at their functions. */
function plant()
{
	if (state.reversed && !P.reversedTree)
		P.reversedTree = reversed(P, P.tree);
	T = state.reversed ? P.reversedTree : P.tree;
	hover = -1;
	[zoom, cursor] = rowsAt(P, T, [state.zoom, state.cursor]);
	if (!state.cursor)
		cursor = -1;
	$("empty").hidden = T.n > 1;
	legend();
	crumbs();
	search();
	resize();
	renewTip();
	page.dataset.rows = T.n - 1;
	page.dataset.samples = T.now[0];
}

/* Show a profile from decode(). */
function showProfile(p)
{
	const first = !T;

	P = p;
	plant();
	if (first)
		view.scrollTop = state.icicle ? 0 : view.scrollHeight;
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
	state.zoom = state.cursor = "";
	press("reverse", on);
	remember();
	if (P) {
		const began = performance.now();

		plant();
		page.dataset.reverseMs = (performance.now() - began).toFixed(1);
		view.scrollTop = state.icicle ? 0 : view.scrollHeight;
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

/* Set the controls to the state that recall() has read. */
function applyState()
{
	press("reverse", state.reversed);
	press("flip", state.icicle);
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
		/* the choice is the system's: follow the system from now on */
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
	listenToGraph();
	listenToTable();
	listenToFacets();
	if (innerWidth < 900)
		setFacets(false);
}
