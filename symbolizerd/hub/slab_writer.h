/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slab_writer - tables into loaderd's slabs, and messages about them in their order
 *
 * The hub maps the slabs and writes them by itself; loaderd makes them when asked.  A
 * table that needs one that is not there yet waits for it, and so do all messages after
 * it: the entry of a file is sent when its table is there.  A slab is mapped while a table
 * is written, since what is mapped is resident.
 */
#ifndef SYMBOLIZERD_HUB_SLAB_WRITER_H
#define SYMBOLIZERD_HUB_SLAB_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/table.h"
#include "ipc/message_loader.h"
#include "symbolizerd/hub/outbox.h"

/* Sends a message of len bytes to loaderd; fd (-1: none) is owned. */
typedef void (*slab_writer_send)(void *ctx, unsigned int type, uint64_t id,
				 const void *payload, size_t len);

struct slab_writer {
	slab_writer_send send;
	void *ctx;
	struct outbox waiting;
	int fd[SLABS_MAX];		/* -1: not there */
	bool asked[SLABS_MAX];
	struct slab_copy *at[SLABS_MAX];	/* while a table is written */
};

void slab_writer_init(struct slab_writer *w, slab_writer_send send, void *ctx);

/* Forget what waits, and all slabs: another connection, or none. */
void slab_writer_reset(struct slab_writer *w);

/* Send a message after all that wait.  0; or -errno: then it is lost, and loaderd must
 * connect again. */
int slab_writer_put(struct slab_writer *w, unsigned int type, uint64_t id,
		    const void *payload, size_t len);

/* Write n_runs of fd (owned; as tables_out.install has it), and then send the entry.  The
 * same. */
int slab_writer_install(struct slab_writer *w, uint64_t id, const struct msg_entry *entry,
			uint32_t n_runs, int fd);

/* A slab is there; fd is owned if true is returned.  False: it is invalid. */
bool slab_writer_take(struct slab_writer *w, uint32_t slab, int fd);

/* It was asked for. */
bool slab_writer_asked(const struct slab_writer *w, uint32_t slab);

/* Do what can be done now.  0; or -errno: as slab_writer_put(). */
int slab_writer_go(struct slab_writer *w);

#endif /* SYMBOLIZERD_HUB_SLAB_WRITER_H */
