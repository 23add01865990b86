// SPDX-License-Identifier: Apache-2.0
/* hotspot - what a worker asks of the language */
#include <stdio.h>

#include "symbolizerd/runtimes/hotspot/find.h"
#include "symbolizerd/runtimes/hotspot/names.h"
#include "symbolizerd/runtimes/hotspot/texts.h"
#include "symbolizerd/runtimes/runtime.h"

/* The code by whose mapping the file lies in memory: the first that is loaded. */
static bool hotspot_first_code(const struct elf_file *f, uint64_t *ret)
{
	for (uint32_t i = 0; i < f->n_phdrs; i++) {
		const Elf64_Phdr *p = &f->phdrs[i];

		if (p->p_type == PT_LOAD && p->p_flags & PF_X) {
			*ret = p->p_vaddr;
			return true;
		}
	}
	return false;
}

/* id: "17", or "".  Fact 0 is the layout, and where the heaps are. */
static bool hotspot_find_file(const struct elf_file *f, struct runtime_found *ret)
{
	struct hotspot_file h;
	uint64_t code, root;

	if (!hotspot_find_in(f, &h))
		return false;
	if (h.feature)
		snprintf(ret->id, sizeof(ret->id), "%u", h.feature);
	ret->unknown = !h.layout;
	if (h.layout && hotspot_first_code(f, &code) &&
	    runtime_relative(f, code, h.root, &root))
		runtime_add_fact(ret, h.layout, root, 0);
	return true;
}

struct hotspot_out {
	cfi_row_fn fn;
	void *ctx;
};

static int hotspot_text_row(void *ctx, uint64_t at, uint32_t kind)
{
	const struct hotspot_out *out = ctx;

	return out->fn(out->ctx, at, at + 1, &(struct unwind_rule){
		.cfa = CFA_RUNTIME, .aux = (int32_t)kind,
	});
}

static int hotspot_texts(const struct elf_file *f, cfi_row_fn fn, void *ctx)
{
	return texts_find(f, hotspot_text_row, &(struct hotspot_out){ fn, ctx });
}

const struct runtime_ops runtime_hotspot = {
	.find = hotspot_find_file,
	.texts = hotspot_texts,
	.names = hotspot_names,
};
