// SPDX-License-Identifier: Apache-2.0
/*
 * Debug files that come after an executable was read: the hub looks for them itself,
 * and has the executable read anew.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ipc/conn.h"
#include "symbolizerd/worker/worker.h"
#include "tests/hostile/own_hub.h"
#include "tests/unit/harness.h"

/* --- the worker ---------------------------------------------------------------- */

/* It believes what it gets, unless that says no. */
int worker_run(int fd)
{
	struct msg_job_done done = { .build_id_len = 2, .build_id = { 0xab, 0xcd } };
	struct msg_job job;
	struct conn c;
	int part;

	if (!own_job(&c, fd, &job))
		return 1;
	done.exe = job.exe;
	done.debug = own_ask_debug(&c, &done) == 'y' ? JOB_DEBUG_FILE : JOB_DEBUG_MISSING;
	for (done.part = JOB_TABLE; done.part <= JOB_SYMBOLS; done.part *= 2) {
		part = done.part == JOB_TABLE ? own_table() :
			own_symbols_called(done.debug == JOB_DEBUG_FILE ? "better" : "before");
		if (job.parts & done.part)
			conn_send(&c, MSG_JOB_DONE, 0, &done, sizeof(done), NULL, 0, &part, 1);
	}
	return 0;
}

/* --- the hub --------------------------------------------------------------------- */

static uint32_t hung_before;

static void look_often(struct hub *hub)
{
	hub->k.debug_files.again_ns = 500000000;
	for (uint32_t i = 0; i < hung_before; i++)
		hangs_note(&hub->loader_files.hangs, 1000 + i);
}

/* A descriptor of a file of this user's that says this. */
static int debug_fd(char says, uid_t uid)
{
	int fd = memfd_create("debug", MFD_CLOEXEC);

	NEED(fd >= 0 && write(fd, &says, 1) == 1);
	NEED(uid == getuid() || fchown(fd, uid, (gid_t)-1) == 0);
	return fd;
}

/* The question with this id comes, and this is the answer; fd -1: none. */
static void answer(struct fake_loader *l, uint64_t id, int fd)
{
	struct msg_open_failed none = { .error = ENOENT };
	struct msg_wanted q;
	struct msg m;

	expect(&l->conn, MSG_DEBUG_WANTED, &m);
	memcpy(&q, m.buf, sizeof(q));
	NEED(m.hdr.id == id && q.process.tgid == 4711);
	NEED(!strcmp(q.paths, "/usr/lib/debug/.build-id/ab/cd.debug"));
	NEED(!q.paths[strlen(q.paths) + 1]);
	if (fd < 0)
		NEED(!conn_send(&l->conn, MSG_WANTED_NONE, id, &none, sizeof(none), NULL, 0,
				NULL, 0));
	else
		NEED(!conn_send(&l->conn, MSG_WANTED_FILE, id, NULL, 0, NULL, 0, &fd, 1));
}

static void answer_again(struct fake_loader *l, int fd)
{
	answer(l, DEBUG_AGAIN_ID + EXE_FIRST, fd);
}

/* A sample in the file, and the name that its batch has. */
static void expect_name(struct fake_loader *l, struct conn *exporter, const char *name)
{
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);
	struct fake_batch b;
	const char *got;
	size_t len;

	if (l)
		loader_sample(l, record(0, 1), &word);
	exporter_batch(exporter, &b);
	got = batch_str(&b.b, b.b.functions[b.b.frames[0].function].name, &len);
	NEED(len == strlen(name) && !memcmp(got, name, len));
	exporter_done(exporter, b.id, b.msg.samples, BATCH_DELIVERED);
	batch_release(&b);
}

/* A file that was read, and has no debug file. */
static void begin(struct conn *status, struct conn *exporter, struct fake_loader *l)
{
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);

	own_begin(status, l, look_often);
	exporter_connect(exporter, &own_place, 0, NULL);
	own_send_file(l, 2, "G", 1, getuid());
	answer(l, EXE_FIRST, -1);
	NEED(own_expect_table(l, 2) == EXE_FIRST);
	loader_sample(l, record(0, 1), &word);
	answer(l, EXE_FIRST, -1);	/* the second visit, for symbols */
	expect_name(NULL, exporter, "before");
}

/* The hub asks for the file itself, now that a sample has met it again. */
static void expect_file_asked(struct fake_loader *l)
{
	struct msg_entry e;
	struct msg m;

	do {
		expect(&l->conn, MSG_ENTRY, &m);
		memcpy(&e, m.buf, sizeof(e));
	} while (!(e.entry.state & FILE_ASK));
	NEED(e.entry.exe == EXE_FIRST);
}

TEST(hub_finds_a_debug_file_that_comes_later)
{
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);
	struct conn exporter, status;
	struct fake_loader l;
	struct status st;

	begin(&status, &exporter, &l);
	answer_again(&l, -1);
	expect_name(&l, &exporter, "before");
	answer_again(&l, debug_fd('y', getuid()));
	loader_sample(&l, record(0, 1), &word);
	expect_file_asked(&l);
	/* the worker's question is answered from what is at hand: loaderd has none */
	own_send_file(&l, 2, "G", 1, getuid());
	expect_name(NULL, &exporter, "better");
	expect_name(&l, &exporter, "better");
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 3 && st.hub.offences == 0);
}

/* Each of them costs one visit, and the names stay. */
TEST(hub_reads_no_file_twice_for_a_debug_file_of_no_use)
{
	uint64_t word = FRAME_WORD(FRAME_NATIVE, EXE_FIRST, OWN_MARK + 4);
	struct conn exporter, status;
	int fd = debug_fd('n', getuid());
	struct fake_loader l;
	struct status st;

	begin(&status, &exporter, &l);
	answer_again(&l, fd);
	loader_sample(&l, record(0, 1), &word);
	expect_file_asked(&l);
	own_send_file(&l, 2, "G", 1, getuid());
	expect_name(NULL, &exporter, "before");
	for (int i = 0; i < 3; i++) {
		answer_again(&l, fd);
		expect_name(&l, &exporter, "before");
	}
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 3 && st.hub.offences == 0);
}

/* A process whose file system does not answer leaves an opener behind each time. */
TEST(hub_stops_searching_where_openers_hang)
{
	struct msg_open_failed hung = { .error = ETIMEDOUT };
	struct conn exporter, status;
	struct msg_wanted q;
	struct fake_loader l;
	struct status st;
	struct msg m;

	hung_before = HANGS_MAX - 2;
	begin(&status, &exporter, &l);
	hung_before = 0;
	for (int i = 0; i < 4; i++) {
		expect_name(&l, &exporter, "before");
		expect(&l.conn, MSG_DEBUG_WANTED, &m);
		memcpy(&q, m.buf, sizeof(q));
		NEED(q.process.tgid == (i < 2 ? 4711 : 0));
		NEED(!conn_send(&l.conn, MSG_WANTED_NONE, m.hdr.id, &hung, sizeof(hung), NULL, 0,
				NULL, 0));
	}
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 2 && st.hub.offences == 0);
	NEED(st.hub.hang_refused >= 2);
}

/* Of one user's processes, long before that: others' roots are searched. */
TEST(hub_stops_searching_where_a_users_openers_hang)
{
	struct msg_open_failed hung = { .error = ETIMEDOUT };
	struct conn exporter, status;
	struct msg_wanted q;
	struct fake_loader l;
	struct status st;
	struct msg m;

	begin(&status, &exporter, &l);
	for (uint32_t i = 0; i < HANGS_OWNER + 2; i++) {
		expect_name(&l, &exporter, "before");
		expect(&l.conn, MSG_DEBUG_WANTED, &m);
		memcpy(&q, m.buf, sizeof(q));
		NEED(q.process.tgid == (i < HANGS_OWNER ? 4711 : 0));
		NEED(!conn_send(&l.conn, MSG_WANTED_NONE, m.hdr.id, &hung, sizeof(hung), NULL, 0,
				NULL, 0));
	}
	own_end(&status, &l, &st);
	NEED(st.hub.hang_refused == 2 && st.hub.offences == 0);
}

/* A sample in JIT code of a new process of this user. */
static void sample_jit(struct fake_loader *l, uint32_t uid)
{
	static uint32_t last = 10000;
	uint64_t word = FRAME_ANON_WORD(0x7f0000001000);
	struct trace_rec rec = record(0, 1);

	rec.process.tgid = ++last;
	rec.flags = REC_HAS_ANON;
	rec.uid = uid;
	loader_sample(l, rec, &word);
	loader_say_stats(l);
}

TEST(hub_opens_no_perf_map_where_a_users_openers_hang)
{
	struct msg_open_failed hung = { .error = ETIMEDOUT };
	struct fake_loader l;
	struct conn status;
	struct msg_wanted q;
	struct status st;
	struct msg m;

	own_begin(&status, &l, look_often);
	for (uint32_t i = 0; i < HANGS_OWNER; i++) {
		sample_jit(&l, 12345);
		expect(&l.conn, MSG_PERF_MAP_WANTED, &m);
		NEED(!conn_send(&l.conn, MSG_WANTED_NONE, m.hdr.id, &hung, sizeof(hung), NULL, 0,
				NULL, 0));
	}
	sample_jit(&l, 12345);
	sample_jit(&l, 12346);
	expect(&l.conn, MSG_PERF_MAP_WANTED, &m);
	memcpy(&q, m.buf, sizeof(q));
	NEED(q.process.tgid == 10000 + HANGS_OWNER + 2);
	NEED(!conn_send(&l.conn, MSG_WANTED_NONE, m.hdr.id, &hung, sizeof(hung), NULL, 0, NULL, 0));
	own_end(&status, &l, &st);
	NEED(st.hub.hang_refused >= 1 && st.hub.offences == 0);
}

TEST(hub_takes_no_debug_file_of_a_stranger)
{
	struct conn exporter, status;
	struct fake_loader l;
	struct status st;

	if (getuid() != 0) {
		printf("# a file of another user needs root\n");
		exit(TEST_SKIP);
	}
	begin(&status, &exporter, &l);
	for (int i = 0; i < 2; i++) {
		answer_again(&l, debug_fd('y', 12345));
		expect_name(&l, &exporter, "before");
	}
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 2 && st.hub.offences == 0);
}

TEST(hub_closes_debug_files_that_it_did_not_ask_for)
{
	uint64_t ids[] = { DEBUG_AGAIN_ID, DEBUG_AGAIN_ID + 77, UINT64_MAX };
	struct conn exporter, status;
	struct fake_loader l;
	struct status st;

	begin(&status, &exporter, &l);
	for (int i = 0; i < 300; i++) {
		int fd = debug_fd('y', getuid());

		int r;

		while ((r = conn_send(&l.conn, MSG_WANTED_FILE, ids[i % 3], NULL, 0, NULL, 0, &fd,
				      1)) == -EAGAIN)
			poll(NULL, 0, 1);	/* it reads as fast as it can */
		NEED(r == 0);
		close(fd);
	}
	answer_again(&l, -1);
	expect_name(&l, &exporter, "before");
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 2 && st.hub.offences == 0);
}
