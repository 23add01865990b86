/* SPDX-License-Identifier: Apache-2.0 */
/* menu - what can be done with a function: the context menu of a box and of the table */

const menu = $("menu");
let menuFrom = null;			/* the element that gets the focus back */

/* Copy a text, and say that it was copied, or that the browser refuses. */
async function copyText(text, what)
{
	try {
		await navigator.clipboard.writeText(text);
	} catch (e) {
		/* refused, or missing in this browser: the old way */
		const area = el("textarea", { value: text, className: "unseen" });

		document.body.append(area);
		area.select();
		const done = document.execCommand("copy");

		area.remove();
		if (!done) {
			say(`The browser does not let this page copy the ${what}.`);
			return;
		}
	}
	say(`Copied the ${what}.`);
}

/* The frames from row i to the root of its stack, a line each, the innermost first. */
function stackText(i)
{
	const out = [];

	for (let at = i; at > 0 || at === 0 && T.about >= 0; at = at ? T.parent[at] : -1) {
		const l = T.label[at];

		out.push(shown(labelName(l), 1e4) + marksText(T.marks[at]) + (labelModule(l) ? ` (${shown(labelModule(l), 1e4)})` : ""));
	}
	if (T.about >= 0 ? i >= T.split : state.reversed)
		out.reverse();
	return out.join("\n") + "\n";
}

function searchFor(l)
{
	state.query = $("query").value = queryFor(labelName(l));
	search();
	remember();
	say($("matched").textContent);
}

/* [text, what it does] for a label; i: its row, 0 if it has none. */
function menuItems(l, i)
{
	const m = P.moduleOf[l], out = [];
	const change = (set, key) => () => toggleShape(set, key);

	if (i)
		out.push(["Zoom in", () => { zoomTo(i); pointTo(i); }]);
	/* a module that is not folded is no box */
	if (l < P.nLabels - P.modules.length || state.folded.has(P.modules[m].name))
		out.push(["Callers and callees", () => setSandwich(l)]);
	out.push(["Search for this", () => searchFor(l)],
		["Focus: only samples with this", change("focus", labelKey(l))],
		["Hide this frame", change("hidden", labelKey(l))],
		["Leave out samples with this", change("without", labelKey(l))]);
	if (m >= 0) {
		const name = P.modules[m].name;

		out.push([`${state.folded.has(name) ? "Unfold" : "Fold"} ${shown(name, 40)}`, change("folded", name)]);
	}
	out.push(["Copy name", () => copyText(shown(labelFull(l), 1e5), "name")]);
	if (i)
		out.push(["Copy stack", () => copyText(stackText(i), "stack")]);
	return out;
}

function closeMenu(refocus = true)
{
	if (menu.hidden)
		return;
	menu.hidden = true;
	if (refocus && menuFrom)
		menuFrom.focus({ preventScroll: true });
}

/* Open the menu of a label at a point of the window. */
function openMenu(l, i, x, y)
{
	if (l < 0)
		return;
	hideTip();
	if (menu.hidden)
		menuFrom = document.activeElement === document.body ? canvas : document.activeElement;
	menu.replaceChildren(...menuItems(l, i).map(([text, does]) => {
		const b = el("button", { textContent: text, tabIndex: -1, onclick() {
			closeMenu();
			does();
		} });

		b.setAttribute("role", "menuitem");
		return b;
	}));
	menu.setAttribute("aria-label", shown(labelName(l), 80));
	menu.hidden = false;
	menu.style.left = clamp(x, 4, Math.max(4, innerWidth - menu.offsetWidth - 4)) + "px";
	menu.style.top = clamp(y, 4, Math.max(4, innerHeight - menu.offsetHeight - 4)) + "px";
	menu.firstChild.focus();
}

function menuKey(e)
{
	const items = [...menu.children], at = items.indexOf(document.activeElement), n = items.length;
	let to = -1;

	e.stopPropagation();
	switch (e.key) {
	case "ArrowDown":
		to = (at + 1) % n;
		break;
	case "ArrowUp":
		to = (at + n - 1) % n;
		break;
	case "Home":
		to = 0;
		break;
	case "End":
		to = n - 1;
		break;
	case "Escape":
	case "Tab":
		e.preventDefault();
		closeMenu();
		return;
	default:
		for (let k = 1; e.key.length === 1 && k < n && to < 0; k++) {
			if (items[(at + k) % n].textContent.toLowerCase().startsWith(e.key.toLowerCase()))
				to = (at + k) % n;
		}
	}
	if (to >= 0 && e.key !== " ") {
		e.preventDefault();
		items[to].focus();
	}
}

const asksForMenu = (e) => e.key === "ContextMenu" || e.key === "F10" && e.shiftKey;

function openMenuAtCursor()
{
	const at = cursor >= 0 ? cursor : zoom, box = canvas.getBoundingClientRect();

	if (!T || T.label[at] < 0)
		return;
	const [x, w] = placeX(at);

	openMenu(T.label[at], at, box.left + clamp(x + w / 2, 0, width), box.top + topOf(at) - view.scrollTop + ROW);
}

/* The label of the table's line that an event is about; -1: none. */
function lineOf(e)
{
	const name = e.target.closest && e.target.closest("tr")?.querySelector(".name");
	const key = name ? name.dataset.key : "";

	return key ? labelAt(key) : -1;
}

function listenToMenu()
{
	canvas.addEventListener("contextmenu", (e) => {
		const i = T ? rowAt(e) : -1;

		e.preventDefault();
		if (i < 0)
			return;
		cursor = i;
		state.cursor = placeOf(P, T, i) || "0.0";
		canvas.focus({ preventScroll: true });
		openMenu(T.label[i], i, e.clientX, e.clientY);
	});
	canvas.addEventListener("keydown", (e) => {
		if (asksForMenu(e)) {
			e.preventDefault();
			openMenuAtCursor();
		}
	});
	for (const kind of ["contextmenu", "keydown"]) {
		$("table-body").addEventListener(kind, (e) => {
			const l = kind === "keydown" && !asksForMenu(e) ? -1 : lineOf(e);

			if (l < 0)
				return;
			const box = e.target.getBoundingClientRect();

			e.preventDefault();
			e.target.closest("tr").querySelector(".name").focus();
			openMenu(l, 0, e.clientX || box.left + 20, e.clientY || box.bottom);
		});
	}
	menu.addEventListener("keydown", menuKey);
	menu.addEventListener("contextmenu", (e) => e.preventDefault());
	addEventListener("pointerdown", (e) => {
		if (!menu.contains(e.target))
			closeMenu(false);
	});
	addEventListener("resize", () => closeMenu());
	view.addEventListener("scroll", () => closeMenu());
}
