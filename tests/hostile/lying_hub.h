/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lying_hub - the real trifold-loaderd, and a hub of ours that it talks to
 *
 * One of each a program.  A check that fails ends the program.
 */
#ifndef TESTS_HOSTILE_LYING_HUB_H
#define TESTS_HOSTILE_LYING_HUB_H

#include <sys/types.h>

#include "bpf/table.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"

#define WAIT_MS		8000	/* for anything that must happen */
#define BUDGET_MIB	1	/* of loaderd's tables */

extern struct lying {
	pid_t loaderd;
	pid_t busy;			/* so that there is something to sample */
	struct process_id busy_is;	/* by its samples */
	struct conn conn;		/* to loaderd */
	int samples;			/* socket */
	int counts_fd;			/* what BPF counts */
	const volatile struct cpu_counts *counts;
	uint32_t cpus;
	bool deaf;			/* do not read it */
	uint64_t n_samples;		/* read from it */
	struct loader_stats stats;	/* its last word, and BPF's counts */
	uint64_t sent;			/* messages that loaderd counts */
	struct msg_entry *known;	/* as told at the connection */
	uint32_t n_known;
	void (*skipped)(const struct msg *m);	/* by lying_expect(), may be NULL */
} lying;

/* Start loaderd.  Needs root; skips without. */
void lying_start(void);

/* fork(): the child does not outlive us. */
pid_t lying_child(void);

/* The next message: 0, or as conn_recv().  -ETIMEDOUT: none came. */
int lying_next(struct msg *m);

/* Skip to a message of this type; its descriptors are the caller's. */
void lying_expect(struct msg *m, unsigned int type);

/* Send, and wait for room if there is none; loaderd may have closed already.
 * fd: borrowed; -1: none. */
void lying_send(unsigned int type, uint64_t id, const void *payload, size_t a,
		const void *tail, size_t b, int fd);

/* The elements of a slab, which is made if need be; until it is dropped, or the
 * connection ends. */
union element *lying_slab(uint32_t slab);

/* All that was sent is settled, says loaderd. */
void lying_settle(void);

/* Accept loaderd; and say hello; then take what it tells in MSG_KNOWN. */
void lying_accept_only(void);
void lying_accept(void);
void lying_take_known(void);
void lying_connect(void);		/* both */
void lying_disconnect(void);

/* Take what is in the socket of samples; unless deaf, lying_next() does so. */
void lying_samples(void);

/* BPF takes samples, and loaderd passes them on. */
void lying_goes_on(void);

#endif /* TESTS_HOSTILE_LYING_HUB_H */
