// SPDX-License-Identifier: Apache-2.0
/* python - what a worker asks of the language */
#include <stdio.h>

#include "symbolizerd/runtimes/python/find.h"
#include "symbolizerd/runtimes/runtime.h"

/* No rules for code, but where the loop is and what the unwinder of its frames needs:
 * fact 0 is the layout, the root object, and PYTHON_THREAD_AT. */
static void python_say(const struct elf_file *f, const struct python_file *p,
		       struct runtime_found *ret)
{
	uint64_t root;

	if (!runtime_relative(f, p->loop[0].start, p->root, &root))
		return;
	runtime_add_fact(ret, p->layout, root, p->thread_at);
	for (uint32_t i = 0; i < p->n_loops; i++)
		runtime_add_span(ret, p->loop[i].start, p->loop[i].end, RULE_LOOP);
	for (uint32_t i = 0; i < p->n_parts; i++)
		runtime_add_span(ret, p->part[i].start, p->part[i].end, RULE_LOOP_PART);
}

/* id: "3.11", "3.13t", or "" */
static bool python_find_file(const struct elf_file *f, struct runtime_found *ret)
{
	struct python_file p;

	if (!python_find_in(f, &p))
		return false;
	if (p.minor)
		snprintf(ret->id, sizeof(ret->id), "3.%u%s", p.minor,
			 p.free_threaded ? "t" : "");
	ret->unknown = !p.layout || !p.n_loops;
	if (!ret->unknown)
		python_say(f, &p, ret);
	return true;
}

const struct runtime_ops runtime_python = {
	.find = python_find_file,
};
