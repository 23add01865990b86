/* SPDX-License-Identifier: Apache-2.0 */
/* fake_timer - a timer and a clock that the test drives; for one source file of a
 * test, which is linked with --wrap=clock_gettime. */
#ifndef TESTS_FAKE_TIMER_H
#define TESTS_FAKE_TIMER_H

#include <time.h>

#include "exporterd/timer.h"
#include "tests/unit/harness.h"

#define SECOND	1000000000ULL

static uint64_t mono_ns = 1000 * SECOND;

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, ts);
	ts->tv_sec = (time_t)(mono_ns / SECOND);
	ts->tv_nsec = (long)(mono_ns % SECOND);
	return 0;
}

static bool timer_on;
static uint64_t timer_wait;

int timer_init(struct timer *t, struct evloop *loop, void (*fn)(void *arg),
	       void *arg)
{
	*t = (struct timer){ .loop = loop, .fn = fn, .arg = arg };
	timer_on = false;
	return 0;
}

void timer_fini(struct timer *t)
{
	(void)t;
}

void timer_set(struct timer *t, uint64_t ns, uint64_t repeat_ns)
{
	(void)t;
	CHECK_EQ(repeat_ns, 0);
	timer_on = true;
	timer_wait = ns;
}

void timer_stop(struct timer *t)
{
	(void)t;
	timer_on = false;
}

#endif /* TESTS_FAKE_TIMER_H */
