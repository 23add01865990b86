/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch - what symbolizerd says each second about everything
 */
#ifndef CLI_STATUS_WATCH_H
#define CLI_STATUS_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/conn.h"

struct watch {
	struct conn conn;	/* .fd is -1 while there is none */
	uid_t hub_uid;
	uint64_t retry_ns;	/* CLOCK_MONOTONIC: when to connect again */
	bool known;		/* .status is what was last said */
	struct status status;
};

void watch_init(struct watch *w, uid_t hub_uid);
void watch_fini(struct watch *w);

/* Connect if there is no connection and it is time.  Returns 0 or -errno. */
int watch_connect(struct watch *w, uint64_t now);

/* Drop the connection and make a new one: that is answered at once, while on
 * an old one the next status is up to a second away. */
void watch_renew(struct watch *w, uint64_t now);

/*
 * Take in all that has come.  Returns 0; -EPIPE when symbolizerd ended; or
 * -EPROTO when it broke the protocol (said in the log).  Not 0: the connection
 * is closed, to be made again by watch_connect().
 */
int watch_read(struct watch *w, uint64_t now);

#endif /* CLI_STATUS_WATCH_H */
