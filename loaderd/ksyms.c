// SPDX-License-Identifier: Apache-2.0
#include "loaderd/ksyms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* A number is given again only when no record under way can mean the former
 * symbol: more of them than one record has words lie in between. */
#define NUMBERS_MAX	(2 * KSYM_RANGES)

/* How many ranges start at addr or below. */
static uint32_t ksyms_upto(const struct ksyms *k, uint64_t addr)
{
	uint32_t lo = 0, hi = k->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (k->range[mid].start <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static const struct ksym_range *ksyms_find(const struct ksyms *k, uint64_t addr)
{
	uint32_t i = ksyms_upto(k, addr);

	return i && addr - k->range[i - 1].start < k->range[i - 1].size ?
		&k->range[i - 1] : NULL;
}

/*
 * The kernel says "name+0xoff/0xsize", for a module's symbol with " [module]"
 * behind, or the bare address if it knows no symbol.  False then.
 */
static bool ksyms_ask(struct ksyms *k, uint64_t addr, struct ksym_range *range,
		      struct ksym_rec *rec)
{
	char answer[KSYM_NAME_MAX + 64], *plus;
	uint64_t off, size;
	const char *module;

	/* it names the instruction before a return address */
	if (bpf_name(k->bpf, addr + 1, answer, sizeof(answer)))
		return false;
	plus = strrchr(answer, '+');
	if (!plus || plus == answer ||
	    sscanf(plus, "+0x%" SCNx64 "/0x%" SCNx64, &off, &size) != 2)
		return false;
	/* bpf_name() meant addr + 1: so is its offset, unless it wrapped */
	off -= off ? 1 : 0;
	if (off >= size || size > UINT32_MAX || off > addr)
		return false;
	module = strstr(plus, " [");
	*rec = (struct ksym_rec){ .len = sizeof(*rec), .kind = REC_KSYM };
	snprintf(rec->name, sizeof(rec->name), "%.*s%s", (int)(plus - answer),
		 answer, module ? module : "");
	range->start = addr - off;
	range->size = size;
	return true;
}

/* Number a range and remember it. */
static void ksyms_define(struct ksyms *k, struct ksym_range *range, struct ksym_rec *rec)
{
	uint32_t at;

	if (k->n == KSYM_RANGES)
		ksyms_forget(k);
	k->last = k->last % NUMBERS_MAX + 1;
	range->number = rec->number = k->last;
	at = ksyms_upto(k, range->start);
	memmove(k->range + at + 1, k->range + at, (k->n - at) * sizeof(*range));
	k->range[at] = *range;
	k->n++;
}

bool ksyms_word(struct ksyms *k, uint64_t addr, uint64_t *word, struct ksym_rec *def)
{
	const struct ksym_range *range = ksyms_find(k, addr);
	struct ksym_range new;

	*word = KSYM_WORD(KSYM_NONE, 0);
	if (!range && !ksyms_ask(k, addr, &new, def))
		return false;
	if (!range)
		ksyms_define(k, &new, def);
	*word = range ? KSYM_WORD(range->number, addr - range->start) :
			KSYM_WORD(new.number, addr - new.start);
	return !range;
}

void ksyms_forget(struct ksyms *k)
{
	k->n = 0;
}
