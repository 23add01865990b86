/* SPDX-License-Identifier: Apache-2.0 */
/* touch - a tap shows the text about a frame, a second one on it zooms */

let tapped = -1;			/* the row of T of the last tap */
let tappedTree = null;			/* that T */

function listenToTouch()
{
	/* before the graph's own listener, which zooms */
	view.addEventListener("click", (e) => {
		const i = e.pointerType === "touch" && e.target === canvas && T ? rowAt(e) : -1;

		if (i < 0)
			return;
		if (i === tapped && T === tappedTree) {
			tapped = -1;
			return;
		}
		[tapped, tappedTree] = [i, T];
		e.stopPropagation();
		mouseMoved(e);
	}, true);
}
