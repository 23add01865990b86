// SPDX-License-Identifier: Apache-2.0
/*
 * A hub in an attacker's hand, and what it can have of the real zygote and its workers: of
 * each message that is wrong the zygote ends, and with it all workers; there are never more
 * of these than there are slots; a worker ends by itself of each message that is wrong, and
 * of nonsense.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "ipc/conn.h"
#include "ipc/rules.h"
#include "symbolizerd/worker/confine.h"
#include "symbolizerd/worker/zygote.h"
#include "tests/hostile/hub_peer.h"
#include "tests/hostile/mutants.h"
#include "tests/unit/harness.h"

#define FLOOD	500		/* workers, one after the other */

static struct zygote_ends ends;
static struct conn control;
static int self_exe, proc;

static void begin_zygote(void)
{
	NEED(zygote_start(getuid() ? (uid_t)-1 : OTHER_ID, OTHER_ID, -1, &ends) == 0);
	conn_init(&control, ends.control, PEER_ZYGOTE, CONN_READY);
}

static void begin(void)
{
	self_exe = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	NEED(self_exe >= 0 && proc >= 0);
	log_init("hub", false);
	confine_namespaces();
}

/* Processes whose parent is the zygote; -1: not known here. */
static int workers(void)
{
	char name[64], text[4096];
	int fd, n = 0;
	ssize_t len;

	snprintf(name, sizeof(name), "%d/task/%d/children", (int)ends.pid, (int)ends.pid);
	fd = openat(proc, name, O_RDONLY | O_CLOEXEC);
	len = fd < 0 ? -1 : read(fd, text, sizeof(text));
	if (fd >= 0)
		close(fd);
	for (ssize_t i = 0; i < len; i++)
		n += text[i] == ' ';
	return len < 0 ? -1 : n;
}

static void close_ends(void)
{
	conn_close(&control);
	for (unsigned int i = 0; i < WORKER_SLOTS; i++)
		close(ends.slots[i]);
}

/* How a child ended that does so soon, as from waitpid(2). */
static int ended(pid_t pid)
{
	const uint64_t until = now_ns() + 20 * NSEC_PER_SEC;
	int status;
	pid_t r;

	while (!(r = waitpid(pid, &status, WNOHANG)) && now_ns() < until)
		poll(NULL, 0, 1);
	NEED(r == pid);
	return status;
}

/* It ends, and its code says that it refused an order, or that the hub has gone. */
static void zygote_exits(bool refused)
{
	int status = ended(ends.pid);

	NEED(WIFEXITED(status) && WEXITSTATUS(status) == (refused ? 1 : 0));
}

static void zygote_ended(bool refused)
{
	zygote_exits(refused);
	close_ends();
}

static void order(unsigned int type, uint32_t slot)
{
	const struct msg_slot m = { .slot = slot };
	struct pollfd p = { .fd = ends.control, .events = POLLOUT };
	int r;

	while ((r = conn_send(&control, type, 0, &m, sizeof(m), NULL, 0, NULL, 0)) == -EAGAIN)
		poll(&p, 1, 1000);
	NEED(r == 0 || r == -EPIPE);
}

/* What the zygote says next, which is of this type.  It has no descriptors. */
static struct msg_slot told(unsigned int type)
{
	const uint64_t until = now_ns() + 20 * NSEC_PER_SEC;
	struct pollfd p = { .fd = ends.control, .events = POLLIN };
	struct msg_slot slot;
	struct msg m;
	int r;

	while ((r = conn_recv(&control, &m)) == -EAGAIN && now_ns() < until)
		poll(&p, 1, 1000);
	NEED(r == 0 && m.hdr.type == type && m.hdr.len == sizeof(slot));
	memcpy(&slot, m.buf, sizeof(slot));
	return slot;
}

/* A new worker in this slot: its pid. */
static pid_t fork_worker(uint32_t slot)
{
	struct msg_slot m;

	order(MSG_FORK, slot);
	m = told(MSG_FORKED);
	NEED(m.slot == slot && m.status > 0);
	return (pid_t)m.status;
}

TEST(zygote_ends_at_each_message_that_is_wrong)
{
	const struct msg_slot slot = { .slot = 0 };
	int n = 0;

	begin();
	for (int type = 0; type < 2; type++) {
		const struct mutant m = { .type = type ? MSG_KILL : MSG_FORK, .payload = &slot,
					  .len = sizeof(slot) };

		for (int how = MUT_NONE + 1; how < MUT_MEM_UNSEALED; how++) {
			begin_zygote();
			if (mutant_send(ends.control, &m, (enum mutation)how))
				n++;
			else
				close_ends();
			zygote_ended(false);
		}
	}
	for (unsigned int t = 0; t < MUTANT_TYPES; t++) {
		begin_zygote();
		if (mutant_send_stranger(ends.control, PEER_HUB, CONN_READY, t))
			n++;
		else
			close_ends();
		zygote_ended(false);
	}
	printf("# %d messages refused\n", n);
	NEED(n > 40);
}

TEST(zygote_ends_at_orders_that_make_no_sense)
{
	pid_t pids[WORKER_SLOTS];

	begin();
	begin_zygote();
	order(MSG_FORK, WORKER_SLOTS);
	zygote_ended(true);
	begin_zygote();
	order(MSG_KILL, UINT32_MAX);
	zygote_ended(true);
	/* a slot that is in use: all workers end, too, while their sockets are open */
	NEED(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
	begin_zygote();
	for (uint32_t i = 0; i < WORKER_SLOTS; i++)
		pids[i] = fork_worker(i);
	order(MSG_FORK, 0);
	zygote_exits(true);
	for (uint32_t i = 0; i < WORKER_SLOTS; i++) {
		int status = ended(pids[i]);

		NEED(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	}
	close_ends();
	/* what the hub may say, but not to a zygote */
	begin_zygote();
	NEED(conn_send(&control, MSG_LIST, 0, NULL, 0, NULL, 0, NULL, 0) == 0);
	zygote_ended(true);
}

/* Never more workers than slots, however many had these before. */
TEST(zygote_has_as_many_workers_as_slots)
{
	begin();
	begin_zygote();
	if (workers() < 0)
		exit(TEST_SKIP);	/* this kernel does not say */
	for (uint32_t i = 0; i < WORKER_SLOTS; i++)
		fork_worker(i);
	for (uint32_t i = 0; i < FLOOD; i++) {
		order(MSG_KILL, i % WORKER_SLOTS);
		NEED(told(MSG_EXITED).slot == i % WORKER_SLOTS);
		fork_worker(i % WORKER_SLOTS);
		NEED(workers() == WORKER_SLOTS);
	}
	close_ends();
	zygote_ended(false);
}

/* --- a worker -------------------------------------------------------------------- */

/* The worker of slot 0 ends by itself: its code. */
static int worker_code(const char *what)
{
	int status = told(MSG_EXITED).status;

	if (!WIFEXITED(status))
		printf("# %s: status %d\n", what, status);
	NEED(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Did it answer? */
static bool worker_answered(void)
{
	struct conn c;
	struct msg m;
	int r;

	conn_init(&c, ends.slots[0], PEER_WORKER, CONN_READY);
	r = conn_recv(&c, &m);
	NEED(r == 0 || r == -EAGAIN);
	if (!r)
		msg_close_fds(&m);
	return !r;
}

static void worker_refuses(const char *what)
{
	int code = worker_code(what);
	bool answered = worker_answered();

	if (code != 1 || answered)
		printf("# %s: code %d, %s\n", what, code, answered ? "an answer" : "no answer");
	NEED(code == 1 && !answered);
}

static void kill_worker(void)
{
	order(MSG_KILL, 0);
	told(MSG_EXITED);
}

TEST(worker_ends_at_each_message_that_is_wrong)
{
	const struct msg_job job = { .kind = JOB_FILE, .exe = 2, .parts = JOB_TABLE };
	struct mutant m = { .type = MSG_JOB, .payload = &job, .len = sizeof(job) };

	begin();
	m.fds[0] = self_exe;
	begin_zygote();
	/* it does take the one that is right */
	fork_worker(0);
	NEED(mutant_send(ends.slots[0], &m, MUT_NONE));
	NEED(worker_code("right") == 0 && worker_answered());
	for (int how = MUT_NONE + 1; how < MUT_MEM_UNSEALED; how++) {
		fork_worker(0);
		if (mutant_send(ends.slots[0], &m, (enum mutation)how))
			worker_refuses(mutation_name((enum mutation)how));
		else
			kill_worker();
	}
	for (unsigned int t = 0; t < MUTANT_TYPES; t++) {
		fork_worker(0);
		if (t != MSG_WANTED_FILE && t != MSG_WANTED_NONE &&
		    mutant_send_stranger(ends.slots[0], PEER_HUB, CONN_READY, t))
			worker_refuses(msg_type_name(t));
		else
			kill_worker();
	}
	close_ends();
	zygote_ended(false);
}

struct nonsense {
	struct msg_job job;
	uint64_t words[JOB_WORDS_MAX];
};

/* Jobs that are whole messages, of a file, and say what is not so. */
TEST(worker_survives_jobs_that_make_no_sense)
{
	static struct nonsense n;
	uint64_t x = 1;

	begin();
	begin_zygote();
	for (int i = 0; i < 60; i++) {
		size_t words = (size_t)i * 9 % (JOB_WORDS_MAX + 1);
		uint32_t *field = (uint32_t *)&n.job;

		for (size_t k = 0; k < sizeof(n) / 4; k++) {
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
			((uint32_t *)&n)[k] = (uint32_t)(x >> 33);
		}
		/* mostly small numbers, which are nearly right */
		for (size_t k = 0; k < sizeof(n.job) / 4; k++)
			field[k] = field[k] % 7 ? field[k] % 5 : field[k];
		fork_worker(0);
		NEED(conn_send(&(struct conn){ .fd = ends.slots[0] }, MSG_JOB, 1, &n.job,
			       sizeof(n.job), n.words, 8 * words, &self_exe, 1) == 0);
		/* its answer, a question for a debug file, or nothing */
		worker_code("nonsense");
	}
	close_ends();
	zygote_ended(false);
}
