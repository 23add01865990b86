/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_link - the connection to loaderd, and the socket of its samples
 *
 * One loaderd at a time.  Its samples are taken when there are any, before each
 * message of it that says something of them, and when it is gone.
 */
#ifndef SYMBOLIZERD_HUB_LOADER_LINK_H
#define SYMBOLIZERD_HUB_LOADER_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/evloop.h"
#include "common/log_limit.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"
#include "symbolizerd/hub/outbox.h"
#include "symbolizerd/hub/peer_link.h"
#include "symbolizerd/knowledge/knowledge.h"
#include "symbolizerd/tables/runtimes_wanted.h"

/* What BPF counts, read where BPF writes it.  The map `counts` stays while it is mapped, so
 * when loaderd is killed the hub still reads what was taken after loaderd's last word. */
struct loader_counts {
	const volatile struct cpu_counts *at;	/* NULL: none */
	uint32_t cpus;
};

/* Takes messages about files: MSG_OK, or an offence of loaderd. */
typedef int (*loader_files_fn)(void *ctx, struct msg *msg);

struct loader_link {
	struct peer_link link;
	loader_files_fn files;
	void *files_ctx;
	struct ev_source samples;	/* .fd is -1 while there is none */
	bool draining;
	uint64_t datagram[SAMPLES_BYTES / 8];
	struct outbox out;
	uint64_t connection;	/* counts hellos */
	bool adopted;		/* MSG_KNOWN was seen */
	uint32_t unanswered;	/* files that it waits for */
	bool clogged;		/* it reads nothing: to be disconnected */
	struct hub_totals told;	/* last checkpoint sent */
	struct hub_totals left;	/* by a former hub, which ended in order */
	uint64_t sampled_ns;	/* when a loaderd last said that it samples; 0: none did */
	bool left_valid;
	struct runtimes_wanted runtimes;
	struct loader_counts counts;	/* kept when loaderd is gone */
	struct log_limit bad_log;
};

/* uid: that of loaderd.  listener, loop and k are borrowed.  0 or -errno. */
int loader_link_init(struct loader_link *l, struct evloop *loop,
		     struct knowledge *k, loader_files_fn files,
		     void *files_ctx, uid_t uid, int listener);
void loader_link_stop_accepting(struct loader_link *l);
void loader_link_fini(struct loader_link *l);

/* Take the records that are in the socket of samples. */
void loader_link_drain(struct loader_link *l);

/* Each second: drain, and send what could not be sent before. */
void loader_link_tick(struct loader_link *l);

/* Send a message of a + b bytes, now or when the socket takes it; fd (-1: none)
 * is owned.  0; or -errno: there is no connection, or it is about to end. */
int loader_link_send(struct loader_link *l, unsigned int type, uint64_t id,
		     const void *payload, size_t a, const void *tail,
		     size_t b, int fd);

/* Let loaderd keep the totals, if they have changed. */
void loader_link_checkpoint(struct loader_link *l);

static inline bool loader_link_up(const struct loader_link *l)
{
	return peer_link_up(&l->link);
}

#endif /* SYMBOLIZERD_HUB_LOADER_LINK_H */
