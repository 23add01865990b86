/* SPDX-License-Identifier: Apache-2.0 */
/*
 * metrics_sender - posts the accounts, every interval and once at the end
 *
 * What fails is not tried again: the next request carries all of it, since
 * values are cumulative.  While a request is under way, none is begun.
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

#define METRICS_STALE_NS	12000000000ULL	/* a hub speaks each fifth second at least */

struct metrics_sender {
	const struct metrics_config *cfg;
	struct metrics metrics;
	struct http http;
	struct timer timer;
	struct body *body;		/* of the request under way */
	struct status status;		/* the hub's last word ... */
	uint64_t status_ns;		/* ... and when; 0: none yet */
	bool failing;			/* said so in the log */
	bool ending, last;		/* the last request: due, begun */
	struct log_limit log;
	struct exporter_stats *stats;
	void (*ended)(void *arg);
	void *arg;
};

/*
 * cfg and resource are borrowed; with cfg->to.url NULL nothing is ever sent.
 * stats is what exporterd says of itself, and where requests are counted.
 * ended(arg) is called when metrics_sender_idle() may have become true.  Returns
 * 0 or -errno.
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

/* The hub's word. */
void metrics_sender_status(struct metrics_sender *m, const struct status *st);

/* Send the last request, after the one under way; again: nothing. */
void metrics_sender_end(struct metrics_sender *m);

/* After metrics_sender_end(): all is sent. */
bool metrics_sender_idle(const struct metrics_sender *m);

void metrics_sender_give_up(struct metrics_sender *m);

#endif /* EXPORTERD_METRICS_SENDER_H */
