// SPDX-License-Identifier: Apache-2.0
#include "profile/texts.h"

#include <stdlib.h>
#include <string.h>

static bool texts_same(const struct texts *t, const struct text_place *have,
		       size_t at, size_t len)
{
	return have->len == len &&
	       (!len || !memcmp(t->bytes.data + have->at, t->bytes.data + at, len));
}

uint32_t texts_number(struct texts *t, size_t at)
{
	size_t len = t->bytes.len - at;
	uint32_t n = t->v.n;
	uint64_t hash;

	if (t->bytes.failed) {
		t->failed = true;
		return 0;
	}
	hash = hash_mix(t->seed, len ? t->bytes.data + at : NULL, len);
	for (struct hash_slot *s = hash_find(&t->known, hash); s;
	     s = hash_next(&t->known, s)) {
		if (texts_same(t, &t->v.v[hash_index(s)], at, len)) {
			t->bytes.len = at;
			return hash_index(s);
		}
	}
	if (!vector_push(&t->v, ((struct text_place){ at, len })) ||
	    !hash_add(&t->known, hash, n)) {
		t->failed = true;
		return 0;
	}
	return n;
}

void texts_fini(struct texts *t)
{
	free(t->bytes.data);
	free(t->v.v);
	hash_free(&t->known);
}
