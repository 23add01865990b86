/* SPDX-License-Identifier: Apache-2.0 */
/* worker_misbehaves - what the workers of hub_workers.c and hub_again.c do, by the letter in their file */
#ifndef HOSTILE_WORKER_MISBEHAVES_H
#define HOSTILE_WORKER_MISBEHAVES_H

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/hostile/own_hub.h"
#include "tests/hostile/worker_says.h"

#define SLOW_NS		(3 * NSEC_PER_SEC)	/* 'H' */
#define LATE_MS		1500			/* 'S': longer than an interval */

static inline int bad_symbols(void)
{
	char junk[64] = "junk";
	struct iovec part = { junk, sizeof(junk) };

	return sealed_make("symbols", &part, 1);
}

static uint32_t job_parts;	/* that are wanted */

/* The worker's job, and the letter in its file.  False: there is none. */
static inline bool take_job(struct conn *c, int fd, struct msg_job *job, char *how)
{
	struct msg m;
	int r = -EAGAIN;

	conn_init(c, fd, PEER_HUB, CONN_READY);
	while (r == -EAGAIN) {
		r = conn_recv(c, &m);
		if (r == -EAGAIN)
			poll(NULL, 0, 1);
	}
	if (r || pread(m.fds[0], how, 1, 0) != 1)
		return false;
	memcpy(job, m.buf, sizeof(*job));
	job_parts = job->parts;
	return true;
}

static inline void say_part(struct conn *c, struct msg_job_done *d, uint32_t part,
		     int fd)
{
	d->part = part;
	if (job_parts & part)
		conn_send(c, MSG_JOB_DONE, 0, d, sizeof(*d), NULL, 0, &fd, 1);
	close(fd);
}

static inline void say(struct conn *c, struct msg_job_done *d, int symbols)
{
	say_part(c, d, JOB_TABLE, own_table());
	say_part(c, d, JOB_SYMBOLS, symbols);
}

/* What confinement must not allow: any success shows as a good answer. */
static inline bool escape(void)
{
	int sv[2];

	return open("/", O_RDONLY) >= 0 ||
	       open("/proc/self/mem", O_RDWR) >= 0 ||
	       socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ||
	       socketpair(AF_UNIX, SOCK_STREAM, 0, sv) == 0;
}

static inline void misbehave(struct conn *c, char how, struct msg_job_done *d)
{
	switch (how) {
	case 'c':
		abort();
	case 'x':
		_exit(0);
	case 'k':
		kill(getppid(), SIGKILL);
		break;
	case 'F':
		if (fork() >= 0)
			break;
		return;
	case 'e':
		if (!escape())
			return;
		break;
	case 'w':
		d->exe++;
		break;
	case 'b':
		d->build_id_len = BUILD_ID_MAX + 1;
		break;
	case 'g':
		d->runtime = RUNTIME__MAX;
		break;
	case 'i':
		memset(d->runtime_id, 'x', sizeof(d->runtime_id));
		break;
	case 's':
		say(c, d, loose_memory());
		return;
	case 'm':
		say_part(c, d, JOB_TABLE, loose_memory());
		return;
	case 'j':
		say(c, d, bad_symbols());
		return;
	case 'p':		/* another part; none; both */
		job_parts = JOB_SYMBOLS;
		say(c, d, own_symbols());
		return;
	case 'o':
		job_parts = JOB_TABLE | JOB_SYMBOLS;
		say_part(c, d, job_parts, own_table());
		return;
	case 'v':
		fail(c, d->exe, JOB_OK);
		return;
	case 'M':		/* too poor for symbols, the table is there */
		if (job_parts == JOB_SYMBOLS) {
			fail(c, d->exe, JOB_NO_MEMORY);
			return;
		}
		break;
	case 'V':
		fail(c, d->exe, JOB__VERDICTS);
		return;
	case 'K':
		fail(c, d->exe, JOB_KILLED);
		return;
	case 'a':		/* for memory; for no debug file; twice */
		ask(c, MSG_MEM_WANTED, 20);
		return;
	case 'l':
		ask(c, MSG_DEBUG_WANTED, BUILD_ID_MAX + 1);
		return;
	case 'A':
		ask(c, MSG_DEBUG_WANTED, 20);
		ask(c, MSG_DEBUG_WANTED, 20);
		return;
	case 'z':		/* of a file, whose lines nobody asked for */
		ask_alternate(c, 20, "foo");
		return;
	case 'q':		/* only with a debug file it is content */
		ask(c, MSG_DEBUG_WANTED, 20);
		if (answer_to(c) == MSG_WANTED_FILE)
			break;
		fail(c, d->exe, JOB_NOT_ELF);
		return;
	case 'N':		/* names of frames, which nobody asked for */
		say_names(c, names_memory(1, 0), 0);
		return;
	case 't':
		conn_send(c, MSG_BYE, 0, NULL, 0, NULL, 0, NULL, 0);
		return;
	case 'h':
		for (;;)
			poll(NULL, 0, 100);
	case 'H':
		poll(NULL, 0, SLOW_NS / NSEC_PER_MSEC);
		break;
	case 'S':
		poll(NULL, 0, LATE_MS);
		break;
	case 'y':		/* none of these with the table alone */
		job_parts &= JOB_TABLE;
		break;
	default:
		break;
	}
	say(c, d, own_symbols());
}

/* A job of another kind: how, and the number of frames. */
static inline int answer_memory(bool lines, uint32_t n, uint32_t asked, size_t less)
{
	if (lines)
		return lines_memory(n, asked, less);
	return names_memory(n, less);
}

static inline void misbehave_names(struct conn *c, char how, uint32_t n, bool lines)
{
	struct msg_job_done done = { 0 };

	switch (how) {
	case 'c':
		abort();
	case 'x':
		_exit(0);
	case 'm':		/* one too many, too few, not whole */
		say_names(c, answer_memory(lines, n + 1, n, 0), 0);
		return;
	case 'f':
		say_names(c, answer_memory(lines, n - 1, n, 0), 0);
		return;
	case 'w':
		say_names(c, answer_memory(lines, n, n, 1), 0);
		return;
	case 's':
		say_names(c, loose_memory(), 0);
		return;
	case 'j':
		say_names(c, bad_symbols(), 0);
		return;
	case 'l':
		say_names(c, long_memory(), 0);
		return;
	case 'p':		/* with a payload; without a descriptor */
		say_names(c, answer_memory(lines, n, n, 0), 8);
		return;
	case 'q':
		conn_send(c, MSG_NAMES, 0, NULL, 0, NULL, 0, NULL, 0);
		return;
	case 'k':		/* the other kind's answer, and its question */
		job_parts = JOB_TABLE;
		say(c, &done, own_symbols());
		return;
	case 'd':
		ask(c, MSG_DEBUG_WANTED, 20);
		if (lines && answer_to(c) == MSG_WANTED_NONE)
			say_names(c, answer_memory(lines, n, n, 0), 0);
		return;
	case 'a':		/* a debug file, and then its alternate */
		ask(c, MSG_DEBUG_WANTED, 20);
		if (answer_to(c) != MSG_WANTED_FILE)
			return;
		ask_alternate(c, 20, "x86_64-linux-gnu/foo");
		if (answer_to(c) == MSG_WANTED_FILE)
			say_names(c, answer_memory(lines, n, n, 0), 0);
		return;
	case 'A':		/* none of these; and twice; and before the first answer */
		ask_alternate(c, 20, "");
		(void)answer_to(c);
		ask_alternate(c, 20, "");
		return;
	case 'b':
		ask(c, MSG_DEBUG_WANTED, 20);
		ask_alternate(c, 20, "");
		return;
	case '0':
		ask_alternate(c, 0, "foo");
		return;
	case '.':
		ask_alternate(c, 20, "foo/../../../../etc/shadow");
		return;
	case '/':
		ask_alternate(c, 20, "/etc/shadow");
		return;
	case 'K':		/* all three */
		ask(c, MSG_DEBUG_WANTED, 20);
		(void)answer_to(c);
		ask_alternate(c, 20, "");
		(void)answer_to(c);
		ask_package(c, 0, "foo.debug");
		if (answer_to(c) == MSG_WANTED_FILE)
			say_names(c, answer_memory(lines, n, n, 0), 0);
		return;
	case 'Q':		/* packages: twice; by build ID; elsewhere; a fourth kind */
		ask_package(c, 0, "");
		(void)answer_to(c);
		ask_package(c, 0, "");
		return;
	case 'i':
		ask_package(c, 20, "");
		return;
	case ':':
		ask_package(c, 0, "../foo.debug");
		return;
	case '3': {
		struct msg_wanted m = { .alternate = DEBUG_PACKAGE + 1, .build_id_len = 20 };

		conn_send(c, MSG_DEBUG_WANTED, 0, &m, sizeof(m), NULL, 0, NULL, 0);
		return;
	}
	case 'v':
		fail(c, 0, JOB_OK);
		return;
	case 'e':
		fail(c, 1, JOB_CORRUPT);
		return;
	case 'n':
		fail(c, 0, JOB_NO_NAMES);
		return;
	default:
		say_names(c, answer_memory(lines, n, n, 0), 0);
	}
	if (how == '2')
		say_names(c, answer_memory(lines, n, n, 0), 0);
}

#endif /* HOSTILE_WORKER_MISBEHAVES_H */
