// SPDX-License-Identifier: Apache-2.0
/*
 * The descriptors that the hub keeps for files that no sample has met: they are
 * bounded, go when nobody maps the file any more, and are asked for again.  Names that
 * no sample has met go, too, and are read again.
 */
#include <dirent.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/sealed.h"
#include "symbolizerd/worker/worker.h"
#include "tests/hostile/own_hub.h"
#include "tests/unit/harness.h"

#define KEPT	4
#define FILES	8

/* --- the worker ---------------------------------------------------------------- */

int worker_run(int fd)
{
	struct msg_job_done done = { .part = JOB_TABLE };
	struct msg_job job;
	struct conn c;
	int part;

	if (!own_job(&c, fd, &job))
		return 1;
	done.exe = job.exe;
	for (; done.part <= JOB_SYMBOLS; done.part *= 2) {
		part = done.part == JOB_TABLE ? own_table() : own_symbols();
		if (job.parts & done.part)
			conn_send(&c, MSG_JOB_DONE, 0, &done, sizeof(done),
				  NULL, 0, &part, 1);
	}
	return 0;
}

/* --- the hub --------------------------------------------------------------------- */

static void keep_few(struct hub *hub)
{
	hub->k.exes.kept_max = KEPT;
	hub->k.exes.kept_s = 1;
	hub->k.exes.lasts = 2;
	hub->k.exes.again.pause_ns = 0;
}

/* How many of the files does it hold?  Only root may look. */
static int held(void)
{
	char path[64], link[64];
	struct dirent *d;
	ssize_t len;
	int n = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/fd", own_place.hub);
	dir = opendir(path);
	NEED(dir != NULL);
	while ((d = readdir(dir))) {
		len = readlinkat(dirfd(dir), d->d_name, link, sizeof(link) - 1);
		n += len > 0 && !strncmp(link, "/memfd:file", 11);
	}
	closedir(dir);
	return n;
}

/* The files, by number, for which the hub asks again, until there are n. */
static void expect_asked(struct fake_loader *l, bool *asked, uint32_t n)
{
	struct msg_entry e;
	struct msg m;

	while (n) {
		expect(&l->conn, MSG_ENTRY, &m);
		memcpy(&e, m.buf, sizeof(e));
		if (!(e.entry.state & FILE_ASK))
			continue;
		NEED((e.entry.state & ~FILE_ASK_HOST) == (FILE_TABLE | FILE_ASK));
		NEED(e.entry.exe < EXE_FIRST + FILES && !asked[e.entry.exe]);
		asked[e.entry.exe] = true;
		n--;
	}
}

/* A batch of one frame: of the function, or of none. */
static void expect_function(struct conn *exporter, bool marked)
{
	struct fake_batch b;
	size_t len;

	exporter_batch(exporter, &b);
	NEED(!b.b.frames[0].function == !marked);
	NEED(!marked || !memcmp(batch_str(&b.b, b.b.functions[
			b.b.frames[0].function].name, &len), "marked", 6));
	exporter_done(exporter, b.id, b.msg.samples, BATCH_DELIVERED);
	batch_release(&b);
}

static void expect_named(struct conn *exporter)
{
	expect_function(exporter, true);
}

/* Those that were kept longest go.  When a sample meets one, it is asked for, and the
 * sample waits. */
TEST(hub_keeps_so_many_descriptors)
{
	bool asked[EXE_FIRST + FILES] = { false };
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);
	struct conn exporter, status;
	struct fake_loader l;
	struct status st;

	own_begin(&status, &l, keep_few);
	exporter_connect(&exporter, &own_place, 0, NULL);
	for (uint32_t i = 0; i < FILES; i++) {
		own_send_file(&l, 2 + i, "G", 1, getuid());
		NEED(own_expect_table(&l, 2 + i) == EXE_FIRST + i);
	}
	status_until(&status, &st, has_jobs, FILES);
	NEED(st.hub.worker_jobs == FILES);
	NEED(getuid() || held() == KEPT);
	loader_sample(&l, record(0, 1), &word);
	expect_asked(&l, asked, 1);
	NEED(asked[EXE_FIRST]);
	own_send_file(&l, 2, "G", 1, getuid());
	expect_named(&exporter);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == FILES + 1 && st.hub.offences == 0);
}

static void say_mapped(struct fake_loader *l, uint32_t number)
{
	uint64_t *bits = calloc(1, MAPPED_BYTES);
	struct iovec part = { bits, MAPPED_BYTES };
	int fd;

	NEED(bits != NULL);
	bits[number / 64] |= 1ULL << (number % 64);
	fd = sealed_make("mapped", &part, 1);
	NEED(fd >= 0 && !conn_send(&l->conn, MSG_MAPPED, 0, NULL, 0, NULL, 0,
				   &fd, 1));
	close(fd);
	free(bits);
}

/* So nothing of a file system is busy for long because of the hub. */
TEST(hub_lets_go_of_what_nobody_maps)
{
	bool asked[EXE_FIRST + FILES] = { false };
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);
	struct conn exporter, status;
	struct fake_loader l;
	struct status st;
	struct msg m;

	own_begin(&status, &l, keep_few);
	exporter_connect(&exporter, &own_place, 0, NULL);
	for (uint32_t i = 0; i < 2; i++) {
		own_send_file(&l, 2 + i, "G", 1, getuid());
		NEED(own_expect_table(&l, 2 + i) == EXE_FIRST + i);
	}
	usleep(1200000);
	expect(&l.conn, MSG_LIST, &m);
	say_mapped(&l, EXE_FIRST);
	expect_asked(&l, asked, 1);
	NEED(asked[EXE_FIRST + 1] && !asked[EXE_FIRST]);
	NEED(getuid() || held() == 1);
	loader_sample(&l, record(0, 1), &word);
	expect_named(&exporter);
	NEED(getuid() || held() == 0);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 3 && st.hub.offences == 0);
}

/* A program may end at once, and its file system be unmounted. */
TEST(hub_holds_nothing_of_a_program_that_begins)
{
	bool asked[EXE_FIRST + FILES] = { false };
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);
	struct conn exporter, status;
	struct fake_loader l;
	struct status st;

	own_begin(&status, &l, keep_few);
	exporter_connect(&exporter, &own_place, 0, NULL);
	l.begins = true;
	own_send_file(&l, 2, "G", 1, getuid());
	NEED(own_expect_table(&l, 2) == EXE_FIRST);
	expect_asked(&l, asked, 1);	/* by the first sample */
	NEED(getuid() || held() == 0);
	asked[EXE_FIRST] = false;
	loader_sample(&l, record(0, 1), &word);
	expect_asked(&l, asked, 1);
	l.begins = false;
	own_send_file(&l, 2, "G", 1, getuid());
	expect_named(&exporter);
	NEED(getuid() || held() == 0);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 2 && st.hub.offences == 0);
}

/* Of the file's names the one stays that a sample met.  The hub asks for the file, to
 * have it read when a sample meets another place, not before; and it asks once. */
TEST(hub_keeps_names_that_were_met_and_reads_others_again)
{
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);
	uint64_t other = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 40);
	bool asked[EXE_FIRST + FILES] = { false };
	struct conn exporter, status;
	struct fake_loader l;
	struct status st;

	own_begin(&status, &l, keep_few);
	exporter_connect(&exporter, &own_place, 0, NULL);
	own_send_file(&l, 2, "G", 1, getuid());
	NEED(own_expect_table(&l, 2) == EXE_FIRST);
	loader_sample(&l, record(0, 1), &word);
	expect_named(&exporter);
	expect_asked(&l, asked, 1);
	NEED(getuid() || held() == 0);
	/* nobody opens it: the name is known all the same */
	loader_sample(&l, record(0, 1), &word);
	expect_named(&exporter);
	own_send_file(&l, 2, "G", 1, getuid());
	loader_sample(&l, record(0, 1), &word);
	expect_named(&exporter);
	NEED(getuid() || held() == 1);
	status_until(&status, &st, has_jobs, 2);
	NEED(st.hub.worker_jobs == 2);
	loader_sample(&l, record(0, 1), &other);
	expect_function(&exporter, false);
	NEED(getuid() || held() == 0);
	loader_sample(&l, record(0, 1), &word);
	expect_named(&exporter);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 3 && st.hub.offences == 0);
}
