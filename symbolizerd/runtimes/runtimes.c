// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/runtimes.h"

#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/table.h"

/* The operations of a runtime; one that there is not has none. */
static const struct runtime_ops *runtimes_ops(uint32_t runtime)
{
	static const struct runtime_ops none;

	if (runtime >= RUNTIME__MAX || !runtimes_table[runtime])
		return &none;
	return runtimes_table[runtime];
}

/* --- what a file is --------------------------------------------------------------- */

/* A runtime's files are its own: the sampler asks it about their code.  So one that has
 * something to say to the sampler goes before one that has not. */
static void runtimes_take(struct runtime_found *ret, const struct runtime_found *one)
{
	bool says = one->n_facts || one->n_spans;

	if (!ret->runtime || (says && !ret->n_facts && !ret->n_spans))
		*ret = *one;
}

void runtimes_find(const struct elf_file *f, struct runtime_found *ret)
{
	struct runtime_found one;

	memset(ret, 0, sizeof(*ret));
	for (uint32_t i = 0; i < RUNTIME__MAX; i++) {
		const struct runtime_ops *ops = runtimes_ops(i);

		memset(&one, 0, sizeof(one));
		one.runtime = i;
		if (!ops->find || !ops->find(f, &one))
			continue;
		if (one.unknown)
			one.n_facts = one.n_spans = 0;
		runtimes_take(ret, &one);
	}
}

/* --- rows ------------------------------------------------------------------------- */

static int runtimes_facts(const struct runtime_found *r, cfi_row_fn fn, void *ctx)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < r->n_facts; i++) {
		uint64_t value = r->facts[i].value;

		ret = fn(ctx, i, i + 1, &(struct unwind_rule){
			.cfa = CFA_RUNTIME, .cfa_off = (int32_t)r->facts[i].which,
			.ra_off = (int32_t)value, .fp_off = (int32_t)(value >> 32),
			.aux = r->facts[i].aux,
		});
	}
	return ret;
}

static int runtimes_spans(const struct runtime_found *r, cfi_row_fn fn, void *ctx)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < r->n_spans; i++)
		ret = fn(ctx, r->spans[i].start, r->spans[i].end,
			 &(struct unwind_rule){ .by_fp = r->spans[i].mark });
	return ret;
}

struct runtimes_texts {
	cfi_row_fn fn;
	void *ctx;
};

/* A text at a place of facts is none: only find() says what they are. */
static int runtimes_on_text(void *ctx, uint64_t start, uint64_t end,
			    const struct unwind_rule *rule)
{
	const struct runtimes_texts *t = ctx;

	if (start < RUNTIME_FACTS || rule->cfa != CFA_RUNTIME)
		return 0;
	return t->fn(t->ctx, start, end, rule);
}

int runtimes_rows(const struct elf_file *f, cfi_row_fn fn, void *ctx)
{
	struct runtimes_texts texts = { fn, ctx };
	const struct runtime_found *r = f->found;
	struct runtime_found found;
	unwind_rows_fn texts_of;
	int ret = 0;

	if (!r) {
		runtimes_find(f, &found);
		r = &found;
	}
	texts_of = r->unknown ? NULL : runtimes_ops(r->runtime)->texts;
	for (uint32_t i = 0; !ret && i < RUNTIME__MAX; i++) {
		if (runtimes_ops(i)->rows)
			ret = runtimes_ops(i)->rows(f, fn, ctx);
	}
	if (!ret)
		ret = runtimes_facts(r, fn, ctx);
	if (!ret)
		ret = runtimes_spans(r, fn, ctx);
	if (!ret && texts_of)
		ret = texts_of(f, runtimes_on_text, &texts);
	return ret;
}

/* --- names ------------------------------------------------------------------------ */

const struct symbol_source *runtimes_symbols(size_t n)
{
	for (uint32_t i = 0; i < RUNTIME__MAX; i++) {
		if (!runtimes_ops(i)->symbols)
			continue;
		if (!n)
			return runtimes_ops(i)->symbols;
		n--;
	}
	return NULL;
}

bool runtimes_have_lines(uint32_t runtime)
{
	return runtimes_ops(runtime)->symbols != NULL;
}

int runtimes_names(uint32_t runtime, struct process_memory *m,
		   const uint64_t *words, size_t n,
		   struct frame_names_build *out)
{
	const struct runtime_ops *ops = runtimes_ops(runtime);

	if (!ops->names)
		return JOB_NO_NAMES;
	return ops->names(m, words, n, out);
}
