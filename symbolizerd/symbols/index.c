// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/index.h"

#include <errno.h>

int symbols_open(const void *data, size_t len, struct symbol_index *ret)
{
	const struct symbols_hdr *h = data;
	const struct symbol *s;
	const char *names;
	size_t left;

	if (len < sizeof(*h) || h->magic != SYMBOLS_MAGIC)
		return -EPROTO;
	left = len - sizeof(*h);
	if (left / sizeof(*s) < h->n ||
	    left - h->n * sizeof(*s) != h->name_bytes)
		return -EPROTO;
	s = (const void *)(h + 1);
	names = (const char *)(s + h->n);
	if (h->name_bytes && names[h->name_bytes - 1])
		return -EPROTO;
	for (uint32_t i = 0; i < h->n; i++) {
		if (s[i].name >= h->name_bytes ||
		    s[i].start > UINT64_MAX - s[i].size ||
		    (i + 1 < h->n && s[i].start + s[i].size > s[i + 1].start) ||
		    (i + 1 < h->n && s[i].start >= s[i + 1].start))
			return -EPROTO;
	}
	*ret = (struct symbol_index){ s, names, h->n };
	return 0;
}

const char *symbols_find(const struct symbol_index *idx, uint64_t off)
{
	uint32_t lo = 0, hi = idx->n;
	const struct symbol *s;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (idx->symbols[mid].start <= off)
			lo = mid + 1;
		else
			hi = mid;
	}
	if (!lo)
		return NULL;
	s = &idx->symbols[lo - 1];
	return off - s->start < s->size ? idx->names + s->name : NULL;
}
