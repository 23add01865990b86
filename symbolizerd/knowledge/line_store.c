// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/line_store.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define PIECE_BYTES	16	/* of the allocator, about */

_Static_assert(offsetof(struct line_function, entry) == 0, "entry comes first");
_Static_assert(offsetof(struct line_piece, entry) == 0, "likewise");

/* --- functions ---------------------------------------------------------------- */

/* What a function is found by. */
struct lines_key {
	const struct symbol_place *at;
	const char *system;
	uint32_t owner;
};

static uint64_t line_store_hash_function(const struct line_store *s, const struct lines_key *k)
{
	const struct symbol_place *p = k->at;
	uint64_t hash = XXH3_64bits_withSeed(p->name, strlen(p->name), s->seed + k->owner);

	hash = XXH3_64bits_withSeed(k->system, strlen(k->system), hash + p->first_line);
	return XXH3_64bits_withSeed(p->file, strlen(p->file), hash);
}

static bool line_store_same_function(const void *entry, const void *key)
{
	const struct line_function *f = entry;
	const struct lines_key *k = key;

	return f->entry.owner == k->owner && f->first_line == k->at->first_line &&
	       !strcmp(f->name, k->at->name) && !strcmp(f->system, k->system) &&
	       !strcmp(f->file, k->at->file);
}

static struct line_function *line_store_function_at(const struct line_store *s, uint32_t i)
{
	return owner_cache_at(&s->functions, i);
}

static void line_store_drop_function(struct line_store *s, uint32_t i)
{
	struct line_function *f = line_store_function_at(s, i);

	f->refs--;
	if (!f->refs)
		owner_cache_drop(&s->functions, i);
}

/* A new one, or INDEX_NONE. */
static uint32_t line_store_add_function(struct line_store *s, const struct lines_key *k)
{
	size_t len = strlen(k->at->name) + strlen(k->system) + strlen(k->at->file) + 3;
	char *piece = malloc(len), *at;
	struct line_function *f;
	uint32_t i;

	if (!piece)
		return INDEX_NONE;
	i = owner_cache_add_key(&s->functions, k->owner, line_store_hash_function(s, k),
				(uint32_t)len + PIECE_BYTES);
	if (i == INDEX_NONE) {
		free(piece);
		return INDEX_NONE;
	}
	f = line_store_function_at(s, i);
	f->first_line = k->at->first_line;
	f->refs = 1;
	f->number = ++s->last_number;
	f->name = piece;
	at = stpcpy(piece, k->at->name) + 1;
	f->system = at;
	at = stpcpy(at, k->system) + 1;
	f->file = at;
	strcpy(at, k->at->file);
	return i;
}

static uint32_t line_store_intern(struct line_store *s, const struct symbol_place *p,
				  uint32_t owner)
{
	struct lines_key k = { p, p->system ? p->system : "", owner };
	uint32_t i = owner_cache_find(&s->functions, line_store_hash_function(s, &k), &k);

	if (i == INDEX_NONE)
		return line_store_add_function(s, &k);
	line_store_function_at(s, i)->refs++;
	return i;
}

/* --- pieces of code ------------------------------------------------------------- */

static struct line_piece *line_store_piece(const struct line_store *s, uint32_t i)
{
	return owner_cache_at(&s->codes, i);
}

static uint64_t line_store_hash_block(const struct line_store *s, uint32_t file, uint64_t block)
{
	const uint64_t key[] = { file, block };

	return XXH3_64bits_withSeed(key, sizeof(key), s->seed);
}

static uint64_t line_store_last_block(uint64_t offset, uint32_t len)
{
	return (offset + len - 1) >> LINE_BLOCK_SHIFT;
}

static bool line_store_in(const struct line_piece *p, uint32_t file, uint64_t off)
{
	return p->file == file && off >= p->offset && off - p->offset < p->len;
}

uint32_t line_store_find(const struct line_store *s, uint32_t file, uint64_t off)
{
	const struct hash_slot *h =
		hash_find(&s->blocks, line_store_hash_block(s, file, off >> LINE_BLOCK_SHIFT));

	while (h && !line_store_in(line_store_piece(s, hash_index(h)), file, off))
		h = hash_next(&s->blocks, h);
	return h ? hash_index(h) : INDEX_NONE;
}

void line_store_use(struct line_store *s, uint32_t i, uint32_t interval)
{
	line_store_piece(s, i)->used = interval;
	owner_cache_touch(&s->codes, i);
}

uint32_t line_store_places(const struct line_store *s, uint32_t i, uint64_t off,
			   struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	const struct line_piece *p = line_store_piece(s, i);
	uint32_t at = LINE_NONE, n = 0;

	if (p->n_segments)
		at = p->segments[line_codes_segment(p->segments, p->n_segments,
						    off - p->offset)].at;
	for (; at != LINE_NONE && n < SYMBOL_DEPTH_MAX; at = p->ats[at].outer) {
		const struct line_function *f = line_store_function_at(s, p->ats[at].function);

		ret[n++] = (struct symbol_place){
			.name = f->name, .file = f->file, .first_line = f->first_line,
			.line = p->ats[at].line, .system = f->system[0] ? f->system : NULL,
		};
	}
	return n;
}

/* What is known of it goes. */
static bool line_store_piece_dropped(void *ctx, uint32_t i)
{
	struct line_store *s = ctx;
	struct line_piece *p = line_store_piece(s, i);
	uint64_t last = line_store_last_block(p->offset, p->len);

	for (uint64_t k = p->offset >> LINE_BLOCK_SHIFT; p->len && k <= last; k++)
		hash_remove_index(&s->blocks, line_store_hash_block(s, p->file, k), i);
	for (uint32_t k = 0; k < p->n_ats; k++)
		line_store_drop_function(s, p->ats[k].function);
	free(p->ats);
	p->ats = NULL;
	p->n_ats = p->n_segments = 0;
	p->len = 0;
	return false;
}

/* A piece of this file in block k that has some of the code; INDEX_NONE: there is none. */
static uint32_t line_store_overlaps(const struct line_store *s, uint32_t file, uint64_t k,
				    uint64_t offset, uint32_t len)
{
	const struct hash_slot *h = hash_find(&s->blocks, line_store_hash_block(s, file, k));

	for (; h; h = hash_next(&s->blocks, h)) {
		const struct line_piece *p = line_store_piece(s, hash_index(h));

		if (p->file == file && p->offset < offset + len && offset < p->offset + p->len)
			return hash_index(h);
	}
	return INDEX_NONE;
}

/* No two pieces have the same code, so a block has no more of them than bytes. */
static void line_store_clear(struct line_store *s, uint32_t file, uint64_t offset, uint32_t len)
{
	uint64_t last = line_store_last_block(offset, len);

	for (uint64_t k = offset >> LINE_BLOCK_SHIFT; k <= last; k++) {
		uint32_t i = line_store_overlaps(s, file, k, offset, len);

		while (i != INDEX_NONE) {
			owner_cache_drop(&s->codes, i);
			i = line_store_overlaps(s, file, k, offset, len);
		}
	}
}

/* It can be found by its blocks.  False: no memory, and it has no length. */
static bool line_store_link(struct line_store *s, uint32_t i, uint64_t offset, uint32_t len)
{
	struct line_piece *p = line_store_piece(s, i);
	uint64_t first = offset >> LINE_BLOCK_SHIFT, last = line_store_last_block(offset, len);

	for (uint64_t k = first; k <= last; k++) {
		if (hash_add(&s->blocks, line_store_hash_block(s, p->file, k), i))
			continue;
		while (k-- > first)
			hash_remove_index(&s->blocks, line_store_hash_block(s, p->file, k), i);
		return false;
	}
	p->offset = offset;
	p->len = len;
	return true;
}

/* A new piece, of which nothing is known, with so many bytes besides.  It is held.
 * INDEX_NONE: there is no room. */
static uint32_t line_store_new(struct line_store *s, uint32_t file, uint32_t owner,
			       const struct line_code *c, uint32_t more)
{
	uint64_t blocks = line_store_last_block(c->offset, c->len) -
			  (c->offset >> LINE_BLOCK_SHIFT) + 1;
	uint32_t i;

	line_store_clear(s, file, c->offset, c->len);
	i = owner_cache_add(&s->codes, owner,
			    more + (uint32_t)(blocks * 2 * sizeof(struct hash_slot)));
	if (i == INDEX_NONE)
		return i;
	owner_cache_hold(&s->codes, i);
	line_store_piece(s, i)->file = file;
	if (line_store_link(s, i, c->offset, c->len))
		return i;
	owner_cache_drop(&s->codes, i);
	return INDEX_NONE;
}

/* --- answers -------------------------------------------------------------------- */

/* Which one a function of an answer is here. */
struct line_store_known {
	uint64_t number;	/* 0: it was not looked for yet */
	uint32_t i;
};

struct line_store_answer {
	const struct line_codes *codes;
	uint32_t file, owner;
	struct line_store_known *functions;
};

/* With a reference.  INDEX_NONE: there is no room; or there was none for a piece that had it, so
 * it has gone: each function is copied once. */
static uint32_t line_store_translate(struct line_store *s, struct line_store_answer *a,
				     uint32_t function)
{
	struct line_store_known *k = &a->functions[function];
	struct line_function *f;
	struct symbol_place p;

	if (!k->number) {
		p = line_codes_function(a->codes, function);
		k->i = line_store_intern(s, &p, a->owner);
		if (k->i != INDEX_NONE)
			k->number = line_store_function_at(s, k->i)->number;
		return k->i;
	}
	f = line_store_function_at(s, k->i);
	if (f->number != k->number)
		return INDEX_NONE;
	f->refs++;
	return k->i;
}

/* What is known of a new piece.  False: there is no room. */
static bool line_store_fill(struct line_store *s, struct line_store_answer *a, uint32_t i,
			    const struct line_code *c, const struct line_at *ats,
			    const struct line_segment *segments)
{
	struct line_piece *p = line_store_piece(s, i);

	p->ats = malloc(c->ats * sizeof(*ats) + c->segments * sizeof(*segments));
	if (!p->ats)
		return false;
	p->segments = (void *)(p->ats + c->ats);
	memcpy(p->segments, segments, c->segments * sizeof(*segments));
	for (uint32_t k = 0; k < c->ats; k++) {
		uint32_t function = line_store_translate(s, a, ats[k].function);

		if (function == INDEX_NONE)
			return false;
		p->ats[k] = ats[k];
		p->ats[k].function = function;
		p->n_ats++;
	}
	p->n_segments = c->segments;
	return true;
}

static void line_store_add_code(struct line_store *s, struct line_store_answer *a,
				const struct line_code *c, const struct line_at *ats,
				const struct line_segment *segments, uint32_t interval)
{
	uint32_t more = (uint32_t)(c->ats * sizeof(*ats) + c->segments * sizeof(*segments)) +
			PIECE_BYTES;
	uint32_t i = line_store_new(s, a->file, a->owner, c, more);

	if (i != INDEX_NONE && line_store_fill(s, a, i, c, ats, segments)) {
		line_store_use(s, i, interval);
		return;
	}
	if (i != INDEX_NONE)
		owner_cache_drop(&s->codes, i);
	s->codes.lost++;
}

void line_store_add(struct line_store *s, uint32_t file, uint32_t owner,
		    const struct line_codes *codes, uint32_t interval)
{
	struct line_store_answer a = {
		codes, file, owner, calloc(codes->hdr.functions + 1, sizeof(*a.functions)),
	};
	uint32_t at = 0, segment = 0;

	for (uint32_t i = 0; a.functions && i < codes->hdr.codes; i++) {
		const struct line_code *c = &codes->codes[i];

		line_store_add_code(s, &a, c, codes->ats + at, codes->segments + segment, interval);
		at += c->ats;
		segment += c->segments;
	}
	free(a.functions);
}

void line_store_add_nothing(struct line_store *s, uint32_t file, uint32_t owner, uint64_t off,
			    bool failed, uint32_t interval)
{
	uint32_t i = line_store_new(s, file, owner, &(struct line_code){ off, 1, 0, 0 }, 0);

	if (i == INDEX_NONE)
		return;
	line_store_piece(s, i)->failed = failed;
	line_store_use(s, i, interval);
}

/* --- the whole ------------------------------------------------------------------ */

static bool line_store_function_dropped(void *ctx, uint32_t i)
{
	struct line_function *f = line_store_function_at(ctx, i);

	free(f->name);
	f->number = 0;
	return false;
}

void line_store_init(struct line_store *s, uint64_t seed, uint64_t max)
{
	*s = (struct line_store){ .seed = seed };
	s->codes = (struct owner_cache){
		.size = sizeof(struct line_piece), .max = max, .seed = seed,
		.dropped = line_store_piece_dropped, .ctx = s,
	};
	s->functions = (struct owner_cache){
		.size = sizeof(struct line_function), .payer = &s->codes, .seed = seed,
		.same = line_store_same_function, .dropped = line_store_function_dropped, .ctx = s,
	};
}

void line_store_fini(struct line_store *s)
{
	owner_cache_fini(&s->codes);
	owner_cache_fini(&s->functions);
	hash_free(&s->blocks);
}

void line_store_sweep(struct line_store *s, uint32_t interval, uint32_t idle)
{
	for (uint32_t i = 0; i < s->codes.n; i++) {
		const struct line_piece *p = line_store_piece(s, i);

		if (p->len && (interval - p->used >= idle ||
			       (p->failed && interval % idle == 0)))
			owner_cache_drop(&s->codes, i);
	}
}
