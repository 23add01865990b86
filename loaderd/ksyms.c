// SPDX-License-Identifier: Apache-2.0
#include "loaderd/ksyms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A number is used again only when no record on its way can mean the former symbol:
 * there are more numbers in between than a record has words. */
#define NUMBERS_MAX	(2 * KSYM_RANGES)

/* The index of the first range that ends after addr. */
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
 * The kernel answers "name+0xoff/0xsize", followed by " [module]" if the symbol is a
 * module's; or the bare address if it knows no symbol: false.
 */
static bool ksyms_ask(struct ksyms *k, uint64_t addr, struct ksym_range *ret,
		      struct ksym_rec *rec)
{
	char answer[KSYM_NAME_MAX + 64];
	const char *plus, *module;
	uint64_t off, size;

	/* it names the instruction before a return address */
	if (bpf_name(k->bpf, addr + 1, answer, sizeof(answer)))
		return false;
	plus = strrchr(answer, '+');
	if (!plus || plus == answer ||
	    sscanf(plus, "+0x%" SCNx64 "/0x%" SCNx64, &off, &size) != 2)
		return false;
	/* the offset is that of addr + 1, unless it wrapped */
	if (off)
		off--;
	if (off >= size || size > UINT32_MAX || off > addr || size >= off - addr)
		return false;
	module = strstr(plus, " [");
	*rec = (struct ksym_rec){ .len = sizeof(*rec), .kind = REC_KSYM };
	snprintf(rec->name, sizeof(rec->name), "%.*s%s", (int)(plus - answer), answer,
		 module ? module : "");
	*ret = (struct ksym_range){ .start = addr - off, .size = size,
				    .passing = !strncmp(answer, "bpf_", 4) };
	return true;
}

/* Number a range and remember it, instead of those that it overlaps. */
static struct ksym_range *ksyms_define(struct ksyms *k, struct ksym_range *range,
				       struct ksym_rec *rec)
{
	uint32_t at, end;

	if (k->n == KSYM_RANGES)
		k->n = 0;
	k->last = k->last % NUMBERS_MAX + 1;
	range->number = k->last;
	rec->number = k->last;
	at = ksyms_from(k, range->start);
	end = at;
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
	struct ksym_range *range = NULL, new;
	bool defined = false;

	if (at < k->n && k->range[at].start <= addr)
		range = &k->range[at];
	if ((!range || range->stale) && ksyms_ask(k, addr, &new, def)) {
		range = ksyms_define(k, &new, def);
		defined = true;
	}
	*word = KSYM_WORD(KSYM_NONE, 0);
	if (range)
		*word = KSYM_WORD(range->number, addr - range->start);
	return defined;
}

void ksyms_doubt(struct ksyms *k, bool all)
{
	for (uint32_t i = 0; i < k->n; i++) {
		if (all || k->range[i].passing)
			k->range[i].stale = 1;
	}
}
