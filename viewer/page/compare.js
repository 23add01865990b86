/* SPDX-License-Identifier: Apache-2.0 */
/* compare - the difference between a range and another one, its base, in colour */

function pick(which)
{
	picking = state.base ? which : "now";
	$("compare-which").hidden = !state.base;
	press("compare", Boolean(state.base));
	press("pick-now", picking === "now");
	press("pick-base", picking === "base");
}

/* The first base: the same length of time just before the range, else its first half. */
function compare()
{
	const [from, to] = range().map(Math.round);
	const first = Math.max(from, oldest), half = Math.round((to - first) / 2);

	state.last = 0;
	if (from - oldest >= (to - from) / 4) {
		state.base = [Math.max(oldest, from - (to - from)), from];
		[state.from, state.to] = [from, to];
	} else {
		state.base = [first, first + half];
		[state.from, state.to] = [first + half, to];
	}
	pick("base");
	rangeChanged();
	say("Comparing. Red has a greater share than in the base, blue a smaller one. The time line now chooses the base.");
}

function listenToCompare()
{
	$("compare").addEventListener("click", () => {
		if (!state.base) {
			compare();
			return;
		}
		state.base = null;
		pick("now");
		rangeChanged();
		say("No longer comparing.");
	});
	$("pick-now").addEventListener("click", () => pick("now"));
	$("pick-base").addEventListener("click", () => pick("base"));
}
