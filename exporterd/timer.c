// SPDX-License-Identifier: Apache-2.0
#include "exporterd/timer.h"

#include <errno.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "common/clock.h"

static int timer_on_expiry(struct ev_source *src, uint32_t events)
{
	struct timer *t = (struct timer *)src;
	uint64_t n;

	(void)events;
	/* there is nothing to read if another callback of this round set or stopped it */
	if (read(src->fd, &n, sizeof(n)) == (ssize_t)sizeof(n))
		t->fn(t->arg);
	return 0;
}

int timer_init(struct timer *t, struct evloop *loop, void (*fn)(void *arg),
	       void *arg)
{
	int r;

	*t = (struct timer){ { -1, timer_on_expiry }, loop, fn, arg };
	t->src.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->src.fd < 0)
		return -errno;
	r = evloop_add(loop, &t->src, EPOLLIN);
	if (r < 0) {
		close(t->src.fd);
		t->src.fd = -1;
	}
	return r;
}

void timer_fini(struct timer *t)
{
	if (!t->loop || t->src.fd < 0)
		return;
	evloop_del(t->loop, &t->src);
	close(t->src.fd);
	t->src.fd = -1;
}

static struct timespec timer_timespec(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
}

/* The arguments are always valid: there is no failure to report. */
void timer_set(struct timer *t, uint64_t ns, uint64_t repeat_ns)
{
	struct itimerspec spec = {
		.it_value = timer_timespec(ns ? ns : 1),
		.it_interval = timer_timespec(repeat_ns),
	};

	timerfd_settime(t->src.fd, 0, &spec, NULL);
}

void timer_stop(struct timer *t)
{
	struct itimerspec spec = { 0 };

	timerfd_settime(t->src.fd, 0, &spec, NULL);
}
