/* SPDX-License-Identifier: Apache-2.0 */
/* timer - a timerfd in the event loop */
#ifndef EXPORTERD_TIMER_H
#define EXPORTERD_TIMER_H

#include <stdint.h>

#include "common/evloop.h"

struct timer {
	struct ev_source src;
	struct evloop *loop;
	void (*fn)(void *arg);
	void *arg;
};

/* Not running yet.  Returns 0 or -errno; timer_fini() accepts either. */
int timer_init(struct timer *t, struct evloop *loop, void (*fn)(void *arg),
	       void *arg);
void timer_fini(struct timer *t);

/* Call fn after `ns` (0: in the next round), then every repeat_ns if not 0.
 * Replaces what was set before. */
void timer_set(struct timer *t, uint64_t ns, uint64_t repeat_ns);
void timer_stop(struct timer *t);

#endif /* EXPORTERD_TIMER_H */
