// SPDX-License-Identifier: Apache-2.0
/*
 * The real trifold-loaderd, with a hub that sends each message wrong in every
 * way: each costs it the connection and is counted, and sampling goes on.
 * Needs root.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/table.h"
#include "ipc/rules.h"
#include "tests/hostile/lying_hub.h"
#include "tests/hostile/mutants.h"
#include "tests/unit/harness.h"

#define SLAB	2		/* the first that is not of rules */

static const struct file_key nobody = { .ino = 1, .size = 2, .dev = 3 };

static struct msg_entry entry;
static struct msg_slab slab = { .slab = SLAB };
static struct msg_checkpoint checkpoint;
static struct msg_runtimes runtimes;
static struct msg_wanted wanted = { .process.tgid = 1 };

#define PLAIN(t, p)	{ .type = (t), .payload = &(p), .len = sizeof(p) }
/* All that loaderd takes when the hub has said hello, in an order in which each
 * can be taken. */
static const struct mutant bases[] = {
	PLAIN(MSG_SLAB_WANTED, slab), PLAIN(MSG_SLAB_DROP, slab), PLAIN(MSG_ENTRY, entry),
	PLAIN(MSG_DROP, nobody), PLAIN(MSG_CHECKPOINT, checkpoint),
	{ .type = MSG_DEBUG_WANTED, .id = 1, .payload = &wanted,
	  .len = sizeof(wanted) },
	{ .type = MSG_MEM_WANTED, .id = 2, .payload = &wanted,
	  .len = sizeof(wanted) },
	{ .type = MSG_PERF_MAP_WANTED, .id = 3, .payload = &wanted,
	  .len = sizeof(wanted) },
	PLAIN(MSG_RUNTIMES, runtimes), { .type = MSG_LIST },
};
#define BASES	(sizeof(bases) / sizeof(bases[0]))

static uint64_t offences;

/* It closes, and comes again. */
static void refused(void)
{
	struct msg m;
	int r;

	while ((r = lying_next(&m)) == 0)
		msg_close_fds(&m);
	CHECK_EQ(r, -EPIPE);
	lying_disconnect();
	offences++;
}

/* Of each type is there a message that is taken? */
static void loader_has_a_message_of_each_type(void)
{
	uint64_t types = 0;

	for (size_t i = 0; i < BASES; i++)
		types |= 1ULL << bases[i].type;
	for (unsigned int t = 1; t < MSG__MAX; t++) {
		const struct msg_rule *r = msg_rule(t);

		CHECK_EQ(types >> t & 1, r->from & PEER_HUB &&
			 r->states & CONN_READY && t != MSG_JOB &&
			 t != MSG_FORK && t != MSG_KILL && t != MSG_BATCH &&
			 t != MSG_STATUS && t != MSG_MISSED &&
			 t != MSG_WANTED_FILE && t != MSG_WANTED_NONE &&
			 t != MSG_DEBUGINFO_WANTED);
	}
}

static void loader_takes_each_that_is_right(void)
{
	lying_start();
	lying_connect();
	for (size_t i = 0; i < BASES; i++) {
		CHECK(mutant_send(lying.conn.fd, &bases[i], MUT_NONE));
		/* those that loaderd settles */
		lying.sent += bases[i].type != MSG_CHECKPOINT &&
			      bases[i].type != MSG_RUNTIMES &&
			      bases[i].type != MSG_SLAB_WANTED &&
			      bases[i].type != MSG_DEBUG_WANTED &&
			      bases[i].type != MSG_MEM_WANTED &&
			      bases[i].type != MSG_PERF_MAP_WANTED;
	}
	lying_settle();
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, 0);
}

static void loader_refuses_each_that_is_wrong(void)
{
	for (size_t i = 0; i < BASES; i++) {
		printf("# %s\n", msg_type_name(bases[i].type));
		for (int how = MUT_NONE + 1; how < MUTATIONS; how++) {
			/* so that the slab can be dropped */
			if (bases[i].type == MSG_SLAB_DROP)
				mutant_send(lying.conn.fd, &bases[0], MUT_NONE);
			if (!mutant_send(lying.conn.fd, &bases[i],
					 (enum mutation)how))
				continue;
			printf("#   %s\n", mutation_name((enum mutation)how));
			refused();
			lying_connect();
		}
	}
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, offences);
}

static void loader_refuses_what_is_not_for_it(void)
{
	for (unsigned int t = 0; t < MUTANT_TYPES; t++) {
		/* by the table the hub may send these, but not to loaderd */
		static const uint8_t any[MSG_LEN_MAX];
		const struct msg_rule *rule = msg_rule(t);
		struct mutant m = { .type = t, .payload = any,
				    .len = rule ? rule->len_min : 0 };
		bool base = false;

		for (size_t i = 0; i < BASES; i++)
			base |= bases[i].type == t;
		if (base || (!mutant_send_stranger(lying.conn.fd, PEER_HUB,
						   CONN_READY, t) &&
			     !mutant_send(lying.conn.fd, &m, MUT_NONE)))
			continue;
		printf("# %s\n", msg_type_name(t));
		refused();
		lying_connect();
	}
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, offences);
}

/* Nothing but a hello comes first. */
static void loader_takes_nothing_before_a_hello(void)
{
	static struct msg_hello_hub hello = { .record_version = REC_VERSION };
	static const struct mutant right = PLAIN(MSG_HELLO_HUB, hello);

	lying_disconnect();
	for (size_t i = 0; i < BASES; i++) {
		printf("# %s\n", msg_type_name(bases[i].type));
		lying_accept_only();
		CHECK(mutant_send(lying.conn.fd, &bases[i], MUT_NONE));
		refused();
	}
	for (int how = MUT_NONE + 1; how < MUT_MEM_UNSEALED; how++) {
		if (how == MUT_FD_LESS)
			continue;
		printf("# HELLO_HUB: %s\n", mutation_name((enum mutation)how));
		lying_accept_only();
		CHECK(mutant_send(lying.conn.fd, &right, (enum mutation)how));
		refused();
	}
	lying_connect();
	lying_goes_on();
	CHECK_EQ(lying.stats.offences, offences);
	printf("# %lu messages refused\n", offences);
}

static void loader_ends(void)
{
	int status;

	kill(lying.loaderd, SIGTERM);
	lying_disconnect();
	CHECK(waitpid(lying.loaderd, &status, 0) == lying.loaderd);
	lying.loaderd = 0;
	CHECK_EQ(status, 0);
}

/* One loaderd lives through all of it; a check that fails ends the program. */
int main(void)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} steps[] = {
#define STEP(f)	{ #f, f }
		STEP(loader_has_a_message_of_each_type),
		STEP(loader_takes_each_that_is_right),
		STEP(loader_refuses_each_that_is_wrong),
		STEP(loader_refuses_what_is_not_for_it),
		STEP(loader_takes_nothing_before_a_hello),
		STEP(loader_ends),
	};
	unsigned int n = sizeof(steps) / sizeof(steps[0]);

	setbuf(stdout, NULL);
	printf("1..%u\n", n);
	for (unsigned int i = 0; i < n; i++) {
		steps[i].fn();
		printf("ok %u - %s\n", i + 1, steps[i].name);
	}
	return 0;
}
