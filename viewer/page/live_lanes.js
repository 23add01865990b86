/* SPDX-License-Identifier: Apache-2.0 */
/* live_lanes - the lanes of the live page: what each thread ran most in each period of time */

const LIVE_LANES = 100;			/* threads that are requested */

/* Lanes (lanes.js) of the answer to GET /api/v1/lanes. */
function readLanes({ from, bin_ms, threads, labels })
{
	/* the same colours as in the graph: prepare() */
	const hash = labels.map(([name, module, kind]) => textHash(kind + 7, kind ? name + "\n" + module : name));

	return threads.map(([process, pid, tid, thread, samples, v]) => {
		const at = Array.from({ length: v.length / 4 }, (_, k) => 4 * k);

		return {
			process: labels[process][0], pid, tid, thread, samples, hash: hash[process],
			ms: at.map((i) => from + v[i] * bin_ms),
			part: (k) => ({
				hash: hash[v[4 * k + 1]], name: labels[v[4 * k + 1]][0],
				note: v[4 * k + 2] === v[4 * k + 3] ? `, ${plural(v[4 * k + 3], "sample")}` :
					`, ${number(v[4 * k + 2])} of ${plural(v[4 * k + 3], "sample")}`,
			}),
		};
	});
}

async function askLanes(signal)
{
	const p = selection(), { clientWidth } = laneCanvas;

	if (!state.lanes)
		return;
	p.set("bins", clamp(Math.round((clientWidth || 800) / 4), 60, 500));
	p.set("limit", LIVE_LANES);
	try {
		const data = await ask("lanes", p, signal), { threads, samples } = data.others;

		setLanes(readLanes(data), data.bin_ms, threads ? `${plural(threads, "more thread")}, ${plural(samples, "sample")}` : "");
	} catch (e) {
		if (!(e instanceof Refused && e.status === 413))
			throw e;
		setLanes([], 1, "Too many samples for lanes of threads: choose a shorter range.");
	}
}
