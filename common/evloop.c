// SPDX-License-Identifier: Apache-2.0
#include "common/evloop.h"

#include <assert.h>
#include <errno.h>
#include <unistd.h>

int evloop_init(struct evloop *loop)
{
	*loop = (struct evloop){ .epfd = epoll_create1(EPOLL_CLOEXEC) };
	return loop->epfd < 0 ? -errno : 0;
}

void evloop_fini(struct evloop *loop)
{
	if (loop->epfd >= 0)
		close(loop->epfd);
	loop->epfd = -1;
}

static int evloop_ctl(struct evloop *loop, int op, struct ev_source *src,
	       uint32_t events)
{
	struct epoll_event ev = { .events = events, .data.ptr = src };

	return epoll_ctl(loop->epfd, op, src->fd, &ev) < 0 ? -errno : 0;
}

int evloop_add(struct evloop *loop, struct ev_source *src, uint32_t events)
{
	return evloop_ctl(loop, EPOLL_CTL_ADD, src, events);
}

int evloop_mod(struct evloop *loop, struct ev_source *src, uint32_t events)
{
	return evloop_ctl(loop, EPOLL_CTL_MOD, src, events);
}

void evloop_del(struct evloop *loop, struct ev_source *src)
{
	int r = evloop_ctl(loop, EPOLL_CTL_DEL, src, 0);

	/* failure means the descriptor was closed first: our bug, not input */
	assert(r == 0);
	(void)r;
	for (int i = loop->next; i < loop->count; i++) {
		if (loop->batch[i].data.ptr == src)
			loop->batch[i].data.ptr = NULL;
	}
}

static int evloop_deliver(struct evloop *loop)
{
	while (loop->next < loop->count && !loop->stop) {
		struct epoll_event *ev = &loop->batch[loop->next++];
		struct ev_source *src = ev->data.ptr;
		int r;

		if (!src)
			continue;
		r = src->fn(src, ev->events);
		if (r < 0)
			return r;
	}
	return 0;
}

int evloop_run(struct evloop *loop)
{
	int r = 0;

	while (!loop->stop && r == 0) {
		int n = epoll_wait(loop->epfd, loop->batch, EVLOOP_BATCH, -1);

		if (n < 0 && errno != EINTR)
			return -errno;
		loop->next = 0;
		loop->count = n < 0 ? 0 : n;
		r = evloop_deliver(loop);
		loop->count = 0;
	}
	return r;
}
