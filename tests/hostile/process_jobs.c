// SPDX-License-Identifier: Apache-2.0
/*
 * Jobs for processes: the real queue, zygote and workers, confined, with a
 * runtime of ours.  Its frames are addresses of strings in a live process; what
 * a string says decides what happens in the worker.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bpf/frame.h"
#include "common/clock.h"
#include "common/log.h"
#include "symbolizerd/jobs/job_places.h"
#include "symbolizerd/jobs/jobs.h"
#include "symbolizerd/runtimes/table.h"
#include "symbolizerd/worker/confine.h"
#include "tests/hostile/hub_peer.h"
#include "tests/hostile/mute_files.h"
#include "tests/unit/harness.h"

#define TICK_NS		(20 * 1000000ULL)
#define LINE		7		/* of frames with a word behind */
#define START_NS	12345		/* of the target: only jobs.c looks */
#define NAMES_ROOM	32
#define EVENTS_MAX	64

/* --- in the worker ------------------------------------------------------------ */

/* What a worker must not be able to do to the process.  pwrite(2) and lseek(2) end it. */
static const char *try_to_write(struct process_memory *m)
{
	if (write(m->fd, "X", 1) >= 0)
		return "write wrote";
	if (mmap(NULL, 4096, PROT_READ, MAP_SHARED, m->fd, 0) != MAP_FAILED)
		return "mmap mapped";
	return "read only";
}

static const char *name_of(struct process_memory *m, uint64_t addr,
			   char buf[NAMES_ROOM])
{
	ssize_t n = process_memory_read(m, addr, buf, NAMES_ROOM - 1);

	if (n < 0)
		return NULL;
	buf[n] = '\0';
	if (!strcmp(buf, "!die"))
		abort();
	if (!strcmp(buf, "!hang"))
		for (;;)
			poll(NULL, 0, 100);
	if (!strcmp(buf, "!write"))
		return try_to_write(m);
	return buf;
}

static int our_names(struct process_memory *m, const uint64_t *words, size_t n,
		     struct frame_names_build *out)
{
	uint32_t frame = 0;

	for (size_t i = 0; i < n; i += 1 + FRAME_MORE(words[i]), frame++) {
		struct symbol_place p = { .file = "" };
		char buf[NAMES_ROOM];

		p.name = name_of(m, FRAME_ADDR(words[i]), buf);
		if (FRAME_MORE(words[i])) {
			p.file = "file.x";
			p.line = (uint32_t)words[i + 1];
		}
		if (p.name)
			frame_names_add(out, frame, &p);
	}
	return JOB_OK;
}

static const struct runtime_ops ours = { .names = our_names };

const struct runtime_ops *const runtimes_table[RUNTIME__MAX] = { [RUNTIME_GO] = &ours };

/* --- the process ------------------------------------------------------------- */

/* Made before the fork, so its addresses are ours, too. */
static char strings[8][NAMES_ROOM];

static uint64_t string_at(int i, const char *text)
{
	snprintf(strings[i], sizeof(strings[i]), "%s", text);
	return FRAME_ANON_WORD((uintptr_t)strings[i]);
}

static pid_t target_start(void)
{
	pid_t parent = getpid(), pid = fork();

	NEED(pid >= 0);
	if (pid)
		return pid;
	while (getppid() == parent)
		usleep(10000);
	_exit(0);
}

/* --- the hub ------------------------------------------------------------------ */

struct event {
	char kind;		/* 'N'ames, 'n'o names, 'T': no table */
	uint32_t number;	/* of the process or the file */
	int result;
	uint32_t n;		/* names, and what they are */
	char name[4][NAMES_ROOM], file[4][NAMES_ROOM];
	uint32_t line[4];
};

static struct evloop loop;
static struct jobs jobs;
static struct hub_stats stats;
static struct ev_source timer;
static struct event events[EVENTS_MAX];
static uint32_t n_events, until;	/* the loop ends */
static struct executable exe;
static int refused;		/* the answer to questions for memory; 0: it */
static bool silent;		/* ... no answer at all */
static bool unsent;		/* ... the question cannot be sent */
static uint32_t asked;		/* questions that were sent */
static uint64_t last_question;
static pid_t target;
static uint32_t offences;

static struct event *event_add(char kind, uint32_t number, int result)
{
	struct event *e = &events[n_events++];

	NEED(n_events < EVENTS_MAX);
	*e = (struct event){ .kind = kind, .number = number, .result = result };
	if (n_events == until)
		evloop_stop(&loop);
	return e;
}

static struct executable *on_exe(void *ctx, uint32_t i)
{
	(void)ctx;
	(void)i;
	return &exe;
}

static bool on_meant(void *ctx, uint32_t number, uint32_t i)
{
	(void)ctx;
	(void)number;
	(void)i;
	return true;
}

static int on_table(void *ctx, uint32_t number, int fd)
{
	(void)ctx;
	(void)number;
	(void)fd;
	return MSG_BAD_CONTENT;
}

static void on_no_table(void *ctx, uint32_t number, int verdict)
{
	(void)ctx;
	(void)verdict;
	event_add('T', number, 0);
}

static int on_debug(void *ctx, uint32_t number, const struct msg_wanted *m)
{
	(void)ctx;
	(void)number;
	(void)m;
	return -ENOENT;
}

static void on_offence(void *ctx, int verdict)
{
	(void)ctx;
	(void)verdict;
	offences++;
}

static int target_memory(void)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", target);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	NEED(fd >= 0);
	return fd;
}

static int on_memory(void *ctx, uint64_t id, const struct job_process *p)
{
	(void)ctx;
	(void)p;
	if (unsent)
		return -EPIPE;
	asked++;
	last_question = id;
	if (!silent)
		jobs_memory(&jobs, id, refused ? -1 : target_memory(), refused);
	return 0;
}

static void on_names(void *ctx, const struct job_process *p,
		     const struct job_names *names, int result)
{
	struct event *e = event_add(names ? 'N' : 'n', p->process.tgid, result);

	(void)ctx;
	NEED(p->process.start_ns == START_NS);
	for (uint32_t i = 0; names && i < names->names.n && i < 4; i++, e->n++) {
		struct symbol_place place = frame_names_place(&names->names, i);

		snprintf(e->name[i], NAMES_ROOM, "%s", place.name);
		snprintf(e->file[i], NAMES_ROOM, "%s", place.file);
		e->line[i] = place.line;
	}
}

static void on_pending(void *ctx, uint32_t number)
{
	(void)ctx;
	NEED(number >= 5);
}

static bool on_keep(void *ctx, uint32_t i, int fd)
{
	(void)ctx;
	(void)i;
	(void)fd;
	return false;
}

static bool on_room(void *ctx, uint32_t i, size_t len)
{
	(void)ctx;
	return i == 0 && len > 0;
}

static const struct jobs_ops ops = {
	on_exe, on_meant, on_table, on_no_table, on_debug, on_offence,
	on_memory, on_names, on_pending, on_keep, on_room, NULL, NULL, NULL,
};

static struct cpu_share share;

static bool one_tick;		/* the loop ends at the next one */

static int on_timer(struct ev_source *src, uint32_t what)
{
	uint64_t n;

	(void)what;
	if (read(src->fd, &n, sizeof(n)) == (ssize_t)sizeof(n))
		jobs_tick(&jobs, now_ns());
	if (one_tick)
		evloop_stop(&loop);
	return 0;
}

static void begin(uint64_t deadline_ns)
{
	struct itimerspec tick = { { 0, TICK_NS }, { 0, TICK_NS } };
	uid_t uid = getuid() == 0 ? OTHER_ID : (uid_t)-1;
	struct zygote_ends ends;

	log_init("jobs", false);
	target = target_start();
	NEED(zygote_start(uid, (gid_t)uid, -1, &ends) == 0);
	NEED(evloop_init(&loop) == 0);
	jobs.deadline_ns = deadline_ns;
	cpu_share_init(&share, 1000, now_ns());
	jobs.share = &share;
	NEED(jobs_init(&jobs, &loop, &stats, &ops, NULL, &ends) == 0);
	timer = (struct ev_source){
		timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK),
		on_timer,
	};
	NEED(timerfd_settime(timer.fd, 0, &tick, NULL) == 0);
	NEED(evloop_add(&loop, &timer, EPOLLIN) == 0);
}

static void end(void)
{
	kill(target, SIGKILL);
	NEED(waitpid(target, NULL, 0) == target);
	/* who asked for nothing has used nothing up */
	CHECK_EQ(jobs.queues[JOB_PROCESS].asks.n, asked);
	jobs_fini(&jobs);
	evloop_fini(&loop);
}

/* Until there have been so many events. */
static void wait_for(uint32_t n)
{
	until = n;
	loop.stop = false;
	if (n_events < n)
		NEED(evloop_run(&loop) == 0);
	NEED(n_events == n);
}

/* Until the next tick. */
static void tick(void)
{
	one_tick = true;
	loop.stop = false;
	NEED(evloop_run(&loop) == 0);
	one_tick = false;
}

static uint32_t owner;		/* of what is added */

static int add_of(uint32_t tgid, uint64_t start_ns, uint32_t runtime,
		  const uint64_t *words, size_t n)
{
	struct visit_question q = {
		.process = { start_ns, tgid, 0 }, .words = words, .n = n, .fd = -1,
		.runtime = runtime, .owner = owner,
	};

	return jobs_add_process(&jobs, &q);
}

/* A perf map that is there: whose offsets in fd are asked for. */
static int add_given(uint32_t tgid, int fd)
{
	uint64_t word = FRAME_ANON_WORD(8);
	struct visit_question q = {
		.process = { START_NS, tgid, 0 }, .words = &word, .n = 1, .fd = fd,
		.runtime = RUNTIME_NONE, .owner = owner,
	};

	return jobs_add_process(&jobs, &q);
}

static int add(uint32_t tgid, const uint64_t *words, size_t n)
{
	return add_of(tgid, START_NS, RUNTIME_GO, words, n);
}

static struct event *visit(uint32_t tgid, uint64_t word)
{
	uint32_t n = n_events;

	NEED(add(tgid, &word, 1) == 0);
	wait_for(n + 1);
	return &events[n];
}

/* --- the tests ---------------------------------------------------------------- */

TEST(names_come_from_a_live_process)
{
	uint64_t words[] = {
		string_at(0, "alpha"), 0, string_at(1, "beta"), LINE,
		FRAME_ANON_WORD(8),
	};
	struct event *e = events;

	words[1] = FRAME_WITH_MORE(FRAME_ANON_WORD(16), 0);
	words[2] = FRAME_WITH_MORE(words[2], 1);
	begin(JOB_DEADLINE_NS);
	NEED(add(4711, words, 5) == 0);
	wait_for(1);
	NEED(e->kind == 'N' && e->number == 4711 && e->n == 4);
	CHECK_STR(e->name[0], "alpha");
	CHECK_STR(e->name[1], "");	/* nothing is mapped there */
	CHECK_STR(e->name[2], "beta");
	CHECK_STR(e->file[2], "file.x");
	CHECK_EQ(e->line[2], LINE);
	CHECK_STR(e->name[3], "");
	/* and again: no visit is the last */
	for (int i = 0; i < 10; i++)
		CHECK_STR(visit(4711, words[0])->name[0], "alpha");
	CHECK_EQ(stats.worker_jobs, 11);
	CHECK_EQ(stats.worker_deaths + offences, 0);
	end();
}

TEST(a_worker_cannot_write_the_process)
{
	uint64_t word = string_at(0, "!write");

	begin(JOB_DEADLINE_NS);
	CHECK_STR(visit(1, word)->name[0], "read only");
	end();
}

TEST(a_process_that_ends_has_no_names)
{
	uint64_t word = string_at(0, "alpha");
	int fd;

	begin(JOB_DEADLINE_NS);
	silent = true;
	NEED(add(1, &word, 1) == 0);
	fd = target_memory();
	kill(target, SIGKILL);
	NEED(waitid(P_PID, (id_t)target, NULL, WEXITED | WNOWAIT) == 0);
	jobs_memory(&jobs, last_question, fd, 0);
	wait_for(1);
	NEED(events[0].kind == 'N' && events[0].n == 1);
	CHECK_STR(events[0].name[0], "");
	end();
}

/* Not the executable, and no other process. */
TEST(a_process_that_kills_its_worker_is_quarantined)
{
	uint64_t die = string_at(0, "!die"), good = string_at(1, "alpha");
	struct event *e;

	begin(JOB_DEADLINE_NS);
	e = visit(1, die);
	NEED(e->kind == 'n' && e->result == JOB_KILLED);
	NEED(add(1, &good, 1) == -EPERM);
	NEED(!exe.quarantined);
	CHECK_STR(visit(2, good)->name[0], "alpha");
	CHECK_EQ(stats.worker_deaths, 1);
	NEED(add_of(1, START_NS + 1, RUNTIME_GO, &good, 0) == -EINVAL);
	/* others push it out of the list */
	for (uint32_t i = 0; i < JOBS_QUARANTINE; i++) {
		n_events = 0;
		e = visit(100 + i, die);
		NEED(e->result == JOB_KILLED);
	}
	NEED(add(100, &good, 1) == -EPERM);
	n_events = 0;
	CHECK_STR(visit(1, good)->name[0], "alpha");
	end();
}

/* What was queued before does not kill another worker. */
TEST(quarantine_holds_for_what_is_queued)
{
	uint64_t die = string_at(0, "!die"), good = string_at(1, "alpha");

	begin(JOB_DEADLINE_NS);
	silent = true;
	NEED(add(90, &good, 1) == 0);	/* one slot waits all the while */
	silent = false;
	NEED(add(1, &die, 1) == 0);
	NEED(add(1, &die, 1) == 0);
	NEED(add(2, &good, 1) == 0);
	wait_for(3);
	NEED(events[0].number == 1 && events[0].result == JOB_KILLED);
	for (int i = 1; i < 3; i++)
		NEED(events[i].number == 2 ? events[i].kind == 'N' :
					     events[i].result == -EPERM);
	CHECK_EQ(stats.worker_deaths, 1);
	end();
}

/* More of a user than he may ask for in a second: none of these is asked, so all end. */
TEST(what_cannot_be_asked_is_charged_to_nobody)
{
	uint64_t good = string_at(0, "alpha");

	begin(JOB_DEADLINE_NS);
	unsent = true;
	for (uint32_t i = 0; i < JOB_ASKS; i++) {
		NEED(add(1 + i, &good, 1) == 0);
		NEED(n_events == i + 1 && events[i].result == -EPIPE);
	}
	unsent = false;
	CHECK_STR(visit(100, good)->name[0], "alpha");
	end();
}

TEST(a_worker_that_hangs_is_killed)
{
	uint64_t hang = string_at(0, "!hang"), good = string_at(1, "alpha");
	uint64_t start;
	struct event *e;

	begin(NSEC_PER_SEC);
	start = now_ns();
	NEED(add(1, &hang, 1) == 0);
	/* the other slot goes on */
	for (uint32_t i = 0; i < 5; i++)
		CHECK_STR(visit(2 + i, good)->name[0], "alpha");
	wait_for(6);
	e = &events[5];
	NEED(e->number == 1 && e->kind == 'n' && e->result == JOB_KILLED);
	NEED(now_ns() - start >= NSEC_PER_SEC);
	NEED(add(1, &good, 1) == -EPERM);
	end();
}

/* Two that hang: the second makes room after the first deadline, and has its
 * turn when the first is killed. */
TEST(slow_jobs_have_one_worker)
{
	uint64_t hang = string_at(0, "!hang"), good = string_at(1, "alpha");
	uint64_t start, each = 3 * NSEC_PER_SEC;

	begin(each);
	start = now_ns();
	NEED(add(1, &hang, 1) == 0);
	NEED(add(2, &hang, 1) == 0);
	for (uint32_t i = 0; i < 5; i++)
		CHECK_STR(visit(3 + i, good)->name[0], "alpha");
	printf("# after %u ms\n",
	       (unsigned int)((now_ns() - start) / NSEC_PER_MSEC));
	NEED(now_ns() - start >= JOB_SHORT_NS && now_ns() - start < each);
	wait_for(6);
	NEED(events[5].number == 1 && events[5].result == JOB_KILLED);
	CHECK_STR(visit(9, good)->name[0], "alpha");
	NEED(now_ns() - start < each + each / 2);
	wait_for(8);
	NEED(events[7].number == 2 && events[7].result == JOB_KILLED);
	NEED(now_ns() - start >= 2 * each);
	CHECK_EQ(stats.worker_deaths, 2);
	CHECK_EQ(stats.worker_jobs, 3 + 6);
	end();
}

/* In a file system of this process alone that does not answer. */
static pid_t mute_page(uint64_t *ret)
{
	char dir[] = "/tmp/trifold-mute-XXXXXX", path[64];
	pid_t server;
	void *page;
	int fd;

	NEED(mkdtemp(dir));
	NEED(unshare(CLONE_NEWNS) == 0);
	NEED(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0);
	server = mute_files("/dev/fuse", dir);
	NEED(server > 0);
	snprintf(path, sizeof(path), "%s/code", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	page = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
	NEED(fd >= 0 && page != MAP_FAILED);
	close(fd);
	NEED(umount2(dir, MNT_DETACH) == 0 && rmdir(dir) == 0);
	*ret = FRAME_ANON_WORD((uintptr_t)page);
	return server;
}

/* Until so many workers are stuck; root's process has its name meanwhile. */
static void until_stuck(uint32_t n, uint64_t good)
{
	owner = 0;
	for (int i = 0; i < 100 && stats.workers_stuck != n; i++) {
		if (n)
			CHECK_STR(visit(8, good)->name[0], "alpha");
		else
			visit(8, good);	/* there is no place yet */
		n_events--;
		tick();
	}
	CHECK_EQ(stats.workers_stuck, n);
}

/* Four processes of a user that cannot be read, and whose workers cannot be killed. */
static void four_that_stick(uint32_t user, uint64_t page)
{
	uint32_t n = n_events;

	owner = user;
	for (uint32_t i = 0; i < 4; i++)
		NEED(add(100 * user + i, &page, 1) == 0);
	wait_for(n + 4);
	for (uint32_t i = 0; i < 4; i++)
		NEED(events[n + i].result == JOB_KILLED || events[n + i].result == -EAGAIN);
	n_events = n;
	printf("# user %u: %llu stuck, %llu refused\n", user,
	       (unsigned long long)stats.workers_stuck,
	       (unsigned long long)stats.hang_refused);
}

/* Other users have their names all the time, root also when every user does this; and
 * when the file system has ended, all have. */
TEST(workers_that_cannot_be_killed_leave_room)
{
	uint64_t good = string_at(0, "alpha"), page;
	int map = memfd_create("map", MFD_CLOEXEC);
	uint32_t n;
	pid_t server;

	if (getuid() || access("/dev/fuse", W_OK)) {
		printf("# FUSE needs root\n");
		exit(TEST_SKIP);
	}
	server = mute_page(&page);
	begin(NSEC_PER_SEC);
	four_that_stick(1, page);
	NEED(stats.workers_stuck <= 3 && stats.hang_refused > 0);
	owner = 50;
	CHECK_STR(visit(7, good)->name[0], "alpha");
	for (uint32_t user = 2; user <= 6; user++)
		four_that_stick(user, page);
	until_stuck(JOB_STUCK_PLACES - 1, good);
	/* what is in a file needs no place */
	owner = 1;
	n = n_events;
	NEED(add_given(13, map) == 0);
	wait_for(n + 1);
	NEED(events[n].result != -EAGAIN);
	owner = 0;
	n = n_events;
	NEED(add(9, &page, 1) == 0 && add(10, &page, 1) == 0);
	wait_for(n + 2);
	NEED(events[n].result == -EAGAIN || events[n + 1].result == -EAGAIN);
	while (!jobs_idle(&jobs)) {
		NEED(visit(11, good)->result == -EAGAIN);	/* no place is left */
		n_events--;
		tick();
	}
	CHECK_EQ(stats.workers_stuck, JOB_STUCK_PLACES);
	NEED(kill(server, SIGKILL) == 0 && waitpid(server, NULL, 0) == server);
	until_stuck(0, good);
	owner = 1;
	CHECK_STR(visit(12, good)->name[0], "alpha");
	owner = 0;
	end();
}

TEST(a_runtime_without_frames_names_none)
{
	uint64_t word = string_at(0, "alpha");

	begin(JOB_DEADLINE_NS);
	NEED(add_of(1, START_NS, RUNTIME__MAX, &word, 1) == 0);
	wait_for(1);
	NEED(events[0].kind == 'n' && events[0].result == JOB_NO_NAMES);
	CHECK_STR(visit(1, word)->name[0], "alpha");
	end();
}

TEST(memory_may_be_refused_or_never_come)
{
	uint64_t word = string_at(0, "alpha"), start = now_ns();
	struct event *e;
	int fd;

	begin(JOB_DEADLINE_NS);
	refused = ESRCH;
	e = visit(1, word);
	NEED(e->kind == 'n' && e->result == -ESRCH);
	refused = 0;
	silent = true;
	e = visit(1, word);
	NEED(e->kind == 'n' && e->result == -ETIMEDOUT);
	NEED(now_ns() - start >= 3 * NSEC_PER_SEC);
	/* it is too late; and the next question is another one */
	fd = target_memory();
	NEED(add(2, &word, 1) == 0);
	jobs_memory(&jobs, last_question - 1, fd, 0);
	NEED(fcntl(fd, F_GETFD) < 0 && errno == EBADF);
	NEED(stats.worker_jobs == 0);
	jobs_memory(&jobs, last_question, target_memory(), 0);
	wait_for(3);
	NEED(events[2].number == 2 && events[2].kind == 'N');
	/* neither was the worker's fault */
	silent = false;
	CHECK_STR(visit(1, word)->name[0], "alpha");
	end();
}

TEST(only_whole_frames_are_taken)
{
	uint64_t words[JOB_WORDS_MAX + 1] = {
		FRAME_WITH_MORE(FRAME_ANON_WORD(8), FRAME_MORE_MAX),
	};

	begin(JOB_DEADLINE_NS);
	NEED(add(1, words, 0) == -EINVAL);
	NEED(add(1, words, FRAME_MORE_MAX) == -EINVAL);
	NEED(add(1, words, JOB_WORDS_MAX + 1) == -EINVAL);
	NEED(add(1, words, FRAME_MORE_MAX + 1) == 0);
	for (int i = 0; i < JOB_WORDS_MAX; i++)
		words[i] = FRAME_ANON_WORD(8);
	NEED(add(2, words, JOB_WORDS_MAX) == 0);
	wait_for(2);
	NEED(events[0].kind == 'N' && events[1].kind == 'N');
	end();
}

TEST(the_queue_of_processes_is_bounded)
{
	uint64_t word = string_at(0, "alpha");
	int fd = memfd_create("file", MFD_CLOEXEC);

	begin(JOB_DEADLINE_NS);
	silent = true;
	for (int i = 0; i < WORKERS + JOBS_MAX; i++)
		NEED(add(1, &word, 1) == 0);
	NEED(add(1, &word, 1) == -ENOSPC);
	/* files have a queue of their own */
	NEED(jobs_add(&jobs, 5, 0, 0, JOB_TABLE, fd));
	/* the file's turn comes as soon as a slot is free */
	jobs_memory(&jobs, last_question, -1, ESRCH);
	wait_for(2);
	NEED(events[0].kind == 'n' && events[0].result == -ESRCH);
	NEED(events[1].kind == 'T' && events[1].number == 5);
	end();
}

TEST(the_two_kinds_take_turns)
{
	static const char want[] = "nTNTNTNTTT";
	uint64_t word = string_at(0, "alpha"), question;
	char got[sizeof(want)] = "";

	begin(JOB_DEADLINE_NS);
	silent = true;
	/* one slot waits all the while, the other until all are queued */
	NEED(add(90, &word, 1) == 0);
	NEED(add(91, &word, 1) == 0);
	question = last_question;
	silent = false;
	for (uint32_t i = 0; i < 3; i++)
		NEED(add(10 + i, &word, 1) == 0);
	for (uint32_t i = 0; i < 6; i++)
		NEED(jobs_add(&jobs, 20 + i, 0, 0, JOB_TABLE,
			      memfd_create("file", MFD_CLOEXEC)));
	jobs_memory(&jobs, question, -1, ESRCH);
	wait_for(sizeof(want) - 1);
	got[0] = events[0].kind;
	for (uint32_t i = 1, file = 20, process = 10; i < n_events; i++) {
		got[i] = events[i].kind;
		NEED(events[i].number == (got[i] == 'T' ? file++ : process++));
	}
	CHECK_STR(got, want);
	end();
}
