/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_slabs - a loaderd without a kernel, for tests of the policy for tables
 *
 * It holds what loaderd holds and refuses what loaderd refuses (ipc/message.h).
 * And it knows what BPF programs may be reading: an element is in use from its
 * write until the grace is over that begins when no entry leads there any more.
 * Any breach of that ends the test.
 */
#ifndef TESTS_FAKE_SLABS_H
#define TESTS_FAKE_SLABS_H

#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/message.h"
#include "ipc/sealed.h"
#include "symbolizerd/tables/files.h"
#include "symbolizerd/tables/worker_table.h"

#define FAKE_KEYS	16384

struct fake_slabs {
	union element *slab[SLABS_MAX];
	uint64_t in_use[SLABS_MAX][SLAB_ELEMENTS / 64];
	uint64_t grace[2][SLABS_MAX][SLAB_ELEMENTS / 64];	/* of them: since
				 * the last statistics, and since those before */
	struct msg_entry known[FAKE_KEYS];
	uint32_t n, room;	/* keys; as many as the map may have */
	uint64_t budget, elements;
	uint64_t handled;	/* messages, but for the hello */
	uint64_t by_second;	/* with it: by the last second */
	uint64_t answered;	/* id of the last answer that had one */
	uint32_t lists, installs, slabs_dropped, n_dropped, vdsos;
	uint32_t dropped[FAKE_KEYS];	/* numbers */
	bool settled;		/* adopted files have their symbols */
};

static struct fake_slabs fake;

static bool fake_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static struct msg_entry *fake_find(const struct file_key *key)
{
	for (uint32_t i = 0; i < fake.n; i++) {
		if (fake.known[i].key.ino == key->ino &&
		    !memcmp(&fake.known[i].key, key, sizeof(*key)))
			return &fake.known[i];
	}
	return NULL;
}

static union element *fake_at(uint32_t pos, uint32_t n)
{
	uint32_t slab = pos >> SLAB_SHIFT, first = pos & (SLAB_ELEMENTS - 1);

	CHECK(slab < SLABS_MAX && n && first + n <= SLAB_ELEMENTS);
	CHECK(slab < RULE_SLABS + 1 + (fake.budget >> 20) * 5 / 4);
	if (!fake.slab[slab])
		fake.slab[slab] = calloc(SLAB_ELEMENTS, sizeof(union element));
	return fake.slab[slab] + first;
}

/* Nothing leads to these any more: the grace of those in use begins. */
static void fake_let_go(uint32_t pos, uint32_t n)
{
	uint32_t slab = pos >> SLAB_SHIFT, first = pos & (SLAB_ELEMENTS - 1);

	for (uint32_t i = first; slab < SLABS_MAX && i < first + n &&
	     i < SLAB_ELEMENTS; i++) {
		if (fake_bit(fake.in_use[slab], i) &&
		    !fake_bit(fake.grace[1][slab], i))
			fake.grace[0][slab][i / 64] |= 1ULL << (i % 64);
	}
}

/* A key that led to this directory does not any more.  An entry that lies may
 * lead anywhere. */
static void fake_unlink(uint32_t dir, uint32_t pages)
{
	for (uint32_t i = 0; i < pages && i < 8 * SLAB_ELEMENTS; i++) {
		uint32_t pos = dir + i / 8;
		const union element *s = pos >> SLAB_SHIFT < SLABS_MAX ?
			fake.slab[pos >> SLAB_SHIFT] : NULL;
		const struct dir_entry *d;

		if (!s)
			return;
		d = &s[pos & (SLAB_ELEMENTS - 1)].dir[i % 8];
		if (d->n)
			fake_let_go(d->first, page_elements(d));
	}
	fake_let_go(dir, (pages + 7) / 8);
}

/* Writable: not in use, which grace is part of. */
static void fake_write(const struct table_run *run, const union element *from)
{
	uint32_t slab = run->pos >> SLAB_SHIFT;
	uint32_t first = run->pos & (SLAB_ELEMENTS - 1);
	union element *to = fake_at(run->pos, run->n);

	for (uint32_t i = first; slab >= RULE_SLABS && i < first + run->n; i++) {
		CHECK(!fake_bit(fake.in_use[slab], i));
		fake.in_use[slab][i / 64] |= 1ULL << (i % 64);
		fake.elements++;
	}
	memcpy(to, from, run->n * sizeof(*to));
}

/* A message was handled.  The entry of the key is this from now on; NULL: it has
 * none. */
static void fake_replace(const struct file_key *key, const struct file_entry *entry)
{
	struct msg_entry *e = fake_find(key);

	fake.handled++;
	if (!e)
		return;
	if (e->entry.pages && !(entry && entry->pages &&
				entry->dir == e->entry.dir))
		fake_unlink(e->entry.dir, e->entry.pages);
	if (entry)
		e->entry = *entry;
	else
		*e = fake.known[--fake.n];
}

static void fake_answer(uint64_t id)
{
	if (id)
		fake.answered = id;
}

static void fake_install(void *ctx, uint64_t id, const struct file_key *key,
			 const struct file_entry *entry, uint32_t n_runs,
			 int fd)
{
	const struct table_run *runs;
	const union element *from;
	const void *map;
	size_t len, rest;

	(void)ctx;
	CHECK_EQ(sealed_map(fd, 1, INSTALL_BYTES_MAX, &map, &len), 0);
	close(fd);
	CHECK(n_runs >= 1 && n_runs <= INSTALL_RUNS_MAX);
	CHECK(len >= n_runs * sizeof(*runs));
	runs = map;
	from = (const void *)(runs + n_runs);
	rest = (len - n_runs * sizeof(*runs)) / sizeof(*from);
	for (uint32_t i = 0; i < n_runs; i++) {
		const struct table_run *r = &runs[i];

		CHECK_EQ(r->pad, 0);
		if (r->from != TABLE_RUN_NEW) {
			fake_write(r, fake_at(r->from, r->n));
			continue;
		}
		CHECK(rest >= r->n);
		fake_write(r, from);
		from += r->n;
		rest -= r->n;
	}
	CHECK_EQ(rest, 0);
	CHECK(fake.elements * sizeof(union element) <= fake.budget);
	fake_replace(key, entry);
	fake.installs++;
	fake_answer(id);
	munmap((void *)map, len);
}

static void fake_entry(void *ctx, uint64_t id, const struct file_key *key,
		       const struct file_entry *entry)
{
	(void)ctx;
	fake_replace(key, entry);
	fake_answer(id);
}

static void fake_slab_drop(void *ctx, uint32_t slab)
{
	(void)ctx;
	CHECK(slab >= RULE_SLABS && slab < SLABS_MAX && fake.slab[slab]);
	for (uint32_t i = 0; i < SLAB_ELEMENTS / 64; i++) {
		uint64_t bits = fake.in_use[slab][i];

		/* the kernel itself waits until nobody reads a slab */
		CHECK(!(bits & ~(fake.grace[0][slab][i] | fake.grace[1][slab][i])));
		fake.elements -= (uint64_t)__builtin_popcountll(bits);
		fake.in_use[slab][i] = 0;
		fake.grace[0][slab][i] = fake.grace[1][slab][i] = 0;
	}
	free(fake.slab[slab]);
	fake.slab[slab] = NULL;
	fake.slabs_dropped++;
	fake.handled++;
}

static void fake_drop(void *ctx, uint64_t id, const struct file_key *key)
{
	(void)ctx;
	fake_replace(key, NULL);
	fake_answer(id);
}

static void fake_list(void *ctx)
{
	(void)ctx;
	fake.handled++;
	fake.lists++;
}

static void fake_vdso(void *ctx)
{
	(void)ctx;
	fake.vdsos++;
}

static bool fake_adopted(void *ctx, uint32_t number, const struct file_key *key)
{
	(void)ctx, (void)number, (void)key;
	return fake.settled;
}

static void fake_dropped(void *ctx, uint32_t number)
{
	(void)ctx;
	if (fake.n_dropped < FAKE_KEYS)
		fake.dropped[fake.n_dropped++] = number;
}

static const struct tables_out fake_out = {
	fake_install, fake_entry, fake_slab_drop, fake_drop, fake_list,
	fake_vdso, fake_adopted, fake_dropped,
};

static inline void fake_begin(uint64_t budget, uint32_t room)
{
	fake.budget = budget;
	fake.room = room;
}

/* A second has passed: the number that the statistics carry.  What was in its
 * grace a second ago is free. */
static inline uint64_t fake_second(void)
{
	uint64_t was;

	for (uint32_t s = 0; s < SLABS_MAX; s++) {
		for (uint32_t i = 0; fake.slab[s] && i < SLAB_ELEMENTS / 64; i++) {
			uint64_t over = fake.grace[1][s][i];

			fake.elements -= (uint64_t)__builtin_popcountll(over);
			fake.in_use[s][i] &= ~over;
			fake.grace[1][s][i] = fake.grace[0][s][i];
			fake.grace[0][s][i] = 0;
		}
	}
	was = fake.by_second;
	fake.by_second = 1 + fake.handled;
	return was;
}

/* What a new hub is sent. */
static inline struct slab_copy *fake_copy(uint32_t slab)
{
	struct slab_copy *c;

	if (!fake.slab[slab])
		return NULL;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(c != MAP_FAILED);
	memcpy(c->element, fake.slab[slab], sizeof(c->element));
	return c;
}

/* The kernel's side, as bpf/lookup.bpf.h wants it. */
static __always_inline const union element *element_at(__u32 pos)
{
	union element *s = pos >> SLAB_SHIFT < SLABS_MAX ?
		fake.slab[pos >> SLAB_SHIFT] : NULL;

	return s ? s + (pos & (SLAB_ELEMENTS - 1)) : NULL;
}

#include "bpf/lookup.bpf.h"

#endif /* TESTS_FAKE_SLABS_H */
