// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/file_symbols.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "symbolizerd/symbols/index_keep.h"

/* What a file's few are charged by. */
struct met_entry {
	struct cache_entry entry;	/* first */
	struct file_symbols *of;
};

_Static_assert(offsetof(struct met_entry, entry) == 0, "entry comes first");

static void file_symbols_free_few(struct file_symbols *s)
{
	free(s->few_data);
	s->few_data = NULL;
	s->few_len = 0;
	s->few = (struct symbol_index){ 0 };
}

/* Its whole table has them, too, if that is here. */
static bool file_symbols_few_dropped(void *ctx, uint32_t i)
{
	struct met_symbols *m = ctx;
	const struct met_entry *e = owner_cache_at(&m->cache, i);

	if (!e->of->few_data)		/* not for want of room */
		return false;
	file_symbols_free_few(e->of);
	if (!e->of->map) {
		e->of->went = true;
		m->lost++;
	}
	return false;
}

void met_symbols_init(struct met_symbols *m, uint64_t seed)
{
	*m = (struct met_symbols){ .lost = 0 };
	m->cache = (struct owner_cache){
		.size = sizeof(struct met_entry), .max = MET_BYTES, .seed = seed,
		.dropped = file_symbols_few_dropped, .ctx = m,
	};
}

void met_symbols_fini(struct met_symbols *m)
{
	owner_cache_fini(&m->cache);
}

static void file_symbols_drop_few(struct file_symbols *s)
{
	if (!s->few_data)
		return;
	file_symbols_free_few(s);
	owner_cache_drop(&s->all->cache, s->met);
}

static void file_symbols_drop_whole(struct file_symbols *s)
{
	if (s->map)
		munmap((void *)s->map, s->map_len);
	s->map = NULL;
	s->map_len = 0;
	s->symbols = (struct symbol_index){ 0 };
	free(s->marks);
	s->marks = NULL;
}

void file_symbols_set(struct file_symbols *s, const void *map, size_t map_len,
		      const struct symbol_index *idx, bool better)
{
	file_symbols_drop_whole(s);
	s->map = map;
	s->map_len = map_len;
	s->symbols = *idx;
	/* without memory for marks they stay whole */
	if (map)
		s->marks = calloc(symbols_slots(idx) / 64 + 1, sizeof(*s->marks));
	if (map && better)
		file_symbols_drop_few(s);
	s->partial = !map;
}

void file_symbols_clear(struct file_symbols *s)
{
	file_symbols_drop_whole(s);
	file_symbols_drop_few(s);
}

/* True: it is the first sample there. */
static bool file_symbols_mark(struct file_symbols *s, uint64_t off)
{
	uint32_t slot = symbols_slot(&s->symbols, off);
	uint64_t bit = 1ULL << slot % 64;

	if (!s->marks || s->marks[slot / 64] & bit)
		return false;
	s->marks[slot / 64] |= bit;
	return true;
}

uint32_t file_symbols_places(struct file_symbols *s, uint64_t off, bool *new,
			     struct symbol_place ret[SYMBOL_DEPTH_MAX])
{
	*new = false;
	if (s->few_data)
		owner_cache_touch(&s->all->cache, s->met);
	if (file_symbols_met(s, off))
		return symbols_places(&s->few, off, ret);
	if (!s->map)
		return 0;
	*new = file_symbols_mark(s, off);
	return symbols_places(&s->symbols, off, ret);
}

/* These bytes are what samples met. */
static void file_symbols_few(struct file_symbols *s, uint32_t owner, void *data, size_t len)
{
	struct met_symbols *m = s->all;
	struct symbol_index few;
	struct met_entry *e;
	uint32_t i;

	if (symbols_open(data, len, &few) < 0 || !few.n) {
		free(data);
		return;
	}
	i = owner_cache_add(&m->cache, owner, (uint32_t)len);
	if (i == INDEX_NONE) {
		s->went = true;
		m->lost++;
		free(data);
		return;
	}
	e = owner_cache_at(&m->cache, i);
	e->of = s;
	s->met = i;
	s->few_data = data;
	s->few_len = len;
	s->few = few;
}

int file_symbols_keep(struct file_symbols *s, uint32_t owner)
{
	void *data;
	size_t len;

	if (!s->marks || symbols_keep(&s->few, &s->symbols, s->marks, &data, &len))
		return -ENOMEM;
	file_symbols_drop_whole(s);
	file_symbols_drop_few(s);
	s->partial = true;
	file_symbols_few(s, owner, data, len);
	return 0;
}

void file_symbols_shrink(struct file_symbols *s, uint32_t owner)
{
	s->went = true;
	if (!file_symbols_keep(s, owner))
		return;
	file_symbols_drop_whole(s);
	s->partial = true;
	s->all->lost++;
}

void file_symbols_give(const struct file_symbols *s, uint32_t owner)
{
	if (s->few_data)
		owner_cache_give(&s->all->cache, s->met, owner);
}
