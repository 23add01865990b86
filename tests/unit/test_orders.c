// SPDX-License-Identifier: Apache-2.0
/* The front's end of the socket to the supervisor: replies, and what comes between. */
#include "cli/front/orders.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static struct orders o;
static int supervisor;

static void begin(void)
{
	int s[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s), 0);
	o = (struct orders){ .fd = s[0] };
	supervisor = s[1];
}

static void tell(uint32_t kind, int value, const int *fd)
{
	const struct tell t = { .kind = kind, .program = PROGRAM_HUB, .value = value };

	CHECK_EQ(ask_send(supervisor, &t, sizeof(t), fd, fd != NULL, 0), 0);
}

/* The number that the next descriptor gets: the same, if none was left open. */
static int next_fd(void)
{
	int fd = dup(0);

	CHECK(fd >= 0);
	close(fd);
	return fd;
}

TEST(a_reply_waits_for_no_other_message)
{
	struct plan plan;
	struct tell t;

	begin();
	plan_init(&plan);
	tell(TELL_DIED, 1, NULL);
	tell(TELL_SIGNAL, 2, NULL);
	tell(TELL_REPLY, 4711, NULL);
	tell(TELL_DIED, 3, NULL);
	CHECK_EQ(orders_start(&o, PROGRAM_HUB, &plan, NULL, 0), 4711);
	/* and those are not lost, nor in another order */
	for (int i = 1; i <= 3; i++) {
		CHECK_EQ(orders_next(&o, &t), 1);
		CHECK_EQ(t.value, i);
	}
	CHECK_EQ(orders_next(&o, &t), 0);
	close(supervisor);
	CHECK_EQ(orders_next(&o, &t), -EPIPE);
	CHECK_EQ(orders_start(&o, PROGRAM_HUB, &plan, NULL, 0), -EPIPE);
	close(o.fd);
}

TEST(a_descriptor_that_nobody_asked_for_is_closed)
{
	int one = 0, free_before;
	struct tell t;

	begin();
	free_before = next_fd();
	tell(TELL_DIED, 1, &one);
	CHECK_EQ(orders_next(&o, &t), 1);
	CHECK_EQ(next_fd(), free_before);
	/* what comes with a message too short */
	CHECK_EQ(ask_send(supervisor, &t, sizeof(t) - 1, &one, 1, 0), 0);
	CHECK_EQ(orders_next(&o, &t), -EPIPE);
	CHECK_EQ(next_fd(), free_before);
	close(supervisor);
	close(o.fd);
}

TEST(the_hubs_socket_comes_with_its_uid)
{
	uid_t uid = 0;
	int one = 0, fd;

	begin();
	tell(TELL_REPLY, 42, &one);
	fd = orders_connect(&o, &uid);
	CHECK(fd >= 0);
	CHECK_EQ(uid, 42);
	close(fd);
	tell(TELL_REPLY, -ECONNREFUSED, NULL);
	CHECK_EQ(orders_connect(&o, &uid), -ECONNREFUSED);
	/* a uid without a connection */
	tell(TELL_REPLY, 42, NULL);
	CHECK_EQ(orders_connect(&o, &uid), -EPROTO);
	tell(TELL_REPLY, 0, NULL);
	CHECK_EQ(orders_open(&o, 0), -EPROTO);
	close(supervisor);
	close(o.fd);
}
