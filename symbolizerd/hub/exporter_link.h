/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter_link - the connection to exporterd: batches out, outcomes in
 */
#ifndef SYMBOLIZERD_HUB_EXPORTER_LINK_H
#define SYMBOLIZERD_HUB_EXPORTER_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "common/evloop.h"
#include "ipc/message_hub.h"
#include "symbolizerd/hub/loader_link.h"
#include "symbolizerd/hub/peer_link.h"
#include "symbolizerd/knowledge/knowledge.h"

#define DEBUGINFO_ASKS_MAX	16	/* questions without an answer: all that exporterd takes */

struct debuginfo_ask {
	uint64_t id;		/* 0: free */
	uint32_t owner;		/* of an executable with this build ID */
	struct build_id build_id;
};

struct exporter_link {
	struct peer_link link;
	struct loader_link *loader;	/* keeps the totals; borrowed */
	struct exporter_stats stats;	/* the last that it sent */
	bool wants_status;
	bool servers;		/* the hub's configuration: debuginfod servers are asked */
	bool debuginfod;	/* that is so, and this exporterd asks them */
	struct debuginfo_ask asks[DEBUGINFO_ASKS_MAX];
	uint64_t questions;	/* until now */
	bool ending;		/* it may go without having died */
};

/* uid: that of exporterd.  servers: debug files of debuginfod servers are taken from it; it
 * alone cannot say so, since these files are believed whoever wrote them.  listener, loop, k
 * and loader are borrowed.  0 or -errno. */
int exporter_link_init(struct exporter_link *x, struct evloop *loop,
		       struct knowledge *k, struct loader_link *loader,
		       uid_t uid, bool servers, int listener);
void exporter_link_stop_accepting(struct exporter_link *x);
void exporter_link_fini(struct exporter_link *x);

/* Send those batches that were not sent yet and that the socket takes. */
void exporter_link_flush(struct exporter_link *x);

/* Have it ask debuginfod servers for this debug file, if it does that:
 * debug_files_found() gets what comes.  False: it cannot be asked now, or not for this
 * owner.  useless: as of debug_files_ops. */
bool exporter_link_debug_missing(struct exporter_link *x, const struct build_id *id,
				 uint32_t owner, bool useless);

/* Connected and past its hello. */
static inline bool exporter_link_ready(const struct exporter_link *x)
{
	return peer_link_ready(&x->link);
}

#endif /* SYMBOLIZERD_HUB_EXPORTER_LINK_H */
