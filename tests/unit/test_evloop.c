// SPDX-License-Identifier: Apache-2.0
#include "common/evloop.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

static struct evloop loop;

struct item {
	struct ev_source src;
	struct item *victim;	/* removed when this one is called */
	int calls, limit;	/* stop the loop after so many */
	int result;
};

static int on_event(struct ev_source *src, uint32_t events)
{
	struct item *it = (struct item *)src;

	CHECK(events & EPOLLIN);
	it->calls++;
	if (it->victim) {
		evloop_del(&loop, &it->victim->src);
		it->victim = NULL;
	}
	if (it->calls == it->limit)
		evloop_stop(&loop);
	return it->result;
}

static void add(struct item *it)
{
	it->src.fd = eventfd(1, EFD_CLOEXEC);
	it->src.fn = on_event;
	CHECK(it->src.fd >= 0);
	CHECK_EQ(evloop_add(&loop, &it->src, EPOLLIN), 0);
}

TEST(evloop_is_level_triggered_and_stops)
{
	struct item a = { .limit = 3 };

	CHECK_EQ(evloop_init(&loop), 0);
	add(&a);
	CHECK_EQ(evloop_run(&loop), 0);
	CHECK_EQ(a.calls, 3);
	evloop_fini(&loop);
	evloop_fini(&loop);
}

TEST(evloop_ends_with_the_error_of_a_callback)
{
	struct item a = { .result = -EPROTO };

	CHECK_EQ(evloop_init(&loop), 0);
	add(&a);
	CHECK_EQ(evloop_run(&loop), -EPROTO);
	CHECK_EQ(a.calls, 1);
	evloop_fini(&loop);
}

/* Both are ready in one round; whoever comes first removes the other. */
TEST(evloop_drops_events_of_removed_sources)
{
	struct item a = { .limit = 1 }, b = { .limit = 1 };

	CHECK_EQ(evloop_init(&loop), 0);
	add(&a);
	add(&b);
	a.victim = &b;
	b.victim = &a;
	CHECK_EQ(evloop_run(&loop), 0);
	CHECK_EQ(a.calls + b.calls, 1);
	loop.stop = false;
	a.limit = b.limit = 3;
	CHECK_EQ(evloop_run(&loop), 0);
	CHECK_EQ(a.calls + b.calls, 3);
	CHECK(a.calls == 0 || b.calls == 0);
	evloop_fini(&loop);
}

TEST(evloop_source_may_remove_itself)
{
	struct item a = { 0 }, b = { .limit = 5 };

	CHECK_EQ(evloop_init(&loop), 0);
	add(&a);
	add(&b);
	a.victim = &a;
	CHECK_EQ(evloop_run(&loop), 0);
	CHECK_EQ(a.calls, 1);
	CHECK_EQ(b.calls, 5);
	evloop_fini(&loop);
}

TEST(evloop_mod_silences_a_source)
{
	struct item a = { 0 }, b = { .limit = 4 };

	CHECK_EQ(evloop_init(&loop), 0);
	add(&a);
	add(&b);
	CHECK_EQ(evloop_mod(&loop, &a.src, 0), 0);
	CHECK_EQ(evloop_run(&loop), 0);
	CHECK_EQ(a.calls, 0);
	a.src.fd = -1;
	CHECK_EQ(evloop_add(&loop, &a.src, EPOLLIN), -EBADF);
	evloop_fini(&loop);
}
