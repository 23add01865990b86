/* SPDX-License-Identifier: Apache-2.0 */
/*
 * evloop - one epoll set, level-triggered, single-threaded
 *
 * A source is embedded in the object that owns the descriptor.  The loop
 * never closes, allocates or frees anything.  Inside a callback any source
 * may be added or removed, its own included: events of the same round for a
 * removed source are dropped before they are delivered.
 *
 * A callback returns 0, or -errno to end the loop with that error.
 */
#ifndef COMMON_EVLOOP_H
#define COMMON_EVLOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#define EVLOOP_BATCH	64

struct ev_source {
	int fd;
	int (*fn)(struct ev_source *src, uint32_t events);
};

struct evloop {
	int epfd;
	int next;		/* first event of this round not delivered */
	int count;		/* events of this round; 0 between rounds */
	bool stop;
	struct epoll_event batch[EVLOOP_BATCH];
};

int evloop_init(struct evloop *loop);
void evloop_fini(struct evloop *loop);

int evloop_add(struct evloop *loop, struct ev_source *src, uint32_t events);
int evloop_mod(struct evloop *loop, struct ev_source *src, uint32_t events);

/* Must be called before the descriptor is closed. */
void evloop_del(struct evloop *loop, struct ev_source *src);

int evloop_run(struct evloop *loop);

static inline void evloop_stop(struct evloop *loop)
{
	loop->stop = true;
}

#endif /* COMMON_EVLOOP_H */
