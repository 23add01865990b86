/* SPDX-License-Identifier: Apache-2.0 */
/*
 * colour - of boxes: by kind, library or process, by change, by search
 *
 * A colour is made of a name's hash, so it is the same in every recording.  The text on
 * a box is black or white, whichever has more contrast: at least 4.58 to 1, for any
 * colour (WCAG 2.1, relative luminance; black and white are 21 to 1).
 */

const SHADES = 16, STEPS = 24, HUES = 24, LIGHTS = 3;
let dark = false;
let palette = [], changes = [], groups = [], found = null, plain = [];

/* The relative luminance of a colour (WCAG 2.1), its parts 0 to 255. */
function luminance(...rgb)
{
	const [r, g, b] = rgb.map((v) => v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4);

	return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/* A colour for the canvas and for a pixel, and the colour of text on it.  hue: 0 to 360, sat and light: percent. */
function tone(hue, sat, light)
{
	const a = sat / 100 * Math.min(light, 100 - light) / 100;
	const [r, g, b] = [0, 8, 4].map((n) => {
		const k = (n + hue / 30) % 12;

		return Math.round(255 * (light / 100 - a * Math.max(-1, Math.min(k - 3, 9 - k, 1))));
	});

	return {
		css: `rgb(${r}, ${g}, ${b})`, pixel: (255 << 24 | b << 16 | g << 8 | r) >>> 0,
		ink: luminance(r, g, b) > 0.179 ? "#000000" : "#ffffff",
	};
}

/* A colour of the theme; faded: for boxes that a search does not match. */
function themed(hue, sat, shade, faded)
{
	if (dark)
		return faded ? tone(hue, sat / 4, 41 + shade / 6) : tone(hue, 0.72 * sat, 54 + shade / 1.4);
	return faded ? tone(hue, sat / 2, 78 + 0.7 * shade) : tone(hue, sat, 68 + shade);
}

/* Make the colours: by kind and shade, then the same faded; of groups; and by change. */
function mix()
{
	palette = [];
	groups = [];
	plain = [];
	for (const faded of [0, 1]) {
		for (const { hue, sat } of KINDS) {
			for (let s = 0; s < SHADES; s++)
				palette.push(themed((hue + s + 353) % 360, sat, s, faded));
		}
		for (let k = 0; k < HUES * LIGHTS; k++)
			groups.push(themed(360 / HUES * (k % HUES), 70, 7 * Math.floor(k / HUES), faded));
		plain.push(themed(215, 6, 8, faded));
	}
	changes = [];
	for (let k = -STEPS; k <= STEPS; k++) {
		const s = (Math.abs(k) / STEPS) ** 0.7;

		if (dark)
			changes.push(k > 0 ? tone(8, 10 + 70 * s, 44 + 18 * s) : tone(212, 10 + 70 * s, 44 + 20 * s));
		else
			changes.push(k > 0 ? tone(10, 86 * s, 88 - 22 * s) : tone(208, 78 * s, 88 - 20 * s));
	}
	found = dark ? tone(325, 85, 70) : tone(325, 85, 74);
}

const changeColour = (by) => changes[Math.round(by * STEPS) + STEPS];

/*
 * The change of a row in a comparison, -1 to 1.  Above 0 (red) its share has
 * grown, below 0 (blue) it has shrunk: two colours that colour-blind people can
 * tell apart.  Near 0 (pale) the change is small relative to the share, or there
 * are too few samples to be sure.
 */
function change(i)
{
	const a = T.now[i] / (T.all || 1), b = T.base[i] / (T.allBase || 1);
	const sure = Math.min(1, Math.sqrt((T.now[i] + T.base[i]) / 20));

	return a || b ? (a - b) / Math.max(a, b) * sure : 0;
}

/* For each row the label of its process; -1: several; -2: none.  First upwards (for trees from the leaves), then downwards. */
function processes(t)
{
	const of = new Int32Array(t.n).fill(-2);

	for (let i = t.n - 1; i > 0; i--) {
		const l = t.label[i], up = t.parent[i];

		if (l >= 0 && !P.labels[3 * l + 2])
			of[i] = l;
		if (of[i] !== -2)
			of[up] = of[up] === -2 || of[up] === of[i] ? of[i] : -1;
	}
	for (let i = 1; i < t.n; i++) {
		if (of[i] === -2)
			of[i] = of[t.parent[i]];
	}
	return of;
}

const groupColour = (hash, faded) => groups[(faded ? HUES * LIGHTS : 0) + (hash >>> 0) % (HUES * LIGHTS)];

/* The ways to colour the boxes of a tree, by the hash of a row's group; undefined: it has none. */
const COLOURS = {
	kind: null,
	library: (i) => {
		const m = P.moduleOf[T.label[i]];

		return m >= 0 ? P.modules[m].hash : undefined;
	},
	process: (i) => {
		const l = T.process[i];

		return l >= 0 ? P.hash[l] : undefined;
	},
};

function colour(i, faded)
{
	const l = T.label[i], pale = faded || state.query ? 1 : 0;

	if (l >= 0 && matched[l])
		return found;
	if (T.base)
		return changeColour(change(i));
	if (state.colour === "kind" || l < 0)
		return palette[(pale * KINDS.length + kindOf(i)) * SHADES + (l < 0 ? 8 : P.hash[l] >>> 4 & SHADES - 1)];
	const hash = COLOURS[state.colour](i);

	return hash === undefined ? plain[pale] : groupColour(hash, pale);
}

/* Names and colours of the largest groups, and of all other boxes. */
function groupLegend()
{
	const list = state.colour === "library" ? LISTS.modules : LISTS.processes;
	const sum = totals(P.view, 0, ...list.groups()), most = [];

	for (let g = 0; g < sum.total.length; g++) {
		if (sum.total[g])
			most.push(g);
	}
	most.sort((a, b) => sum.total[b] - sum.total[a]);
	return [...most.slice(0, 7).map((g) => [shown(list.name(g), 30), groupColour(list.hash(g)).css]),
		[state.colour === "library" ? "no library" : "several", plain[0].css]];
}

function legend()
{
	let items = KINDS.map(({ name }, k) => [name, palette[k * SHADES + 8].css]);

	if (T && T.base) {
		items = [["less than in the base", -1], ["", -0.4], ["the same", 0], ["", 0.4], ["more than in the base", 1]]
			.map(([name, by]) => [name, changeColour(by).css]);
	} else if (T && state.colour !== "kind") {
		items = groupLegend();
	}
	$("legend").replaceChildren(...items.map(([name, colour]) => {
		const box = el("i");

		box.style.background = colour;
		return el("span", {}, box, name);
	}));
}

/* The data besides its rows that drawing a tree needs. */
function prepareColours()
{
	if (state.colour === "process" && !T.process)
		T.process = processes(T);
}

function setColour(by)
{
	state.colour = by;
	$("colour").value = by;
	if (P)
		prepareColours();
	remember();
	legend();
	redraw();
	drawLanes();
}
