/* SPDX-License-Identifier: Apache-2.0 */
/* search - text, or /a regular expression/ */

let searchError = "";

/* A test for names; null when the text is not a regular expression. */
function matcher(text)
{
	const low = text.toLowerCase();

	searchError = "";
	if (text.length > 2 && text[0] === "/" && text.endsWith("/")) {
		try {
			const re = new RegExp(text.slice(1, -1), "i");

			return (s) => re.test(s);
		} catch (e) {
			searchError = e.message.replace(/^Invalid regular expression: /, "");
			return null;
		}
	}
	return (s) => s.toLowerCase().includes(low);
}

/* The search text that matches this name. */
function queryFor(name)
{
	if (name.length > 2 && name[0] === "/" && name.endsWith("/"))
		return `/${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}/`;
	return name;
}

/* Number of samples in matched frames and in their callees, each counted once. */
function count()
{
	let sum = 0, places = 0;

	if (!state.query || !T) {
		$("matched").textContent = "";
		return;
	}
	if (searchError) {
		$("matched").textContent = "not a regular expression: " + searchError;
		return;
	}
	/* a tree about a function has each sample on both sides */
	for (let i = zoom; i < (zoom ? T.end[zoom] : T.split); ) {
		if ((i || T.about >= 0) && matched[T.label[i]]) {
			sum += T.now[i];
			places++;
			i = T.end[i];
		} else {
			i++;
		}
	}
	$("matched").textContent = `matched ${percent(sum, T.now[zoom])}, ${plural(sum, "sample")}` +
		(places ? `, ${plural(places, "place")}` : "");
}

let nameMatches = () => true;

function search()
{
	const test = state.query ? matcher(state.query) : null;
	const { strings, labels, nLabels } = P;

	if (!state.query)
		searchError = "";
	$("query").setAttribute("aria-invalid", searchError ? "true" : "false");
	nameMatches = test || (() => false);
	matched = new Uint8Array(nLabels);
	for (let i = 0; test && i < nLabels; i++)
		matched[i] = test(strings[labels[3 * i]]) || labels[3 * i + 2] && test(strings[labels[3 * i + 1]]) ? 1 : 0;
	count();
	showReset();
	fillTable();
	redraw();
}

/* Go to the next match (by: 1) or the previous one (-1). */
function nextMatch(by)
{
	const from = cursor >= 0 ? cursor : zoom;

	if (!T || !state.query || searchError)
		return;
	for (let k = 1; k <= T.n; k++) {
		const i = ((from + by * k) % T.n + T.n) % T.n;

		if (i && matched[T.label[i]] && i >= zoom && i < T.end[zoom]) {
			pointTo(i);
			return;
		}
	}
	say("Nothing matches.");
}
