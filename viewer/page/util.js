/* SPDX-License-Identifier: Apache-2.0 */
/* util - small things that the other parts share */

const $ = (id) => document.getElementById(id);
const page = document.documentElement;
const clamp = (v, lo, hi) => Math.max(lo, Math.min(v, hi));

/* An element with properties and children, which are elements or text. */
function el(tag, props, ...children)
{
	const e = Object.assign(document.createElement(tag), props);

	e.append(...children);
	return e;
}

/*
 * Text for display.  Profiled programs choose their names: characters that are
 * invisible, or that reverse the text beside them, are shown as \uXXXX.
 */
const UNSEEN = new RegExp("[\\u0000-\\u001f\\u007f-\\u009f\\u00ad\\u061c\\u180e\\u200b-\\u200f" +
	"\\u2028-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb]", "g");

function shown(text, most = 300)
{
	const cut = text.length > most ? text.slice(0, most - 1) + "\u2026" : text;

	return cut.replace(UNSEEN, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}

/* A path: a long one loses its beginning, the end is more important. */
const shownPath = (text, most = 120) => shown(text.length > most ? "\u2026" + text.slice(1 - most) : text, most);

const number = (n) => Math.round(n).toLocaleString("en");
/* With fewer busy CPUs on average, a profile is nearly empty. */
const IDLE_CPUS = 0.05;

/* The average number of busy CPUs, from a number of samples in ms milliseconds. */
const busyCpus = (samples, frequency, ms) => (frequency && ms > 0 ? samples / (frequency * ms / 1000) : 0);

function idleText(cpus)
{
	return `Nearly idle: ${cpus.toFixed(3)} CPUs were busy. Only running code is sampled.`;
}

/* CPU time of samples, in s.  Whole samples may add up to a little more than the CPUs had, all s (0: not known): cut off. */
function usedTime(samples, frequency, all)
{
	const used = frequency ? samples / frequency : 0;

	return all ? Math.min(used, all) : used;
}

/* The CPU time of samples as a share of what the CPUs had, all s (0: not known); profile/busy.h defines it. */
function busyText(samples, frequency, all)
{
	const used = usedTime(samples, frequency, all), few = (s) => s.toFixed(s < 0.1 ? 2 : 1);

	if (!all)
		return `${few(used)} s of CPU time`;
	return `${few(used)} of ${all.toFixed(all < 100 ? 1 : 0)} CPU-seconds busy (${(100 * used / all).toFixed(used && used < all / 100 ? 1 : 0)} %)`;
}

let loadText = "";			/* for the root of the graph */

/* Show how busy the CPUs were in the range of ms, in which they had all s. */
function showLoad(samples, frequency, cpus, ms, all = cpus * ms / 1000)
{
	const share = all > 0 ? usedTime(samples, frequency, all) / all : 0;

	$("busy").hidden = !frequency || ms <= 0;
	$("busy-text").textContent = busyText(samples, frequency, all);
	$("load").hidden = !cpus;
	$("load").firstChild.style.width = `${clamp(100 * share, samples ? 1 : 0, 100)}%`;
	loadText = cpus && frequency ? `${(100 * share).toFixed(share < 0.01 ? 1 : 0)} % of ${plural(cpus, "CPU")}` : "";
}

const plural = (n, what, ending = "s") => `${number(n)} ${what}${n === 1 ? "" : ending}`;
const percent = (a, b) => (b ? 100 * a / b : 0).toFixed(2) + " %";

function signed(share)
{
	const s = (100 * share).toFixed(2);

	return (share > 0 ? "+" : "") + s.replace("-", "\u2212") + " %";
}

/* Placeholders of unknown names: docs/SUPPORT.md. */
const NO_NAME = { process: "[unknown process]", thread: "[unknown thread]", container: "[host]" };

const clock = (ms) => new Date(ms).toLocaleTimeString("en-GB");

function span(ms)
{
	const s = ms / 1000;

	if (s < 60)
		return `${s < 10 ? s.toFixed(1) : Math.round(s)} s`;
	return `${Math.floor(s / 60)} min` + (s % 60 >= 1 ? ` ${Math.floor(s % 60)} s` : "");
}

/* Have a screen reader speak a text. */
let sayTimer = 0;

function say(text)
{
	clearTimeout(sayTimer);
	sayTimer = setTimeout(() => { $("said").textContent = text; }, 60);
}

/*
 * Replace the elements in a place.  If an old one had the focus, the new one
 * with the same data-id gets it, so that new data do not disturb keyboard use.
 */
function renew(place, ...elements)
{
	const at = document.activeElement, id = place.contains(at) ? at.dataset.id : undefined;

	place.replaceChildren(...elements);
	if (id === undefined)
		return;
	for (const e of place.querySelectorAll("[data-id]")) {
		if (e.dataset.id === id) {
			e.focus({ preventScroll: true });
			return;
		}
	}
}

/* Read, write or (null) remove a stored value.  The page also works in browsers that store nothing. */
function stored(kind, key, value)
{
	try {
		if (value === undefined)
			return window[kind].getItem(key);
		if (value === null)
			window[kind].removeItem(key);
		else
			window[kind].setItem(key, value);
	} catch (e) {
		/* the browser refuses: there is no value */
	}
	return null;
}
