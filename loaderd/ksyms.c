// SPDX-License-Identifier: Apache-2.0
#include "loaderd/ksyms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A number is given again only when no record under way can mean the former
 * symbol: more of them than one record has words lie in between. */
#define NUMBERS_MAX	(2 * KSYM_RANGES)

/* The first range that ends behind addr. */
static uint32_t ksyms_from(const struct ksyms *k, uint64_t addr)
{
	uint32_t lo = 0, hi = k->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;
		const struct ksym_range *r = &k->range[mid];

		if (r->start <= addr && addr - r->start >= r->size)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/*
 * The kernel says "name+0xoff/0xsize", for a module's symbol with " [module]"
 * behind, or the bare address if it knows no symbol.  False then.
 */
static bool ksyms_ask(struct ksyms *k, uint64_t addr, struct ksym_range *ret,
		      struct ksym_rec *rec)
{
	char answer[KSYM_NAME_MAX + 64], *plus;
	uint64_t off, size;

	/* it names the instruction before a return address */
	plus = bpf_name(k->bpf, addr + 1, answer, sizeof(answer)) ? NULL : strrchr(answer, '+');
	if (!plus || plus == answer ||
	    sscanf(plus, "+0x%" SCNx64 "/0x%" SCNx64, &off, &size) != 2)
		return false;
	/* bpf_name() meant addr + 1: so is its offset, unless it wrapped */
	off -= off ? 1 : 0;
	if (off >= size || size > UINT32_MAX || off > addr || size >= off - addr)
		return false;
	*rec = (struct ksym_rec){ .len = sizeof(*rec), .kind = REC_KSYM };
	snprintf(rec->name, sizeof(rec->name), "%.*s%s", (int)(plus - answer),
		 answer, strstr(plus, " [") ?: "");
	*ret = (struct ksym_range){ .start = addr - off, .size = size,
				    .passing = !strncmp(answer, "bpf_", 4) };
	return true;
}

/* Number a range and remember it, instead of those that lie where it does. */
static struct ksym_range *ksyms_define(struct ksyms *k, struct ksym_range *range,
				       struct ksym_rec *rec)
{
	uint32_t at, end;

	if (k->n == KSYM_RANGES)
		k->n = 0;
	k->last = k->last % NUMBERS_MAX + 1;
	range->number = rec->number = k->last;
	end = at = ksyms_from(k, range->start);
	while (end < k->n && k->range[end].start < range->start + range->size)
		end++;
	memmove(k->range + at + 1, k->range + end, (k->n - end) * sizeof(*range));
	k->range[at] = *range;
	k->n += 1 + at - end;
	return &k->range[at];
}

bool ksyms_word(struct ksyms *k, uint64_t addr, uint64_t *word, struct ksym_rec *def)
{
	uint32_t at = ksyms_from(k, addr);
	struct ksym_range new, *range = at < k->n && k->range[at].start <= addr ?
					&k->range[at] : NULL;
	bool fresh = (!range || range->stale) && ksyms_ask(k, addr, &new, def);

	if (fresh)
		range = ksyms_define(k, &new, def);
	*word = range ? KSYM_WORD(range->number, addr - range->start) : KSYM_WORD(KSYM_NONE, 0);
	return fresh;
}

void ksyms_doubt(struct ksyms *k, bool all)
{
	for (uint32_t i = 0; i < k->n; i++)
		k->range[i].stale |= all || k->range[i].passing;
}
