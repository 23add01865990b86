/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_slabs - a loaderd without a kernel, for tests of the policy for tables
 *
 * It holds what loaderd holds and refuses what loaderd refuses (ipc/message.h):
 * any breach of that contract ends the test.
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

#define FAKE_KEYS	4096

struct fake_slabs {
	union element *slab[SLABS_MAX];
	uint64_t in_use[SLABS_MAX][SLAB_ELEMENTS / 64];
	uint64_t grace[SLABS_MAX][SLAB_ELEMENTS / 64];
	struct msg_entry known[FAKE_KEYS];
	uint32_t n, room;	/* keys; as many as the map may have */
	uint64_t budget, elements;
	uint64_t last_free;	/* id of the last MSG_FREE */
	uint64_t freed;		/* of the last MSG_FREED */
	uint64_t answered;	/* id of the last answer that had one */
	uint32_t lists, installs, n_dropped;
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
		if (!memcmp(&fake.known[i].key, key, sizeof(*key)))
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
	if (fake_find(key))
		fake_find(key)->entry = *entry;
	fake.installs++;
	fake_answer(id);
	munmap((void *)map, len);
}

static void fake_entry(void *ctx, uint64_t id, const struct file_key *key,
		       const struct file_entry *entry)
{
	(void)ctx;
	if (fake_find(key))
		fake_find(key)->entry = *entry;
	fake_answer(id);
}

static void fake_free(void *ctx, uint64_t id, const struct table_span *spans,
		      uint32_t n)
{
	(void)ctx;
	CHECK(n <= FREE_SPANS_MAX);
	CHECK(id > fake.last_free);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t slab = spans[i].pos >> SLAB_SHIFT;
		uint32_t first = spans[i].pos & (SLAB_ELEMENTS - 1);

		fake_at(spans[i].pos, spans[i].n);
		CHECK(slab >= RULE_SLABS);
		for (uint32_t k = first; k < first + spans[i].n; k++) {
			CHECK(fake_bit(fake.in_use[slab], k));
			CHECK(!fake_bit(fake.grace[slab], k));
			fake.grace[slab][k / 64] |= 1ULL << (k % 64);
		}
	}
	fake.last_free = id;
}

static void fake_drop(void *ctx, uint64_t id, const struct file_key *key)
{
	struct msg_entry *e = fake_find(key);

	(void)ctx;
	if (e)
		*e = fake.known[--fake.n];
	fake_answer(id);
}

static void fake_list(void *ctx)
{
	(void)ctx;
	fake.lists++;
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
	fake_install, fake_entry, fake_free, fake_drop, fake_list,
	fake_adopted, fake_dropped,
};

static inline void fake_begin(uint64_t budget, uint32_t room)
{
	fake.budget = budget;
	fake.room = room;
}

/* All grace periods end.  The id that MSG_FREED carries then; 0: none is due. */
static inline uint64_t fake_grace_ends(void)
{
	for (uint32_t s = 0; s < SLABS_MAX; s++) {
		for (uint32_t i = 0; fake.slab[s] && i < SLAB_ELEMENTS / 64; i++) {
			fake.elements -= (uint64_t)
				__builtin_popcountll(fake.grace[s][i]);
			fake.in_use[s][i] &= ~fake.grace[s][i];
			fake.grace[s][i] = 0;
		}
	}
	if (fake.freed >= fake.last_free)
		return 0;
	return fake.freed = fake.last_free;
}

/* What a new hub is sent: graces are forgotten, copies and entries are told. */
static inline struct slab_copy *fake_copy(uint32_t slab)
{
	struct slab_copy *c;

	if (!fake.slab[slab])
		return NULL;
	c = mmap(NULL, sizeof(*c), PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(c != MAP_FAILED);
	memset(fake.grace[slab], 0, sizeof(fake.grace[slab]));
	memcpy(c->in_use, fake.in_use[slab], sizeof(c->in_use));
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
