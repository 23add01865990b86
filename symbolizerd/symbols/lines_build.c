// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/lines_build.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "common/hash_table.h"

#define NAMES_MAX	(128u << 20)

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
	free(b->names);
	free(b->strings.slots);
	free(b->functions);
	free(b->function_pool.slots);
	free(b->bytes);
	free(b->rows);
	free(b->scopes);
	free(b);
}

/* Room for `more` elements of a size behind n. */
static bool lines_build_room(struct lines_builder *b, void **data, size_t *cap,
			     size_t n, size_t more, size_t size)
{
	size_t want = *cap ? *cap : 1024;
	void *p;

	if (b->failed || *cap - n >= more)
		return !b->failed;
	while (want - n < more)
		want += want / 2;
	p = reallocarray(*data, want, size);
	if (!p) {
		b->failed = true;
		return false;
	}
	*data = p;
	*cap = want;
	return true;
}

/* --- strings and functions -------------------------------------------------- */

static uint64_t lines_build_hash_of(const struct lines_builder *b,
				    const struct lines_pool *p, uint32_t i)
{
	const char *s = b->names + i;

	return p == &b->strings ? XXH3_64bits_withSeed(s, strlen(s), b->seed) :
	       XXH3_64bits_withSeed(&b->functions[i],
				    sizeof(b->functions[i]), b->seed);
}

static bool lines_build_grow(struct lines_builder *b, struct lines_pool *p)
{
	uint32_t cap = p->cap ? 2 * p->cap : 1024, *slots;

	if (p->n < p->cap / 2)
		return true;
	slots = calloc(cap, sizeof(*slots));
	if (!slots) {
		b->failed = true;
		return false;
	}
	for (uint32_t i = 0; i < p->cap; i++) {
		uint64_t at;

		if (!p->slots[i])
			continue;
		at = lines_build_hash_of(b, p, p->slots[i] - 1) & (cap - 1);
		while (slots[at])
			at = (at + 1) & (cap - 1);
		slots[at] = p->slots[i];
	}
	free(p->slots);
	p->slots = slots;
	p->cap = cap;
	return true;
}

uint32_t lines_string(struct lines_builder *b, const char *s, size_t len)
{
	struct lines_pool *p = &b->strings;
	uint32_t off = b->names_len;
	uint64_t at;

	if (!lines_build_grow(b, p))
		return 0;
	if (len > NAMES_MAX || b->names_len > NAMES_MAX - len) {
		b->failed = true;
		return 0;
	}
	at = XXH3_64bits_withSeed(s, len, b->seed) & (p->cap - 1);
	for (; p->slots[at]; at = (at + 1) & (p->cap - 1)) {
		const char *have = b->names + p->slots[at] - 1;

		if (!strncmp(have, s, len) && !have[len])
			return p->slots[at] - 1;
	}
	if (!lines_build_room(b, (void **)&b->names, &b->names_cap,
			      b->names_len, len + 1, 1))
		return 0;
	memcpy(b->names + off, s, len);
	b->names[off + len] = '\0';
	b->names_len += len + 1;
	p->slots[at] = off + 1;
	p->n++;
	return off;
}

uint32_t lines_function(struct lines_builder *b, uint32_t name, uint32_t file,
			uint32_t first_line)
{
	struct symbol_function f = { name, file, first_line };
	struct lines_pool *p = &b->function_pool;
	size_t cap = b->functions_cap;
	uint64_t at;

	if (!lines_build_grow(b, p))
		return LINES_NONE;
	at = XXH3_64bits_withSeed(&f, sizeof(f), b->seed) & (p->cap - 1);
	for (; p->slots[at]; at = (at + 1) & (p->cap - 1)) {
		if (!memcmp(&b->functions[p->slots[at] - 1], &f, sizeof(f)))
			return p->slots[at] - 1;
	}
	if (b->n_functions == LINES_FUNCTIONS_MAX ||
	    !lines_build_room(b, (void **)&b->functions, &cap, b->n_functions,
			      1, sizeof(f)))
		return LINES_NONE;
	b->functions_cap = cap;
	b->functions[b->n_functions++] = f;
	p->slots[at] = b->n_functions;
	p->n++;
	return b->n_functions - 1;
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
	b->rows_len = b->scopes_len = b->n_scopes = 0;
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
	    !lines_build_room(b, (void **)&b->scopes, &b->scopes_cap,
			      b->scopes_len, 15, 1)) {
		b->broken = true;
		return LINES_NONE;
	}
	b->depth[i] = in == LINES_NONE ? 1 : b->depth[in] + 1;
	b->of[i] = function;
	b->scopes_len += lines_build_put(b->scopes + b->scopes_len, function);
	b->scopes_len += lines_build_put(b->scopes + b->scopes_len,
					 in == LINES_NONE ? 0 : i - in);
	if (in != LINES_NONE)
		b->scopes_len += lines_build_put(b->scopes + b->scopes_len,
						 line);
	return b->n_scopes++;
}

static void lines_build_flush(struct lines_builder *b)
{
	bool other = b->scope != b->last_scope;
	int64_t delta, base = b->last_line;
	uint64_t v;

	if (!b->pending || b->broken)
		return;
	if (other)
		base = b->functions[b->of[b->scope]].first_line;
	delta = (int64_t)b->line - base;
	v = delta < 0 ? -2 * delta - 1 : 2 * delta;
	if (b->pending > UINT32_MAX || v > UINT32_MAX / 2 ||
	    !lines_build_room(b, (void **)&b->rows, &b->rows_cap, b->rows_len,
			      16, 1)) {
		b->broken = true;
		return;
	}
	b->rows_len += lines_build_put(b->rows + b->rows_len, b->pending);
	b->rows_len += lines_build_put(b->rows + b->rows_len, v << 1 | other);
	if (other)
		b->rows_len += lines_build_put(b->rows + b->rows_len, b->scope);
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
	size_t at = b->len;

	lines_build_flush(b);
	if (b->broken || !b->rows_len ||
	    b->scopes_len + b->rows_len + 16 > SYMBOL_LINES_MAX)
		return SYMBOL_NO_LINES;
	if (b->len + b->scopes_len + b->rows_len + 16 > LINES_BYTES_MAX) {
		b->full = true;
		return SYMBOL_NO_LINES;
	}
	if (!lines_build_room(b, (void **)&b->bytes, &b->cap, b->len,
			      b->scopes_len + b->rows_len + 16, 1))
		return SYMBOL_NO_LINES;
	b->len += lines_build_put(b->bytes + b->len, b->n_scopes);
	memcpy(b->bytes + b->len, b->scopes, b->scopes_len);
	b->len += b->scopes_len;
	memcpy(b->bytes + b->len, b->rows, b->rows_len);
	b->len += b->rows_len;
	b->bytes[b->len++] = 0;
	return at;
}
