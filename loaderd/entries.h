/* SPDX-License-Identifier: Apache-2.0 */
/*
 * entries - the map `files`: what BPF knows of each file
 *
 * A key is added only after the kernel has confirmed it (requests.h).  The hub decides
 * what its entry says, and where tables are; a new hub is told what the former one has
 * left.
 */
#ifndef LOADERD_ENTRIES_H
#define LOADERD_ENTRIES_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/counters_loader.h"
#include "loaderd/bpf.h"
#include "loaderd/hub_link.h"
#include "loaderd/elements.h"

struct entries {
	struct bpf *bpf;	/* its map `files`; borrowed */
	struct hub_link *hub;
	struct loader_stats *stats;
	struct elements elements;
	uint32_t tell;		/* slab to tell next; SLABS_MAX: the entries */
	bool told;		/* the hub knows all that a former one has left */
	bool list_wanted;	/* MSG_LIST came */
	uint64_t *mapped;	/* the answer to it, while that is made */
	/* messages of this hub about entries and tables, from its hello on: until now,
	 * until the last tick, and until the one before */
	uint64_t handled, by_tick, settled;
};

/* 0 and the entry of a key; or -ENOENT. */
int entries_get(const struct entries *e, const struct file_key *key,
		struct file_entry *ret);

/* The key was confirmed: give it an entry if it has none, and set or clear FILE_ASK.
 * 0; or -E2BIG: the map is full. */
int entries_confirmed(struct entries *e, const struct file_key *key, bool ask);

/* A message of the hub about entries and tables.  0, and it is counted in .handled; an
 * enum msg_verdict; or -errno: the hub no longer knows what is where, and must be told. */
int entries_message(struct entries *e, struct msg *m);

/* A hub has connected and is to be told.  From the first one on the vDSO's key is there,
 * which needs no opener to confirm it. */
void entries_connected(struct entries *e);

/* Tell it the slabs, and after them all entries; to be called again and again until it is
 * told, since the socket may be full. */
void entries_tell(struct entries *e);

/* To be called each second while there is something to settle, just after all that was in
 * the BPF ring has been forwarded. */
void entries_tick(struct entries *e);

#endif /* LOADERD_ENTRIES_H */
