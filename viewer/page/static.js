/* SPDX-License-Identifier: Apache-2.0 */
/* static - the page of one recording; the data are in the page */

/* For each row: the label of its process; the kinds of frames from there to the row, as bits. */
function inherited(p)
{
	const t = p.tree, process = new Int32Array(t.n), kinds = new Uint16Array(t.n);

	for (let i = 1; i < t.n; i++) {
		process[i] = t.depth[i] === 1 ? t.label[i] : process[t.parent[i]];
		kinds[i] = kinds[t.parent[i]] | 1 << p.labels[3 * t.label[i] + 2];
	}
	return { process, kinds };
}

/* A page of `trifold diff`: folded stacks have neither host nor time. */
function aboutFiles(info)
{
	const [a, b] = info.files.map((f) => shown(f));

	$("about").textContent = `A: ${a}, ${plural(info.base.samples, "sample")} \u00b7 B: ${b}, ${plural(info.samples, "sample")}`;
	$("account").textContent = "Red has a greater share in B than in A, blue a smaller one. A is the base.";
	document.title = `trifold: ${a} and ${b}`;
}

function account(info)
{
	if (info.files) {
		aboutFiles(info);
		return;
	}
	const a = info.account, parts = [aboutText(info)], when = new Date(info.start_ms);
	const seconds = info.duration_ms / 1000, cpu = info.samples / info.frequency;

	/* 0: the time is not known */
	if (info.start_ms) {
		parts.push(isNaN(when) ? "?" : when.toISOString().replace("T", " ").slice(0, 19) + " UTC");
		parts.push(`${seconds.toFixed(1)} s at ${info.frequency} Hz`);
	}
	parts.push(plural(info.samples, "sample"));
	if (info.samples && cpu < seconds / 100)
		parts.push(`few, because little ran: ${cpu.toFixed(2)} s of CPU time; only running code is sampled`);
	if (info.command)
		parts.push(info.command);
	$("about").textContent = parts.map((s) => shown(s)).join(" \u00b7 ");
	document.title = `trifold: ${shown(info.command || info.host)}`;
	if (!a) {
		$("account").textContent = "No account: the profiler did not say how many samples it took.";
		return;
	}
	$("account").textContent = `Account: ${number(a.taken)} taken, ${number(a.delivered)} delivered, ` +
		`${number(a.lost)} lost${a.reasons ? ` (${shown(a.reasons)})` : ""}, difference ${a.difference}`;
	$("account").className = a.difference ? "bad" : "";
}

function staticMain()
{
	const began = performance.now(), whole = decode(JSON.parse($("data").textContent));
	const all = whole.tree, { process, kinds } = inherited(whole);
	const nameAt = (i) => whole.strings[whole.labels[3 * process[i]]];
	const kindsAt = (i) => KINDS.filter(({ filter }, bit) => filter && kinds[i] >> bit & 1).map((k) => k.filter);
	/* a list counts the samples that the other filters let through */
	const ofProcess = (i) => !state.filters.has("process") || chosen("process", nameAt(i));
	const ofKind = (i) => !state.filters.has("kind") || kindsAt(i).some((k) => chosen("kind", k));

	function facet(pass, valuesAt)
	{
		const sum = new Map();

		for (let i = 1; i < all.n; i++) {
			const n = all.self[i] + (all.selfBase ? all.selfBase[i] : 0);

			if (!n || !pass(i))
				continue;
			for (const v of valuesAt(i))
				sum.set(v, (sum.get(v) || 0) + n);
		}
		return [...sum].sort((a, b) => b[1] - a[1]).slice(0, 100).map(([v, n]) => [v, v, n]);
	}

	/* a mark means missing user frames, so the kernel filter alone hides it */
	const keepFrame = (i) => {
		const kind = whole.labels[3 * all.label[i] + 2], wanted = state.filters.get("kind");
		const key = KINDS[kind]?.filter;

		if (!wanted || !kind)
			return true;
		return key ? wanted.has(key) : wanted.size > 1 || !wanted.has("kernel");
	};

	source.changed = () => {
		const none = !state.filters.has("process") && !state.filters.has("kind");

		showFacets({ process: facet(ofKind, (i) => [nameAt(i)]), kind: facet(ofProcess, kindsAt) });
		showProfile({ ...whole, reversedTree: null, tree: none ? all :
			narrowed(whole, all, (i) => ofProcess(i) && ofKind(i), keepFrame) });
	};
	account(whole.info);
	recall();
	listen();
	source.changed();
	applyState();
	addEventListener("hashchange", () => {
		recall();
		source.changed();
		applyState();
	});
	page.dataset.loadMs = (performance.now() - began).toFixed(1);
	page.dataset.state = "ok";
}

staticMain();
