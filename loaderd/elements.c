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
#define SLAB_BYTES	(SLAB_ELEMENTS * ELEMENT)
#define WINDOW_ALIGN	65536	/* of the largest page of any kernel */
#define SLABS_DROPPED	4	/* in a tick: each waits for the kernel */

/* --- slabs ---------------------------------------------------------------- */

static int slab_make(struct elements *e, uint32_t i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	struct slab *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", sizeof(uint32_t),
			       ELEMENT, SLAB_ELEMENTS, &opts);
	r = s->fd < 0 ? -errno : 0;
	if (!r && bpf_map_update_elem(e->outer_fd, &i, &s->fd, BPF_ANY))
		r = -errno;
	if (r) {
		if (s->fd >= 0)
			close(s->fd);
		free(s);
		return r;
	}
	e->slabs[i] = s;
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

/* --- some elements of a slab, in memory ----------------------------------------- */

/* Mapped for the time of one run only: what is mapped is resident. */
struct window {
	void *base;
	size_t len;
	struct slab_element *at;
};

static int window_open(struct window *w, const struct elements *e, uint32_t pos,
		       uint32_t n, int prot)
{
	size_t off = (pos & (SLAB_ELEMENTS - 1)) * ELEMENT;
	size_t skip = off % WINDOW_ALIGN;

	w->len = skip + n * ELEMENT;
	w->base = mmap(NULL, w->len, prot, MAP_SHARED,
		       e->slabs[pos >> SLAB_SHIFT]->fd, off - skip);
	if (w->base == MAP_FAILED)
		return -errno;
	w->at = (void *)((char *)w->base + skip);
	return 0;
}

static void window_close(struct window *w)
{
	munmap(w->base, w->len);
}

int elements_copy(const struct elements *e, uint32_t i)
{
	struct iovec parts[2];
	struct window w;
	int r;

	r = window_open(&w, e, i << SLAB_SHIFT, SLAB_ELEMENTS, PROT_READ);
	if (r)
		return r;
	parts[0] = (struct iovec){ e->slabs[i]->in_use,
				   sizeof(e->slabs[i]->in_use) };
	parts[1] = (struct iovec){ w.at, SLAB_BYTES };
	r = sealed_make("slab", parts, 2);
	window_close(&w);
	return r;
}

/* --- which elements are in use ----------------------------------------------------- */

static bool in_slab(uint32_t pos, uint32_t n)
{
	return n && pos >> SLAB_SHIFT < SLABS_MAX && n <= SLAB_ELEMENTS &&
	       (pos & (SLAB_ELEMENTS - 1)) + n <= SLAB_ELEMENTS;
}

static bool elements_bit(const uint64_t *bits, uint32_t i)
{
	return bits[i / 64] >> (i % 64) & 1;
}

static void elements_flip(uint64_t *bits, uint32_t pos, uint32_t n)
{
	uint32_t first = pos & (SLAB_ELEMENTS - 1);

	for (uint32_t i = first; i < first + n; i++)
		bits[i / 64] ^= 1ULL << (i % 64);
}

/* Is each of these elements in use and not freed, or, if not in_use, free? */
static bool all_are(const struct slab *s, uint32_t pos, uint32_t n, bool in_use)
{
	uint32_t first = pos & (SLAB_ELEMENTS - 1);

	for (uint32_t i = first; i < first + n; i++) {
		if (elements_bit(s->in_use, i) != in_use ||
		    elements_bit(s->freed[0], i) || elements_bit(s->freed[1], i))
			return false;
	}
	return true;
}

/* Mark the elements of a run as in use, or, in vain claimed, as not. */
static void claim(struct elements *e, const struct table_run *run, bool yes)
{
	struct slab *s = e->slabs[run->pos >> SLAB_SHIFT];
	int64_t n = yes ? (int64_t)run->n : -(int64_t)run->n;

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
	int r;

	if (!in_slab(run->pos, run->n) ||
	    (run->from != TABLE_RUN_NEW &&
	     (!in_slab(run->from, run->n) ||
	      !e->slabs[run->from >> SLAB_SHIFT])) ||
	    (slab >= RULE_SLABS && e->n + run->n > e->budget))
		return MSG_BAD_CONTENT;
	if (!e->slabs[slab]) {
		if (e->n_slabs >= e->slabs_max || ++*made > SLABS_NEW_MAX)
			return MSG_BAD_CONTENT;
		r = slab_make(e, slab);
		if (r)
			return r;
	}
	if (slab >= RULE_SLABS &&
	    !all_are(e->slabs[slab], run->pos, run->n, false))
		return MSG_BAD_CONTENT;
	claim(e, run, true);
	return 0;
}

/* --- writing and freeing ------------------------------------------------------------ */

static int run_write(struct elements *e, const struct table_run *run,
		     const struct slab_element *data)
{
	struct window to, from;
	int r = window_open(&to, e, run->pos, run->n, PROT_READ | PROT_WRITE);

	if (r)
		return r;
	if (run->from == TABLE_RUN_NEW) {
		memcpy(to.at, data, run->n * ELEMENT);
	} else {
		r = window_open(&from, e, run->from, run->n, PROT_READ);
		if (!r) {
			memmove(to.at, from.at, run->n * ELEMENT);
			window_close(&from);
		}
	}
	window_close(&to);
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
		claim(e, &run[--i], false);
	for (i = 0; !r && i < n; i++) {
		r = run_write(e, &run[i], next);
		next += run[i].from == TABLE_RUN_NEW ? run[i].n : 0;
	}
	return r;
}

static bool may_free(const struct elements *e, const struct table_span *span)
{
	uint32_t slab = span->pos >> SLAB_SHIFT;

	return in_slab(span->pos, span->n) && slab >= RULE_SLABS &&
	       e->slabs[slab] &&
	       all_are(e->slabs[slab], span->pos, span->n, true);
}

int elements_free(struct elements *e, const struct table_span *span, uint32_t n,
		uint64_t id)
{
	uint32_t i;

	for (i = 0; i < n && may_free(e, &span[i]); i++)
		elements_flip(e->slabs[span[i].pos >> SLAB_SHIFT]->freed[0],
			    span[i].pos, span[i].n);
	if (i == n) {
		e->freed_id[0] = id;
		return 0;
	}
	while (i-- > 0)
		elements_flip(e->slabs[span[i].pos >> SLAB_SHIFT]->freed[0],
			    span[i].pos, span[i].n);
	return MSG_BAD_CONTENT;
}

uint64_t elements_tick(struct elements *e)
{
	uint64_t over = e->freed_id[1];
	int dropped = 0;

	e->freed_id[1] = e->freed_id[0];
	e->freed_id[0] = 0;
	for (uint32_t i = RULE_SLABS; i < SLABS_MAX; i++) {
		struct slab *s = e->slabs[i];
		uint32_t n = 0;

		for (uint32_t w = 0; s && w < SLAB_WORDS; w++) {
			n += __builtin_popcountll(s->freed[1][w]);
			s->in_use[w] &= ~s->freed[1][w];
			s->freed[1][w] = s->freed[0][w];
			s->freed[0][w] = 0;
		}
		if (!s)
			continue;
		s->n -= n;
		e->n -= n;
		/* the first stays: it will be needed again */
		if (!s->n && i > RULE_SLABS && dropped++ < SLABS_DROPPED)
			slab_drop(e, i);
	}
	return over;
}

void elements_forget_freed(struct elements *e)
{
	e->freed_id[0] = e->freed_id[1] = 0;
	for (uint32_t i = RULE_SLABS; i < SLABS_MAX; i++) {
		if (e->slabs[i])
			memset(e->slabs[i]->freed, 0,
			       sizeof(e->slabs[i]->freed));
	}
}
