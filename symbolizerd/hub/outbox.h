/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outbox - messages that a socket did not take yet, in their order
 */
#ifndef SYMBOLIZERD_HUB_OUTBOX_H
#define SYMBOLIZERD_HUB_OUTBOX_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/conn.h"

#define OUTBOX_MAX	4096	/* messages; more: the peer does not read */

struct out_msg {
	struct out_msg *next;
	uint64_t id;
	unsigned int type;
	int fd;			/* -1: none; owned */
	size_t len;
	_Alignas(8) uint8_t payload[];
};

struct outbox {
	struct out_msg *first, *last;
	size_t n;
};

/* Queue a message of a + b bytes; fd (-1: none) is owned from now on.  0;
 * -ENOBUFS with OUTBOX_MAX waiting; -ENOMEM. */
int outbox_put(struct outbox *o, unsigned int type, uint64_t id,
	       const void *payload, size_t a, const void *tail, size_t b,
	       int fd);

/* Send what the socket takes.  0: all; -EAGAIN: not all; -errno. */
int outbox_flush(struct outbox *o, struct conn *c);

void outbox_pop(struct outbox *o);		/* the first; there is one */
void outbox_clear(struct outbox *o);

#endif /* SYMBOLIZERD_HUB_OUTBOX_H */
