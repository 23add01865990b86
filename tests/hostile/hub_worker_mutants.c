// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizerd with a worker that sends each of its messages wrong in every way:
 * each is an offence that ends the worker, its file has no table, and the next
 * file has one.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "ipc/rules.h"
#include "symbolizerd/worker/worker.h"
#include "tests/hostile/mutants.h"
#include "tests/hostile/own_hub.h"
#include "tests/unit/harness.h"

/* What a file says: which message, and what is wrong in it. */
enum message {
	DONE_TABLE,		/* the memory of the table */
	DONE_SYMBOLS,		/* ... of the symbols */
	FAILED,
	STRANGER,		/* how: its type */
	GOOD,
};
struct order {
	uint8_t message, how;
};

/* --- the worker ---------------------------------------------------------------- */

static size_t contents(int fd, void *data, size_t size)
{
	ssize_t n = pread(fd, data, size, 0);

	return n < 0 ? 0 : (size_t)n;
}

static void send_done(int socket, const struct order *o, uint32_t exe)
{
	struct msg_job_done done = { .exe = exe, .part = JOB_TABLE };
	static char data[4096];
	struct mutant m = {
		.type = MSG_JOB_DONE, .payload = &done, .len = sizeof(done),
		.mem = data,
		.mem_len = contents(own_table(), data, sizeof(data)),
	};

	if (o->message == DONE_SYMBOLS) {
		mutant_send(socket, &m, MUT_NONE);
		done.part = JOB_SYMBOLS;
		m.mem_len = contents(own_symbols(), data, sizeof(data));
	}
	mutant_send(socket, &m, (enum mutation)o->how);
}

int worker_run(int fd)
{
	struct msg_job_failed failed = { .verdict = JOB_NOT_ELF };
	struct mutant m = { .type = MSG_JOB_FAILED, .payload = &failed,
			    .len = sizeof(failed) };
	struct msg_job job;
	struct order o;
	struct conn c;
	struct msg msg;
	int r;

	conn_init(&c, fd, PEER_HUB, CONN_READY);
	while ((r = conn_recv(&c, &msg)) == -EAGAIN)
		poll(NULL, 0, 1);
	if (r || pread(msg.fds[0], &o, sizeof(o), 0) != sizeof(o))
		return 1;
	memcpy(&job, msg.buf, sizeof(job));
	failed.exe = job.exe;
	if (o.message == FAILED)
		mutant_send(fd, &m, (enum mutation)o.how);
	else if (o.message == STRANGER)
		mutant_send_stranger(fd, PEER_WORKER, CONN_READY, o.how);
	else
		send_done(fd, &o, job.exe);
	return 0;
}

/* --- tests ------------------------------------------------------------------------ */

/* Which it can make, confined, and for which there is a descriptor. */
static bool can_be(enum message what, enum mutation how)
{
	if (how == MUT_FD_FLOOD)
		return false;
	if (what == FAILED)
		return how < MUT_MEM_UNSEALED && how != MUT_FD_LESS;
	return how < MUT_MEM_PIPE;
}

static void one_file(struct fake_loader *l, uint32_t *id, struct order o)
{
	static const struct order good = { GOOD, MUT_NONE };

	if (o.message == DONE_SYMBOLS)
		own_sample_file(l, *id);
	own_send_file(l, *id, &o, sizeof(o), getuid());
	if (o.message == DONE_SYMBOLS)
		own_expect_table(l, (*id)++);
	else
		own_expect_none(l, (*id)++);
	own_send_file(l, *id, &good, sizeof(good), getuid());
	own_expect_table(l, (*id)++);
}

TEST(hub_refuses_each_message_of_a_worker_that_is_wrong)
{
	uint64_t offences = 0, tables = 0;
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint32_t id = 2;

	own_begin(&status, &l, NULL);
	for (int what = DONE_TABLE; what <= FAILED; what++) {
		for (int how = MUT_NONE + 1; how < MUTATIONS; how++) {
			struct order o = { (uint8_t)what, (uint8_t)how };

			if (!can_be((enum message)what, (enum mutation)how))
				continue;
			printf("# message %d: %s\n", what,
			       mutation_name((enum mutation)how));
			one_file(&l, &id, o);
			/* a table that is not whole is only not used */
			if (what == DONE_TABLE &&
			    (how == MUT_MEM_CUT || how == MUT_MEM_MORE))
				tables++;
			else
				offences++;
		}
	}
	own_end(&status, &l, &st);
	printf("# %lu messages refused, %lu tables\n", st.hub.offences,
	       st.tables.table_bad);
	NEED(st.hub.offences == offences && st.hub.worker_deaths == offences);
	NEED(st.hub.exes_failed == offences && st.tables.table_bad == tables);
}

TEST(hub_refuses_what_a_worker_has_no_business_to_say)
{
	uint64_t offences = 0;
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint32_t id = 2;

	own_begin(&status, &l, NULL);
	for (unsigned int t = 0; t < MUTANT_TYPES; t++) {
		const struct msg_rule *rule = msg_rule(t);
		struct order o = { STRANGER, (uint8_t)t };

		if (rule && rule->from & PEER_WORKER)
			continue;
		printf("# %s (%u)\n", msg_type_name(t), t);
		one_file(&l, &id, o);
		offences++;
	}
	status_until(&status, &st, has_offences, offences);
	own_end(&status, &l, &st);
	printf("# %lu messages refused\n", offences);
	NEED(st.hub.offences == offences);
}
