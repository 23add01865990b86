// SPDX-License-Identifier: Apache-2.0
/*
 * symbolizerd with a worker that does what a taken-over one could: the file, or
 * the process's memory, decides.  The hub must stay alive, tell loaderd that there
 * is no table, put the file into quarantine, and go on with the next one.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/table.h"
#include "common/clock.h"
#include "common/log.h"
#include "symbolizerd/worker/worker.h"
#include "tests/hostile/own_hub.h"
#include "tests/hostile/worker_misbehaves.h"
#include "tests/unit/harness.h"

#define LATE_NS		(4 * NSEC_PER_SEC)	/* a tick, on a busy machine */
#define OWES		12345			/* a user */
#define OWED_NS		(100 * NSEC_PER_MSEC)	/* of 25 to 50 ms that come in a second */

/* --- the worker ------------------------------------------------------------ */

int worker_run(int fd)
{
	struct msg_job_done done = { .build_id_len = 2,
				     .build_id = { 0xab, 0xcd } };
	struct msg_job job;
	struct conn c;
	char how;

	if (!take_job(&c, fd, &job, &how))
		return 1;
	done.exe = job.exe;
	if (job.kind != JOB_FILE) {
		misbehave_names(&c, how, job.n_frames, job.kind == JOB_LINES);
		return 0;
	}
	if (how == 'n')
		fail(&c, done.exe, JOB_NOT_ELF);
	else
		misbehave(&c, how, &done);
	if (how == '2')
		say(&c, &done, own_symbols());
	for (int i = 0; how == 'f' && i < 1000000; i++)
		fail(&c, done.exe, JOB_CORRUPT);
	return 0;
}

/* --- the hub ----------------------------------------------------------------- */

/* What the hub heard of frames, for the test to see. */
static struct heard {
	uint32_t n;		/* answers */
	int result;		/* of the last */
	uint32_t names;
	char first[16];
	bool visit;		/* have frames named when a table comes */
	uint32_t charged;	/* answers with lines, to an owner */
	char lines;		/* or have lines read by a worker that behaves so; 0: no */
} *heard;
static const uint64_t frames[] = {
	FRAME_WORD(FRAME_ANON, 0, 0x1000),
	FRAME_WITH_MORE(FRAME_WORD(FRAME_ANON, 0, 0x2000), 1), 99,
	FRAME_WORD(FRAME_ANON, 0, 0x3000),
};
#define FRAMES	3
#define LINES_OWNER	4712
#define START	77	/* of the process */

/* As samples do that meet places in a file. */
static void ask_for_lines(uint32_t number)
{
	int fd = memfd_create("file", MFD_CLOEXEC);
	struct visit_question q = {
		.process.start_ns = START, .words = frames, .n = FRAMES, .fd = fd,
		.owner = LINES_OWNER,
	};

	NEED(fd >= 0 && write(fd, &heard->lines, 1) == 1);
	NEED(!jobs_add_lines(&own_hub.jobs, &q, number,
			     own_hub.k.exes.by_number[number] - 1));
	close(fd);
}

/* As a runtime does that has met frames. */
static int table_then_frames(void *ctx, uint32_t number, int fd)
{
	int r = loader_files_jobs.table(ctx, number, fd);
	struct visit_question q = {
		.process = { START, number, 0 }, .words = frames,
		.n = sizeof(frames) / 8, .fd = -1, .runtime = RUNTIME_GO,
	};

	if (heard->lines)
		ask_for_lines(number);
	if (heard->visit)
		NEED(!jobs_add_process(&own_hub.jobs, &q));
	return r;
}

static void hear_names(void *ctx, const struct job_process *p,
		       const struct job_names *names, int result)
{
	const char *first = "";

	(void)ctx;
	NEED(p->process.start_ns == START && p->n_frames == FRAMES);
	heard->result = result;
	heard->names = 0;
	if (names && p->kind == JOB_LINES) {
		heard->names = names->codes.hdr.codes;
		first = line_codes_function(&names->codes, 0).name;
	} else if (names) {
		heard->names = names->names.n;
		first = frame_names_place(&names->names, 0).name;
	}
	snprintf(heard->first, sizeof(heard->first), "%s", first);
	__atomic_add_fetch(&heard->n, 1, __ATOMIC_RELEASE);
}

/* That a worker has ended is told before its answer is read, or when that was taken. */
static void hear_used(void *ctx, const struct job_slot *slot, uint64_t cpu_ns)
{
	if (slot->kind == JOB_LINES && slot->state == SLOT_BUSY && heard->n && cpu_ns &&
	    slot->job.owner == LINES_OWNER)
		heard->charged++;
	loader_files_jobs.used(ctx, slot, cpu_ns);
}

/* The hub asks for frames' names, if the test wants it. */
static void hear_frames(struct hub *hub)
{
	static struct jobs_ops ops;

	ops = loader_files_jobs;
	ops.table = table_then_frames;
	ops.names = hear_names;
	ops.used = hear_used;
	hub->jobs.ops = &ops;
}

static void begin(struct conn *status, struct fake_loader *l)
{
	heard = mmap(NULL, sizeof(*heard), PROT_READ | PROT_WRITE,
		     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	NEED(heard != MAP_FAILED);
	own_begin(status, l, hear_frames);
}

static void send_file(struct fake_loader *l, uint32_t id, char how)
{
	own_send_file(l, id, &how, 1, getuid());
}

static bool has_deaths(const struct status *st, uint64_t n)
{
	return st->hub.worker_deaths >= n;
}

/* What the hub says on standard error goes to a file in memory; returns the former. */
static int listen_to_log(int *log)
{
	int former = dup(2);

	*log = memfd_create("log", MFD_CLOEXEC);
	NEED(former >= 0 && *log >= 0 && dup2(*log, 2) == 2);
	return former;
}

/* How many lines about workers it said. */
static unsigned int lines_about_workers(int log)
{
	static char text[65536];
	ssize_t n = pread(log, text, sizeof(text) - 1, 0);
	unsigned int lines = 0;

	NEED(n >= 0);
	text[n] = '\0';
	for (const char *p = text; (p = strstr(p, "a worker ")); p++)
		lines++;
	return lines;
}

TEST(hub_survives_bad_workers)
{
	static const char how[] = "cxkFwbgimpovVKtalN";
	uint64_t since = now_ns();
	int log, former = listen_to_log(&log);
	unsigned int lines;
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint32_t n = 2;

	begin(&status, &l);
	for (size_t i = 0; how[i]; i++) {
		printf("# worker %c\n", how[i]);
		send_file(&l, n, how[i]);
		own_expect_none(&l, n);
		/* in quarantine now */
		send_file(&l, n, 'G');
		own_expect_none(&l, n++);
		send_file(&l, n, 'G');
		own_expect_table(&l, n++);
	}
	own_end(&status, &l, &st);
	dup2(former, 2);
	lines = lines_about_workers(log);
	printf("# %u lines\n", lines);
	NEED(lines && lines <= 1 + (now_ns() - since) / NSEC_PER_SEC);
	NEED(st.hub.worker_deaths == sizeof(how) - 1);
	NEED(st.hub.exes_failed == sizeof(how) - 1);
	for (int i = 0; i < QUARANTINE_SHOWN; i++)
		NEED(!strcmp(st.quarantine.path[i], "/some/file"));
	NEED(st.hub.worker_jobs == 2 * (sizeof(how) - 1));
}

/* In one visit with the table, and in one of their own.  The table stays. */
TEST(hub_survives_bad_workers_of_symbols)
{
	static const char how[] = "ysj";
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint32_t n = 2;

	begin(&status, &l);
	for (size_t i = 0; how[i]; i++) {
		own_sample_file(&l, n);
		send_file(&l, n, how[i]);
		own_expect_table(&l, n++);
		send_file(&l, n, how[i]);
		own_expect_table(&l, n);
		own_sample_file(&l, n);
		status_until(&status, &st, has_deaths, 2 * i + 2);
		NEED(st.hub.worker_jobs == 3 * i + 3);
		own_sample_file(&l, n++);	/* in quarantine: no more */
	}
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 6 && st.hub.exes_failed == 6);
	NEED(st.hub.offences == 4 && st.hub.worker_jobs == 9);
	NEED(st.tables.tables == 6);
}

TEST(hub_passes_questions_for_debug_files_on)
{
	struct msg_open_failed none = { .error = ENOENT };
	struct msg_wanted wanted;
	struct fake_loader l;
	struct conn status;
	struct status st;
	struct msg m;
	int fd = memfd_create("debug", MFD_CLOEXEC);

	begin(&status, &l);
	/* of another, of nobody: not passed on */
	NEED(!conn_send(&l.conn, MSG_WANTED_NONE, 7, &none, sizeof(none), NULL,
			0, NULL, 0));
	send_file(&l, 2, 'q');
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	memcpy(&wanted, m.buf, sizeof(wanted));
	NEED(m.hdr.id == 2 && wanted.process.tgid == 4711);
	NEED(!conn_send(&l.conn, MSG_WANTED_NONE, 2, &none, sizeof(none), NULL,
			0, NULL, 0));
	own_expect_none(&l, 2);
	send_file(&l, 3, 'q');
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	NEED(m.hdr.id == 3);
	NEED(!conn_send(&l.conn, MSG_WANTED_FILE, 3, NULL, 0, NULL, 0, &fd, 1));
	NEED(own_expect_table(&l, 3) == 3);
	send_file(&l, 4, 'A');
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	own_expect_none(&l, 4);
	close(fd);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1);
	NEED(st.hub.offences == 1);
}

/* The hub asks for the memory of a process; answers with what lets the worker
 * behave like this. */
static void give_memory(struct fake_loader *l, uint32_t tgid, char how)
{
	struct msg_wanted wanted;
	struct msg m;
	int fd = memfd_create("memory", MFD_CLOEXEC);

	NEED(fd >= 0 && write(fd, &how, 1) == 1);
	expect(&l->conn, MSG_MEM_WANTED, &m);
	memcpy(&wanted, m.buf, sizeof(wanted));
	NEED(wanted.process.tgid == tgid && wanted.process.start_ns == START);
	NEED(m.hdr.id >= JOBS_MEMORY_ID && !wanted.build_id_len);
	NEED(!conn_send(&l->conn, MSG_WANTED_FILE, m.hdr.id, NULL, 0, NULL, 0,
			&fd, 1));
	close(fd);
}

static void hear(uint32_t n, int result)
{
	for (int i = 0; i < WAIT_MS; i++, usleep(1000)) {
		if (__atomic_load_n(&heard->n, __ATOMIC_ACQUIRE) >= n)
			break;
	}
	NEED(heard->n == n && heard->result == result);
	NEED(heard->names == (result ? 0 : FRAMES));
	NEED(result || !strcmp(heard->first, "named"));
}

TEST(hub_survives_bad_workers_of_processes)
{
	static const char how[] = "cxmfwsjlpqkdve";
	uint32_t n = 0, bad = sizeof(how) - 1;
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	heard->visit = true;
	for (size_t i = 0; how[i]; i++) {
		printf("# worker %c\n", how[i]);
		send_file(&l, n + 2, 'G');
		give_memory(&l, own_expect_table(&l, n + 2), how[i]);
		hear(++n, JOB_KILLED);
		send_file(&l, n + 2, 'G');
		give_memory(&l, own_expect_table(&l, n + 2), 'G');
		hear(++n, 0);
	}
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == bad);
	NEED(st.hub.offences == bad - 2);	/* 'c' and 'x' say nothing */
	NEED(st.hub.worker_jobs == 4 * bad);
	NEED(st.hub.exes_failed == 0);		/* the files are good */
}

/* Their file keeps its table and names. */
TEST(hub_survives_bad_workers_of_lines)
{
	static const char how[] = "cxmfwsjlpqkve";
	uint32_t n = 0, bad = sizeof(how) - 1;
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	for (size_t i = 0; how[i]; i++) {
		printf("# worker %c\n", how[i]);
		heard->lines = how[i];
		send_file(&l, n + 2, 'G');
		own_expect_table(&l, n + 2);
		hear(++n, JOB_KILLED);
		heard->lines = 'G';
		send_file(&l, n + 2, 'G');
		own_expect_table(&l, n + 2);
		hear(++n, 0);
	}
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == bad);
	NEED(st.hub.offences == bad - 2);
	NEED(st.hub.worker_jobs == 4 * bad);
	NEED(st.hub.exes_failed == 0);
}

/* What it does with an answer, besides what the worker did. */
TEST(hub_charges_a_files_owner_for_an_answer_with_lines)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	heard->lines = 'G';
	send_file(&l, 2, 'G');
	own_expect_table(&l, 2);
	hear(1, 0);
	own_end(&status, &l, &st);
	NEED(heard->charged == 1);
}

/* The answer is passed on to the worker that has the question. */
TEST(hub_passes_a_debug_file_on_to_who_reads_lines)
{
	struct msg_open_failed none = { .error = ENOENT };
	struct fake_loader l;
	struct conn status;
	struct status st;
	struct msg m;

	begin(&status, &l);
	heard->lines = 'd';
	send_file(&l, 2, 'G');
	own_expect_table(&l, 2);
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	NEED(m.hdr.id == 2);
	NEED(!conn_send(&l.conn, MSG_WANTED_NONE, 2, &none, sizeof(none), NULL, 0, NULL, 0));
	hear(1, 0);
	own_end(&status, &l, &st);
	NEED(st.hub.offences == 0 && st.hub.worker_deaths == 0);
}

/* A worker that reads lines may ask twice: for the debug file, and for its alternate. */
TEST(hub_passes_a_question_for_an_alternate_file_on)
{
	int fd = memfd_create("debug", MFD_CLOEXEC);
	struct msg_wanted q;
	struct fake_loader l;
	struct conn status;
	struct status st;
	struct msg m;

	begin(&status, &l);
	heard->lines = 'a';
	send_file(&l, 2, 'G');
	own_expect_table(&l, 2);
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	NEED(!conn_send(&l.conn, MSG_WANTED_FILE, 2, NULL, 0, NULL, 0, &fd, 1));
	expect(&l.conn, MSG_DEBUG_WANTED, &m);
	memcpy(&q, m.buf, sizeof(q));
	NEED(m.hdr.id == 2 && q.process.tgid == 4711 && !q.alternate && !q.build_id_len);
	NEED(!strncmp(q.paths, "/usr/lib/debug/.build-id/00/", 28));
	NEED(!strcmp(q.paths + strlen(q.paths) + 1, "/usr/lib/debug/.dwz/x86_64-linux-gnu/foo"));
	NEED(!conn_send(&l.conn, MSG_WANTED_FILE, 2, NULL, 0, NULL, 0, &fd, 1));
	hear(1, 0);
	close(fd);
	own_end(&status, &l, &st);
	NEED(st.hub.offences == 0 && st.hub.worker_deaths == 0);
}

TEST(hub_passes_a_question_for_a_package_on)
{
	int fd = memfd_create("package", MFD_CLOEXEC);
	struct msg_wanted q;
	struct fake_loader l;
	struct conn status;
	struct status st;
	struct msg m;

	begin(&status, &l);
	heard->lines = 'K';
	send_file(&l, 2, 'G');
	own_expect_table(&l, 2);
	for (int i = 0; i < 3; i++) {
		expect(&l.conn, MSG_DEBUG_WANTED, &m);
		NEED(!conn_send(&l.conn, MSG_WANTED_FILE, 2, NULL, 0, NULL, 0, &fd, 1));
	}
	memcpy(&q, m.buf, sizeof(q));
	NEED(m.hdr.id == 2 && q.process.tgid == 4711 && !q.alternate && !q.build_id_len);
	NEED(strlen(q.paths) > 4 && !strcmp(q.paths + strlen(q.paths) - 4, ".dwp"));
	hear(1, 0);
	close(fd);
	own_end(&status, &l, &st);
	NEED(st.hub.offences == 0 && st.hub.worker_deaths == 0);
}

TEST(hub_passes_no_bad_question_for_an_alternate_file_or_a_package_on)
{
	static const char how[] = "AQb0./i:3";
	struct msg_open_failed none = { .error = ENOENT };
	uint32_t n = 2, bad = sizeof(how) - 1;
	struct fake_loader l;
	struct conn status;
	struct status st;
	struct msg m;

	begin(&status, &l);
	for (size_t i = 0; how[i]; i++, n++) {
		heard->lines = how[i];
		send_file(&l, n, 'G');
		own_expect_table(&l, n);
		if (i < 3)		/* the first of two */
			expect(&l.conn, MSG_DEBUG_WANTED, &m);
		if (i < 2)
			NEED(!conn_send(&l.conn, MSG_WANTED_NONE, n, &none, sizeof(none), NULL, 0,
					NULL, 0));
		hear((uint32_t)i + 1, JOB_KILLED);
	}
	heard->lines = 0;
	send_file(&l, n, 'z');
	own_expect_none(&l, n);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == bad + 1 && st.hub.offences == bad + 1);
}

TEST(hub_takes_one_answer_about_a_process)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	heard->visit = true;
	send_file(&l, 2, 'G');
	give_memory(&l, own_expect_table(&l, 2), '2');
	hear(1, 0);
	send_file(&l, 3, 'G');
	give_memory(&l, own_expect_table(&l, 3), 'n');
	hear(2, JOB_NO_NAMES);
	send_file(&l, 4, 'G');
	give_memory(&l, own_expect_table(&l, 4), 'G');
	hear(3, 0);
	own_end(&status, &l, &st);
	NEED(st.hub.offences == 1 && st.hub.worker_deaths == 0);
}

/* Not at once, and not without end; the file is not to blame. */
TEST(hub_tries_symbols_again_without_memory)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	send_file(&l, 2, 'M');
	own_expect_table(&l, 2);
	own_sample_file(&l, 2);
	status_until(&status, &st, has_jobs, 1 + SYMBOLS_TRIES);
	own_sample_file(&l, 2);
	poll(NULL, 0, 2500);	/* two ticks */
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 1 + SYMBOLS_TRIES);
	NEED(st.hub.symbols_again == SYMBOLS_TRIES - 1);
	NEED(st.hub.exes_failed == 0 && st.hub.worker_deaths == 0);
	NEED(st.hub.offences == 0 && st.tables.tables == 1);
}

/* loaderd says no; says it again; answers what nobody asked. */
TEST(hub_goes_on_without_memory)
{
	struct msg_open_failed none = { .error = EPERM };
	struct fake_loader l;
	struct conn status;
	struct status st;
	struct msg m;

	begin(&status, &l);
	heard->visit = true;
	send_file(&l, 2, 'G');
	own_expect_table(&l, 2);
	expect(&l.conn, MSG_MEM_WANTED, &m);
	for (int i = 0; i < 2; i++)
		NEED(!conn_send(&l.conn, MSG_WANTED_NONE, m.hdr.id, &none,
				sizeof(none), NULL, 0, NULL, 0));
	NEED(!conn_send(&l.conn, MSG_WANTED_FILE, m.hdr.id + 1, NULL, 0, NULL,
			0, &own_place.fds[0], 1));
	hear(1, -EPERM);
	send_file(&l, 3, 'G');
	give_memory(&l, own_expect_table(&l, 3), 'G');
	hear(2, 0);
	own_end(&status, &l, &st);
	NEED(st.hub.offences == 0 && st.hub.worker_deaths == 0);
}

TEST(worker_cannot_open_or_connect)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	/* open and socket are refused; socketpair kills */
	send_file(&l, 2, 'e');
	own_expect_none(&l, 2);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1);
}

TEST(hub_takes_one_answer_of_a_worker)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	send_file(&l, 2, '2');		/* answers twice */
	own_expect_table(&l, 2);
	send_file(&l, 3, 'f');		/* floods */
	own_expect_table(&l, 3);
	send_file(&l, 4, 'n');		/* knows that it cannot */
	own_expect_none(&l, 4);
	send_file(&l, 5, 'G');
	own_expect_table(&l, 5);
	own_end(&status, &l, &st);
	NEED(st.hub.offences == 2);
	NEED(st.hub.exes_failed == 0);
}

TEST(hub_kills_a_worker_that_hangs_and_works_on)
{
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint64_t start = now_ns();

	begin(&status, &l);
	send_file(&l, 2, 'h');
	for (uint32_t i = 3; i < 50; i++)
		send_file(&l, i, 'G');
	for (uint32_t i = 3; i < 50; i++)
		own_expect_table(&l, i);
	/* it hangs all the while; its end comes neither sooner nor much later */
	NEED(now_ns() - start < OWN_DEADLINE_NS);
	own_expect_none(&l, 2);
	NEED(now_ns() - start >= OWN_DEADLINE_NS);
	NEED(now_ns() - start < OWN_DEADLINE_NS + LATE_NS);
	send_file(&l, 60, 'G');
	own_expect_table(&l, 60);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_deaths == 1 && st.hub.exes_failed == 1);
}

/* What finds no place shall be asked for again. */
TEST(hub_bounds_its_queue)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	begin(&status, &l);
	send_file(&l, 2, 'h');
	send_file(&l, 3, 'h');
	usleep(200000);
	/* one owner has half of the places */
	for (uint32_t i = 4; i < 4 + JOBS_MAX / 2 + 10; i++)
		send_file(&l, i, 'G');
	for (uint32_t i = 4 + JOBS_MAX / 2; i < 4 + JOBS_MAX / 2 + 10; i++) {
		struct file_entry e;

		NEED(loader_answer(&l, i, &e) == MSG_ENTRY);
		NEED(e.state == (FILE_PENDING | FILE_ASK) && e.exe == i);
	}
	own_end(&status, &l, &st);
	NEED(st.hub.exes_waiting <= JOBS_MAX / 2 + 2);
	NEED(st.hub.jobs_full == 10);
}

TEST(samples_wait_for_names)
{
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, 3, OWN_MARK + 4) };
	struct trace_rec rec = { .stop = STOP_COMPLETE, .process.tgid = 1, .tid = 1,
				 .n_user = 1, .comm = "x" };
	struct conn exporter, status;
	struct fake_loader l;
	struct fake_batch b;
	struct status st;
	uint64_t start;
	size_t len;

	begin(&status, &l);
	start = now_ns();
	exporter_connect(&exporter, &own_place, 0, NULL);
	/* the second one that takes long begins again when the first is killed; until
	 * then its sample is carried over, then delivered without a name */
	send_file(&l, 2, 'h');
	usleep(200000);
	send_file(&l, 7, 'H');
	loader_sample(&l, rec, words);
	exporter_batch(&exporter, &b);
	NEED(clock_ns(CLOCK_REALTIME) - b.b.times[0] > 3 * NSEC_PER_SEC / 2);
	NEED(b.b.frames[0].function == 0);
	NEED(!memcmp(batch_str(&b.b, b.b.exes[b.b.frames[0].exe].path, &len),
		     "/some/file", 10));
	batch_release(&b);
	NEED(now_ns() - start < OWN_DEADLINE_NS);
	/* once it is there it has one */
	own_expect_none(&l, 2);
	NEED(now_ns() - start >= OWN_DEADLINE_NS);
	NEED(own_expect_table(&l, 7) == 3);
	NEED(now_ns() - start >= OWN_DEADLINE_NS + SLOW_NS);
	loader_sample(&l, rec, words);
	exporter_batch(&exporter, &b);
	NEED(!memcmp(batch_str(&b.b, b.b.functions[
			b.b.frames[0].function].name, &len), "marked", 6));
	NEED(!memcmp(batch_str(&b.b, b.b.exes[b.b.frames[0].exe].build_id,
			       &len), "abcd", 4));
	own_end(&status, &l, &st);
}

/* A user has many files that take longer than the deadline.  loaderd goes on at
 * once, and each file of root's has its table within two ticks, the first and
 * all others: a worker is never slow longer than one tick while another is. */
TEST(hub_is_fair_to_owners)
{
	struct file_entry e;
	struct fake_loader l;
	struct conn status;
	struct status st;
	uint64_t start;

	if (getuid())	/* no files of others */
		exit(TEST_SKIP);
	begin(&status, &l);
	for (uint32_t i = 100; i < 100 + EXE_AHEAD; i++)
		own_send_file(&l, i, "h", 1, 1000);
	start = now_ns();
	NEED(loader_answer(&l, 100 + EXE_AHEAD - 1, &e) == MSG_ENTRY);
	NEED(e.state == FILE_PENDING && now_ns() - start < LATE_NS);
	for (uint32_t i = 2; i < 5; i++) {
		usleep(500000);		/* a slow one has the worker */
		start = now_ns();
		send_file(&l, i, 'G');
		own_expect_table(&l, i);
		printf("# after %u ms\n", (unsigned int)((now_ns() - start) /
							 NSEC_PER_MSEC));
		NEED(now_ns() - start < LATE_NS);
	}
	own_end(&status, &l, &st);
}

/* One user's files have used up his part of the CPU time, and more. */
static void user_owes(struct hub *hub)
{
	struct user_share *share = &hub->k.workers;

	share->spare_ns = 0;
	user_share_use(share, OWES, OWED_NS);
}

static bool has_put_off_and_done(const struct status *st, uint64_t n)
{
	return st->hub.jobs_put_off >= 3 && st->hub.worker_jobs >= n;
}

TEST(hub_puts_off_jobs_of_who_has_used_up_his_part)
{
	struct fake_loader l;
	struct conn status;
	struct status st;

	if (getuid())	/* no files of others */
		exit(TEST_SKIP);
	own_begin(&status, &l, user_owes);
	for (uint32_t id = 1; id <= 3; id++)
		own_send_file(&l, id, "n", 1, OWES);
	own_send_file(&l, 4, "n", 1, OWES + 1);
	status_until(&status, &st, has_put_off_and_done, 1);
	NEED(st.hub.worker_jobs == 1);
	status_until(&status, &st, has_put_off_and_done, 4);
	own_end(&status, &l, &st);
	NEED(st.hub.worker_jobs == 4 && st.hub.offences == 0);
}
