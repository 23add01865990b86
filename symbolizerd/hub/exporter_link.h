/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exporter_link - the connection to exporterd: batches out, outcomes in
 */
#ifndef SYMBOLIZERD_HUB_EXPORTER_LINK_H
#define SYMBOLIZERD_HUB_EXPORTER_LINK_H

#include <stdbool.h>

#include "common/evloop.h"
#include "common/log_limit.h"
#include "ipc/conn.h"
#include "ipc/message_hub.h"

struct hub;

struct exporter_link {
	struct ev_source listener, src;
	struct conn conn;
	struct exporter_stats stats;	/* its last word */
	bool wants_status;
	struct log_limit accept_log;
};

int exporter_link_init(struct hub *hub, int listener);
void exporter_link_stop_accepting(struct hub *hub);
void exporter_link_fini(struct hub *hub);

/* Send the batches that were not sent yet, as far as the socket takes them. */
void exporter_link_flush(struct hub *hub);

/* Connected and past its hello. */
bool exporter_link_ready(const struct hub *hub);

#endif /* SYMBOLIZERD_HUB_EXPORTER_LINK_H */
