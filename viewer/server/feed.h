/* SPDX-License-Identifier: Apache-2.0 */
/*
 * feed - the page's samples, straight from the hub
 *
 * The viewer subscribes to batches, as `trifold top` does: it does not depend
 * on the exporter, and only it counts the batches that it misses.  While there
 * is no hub it tries to connect again and again, and keeps its samples.
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
	bool away;		/* said so */
	struct log_limit log;
};

/* s and path (NULL: no hub) are borrowed. */
void feed_init(struct feed *f, struct store *s, const char *path,
	       uid_t hub_uid);
void feed_fini(struct feed *f);

/* Is a hub there that has a loaderd? */
bool feed_samples(const struct feed *f);

/* Connect if it is time, take in what has come.  Returns after how many ms (at
 * most ms) to call again if f->hub.conn.fd does not become readable before. */
int feed_work(struct feed *f, int ms);

#endif /* VIEWER_SERVER_FEED_H */
