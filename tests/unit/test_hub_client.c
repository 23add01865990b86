// SPDX-License-Identifier: Apache-2.0
/*
 * A make-believe hub at the other end: what the client asks for, counts and
 * gives on, when it connects again, and each message that it must refuse.
 */
#include "ipc/hub_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "ipc/batch.h"
#include "ipc/rules.h"
#include "ipc/sealed.h"
#include "tests/hostile/mutants.h"
#include "tests/unit/harness.h"

#define MS	1000000ULL

struct seen {
	uint64_t batches, samples, gaps;
	size_t len;
	int answer;
};

static int on_batch(void *arg, const void *data, size_t len, uint64_t samples)
{
	struct seen *s = arg;

	CHECK(data != NULL);
	s->batches++;
	s->samples += samples;
	s->len = len;
	return s->answer;
}

static void on_gap(void *arg)
{
	((struct seen *)arg)->gaps++;
}

static const struct hub_client_ops ops = { .batch = on_batch, .gap = on_gap };

struct made {
	struct hub_client c;
	struct conn hub;		/* the hub's end */
	struct seen seen;
};

/* A connection that was handed over, no message yet. */
static void begin(struct made *m, bool batches)
{
	int fds[2], one = 1;

	memset(m, 0, sizeof(*m));
	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	CHECK_EQ(setsockopt(fds[1], SOL_SOCKET, SO_PASSCRED, &one,
			    sizeof(one)), 0);
	hub_client_init(&m->c, NULL, 0, batches ? &ops : NULL, &m->seen);
	hub_client_take(&m->c, fds[1], getuid());
	conn_init(&m->hub, fds[0], PEER_STATUS, CONN_READY);
}

static void end(struct made *m)
{
	hub_client_fini(&m->c);
	conn_close(&m->hub);
}

static void say(struct made *m, unsigned int type, const void *p, size_t n,
		int fd)
{
	CHECK_EQ(conn_send(&m->hub, type, 0, p, n, NULL, 0, &fd, fd >= 0), 0);
	if (fd >= 0)
		close(fd);
}

static void hello(struct made *m, uint32_t version)
{
	const struct msg_hello_hub h = { .record_version = version };

	say(m, MSG_HELLO_HUB, &h, sizeof(h), -1);
}

static struct msg_status status_of(uint64_t ring_full, uint64_t delivered)
{
	struct msg_status s = { .status = {
		.version = MSG_VERSION, .loader_up = 1, .frequency = 19,
	} };

	s.status.loader.bpf[BPF_RING_FULL] = ring_full;
	s.status.totals.outcomes.samples[BATCH_DELIVERED] = delivered;
	return s;
}

static void status(struct made *m, uint64_t ring_full)
{
	const struct msg_status s = status_of(ring_full, 0);

	say(m, MSG_STATUS, &s, sizeof(s), -1);
}

static int sealed(size_t len)
{
	void *data = calloc(1, len);
	const struct iovec part = { data, len };
	int fd = sealed_make("batch", &part, 1);

	CHECK(fd >= 0);
	free(data);
	return fd;
}

static void batch(struct made *m, uint64_t bytes, uint64_t samples, int fd)
{
	const struct msg_batch b = { .bytes = bytes, .samples = samples };

	say(m, MSG_BATCH, &b, sizeof(b), fd);
}

/* What the client asks for: batches; 0: nothing. */
static uint32_t asked(struct made *m)
{
	struct msg_subscribe s;
	struct msg msg;

	if (conn_recv(&m->hub, &msg))
		return 0;
	CHECK_EQ(msg.hdr.type, MSG_SUBSCRIBE);
	memcpy(&s, msg.buf, sizeof(s));
	CHECK_EQ(s.batch_version, BATCH_VERSION);
	return s.batches;
}

TEST(hub_client_asks_for_status_only)
{
	struct made m;

	begin(&m, false);
	hello(&m, REC_VERSION);
	status(&m, 3);
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK(m.c.known);
	CHECK_EQ(m.c.statuses, 1);
	CHECK_EQ(m.c.status.frequency, 19);
	CHECK_EQ(asked(&m), 0);
	conn_close(&m.hub);
	CHECK_EQ(hub_client_read(&m.c, 0), -EPIPE);
	CHECK_EQ(m.c.conn.fd, -1);
	CHECK(m.c.known);		/* what was said last stays */
	CHECK_EQ(m.c.statuses, 0);
	end(&m);
}

TEST(hub_client_asks_for_more_as_batches_come)
{
	struct made m;
	size_t len = sizeof(struct batch_hdr) + 8;

	begin(&m, true);
	CHECK_EQ(m.seen.gaps, 1);
	hello(&m, REC_VERSION);
	status(&m, 0);
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK_EQ(asked(&m), SUBSCRIBE_MAX);
	for (int i = 0; i < SUBSCRIBE_MAX; i++)
		batch(&m, len, 5, sealed(len));
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK_EQ(m.seen.batches, SUBSCRIBE_MAX);
	CHECK_EQ(m.seen.samples, 5 * SUBSCRIBE_MAX);
	CHECK_EQ(m.seen.len, len);
	for (int i = 0; i < SUBSCRIBE_MAX; i++)
		CHECK_EQ(asked(&m), 1);
	CHECK_EQ(asked(&m), 0);
	CHECK_EQ(hub_client_lost(&m.c), 0);
	CHECK_EQ(m.seen.gaps, 1);
	end(&m);
}

TEST(hub_client_counts_what_is_lost)
{
	const struct msg_missed missed = { .batches = 2, .samples = 11 };
	struct msg_status s = status_of(107, 1000);
	size_t len = sizeof(struct batch_hdr);
	struct made m;

	begin(&m, true);
	hello(&m, REC_VERSION);
	status(&m, 100);		/* before it looked */
	status(&m, 107);
	say(&m, MSG_MISSED, &missed, sizeof(missed), -1);
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK_EQ(hub_client_lost(&m.c), 7 + 11);
	/* refused by whoever reads it, or not as long as the hub says */
	m.seen.answer = -EPROTO;
	batch(&m, len, 5, sealed(len));
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	m.seen.answer = 0;
	batch(&m, len + 1, 9, sealed(len));
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK_EQ(m.seen.batches, 1);
	CHECK_EQ(m.c.refused, 2);
	CHECK_EQ(hub_client_lost(&m.c), 7 + 11 + 5 + 9);
	CHECK_EQ(m.seen.gaps, 4);
	/* what became of finished batches is not its concern */
	s.status.totals.outcomes.samples[BATCH_GAVE_UP] = 50;
	say(&m, MSG_STATUS, &s, sizeof(s), -1);
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK_EQ(hub_client_lost(&m.c), 7 + 11 + 5 + 9);
	/* another hub, which has lost less so far */
	status(&m, 2);
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK_EQ(hub_client_lost(&m.c), 11 + 5 + 9);
	end(&m);
}

TEST(hub_client_reads_so_much_at_a_time)
{
	struct made m;

	begin(&m, false);
	hello(&m, REC_VERSION);
	for (int i = 0; i < HUB_CLIENT_BURST; i++) {
		struct msg_status s = status_of(0, 0);
		int r = conn_send(&m.hub, MSG_STATUS, 0, &s, sizeof(s), NULL,
				  0, NULL, 0);

		/* no more room: read what is there */
		if (r == -EAGAIN)
			break;
		CHECK_EQ(r, 0);
	}
	CHECK_EQ(hub_client_read(&m.c, 0), 0);
	CHECK(m.c.statuses < HUB_CLIENT_BURST);
	end(&m);
}

/* --- offences ----------------------------------------------------------------- */

static void long_hello(struct made *m)
{
	const struct msg_hello_loader h = { .record_version = REC_VERSION };

	say(m, MSG_HELLO_HUB, &h, sizeof(h), -1);
}

static void old_hello(struct made *m)
{
	hello(m, REC_VERSION + 1);
}

static void hello_twice(struct made *m)
{
	hello(m, REC_VERSION);
	hello(m, REC_VERSION);
}

static void status_first(struct made *m)
{
	status(m, 0);
}

static void say_status(struct made *m, const struct msg_status *s, size_t len)
{
	hello(m, REC_VERSION);
	say(m, MSG_STATUS, s, len, -1);
}

static void short_status(struct made *m)
{
	const struct msg_status s = status_of(0, 0);

	say_status(m, &s, sizeof(s) - 8);
}

static void old_status(struct made *m)
{
	struct msg_status s = status_of(0, 0);

	s.status.version = MSG_VERSION + 1;
	say_status(m, &s, sizeof(s));
}

static void no_bool(struct made *m)
{
	struct msg_status s = status_of(0, 0);

	s.status.loader_up = 2;
	say_status(m, &s, sizeof(s));
}

static void no_bool_either(struct made *m)
{
	struct msg_status s = status_of(0, 0);

	s.status.partial = 2;
	say_status(m, &s, sizeof(s));
}

static void batch_without_fd(struct made *m)
{
	hello(m, REC_VERSION);
	batch(m, 4096, 1, -1);
}

static void batch_not_sealed(struct made *m)
{
	int fds[2];

	hello(m, REC_VERSION);
	CHECK_EQ(pipe(fds), 0);
	close(fds[1]);
	batch(m, 4096, 1, fds[0]);
}

static void batch_too_short(struct made *m)
{
	size_t len = sizeof(struct batch_hdr) - 8;

	hello(m, REC_VERSION);
	batch(m, len, 1, sealed(len));
}

static void batch_with_two(struct made *m)
{
	const struct msg_batch b = { .bytes = 4096, .samples = 1 };
	int fds[2] = { 0, 1 };

	hello(m, REC_VERSION);
	CHECK_EQ(conn_send(&m->hub, MSG_BATCH, 0, &b, sizeof(b), NULL, 0, fds,
			   2), 0);
}

static void batch_not_wanted(struct made *m)
{
	size_t len = sizeof(struct batch_hdr);

	hello(m, REC_VERSION);
	batch(m, len, 1, sealed(len));
}

static void missed_some(struct made *m)
{
	const struct msg_missed s = { .batches = 1, .samples = 1 };

	hello(m, REC_VERSION);
	say(m, MSG_MISSED, &s, sizeof(s), -1);
}

static void not_for_it(struct made *m)
{
	const struct msg_entry e = { .entry.exe = 9 };

	hello(m, REC_VERSION);
	say(m, MSG_ENTRY, &e, sizeof(e), -1);
}

static void not_the_hubs(struct made *m)
{
	hello(m, REC_VERSION);
	say(m, MSG_BYE, NULL, 0, -1);
}

static void unknown(struct made *m)
{
	hello(m, REC_VERSION);
	say(m, MSG__MAX + 7, NULL, 0, -1);
}

TEST(hub_client_refuses)
{
	static const struct {
		void (*say)(struct made *m);
		bool batches;		/* it wants some */
		int verdict;
	} cases[] = {
		{ long_hello, true, MSG_BAD_LEN },
		{ old_hello, true, MSG_BAD_VERSION },
		{ hello_twice, true, MSG_BAD_STATE },
		{ status_first, false, MSG_BAD_STATE },
		{ short_status, false, MSG_BAD_LEN },
		{ old_status, false, MSG_BAD_VERSION },
		{ no_bool, false, MSG_BAD_CONTENT },
		{ no_bool_either, false, MSG_BAD_CONTENT },
		{ batch_without_fd, true, MSG_BAD_FDS },
		{ batch_with_two, true, MSG_BAD_FDS },
		{ batch_not_sealed, true, MSG_BAD_CONTENT },
		{ batch_too_short, true, MSG_BAD_CONTENT },
		{ batch_not_wanted, false, MSG_BAD_STATE },
		{ missed_some, false, MSG_BAD_STATE },
		{ not_for_it, true, MSG_BAD_TYPE },
		{ not_the_hubs, true, MSG_BAD_SENDER },
		{ unknown, true, MSG_BAD_TYPE },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct made m;

		begin(&m, cases[i].batches);
		cases[i].say(&m);
		CHECK_EQ(hub_client_read(&m.c, 5 * MS), cases[i].verdict);
		CHECK_EQ(m.c.conn.fd, -1);
		CHECK_EQ(m.seen.batches, 0);
		CHECK_EQ(m.c.retry_ns, 5 * MS + HUB_CLIENT_RETRY_NS);
		end(&m);
	}
}

TEST(hub_client_wants_the_right_hub)
{
	struct made m;

	begin(&m, false);
	m.c.conn.cred_uid = getuid() + 1;
	hello(&m, REC_VERSION);
	CHECK_EQ(hub_client_read(&m.c, 0), MSG_BAD_SENDER);
	CHECK(!m.c.known);
	end(&m);
}

/* --- connecting ---------------------------------------------------------------- */

TEST(hub_client_connects_again_later_and_later)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	char dir[] = "/tmp/trifold-client-XXXXXX";
	uint64_t now = 1000 * MS, wait = HUB_CLIENT_RETRY_NS;
	struct hub_client c;
	struct made m = { 0 };
	int listener, fd;

	CHECK(mkdtemp(dir) != NULL);
	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/status", dir);
	hub_client_init(&c, addr.sun_path, getuid(), &ops, &m.seen);
	for (int i = 0; i < 8; i++) {
		CHECK_EQ(hub_client_connect(&c, now), -ENOENT);
		CHECK_EQ(c.retry_ns, now + wait);
		CHECK_EQ(hub_client_connect(&c, now + wait - 1), 0);
		CHECK_EQ(c.conn.fd, -1);
		now += wait;
		wait = 2 * wait < HUB_CLIENT_RETRY_MAX_NS ? 2 * wait :
			HUB_CLIENT_RETRY_MAX_NS;
	}
	listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	CHECK_EQ(bind(listener, (struct sockaddr *)&addr, sizeof(addr)), 0);
	CHECK_EQ(listen(listener, 4), 0);
	CHECK_EQ(hub_client_connect(&c, now), 0);
	CHECK(c.conn.fd >= 0);
	CHECK_EQ(m.seen.gaps, 1);
	fd = accept(listener, NULL, NULL);
	conn_init(&m.hub, fd, PEER_STATUS, CONN_READY);
	hello(&m, REC_VERSION);
	status(&m, 4);
	CHECK_EQ(hub_client_read(&c, now), 0);
	CHECK_EQ(c.statuses, 1);
	CHECK_EQ(asked(&m), SUBSCRIBE_MAX);
	/* it was there: the next wait is a short one */
	conn_close(&m.hub);
	CHECK_EQ(hub_client_read(&c, now), -EPIPE);
	CHECK_EQ(c.retry_ns, now + HUB_CLIENT_RETRY_NS);
	hub_client_fini(&c);
	close(listener);
	unlink(addr.sun_path);
	rmdir(dir);
}

/* --- a hub that lies --------------------------------------------------------- */

static const struct msg_hello_hub right_hello = {
	.record_version = REC_VERSION,
};
static const struct msg_status right_status = {
	.status.version = MSG_VERSION,
};
static const uint8_t right_memory[256];
static const struct msg_batch right_batch = { sizeof(right_memory), 1 };
static const struct msg_missed right_missed = { 1, 1 };

#define RIGHT(t, p)	.type = (t), .payload = &(p), .len = sizeof(p)
static const struct mutant from_hub[] = {
	{ RIGHT(MSG_HELLO_HUB, right_hello) },
	{ RIGHT(MSG_STATUS, right_status) },
	{ RIGHT(MSG_BATCH, right_batch), .mem = right_memory,
	  .mem_len = sizeof(right_memory) },
	{ RIGHT(MSG_MISSED, right_missed) },
};
#define FROM_HUB	(sizeof(from_hub) / sizeof(from_hub[0]))

static void read_one(struct made *m, const struct mutant *base,
		     enum mutation how)
{
	/* memory of another length than was said: only this batch is refused */
	bool other = base->mem && (how == MUT_MEM_CUT || how == MUT_MEM_MORE);
	bool taken = how == MUT_NONE || other;
	int r = hub_client_read(&m->c, 1);

	CHECK_EQ(r > 0, !taken);
	CHECK_EQ(m->c.conn.fd < 0, !taken);
	CHECK_EQ(m->c.refused, other);
	CHECK_EQ(m->seen.batches, base->mem && how == MUT_NONE);
}

static void refuse_one(struct made *m)
{
	CHECK(hub_client_read(&m->c, 1) > 0);
	CHECK(m->c.conn.fd < 0 && m->seen.batches == 0);
}

TEST(hub_client_refuses_each_message_that_is_wrong)
{
	struct made m;

	for (size_t i = 0; i < FROM_HUB; i++) {
		for (int how = MUT_NONE; how < MUTATIONS; how++) {
			begin(&m, true);
			if (i)
				hello(&m, REC_VERSION);
			if (mutant_send(m.hub.fd, &from_hub[i],
					(enum mutation)how))
				read_one(&m, &from_hub[i],
					 (enum mutation)how);
			end(&m);
		}
	}
}

TEST(hub_client_refuses_what_is_not_for_it)
{
	static const uint8_t zeroes[MSG_LEN_MAX];
	struct made m;

	for (unsigned int t = 0; t < MUTANT_TYPES; t++) {
		for (int said = 0; said < 2; said++) {
			const struct msg_rule *rule = msg_rule(t);
			struct mutant to_others = { .type = t, .payload = zeroes,
						    .len = rule ? rule->len_min : 0 };
			bool ours = false;

			for (size_t i = 0; i < FROM_HUB; i++)
				ours |= from_hub[i].type == t;
			begin(&m, true);
			if (said)
				hello(&m, REC_VERSION);
			if (mutant_send_stranger(m.hub.fd, PEER_HUB, said ?
						 CONN_READY : CONN_NEW, t) ||
			    (!ours && mutant_send(m.hub.fd, &to_others, MUT_NONE)))
				refuse_one(&m);
			end(&m);
		}
	}
	/* right, but too early, or a second time */
	for (size_t i = 0; i < FROM_HUB; i++) {
		begin(&m, true);
		if (!i)
			hello(&m, REC_VERSION);
		CHECK(mutant_send(m.hub.fd, &from_hub[i], MUT_NONE));
		refuse_one(&m);
		end(&m);
	}
}
