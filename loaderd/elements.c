// SPDX-License-Identifier: Apache-2.0
#include "loaderd/elements.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/message_loader.h"
#include "ipc/sealed.h"

#define ELEMENT		sizeof(struct slab_element)
#define SLABS_DROPPED	4	/* in a tick: each waits for the kernel */
#define SLAB(e, pos)	((e)->slabs[(pos) >> SLAB_SHIFT])
#define INDEX(pos)	((pos) & (SLAB_ELEMENTS - 1))	/* in its slab */

/* --- slabs ---------------------------------------------------------------- */

static int slab_make(struct elements *e, uint32_t i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int r, fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", sizeof(uint32_t),
				   ELEMENT, SLAB_ELEMENTS, &opts);

	if (fd < 0)
		return -errno;
	e->slabs[i] = calloc(1, sizeof(struct slab));
	r = e->slabs[i] ? 0 : -ENOMEM;
	if (!r && bpf_map_update_elem(e->outer_fd, &i, &fd, BPF_ANY))
		r = -errno;
	if (r) {
		close(fd);
		free(e->slabs[i]);
		e->slabs[i] = NULL;
		return r;
	}
	e->slabs[i]->fd = fd;
	e->n_slabs++;
	return 0;
}

static void slab_drop(struct elements *e, uint32_t i)
{
	bpf_map_delete_elem(e->outer_fd, &i);
	close(e->slabs[i]->fd);
	free(e->slabs[i]);
	e->slabs[i] = NULL;
	e->n_slabs--;
}

int elements_init(struct elements *e, int outer_fd, int slab0_fd, uint64_t budget)
{
	*e = (struct elements){
		.outer_fd = outer_fd, .budget = budget / ELEMENT,
		.slabs_max = RULE_SLABS + 1 + budget / SLAB_BYTES * 5 / 4,
		.n_slabs = 1,
	};
	e->slabs[0] = calloc(1, sizeof(*e->slabs[0]));
	if (!e->slabs[0])
		return -ENOMEM;
	e->slabs[0]->fd = slab0_fd;
	return 0;
}

uint32_t elements_next(const struct elements *e, uint32_t i)
{
	while (i < SLABS_MAX && !e->slabs[i])
		i++;
	return i;
}

/* --- the elements of a slab, in memory --------------------------------------- */

/* What is mapped is resident: undone at the end of each message. */
static int slab_map(struct slab *s)
{
	if (!s->at) {
		s->at = mmap(NULL, SLAB_BYTES, PROT_READ | PROT_WRITE,
			     MAP_SHARED, s->fd, 0);
		if (s->at == MAP_FAILED)
			s->at = NULL;
	}
	return s->at ? 0 : -errno;
}

static void slabs_unmap(struct elements *e)
{
	for (uint32_t i = 0; (i = elements_next(e, i)) < SLABS_MAX; i++) {
		if (e->slabs[i]->at)
			munmap(e->slabs[i]->at, SLAB_BYTES);
		e->slabs[i]->at = NULL;
	}
}

int elements_copy(struct elements *e, uint32_t i)
{
	struct slab *s = e->slabs[i];
	int r = slab_map(s);
	struct iovec parts[] = {
		{ s->in_use, sizeof(s->in_use) }, { s->at, SLAB_BYTES },
	};

	if (!r)
		r = sealed_make("slab", parts, 2);
	slabs_unmap(e);
	return r;
}

/* --- which elements are in use ----------------------------------------------------- */

static bool in_slab(uint32_t pos, uint32_t n)
{
	return n && pos >> SLAB_SHIFT < SLABS_MAX && n <= SLAB_ELEMENTS &&
	       INDEX(pos) + n <= SLAB_ELEMENTS;
}

static bool elements_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void elements_flip(uint64_t *bits, uint32_t pos, uint32_t n)
{
	uint32_t first = INDEX(pos);

	for (uint32_t i = first; i < first + n; i++)
		bits[i / 64] ^= 1ULL << (i % 64);
}

/* Is each of these elements in use and not freed, or, if not in_use, free? */
static bool all_are(const struct slab *s, uint32_t pos, uint32_t n, bool in_use)
{
	uint32_t first = INDEX(pos);

	for (uint32_t i = first; i < first + n; i++) {
		if (elements_bit(s->in_use, i) != in_use ||
		    elements_bit(s->freed[0], i) || elements_bit(s->freed[1], i))
			return false;
	}
	return true;
}

/* Mark the elements of a run as in use (n: how many), or, in vain claimed, as
 * not (n: minus that). */
static void claim(struct elements *e, const struct table_run *run, int64_t n)
{
	struct slab *s = SLAB(e, run->pos);

	if (run->pos >> SLAB_SHIFT < RULE_SLABS)
		return;
	elements_flip(s->in_use, run->pos, run->n);
	s->n += n;
	e->n += n;
}

/* Claim the elements of a run, in a slab that is made if need be. */
static int run_claim(struct elements *e, const struct table_run *run,
		     uint32_t *made)
{
	uint32_t slab = run->pos >> SLAB_SHIFT;
	int r = 0;

	if (!in_slab(run->pos, run->n) ||
	    (run->from != TABLE_RUN_NEW &&
	     (!in_slab(run->from, run->n) || !SLAB(e, run->from))) ||
	    (slab >= RULE_SLABS && e->n + run->n > e->budget))
		return MSG_BAD_CONTENT;
	if (!e->slabs[slab] &&
	    (e->n_slabs >= e->slabs_max || ++*made > SLABS_NEW_MAX))
		return MSG_BAD_CONTENT;
	if (!e->slabs[slab])
		r = slab_make(e, slab);
	if (!r && slab >= RULE_SLABS &&
	    !all_are(e->slabs[slab], run->pos, run->n, false))
		r = MSG_BAD_CONTENT;
	if (!r)
		claim(e, run, run->n);
	return r;
}

/* --- writing and freeing ------------------------------------------------------------ */

static int run_write(struct elements *e, const struct table_run *run,
		     const struct slab_element *data)
{
	struct slab *to = SLAB(e, run->pos), *from = NULL;
	int r = slab_map(to);

	if (run->from != TABLE_RUN_NEW) {
		from = SLAB(e, run->from);
		r = r ? r : slab_map(from);
	}
	if (!r)
		memmove(to->at + INDEX(run->pos),
			from ? from->at + INDEX(run->from) : data,
			run->n * ELEMENT);
	return r;
}

int elements_write(struct elements *e, const void *data, size_t len, uint32_t n)
{
	const struct table_run *run = data;
	const struct slab_element *next;
	uint32_t i, made = 0;
	uint64_t elements = 0, all = 0;
	int r = 0;

	if (len < (uint64_t)n * sizeof(*run))
		return MSG_BAD_CONTENT;
	next = (const void *)(run + n);
	for (i = 0; !r && i < n; i++) {
		elements += run[i].from == TABLE_RUN_NEW ? run[i].n : 0;
		all += run[i].n;
		r = all > INSTALL_BYTES_MAX / ELEMENT ? MSG_BAD_CONTENT :
		    run_claim(e, &run[i], &made);
	}
	i -= r != 0;
	if (!r && len != n * sizeof(*run) + elements * ELEMENT)
		r = MSG_BAD_CONTENT;
	while (r && i > 0)
		i--, claim(e, &run[i], -(int64_t)run[i].n);
	for (i = 0; !r && i < n; i++) {
		r = run_write(e, &run[i], next);
		next += run[i].from == TABLE_RUN_NEW ? run[i].n : 0;
	}
	slabs_unmap(e);
	return r;
}

static bool may_free(const struct elements *e, const struct table_span *span)
{
	return in_slab(span->pos, span->n) &&
	       span->pos >> SLAB_SHIFT >= RULE_SLABS && SLAB(e, span->pos) &&
	       all_are(SLAB(e, span->pos), span->pos, span->n, true);
}

int elements_free(struct elements *e, const struct table_span *span, uint32_t n,
		uint64_t id)
{
	uint32_t i;

	for (i = 0; i < n && may_free(e, &span[i]); i++)
		elements_flip(SLAB(e, span[i].pos)->freed[0], span[i].pos,
			      span[i].n);
	if (i == n) {
		e->freed_id[0] = id;
		return 0;
	}
	for (; i > 0; i--)
		elements_flip(SLAB(e, span[i - 1].pos)->freed[0],
			      span[i - 1].pos, span[i - 1].n);
	return MSG_BAD_CONTENT;
}

uint64_t elements_tick(struct elements *e)
{
	uint64_t over = e->freed_id[1];
	int dropped = 0;

	e->freed_id[1] = e->freed_id[0];
	e->freed_id[0] = 0;
	for (uint32_t i = RULE_SLABS; (i = elements_next(e, i)) < SLABS_MAX; i++) {
		struct slab *s = e->slabs[i];
		uint32_t before = s->n;

		for (uint32_t w = 0; w < SLAB_WORDS; w++) {
			s->n -= __builtin_popcountll(s->freed[1][w]);
			s->in_use[w] &= ~s->freed[1][w];
			s->freed[1][w] = s->freed[0][w];
			s->freed[0][w] = 0;
		}
		e->n -= before - s->n;
		/* the first stays: it will be needed again */
		if (!s->n && i > RULE_SLABS && dropped++ < SLABS_DROPPED)
			slab_drop(e, i);
	}
	return over;
}

void elements_forget_freed(struct elements *e)
{
	e->freed_id[0] = e->freed_id[1] = 0;
	for (uint32_t i = 0; (i = elements_next(e, i)) < SLABS_MAX; i++)
		memset(e->slabs[i]->freed, 0, sizeof(e->slabs[i]->freed));
}
