/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts - distinct texts, or other pieces of bytes, one after the other, numbered from 0
 * in the order in which they come
 */
#ifndef PROFILE_TEXTS_H
#define PROFILE_TEXTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "common/hash_table.h"
#include "common/vector.h"

struct text_place {
	size_t at;		/* in texts.bytes */
	size_t len;
};

struct texts {			/* zero-initialised, except .seed */
	struct buffer bytes;
	VECTOR(struct text_place) v;
	struct hash_table known;
	uint64_t seed;		/* of hash_seed(): profiled processes choose texts */
	bool failed;		/* memory was short: do not use the numbers */
};

/* What was appended to t->bytes since its length was `at` is a text: its number. */
uint32_t texts_number(struct texts *t, size_t at);

void texts_fini(struct texts *t);

#endif /* PROFILE_TEXTS_H */
