// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/lines_build.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define NAMES_MAX	(128u << 20)
#define NUMBER_MAX	5	/* bytes of an unsigned LEB128 number of 32 bits */

struct lines_builder *lines_builder_new(void)
{
	struct lines_builder *b = calloc(1, sizeof(*b));

	if (b)
		b->seed = hash_seed();
	if (b && lines_string(b, "", 0) == 0 && !b->failed)
		return b;
	lines_builder_free(b);
	return NULL;
}

void lines_builder_free(struct lines_builder *b)
{
	if (!b)
		return;
	free(b->names.v);
	hash_free(&b->by_string);
	free(b->functions.v);
	hash_free(&b->by_function);
	free(b->lines.v);
	free(b->rows.v);
	free(b->scopes.v);
	free(b);
}

/* Room for n more elements of one of the builder's VECTORs. */
#define lines_build_room(b, vec, n)					\
	lines_build_check((b), !(b)->failed && vector_reserve((vec), (n)))

static bool lines_build_check(struct lines_builder *b, bool there)
{
	if (!there)
		b->failed = true;
	return there;
}

/* --- strings and functions -------------------------------------------------- */

static bool lines_build_is(const struct lines_builder *b, uint32_t off,
			   const char *s, size_t len)
{
	const char *have = b->names.v + off;

	return len < b->names.n - off && !memcmp(have, s, len) && !have[len];
}

uint32_t lines_string(struct lines_builder *b, const char *s, size_t len)
{
	uint64_t hash = XXH3_64bits_withSeed(s, len, b->seed);
	const struct hash_slot *slot = hash_find(&b->by_string, hash);
	uint32_t off = b->names.n;

	while (slot && !lines_build_is(b, hash_index(slot), s, len))
		slot = hash_next(&b->by_string, slot);
	if (slot)
		return hash_index(slot);
	if (len > NAMES_MAX || off > NAMES_MAX - len ||
	    !lines_build_room(b, &b->names, len + 1) ||
	    !hash_add(&b->by_string, hash, off)) {
		b->failed = true;
		return 0;
	}
	memcpy(b->names.v + off, s, len);
	b->names.v[off + len] = '\0';
	b->names.n += len + 1;
	return off;
}

uint32_t lines_function(struct lines_builder *b, uint32_t name, uint32_t file,
			uint32_t first_line)
{
	struct symbol_function f = { name, file, first_line };
	uint64_t hash = XXH3_64bits_withSeed(&f, sizeof(f), b->seed);
	const struct hash_slot *slot = hash_find(&b->by_function, hash);

	while (slot &&
	       memcmp(&b->functions.v[hash_index(slot)], &f, sizeof(f)))
		slot = hash_next(&b->by_function, slot);
	if (slot)
		return hash_index(slot);
	if (b->functions.n == LINES_FUNCTIONS_MAX ||
	    !lines_build_room(b, &b->functions, 1) ||
	    !lines_build_check(b, hash_add(&b->by_function, hash,
					   b->functions.n)))
		return LINES_NONE;
	b->functions.v[b->functions.n] = f;
	return b->functions.n++;
}

/* --- the lines of a symbol --------------------------------------------------- */

static size_t lines_build_put(uint8_t *to, uint32_t v)
{
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		to[n++] = v | 0x80;
	to[n++] = v;
	return n;
}

void lines_begin(struct lines_builder *b)
{
	b->rows.n = b->scopes.n = b->n_scopes = 0;
	b->pending = 0;
	b->broken = b->full;
	b->last_scope = LINES_NONE;
	b->last_line = 0;
}

uint32_t lines_scope(struct lines_builder *b, uint32_t function, uint32_t in,
		     uint32_t line)
{
	uint32_t i = b->n_scopes;

	if (b->broken || function == LINES_NONE || i == SYMBOL_SCOPES_MAX ||
	    (in != LINES_NONE &&
	     (in >= i || b->depth[in] == SYMBOL_DEPTH_MAX)) ||
	    !lines_build_room(b, &b->scopes, 3 * NUMBER_MAX)) {
		b->broken = true;
		return LINES_NONE;
	}
	b->of[i] = function;
	b->scopes.n += lines_build_put(b->scopes.v + b->scopes.n, function);
	if (in == LINES_NONE) {
		b->depth[i] = 1;
		b->scopes.n += lines_build_put(b->scopes.v + b->scopes.n, 0);
	} else {
		b->depth[i] = b->depth[in] + 1;
		b->scopes.n += lines_build_put(b->scopes.v + b->scopes.n, i - in);
		b->scopes.n += lines_build_put(b->scopes.v + b->scopes.n, line);
	}
	b->n_scopes++;
	return i;
}

static void lines_build_flush(struct lines_builder *b)
{
	bool other = b->scope != b->last_scope;
	int64_t delta, base = b->last_line;
	uint64_t v;

	if (!b->pending || b->broken)
		return;
	if (other)
		base = b->functions.v[b->of[b->scope]].first_line;
	delta = (int64_t)b->line - base;
	v = 2 * delta;
	if (delta < 0)
		v = -2 * delta - 1;
	if (b->pending > UINT32_MAX || v > UINT32_MAX / 2 ||
	    !lines_build_room(b, &b->rows, 3 * NUMBER_MAX)) {
		b->broken = true;
		return;
	}
	b->rows.n += lines_build_put(b->rows.v + b->rows.n, b->pending);
	b->rows.n += lines_build_put(b->rows.v + b->rows.n, v << 1 | other);
	if (other)
		b->rows.n += lines_build_put(b->rows.v + b->rows.n, b->scope);
	b->last_scope = b->scope;
	b->last_line = b->line;
	b->pending = 0;
}

void lines_row(struct lines_builder *b, uint64_t len, uint32_t scope,
	       uint32_t line)
{
	if (!len)
		return;
	if (scope >= b->n_scopes) {
		b->broken = true;
		return;
	}
	if (b->pending && b->scope == scope && b->line == line) {
		b->pending += len;
		return;
	}
	lines_build_flush(b);
	b->scope = scope;
	b->line = line;
	b->pending = len;
}

uint32_t lines_end(struct lines_builder *b)
{
	uint32_t at = b->lines.n;
	size_t len;

	lines_build_flush(b);
	/* with the number of scopes before them, and a 0 after them */
	len = NUMBER_MAX + b->scopes.n + b->rows.n + 1;
	if (b->broken || !b->rows.n || len > SYMBOL_LINES_MAX)
		return SYMBOL_NO_LINES;
	if (b->lines.n + len > LINES_BYTES_MAX) {
		b->full = true;
		return SYMBOL_NO_LINES;
	}
	if (!lines_build_room(b, &b->lines, len))
		return SYMBOL_NO_LINES;
	b->lines.n += lines_build_put(b->lines.v + b->lines.n, b->n_scopes);
	memcpy(b->lines.v + b->lines.n, b->scopes.v, b->scopes.n);
	b->lines.n += b->scopes.n;
	memcpy(b->lines.v + b->lines.n, b->rows.v, b->rows.n);
	b->lines.n += b->rows.n;
	b->lines.v[b->lines.n++] = 0;
	return at;
}
