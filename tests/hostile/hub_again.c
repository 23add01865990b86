// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizerd with a worker that died: its file is tried again after a quarantine, with its
 * table, and samples wait for its names as for those of a new file.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "symbolizerd/worker/worker.h"
#include "tests/hostile/own_hub.h"
#include "tests/hostile/worker_misbehaves.h"
#include "tests/unit/harness.h"

#define ASKED_NS	(30 * NSEC_PER_SEC)	/* at most, until a file is asked for again */

int worker_run(int fd)
{
	struct msg_job_done done = { .exe = 0 };
	struct msg_job job;
	struct conn c;
	char how;

	if (!take_job(&c, fd, &job, &how))
		return 1;
	done.exe = job.exe;
	misbehave(&c, how, &done);
	return 0;
}

static void send_file(struct fake_loader *l, uint32_t id, char how)
{
	own_send_file(l, id, &how, 1, getuid());
}

static bool has_deaths(const struct status *st, uint64_t n)
{
	return st->hub.worker_deaths >= n;
}

static void forgive(struct hub *hub)
{
	hub->k.exes.again.quarantine_ns = NSEC_PER_SEC;
}

/* Samples meet the file until the hub asks for it. */
static void sample_until_asked(struct fake_loader *l, uint32_t id)
{
	uint64_t end = now_ns() + ASKED_NS;
	struct msg_entry e = { .entry.state = 0 };
	struct msg m;

	while (!(e.entry.state & FILE_ASK)) {
		NEED(now_ns() < end);
		own_sample_file(l, id);
		poll(NULL, 0, 50);
		while (conn_recv(&l->conn, &m) == 0) {
			if (m.hdr.type == MSG_ENTRY)
				memcpy(&e, m.buf, sizeof(e));
			msg_close_fds(&m);
		}
	}
	NEED((e.entry.state & ~FILE_ASK_HOST) == (FILE_BARE | FILE_ASK));
}

static void begin(struct conn *status, struct fake_loader *l)
{
	own_begin(status, l, forgive);
}

/* A worker may have died since the machine was short of time or memory: while samples meet the
 * file it is read again, its table, too, later and later. */
TEST(hub_tries_again_what_killed_a_worker)
{
	uint64_t since;
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	since = now_ns();
	send_file(&l, 2, 'c');
	own_expect_none(&l, 2);
	sample_until_asked(&l, 2);
	send_file(&l, 2, 'c');
	own_expect_none(&l, 2);
	sample_until_asked(&l, 2);
	NEED(now_ns() - since >= 3 * NSEC_PER_SEC);
	send_file(&l, 2, 'G');
	own_expect_table(&l, 2);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 2 && st.hub.worker_jobs == 3 && !st.hub.exes_failed);
}

/* A file in quarantine that loaderd meets anew, which has no table then: it is tried again,
 * too. */
TEST(hub_tries_again_what_came_in_quarantine)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	send_file(&l, 2, 'y');
	own_expect_table(&l, 2);
	own_sample_file(&l, 2);
	status_until(&status, &st, has_deaths, 1);
	loader_bye(&l);
	loader_drop(&l);
	l = (struct fake_loader){ 0 };
	loader_connect(&l, &own_place);
	loader_hello(&l);
	for (int i = 0; i < 2; i++) {	/* the second time its descriptor is kept */
		send_file(&l, 2, 'G');
		own_expect_none(&l, 2);
	}
	sample_until_asked(&l, 2);
	send_file(&l, 2, 'G');
	own_expect_table(&l, 2);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1 && !st.hub.exes_failed);
}

/* A stack of two frames in the file of id 2. */
static void sample_twice_in_file(struct fake_loader *l)
{
	struct file_key key = { .ino = 2, .size = 2 };
	uint64_t words[2 * (1 + KEY_WORDS)] = { FRAME_FILE_WORD(OWN_MARK + 4) };

	memcpy(&words[1], &key, sizeof(key));
	memcpy(&words[1 + KEY_WORDS], words, sizeof(words) / 2);
	loader_sample(l, record(0, 2 * (1 + KEY_WORDS)), words);
}

/* A file is read that failed before, with its table: its samples wait for the names. */
TEST(samples_wait_for_names_that_are_tried_again)
{
	struct conn exporter, status;
	bool found = false;
	struct fake_loader l;
	struct fake_batch b;
	struct status st;

	begin(&status, &l);
	exporter_connect(&exporter, &own_place, 0, NULL);
	send_file(&l, 2, 'c');
	own_expect_none(&l, 2);
	sample_until_asked(&l, 2);
	sample_twice_in_file(&l);
	loader_say_stats(&l);
	send_file(&l, 2, 'S');
	while (!found) {
		exporter_batch(&exporter, &b);
		for (uint32_t i = 0; i < batch_n(&b.b, BATCH_STACKS); i++) {
			if (b.b.stacks[i].n != 2)
				continue;
			found = true;
			NEED(b.b.frames[b.b.stack_frames[b.b.stacks[i].first]].function);
		}
		exporter_done(&exporter, b.id, b.msg.samples, BATCH_DELIVERED);
		batch_release(&b);
	}
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1 && st.hub.offences == 0 && st.tables.tables == 1);
}
