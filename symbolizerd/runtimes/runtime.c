// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/runtime.h"

void runtime_add_fact(struct runtime_found *r, uint32_t which, uint64_t value, int32_t aux)
{
	if (r->n_facts < RUNTIME_FACTS)
		r->facts[r->n_facts++] = (struct runtime_fact){ which, aux, value };
}

void runtime_add_span(struct runtime_found *r, uint64_t start, uint64_t end, uint8_t mark)
{
	if (start < end && r->n_spans < UNWIND_SPANS)
		r->spans[r->n_spans++] = (struct runtime_span){ start, end, mark };
}

bool runtime_relative(const struct elf_file *f, uint64_t code, uint64_t addr, uint64_t *ret)
{
	uint64_t off;

	if (!elf_file_offset(f, code, true, &off, NULL))
		return false;
	*ret = addr - (code - off);
	return true;
}
