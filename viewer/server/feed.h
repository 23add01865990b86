/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed - the page's samples, directly from the hub
 *
 * The viewer subscribes to batches, as `trifold top` does: it does not depend on
 * exporterd, and batches that it misses are counted here only.  Without a hub it keeps
 * its samples and tries to connect again.
 */
#ifndef VIEWER_SERVER_FEED_H
#define VIEWER_SERVER_FEED_H

#include <stdbool.h>

#include "common/log_limit.h"
#include "ipc/hub_client.h"
#include "viewer/server/store.h"

struct feed {
	struct hub_client hub;	/* .path NULL: there is none */
	struct store *store;
	bool away;		/* the hub's absence is in the log */
	struct log_limit log;
};

/* s and path (NULL: no hub) are borrowed. */
void feed_init(struct feed *f, struct store *s, const char *path,
	       uid_t hub_uid);
void feed_fini(struct feed *f);

/* Is there a hub with a loaderd? */
bool feed_samples(const struct feed *f);

/* Connect if it is time, and read batches.  Returns after how many ms (at most `ms`) to
 * call it again if f->hub.conn.fd does not become readable before. */
int feed_work(struct feed *f, int ms);

#endif /* VIEWER_SERVER_FEED_H */
