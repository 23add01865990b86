/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_sender - posts the accounts, every interval and once at the end
 *
 * A request that failed is not repeated: values are cumulative, so the next one has
 * them.  One request at a time.
 */
#ifndef EXPORTERD_METRICS_SENDER_H
#define EXPORTERD_METRICS_SENDER_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log_limit.h"
#include "exporterd/config.h"
#include "exporterd/http.h"
#include "exporterd/metrics.h"
#include "exporterd/timer.h"

#define METRICS_STALE_NS	12000000000ULL	/* a hub sends its status every 5 s at least */

struct metrics_sender {
	const struct metrics_config *cfg;
	struct metrics metrics;
	struct http http;
	struct timer timer;
	struct body *body;		/* of the request under way */
	struct status status;		/* the hub's last one */
	uint64_t status_ns;		/* when it came; 0: none yet */
	bool failing;			/* it is in the log */
	bool ending, last;		/* the last request is due, was begun */
	struct log_limit log;
	struct exporter_stats *stats;
	void (*ended)(void *arg);
	void *arg;
};

/*
 * cfg and resource are borrowed; with cfg->to.url NULL nothing is ever sent.
 * stats: exporterd's own counters, in which requests are counted too.  ended(arg)
 * is called when metrics_sender_idle() may have become true.  Returns 0 or -errno.
 */
int metrics_sender_init(struct metrics_sender *m, struct evloop *loop,
			const struct metrics_config *cfg,
			const struct pairs *resource,
			struct exporter_stats *stats,
			void (*ended)(void *arg), void *arg);

static inline bool metrics_sender_on(const struct metrics_sender *m)
{
	return m->cfg->to.url != NULL;
}

void metrics_sender_start(struct metrics_sender *m);

/* A status of the hub has come. */
void metrics_sender_status(struct metrics_sender *m, const struct status *st);

/* Send the last request, after the one under way.  Further calls have no effect. */
void metrics_sender_end(struct metrics_sender *m);

/* After metrics_sender_end(): all is sent. */
bool metrics_sender_idle(const struct metrics_sender *m);

void metrics_sender_give_up(struct metrics_sender *m);

#endif /* EXPORTERD_METRICS_SENDER_H */
