// SPDX-License-Identifier: Apache-2.0
#include "loaderd/entries.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "ipc/sealed.h"

int entries_get(const struct entries *e, const struct file_key *key, struct file_entry *ret)
{
	return bpf_map_lookup_elem(e->bpf->files_fd, key, ret);
}

int entries_confirmed(struct entries *e, const struct file_key *key, bool ask)
{
	struct file_entry entry;

	if (entries_get(e, key, &entry))
		entry = (struct file_entry){ .exe = EXE_NONE };
	entry.state &= ~FILE_ASK;
	if (ask)
		entry.state |= FILE_ASK;
	return bpf_map_update_elem(e->bpf->files_fd, key, &entry, BPF_ANY);
}

/* --- what the hub says ------------------------------------------------------- */

/* Send a slab to the hub, which writes what it likes into it. */
static int entries_tell_slab(struct entries *e, uint32_t slab)
{
	struct msg_slab m = { .slab = slab };

	return hub_link_send(e->hub, MSG_SLAB, 0, &m, sizeof(m), NULL, 0,
			     e->elements.slabs[slab]);
}

int entries_message(struct entries *e, struct msg *m)
{
	const struct msg_slab *slab = (const void *)m->buf;
	int r = 0;

	switch (m->hdr.type) {
	case MSG_SLAB_WANTED:
		r = elements_make(&e->elements, slab->slab);
		if (r)
			return r;
		return entries_tell_slab(e, slab->slab);
	case MSG_ENTRY:
		/* only of a key that is there, which the kernel has confirmed then */
		if (bpf_map_update_elem(e->bpf->files_fd, m->buf,
					m->buf + offsetof(struct msg_entry, entry), BPF_EXIST))
			e->stats->entry_unknown++;
		break;
	case MSG_SLAB_DROP:
		r = elements_drop(&e->elements, slab->slab);
		break;
	case MSG_DROP:
		if (bpf_map_delete_elem(e->bpf->files_fd, m->buf))
			e->stats->entry_unknown++;
		break;
	case MSG_LIST:
		e->list_wanted = true;
		break;
	default:
		return MSG_BAD_TYPE;
	}
	if (!r)
		e->handled++;
	return r;
}

/* --- what the hub is told ------------------------------------------------------ */

/* Copy all entries into sealed memory; *n: 0, becomes how many there are.  A descriptor,
 * or -errno. */
static int entries_copy(struct entries *e, uint32_t *n)
{
	struct msg_entry *all = calloc(FILES_MAX, sizeof(*all));
	struct file_key *last = NULL;
	struct iovec part = { all, sizeof(*all) };
	int fd;

	if (!all)
		return -ENOMEM;
	while (*n < FILES_MAX && !bpf_map_get_next_key(e->bpf->files_fd, last, &all[*n].key)) {
		last = &all[*n].key;
		if (!entries_get(e, last, &all[*n].entry))
			*n += 1;
	}
	if (*n)
		part.iov_len = *n * sizeof(*all);
	fd = sealed_make("entries", &part, 1);
	free(all);
	return fd;
}

/* Send sealed memory (a descriptor, taken over; or -errno) to the hub.  0 or -errno. */
static int entries_send(struct entries *e, enum msg_type type,
			const void *payload, size_t len, int fd)
{
	int r;

	if (fd < 0)
		return fd;
	r = hub_link_send(e->hub, type, 0, payload, len, NULL, 0, fd);
	close(fd);
	return r;
}

void entries_connected(struct entries *e)
{
	static const struct file_key vdso = { .size = 1 };

	entries_confirmed(e, &vdso, false);
	*e = (struct entries){
		.bpf = e->bpf, .hub = e->hub, .stats = e->stats, .elements = e->elements,
		.handled = 1,
	};
}

void entries_tell(struct entries *e)
{
	struct msg_known known = { .n = 0 };
	int fd;

	if (e->told)
		return;
	for (; e->tell < SLABS_MAX; e->tell++) {
		if (e->elements.slabs[e->tell] >= 0 && entries_tell_slab(e, e->tell))
			return;
	}
	fd = entries_copy(e, &known.n);
	e->told = !entries_send(e, MSG_KNOWN, &known, sizeof(known), fd);
}

static void entries_note_mapped(void *ctx, const struct request_file *n)
{
	const struct entries *e = ctx;
	struct file_entry entry;

	if (!entries_get(e, &n->key, &entry) && entry.exe <= EXE_MAX)
		e->mapped[entry.exe / 64] |= 1ULL << (entry.exe % 64);
}

static void entries_tell_mapped(struct entries *e)
{
	struct iovec part = { calloc(1, MAPPED_BYTES), MAPPED_BYTES };

	e->mapped = part.iov_base;
	if (!e->mapped)
		return;
	/* where mappings cannot be listed, last use alone decides */
	(void)!bpf_list(e->bpf, LIST_ALL, entries_note_mapped, e);
	e->list_wanted = entries_send(e, MSG_MAPPED, NULL, 0, sealed_make("mapped", &part, 1));
	free(e->mapped);
}

void entries_tick(struct entries *e)
{
	if (e->list_wanted)
		entries_tell_mapped(e);
	e->settled = e->by_tick;
	e->by_tick = e->handled;
	e->stats->slabs = e->elements.n_slabs;
}
