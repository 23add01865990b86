// SPDX-License-Identifier: Apache-2.0
#include "loaderd/elements.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/message_loader.h"
#include "ipc/sealed.h"

#define ELEMENT		sizeof(struct slab_element)
#define SLAB(e, pos)	(&(e)->slabs[(pos) >> SLAB_SHIFT])
#define INDEX(pos)	((pos) & (SLAB_ELEMENTS - 1))	/* in its slab */

/* --- slabs ---------------------------------------------------------------- */

static int slab_make(struct elements *e, uint32_t i)
{
	LIBBPF_OPTS(bpf_map_create_opts, opts, .map_flags = BPF_F_MMAPABLE);
	int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "slab", sizeof(uint32_t),
				ELEMENT, SLAB_ELEMENTS, &opts);
	int r;

	if (fd < 0 || bpf_map_update_elem(e->outer_fd, &i, &fd, BPF_ANY)) {
		r = -errno;
		close(fd);
		return r;
	}
	e->slabs[i].fd = fd;
	e->n_slabs++;
	return 0;
}

int elements_drop(struct elements *e, uint32_t slab)
{
	if (slab < RULE_SLABS || slab >= SLABS_MAX || e->slabs[slab].fd < 0)
		return MSG_BAD_CONTENT;
	bpf_map_delete_elem(e->outer_fd, &slab);
	close(e->slabs[slab].fd);
	e->slabs[slab].fd = -1;
	e->n_slabs--;
	return 0;
}

void elements_init(struct elements *e, int outer_fd, int slab0_fd,
		   uint64_t budget)
{
	*e = (struct elements){
		.outer_fd = outer_fd, .n_slabs = 1,
		.slabs_max = RULE_SLABS + 1 + budget / SLAB_BYTES * 5 / 4,
	};
	for (uint32_t i = 0; i < SLABS_MAX; i++)
		e->slabs[i].fd = i ? -1 : slab0_fd;
}

uint32_t elements_next(const struct elements *e, uint32_t i)
{
	while (i < SLABS_MAX && e->slabs[i].fd < 0)
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
		if (e->slabs[i].at)
			munmap(e->slabs[i].at, SLAB_BYTES);
		e->slabs[i].at = NULL;
	}
}

int elements_copy(struct elements *e, uint32_t i)
{
	int r = slab_map(&e->slabs[i]);
	struct iovec part = { e->slabs[i].at, SLAB_BYTES };

	if (!r)
		r = sealed_make("slab", &part, 1);
	slabs_unmap(e);
	return r;
}

/* --- writing ------------------------------------------------------------------ */

static bool in_slab(uint32_t pos, uint32_t n)
{
	return n && pos >> SLAB_SHIFT < SLABS_MAX && n <= SLAB_ELEMENTS &&
	       INDEX(pos) + n <= SLAB_ELEMENTS;
}

/* May it be written?  Its slab is made if need be. */
static int run_check(struct elements *e, const struct table_run *run,
		     uint32_t *made)
{
	if (!in_slab(run->pos, run->n) ||
	    (run->from != TABLE_RUN_NEW &&
	     (!in_slab(run->from, run->n) || SLAB(e, run->from)->fd < 0)))
		return MSG_BAD_CONTENT;
	if (SLAB(e, run->pos)->fd >= 0)
		return 0;
	if (e->n_slabs >= e->slabs_max || ++*made > SLABS_NEW_MAX)
		return MSG_BAD_CONTENT;
	return slab_make(e, run->pos >> SLAB_SHIFT);
}

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
	uint64_t own = 0, all = 0;
	uint32_t made = 0;
	int r = 0;

	if (len < (uint64_t)n * sizeof(*run))
		return MSG_BAD_CONTENT;
	next = (const void *)(run + n);
	for (uint32_t i = 0; !r && i < n; i++) {
		own += run[i].from == TABLE_RUN_NEW ? run[i].n : 0;
		all += run[i].n;
		r = all > INSTALL_BYTES_MAX / ELEMENT ? MSG_BAD_CONTENT :
		    run_check(e, &run[i], &made);
	}
	if (!r && len != n * sizeof(*run) + own * ELEMENT)
		r = MSG_BAD_CONTENT;
	for (uint32_t i = 0; !r && i < n; i++) {
		r = run_write(e, &run[i], next);
		next += run[i].from == TABLE_RUN_NEW ? run[i].n : 0;
	}
	slabs_unmap(e);
	return r;
}
