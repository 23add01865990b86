// SPDX-License-Identifier: Apache-2.0
/* Who is trifold itself, and who only looks so. */
#include "symbolizerd/knowledge/own.h"

#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/harness.h"

#define LATER	(clock_ns(CLOCK_BOOTTIME) + NSEC_PER_SEC)

static struct own own;

static void own_new(void)
{
	own = (struct own){ .shown = false };
}

TEST(a_process_is_ours_by_its_number)
{
	uint64_t before = clock_ns(CLOCK_BOOTTIME);

	own_new();
	CHECK(!own_has(&own, 100, before));
	own_note(&own, OWN_HUB, 100);
	own_note(&own, OWN_FIRST_GIVEN + OWN_GIVEN - 1, 107);
	CHECK(own_has(&own, 100, before) && own_has(&own, 107, before));
	CHECK(!own_has(&own, 101, before) && !own_has(&own, 0, 0));
	own.shown = true;
	CHECK(!own_has(&own, 100, before));
}

/* A number that a daemon had is another process's when that began later. */
TEST(a_number_that_is_used_again_is_not_ours)
{
	own_new();
	own_note(&own, OWN_OPENER, 100);
	CHECK(!own_has(&own, 100, LATER));
	/* of a former one there may be samples still */
	own_note(&own, OWN_OPENER, 200);
	CHECK(own_has(&own, 100, 1) && own_has(&own, 200, 1));
	CHECK(!own_has(&own, 100, LATER) && !own_has(&own, 200, LATER));
	own_note(&own, OWN_OPENER, 300);
	CHECK(!own_has(&own, 100, 1) && own_has(&own, 200, 1));
	own_note(&own, OWN_OPENER, 200);
	/* nothing is known of it: as before */
	own_note(&own, OWN_OPENER, 0);
	own_note(&own, OWN_OPENER, -1);
	CHECK(own_has(&own, 200, 1));
	CHECK(!own_has(&own, 0, 1) && !own_has(&own, UINT32_MAX, 1));
}

TEST(a_worker_began_between_the_order_and_the_word_of_it)
{
	uint64_t order = clock_ns(CLOCK_BOOTTIME);

	own_new();
	own_note_worker(&own, 5000, order);
	CHECK(own_has(&own, 5000, order));
	/* who had the number before it, and after it */
	CHECK(!own_has(&own, 5000, order - 1));
	CHECK(!own_has(&own, 5000, LATER));
	/* a later one with the same place */
	own_note_worker(&own, 5000 + OWN_WORKERS, order);
	CHECK(!own_has(&own, 5000, order));
	CHECK(own_has(&own, 5000 + OWN_WORKERS, order));
	own_note_worker(&own, -1, order);
	CHECK(!own_has(&own, UINT32_MAX, order));
}

TEST(the_kernel_says_who_has_connected)
{
	int fds[2];

	own_new();
	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	own_note_peer(&own, OWN_LOADER, fds[0]);
	CHECK(own_has(&own, (uint32_t)getpid(), 1));
	/* no socket, nobody */
	own_note_peer(&own, OWN_VIEWER, -1);
	CHECK_EQ(own.role[OWN_VIEWER].pid, 0);
	close(fds[0]);
	close(fds[1]);
}
