/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_feed - batches from symbolizerd, as a subscriber
 */
#ifndef CLI_TOP_FEED_H
#define CLI_TOP_FEED_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/conn.h"

struct top_feed {
	struct conn conn;	/* .fd is -1 while there is none */
	bool known;		/* .status was said, by whoever is there */
	uint64_t statuses;	/* said on this connection */
	struct status status;	/* the last one */
	uint64_t lost_before;	/* samples, at the first status */
	bool counting;		/* .lost_before is set */
	uint64_t missed;	/* samples in batches that were missed */
	uint64_t refused;	/* batches that did not pass the checks */
	/* what to do with a batch; as top_state_batch(), and after a gap */
	int (*batch)(void *arg, const void *data, size_t len, uint64_t samples);
	void (*gap)(void *arg);
	void *arg;
};

/* Take over a connected socket of which the first message must carry the
 * credentials of hub_uid.  0 or -errno, and fd is closed. */
int top_feed_open(struct top_feed *f, int fd, uid_t hub_uid);

/* Take in all that has come.  0; or -errno and the connection is closed: -EPIPE
 * when the hub has closed it, -EPROTO when it broke the protocol. */
int top_feed_read(struct top_feed *f);

/* Samples that were taken but are in no batch, or in one that was missed, since
 * the first status. */
uint64_t top_feed_lost(const struct top_feed *f);

#endif /* CLI_TOP_FEED_H */
