// SPDX-License-Identifier: Apache-2.0
/*
 * When programs are started, restarted and ended, with a supervisor and a clock
 * made up: programs do as script[] says, and time passes as a test lets it.
 */
#include "cli/front/phases.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/unit/harness.h"

#define MS	1000000ULL
#define START	(1000 * NSEC_PER_SEC)

TEST(backoff_doubles_to_five_seconds)
{
	static const uint64_t want[] = { 100, 200, 400, 800, 1600, 3200, 5000,
					 5000 };
	uint64_t backoff = 0;

	for (int i = 0; i < 8; i++)
		CHECK_EQ(phases_backoff(&backoff, 9999 * MS, false),
			 want[i] * MS);
	CHECK_EQ(phases_backoff(&backoff, 10000 * MS, false), 100 * MS);
	CHECK_EQ(phases_backoff(&backoff, 0, false), 200 * MS);
}

TEST(backoff_of_one_that_had_come_up_ends_at_a_second)
{
	static const uint64_t want[] = { 100, 200, 400, 800, 1000, 1000 };
	uint64_t backoff = 0;

	for (int i = 0; i < 6; i++)
		CHECK_EQ(phases_backoff(&backoff, 1999 * MS, true),
			 want[i] * MS);
	CHECK_EQ(phases_backoff(&backoff, 1999 * MS, false), 2000 * MS);
	CHECK_EQ(phases_backoff(&backoff, 1999 * MS, true), 1000 * MS);
	CHECK_EQ(phases_backoff(&backoff, 2000 * MS, true), 100 * MS);
}

/* --- the supervisor and its programs --------------------------------------------- */

static struct {
	int deaths_before;	/* so many die before they are ready */
	bool silent;		/* never ready */
	bool stubborn;		/* does not mind any signal but SIGKILL */
	bool waits;		/* nor that, while the kernel waits for a disk */
	int refused;		/* so many starts fail */
} script[PROGRAM__COUNT];

static struct phases p;
static struct plan plan;
static struct console console;
static struct orders orders;
static uint64_t now = START;
static int starts[PROGRAM__COUNT];
static bool runs[PROGRAM__COUNT];
static struct tell told[64];
static int n_told, peer[PROGRAM__COUNT], feeds, writes, failing_write, samples;
static bool loader_up = true;
static uint64_t wrote_start, wrote_end;
static char said[4096], order[512];	/* "s2 t2": started, SIGTERM */

static void note(char what, enum program id)
{
	snprintf(order + strlen(order), sizeof(order) - strlen(order), "%c%d ",
		 what, id);
}

static int when(const char *what)
{
	const char *at = strstr(order, what);

	return at ? (int)(at - order) : -1;
}

static void die(enum program id, int status)
{
	told[n_told++] = (struct tell){ .kind = TELL_DIED, .program = id,
					.value = status };
	runs[id] = false;
}

pid_t orders_start(struct orders *o, enum program id, const struct plan *pl,
		   const int *fds, int n)
{
	CHECK(o == &orders && pl == &plan && !runs[id]);
	if (script[id].refused-- > 0)
		return -EAGAIN;
	script[id].refused = 0;
	peer[id] = n ? dup(fds[0]) : -1;
	note('s', id);
	runs[id] = true;
	starts[id]++;
	if (starts[id] <= script[id].deaths_before)
		die(id, 3 << 8);
	return 100 * (id + 1) + starts[id];
}

void orders_signal(struct orders *o, enum program id, int sig)
{
	CHECK(o == &orders);
	if (!runs[id])
		return;
	note(sig == SIGTERM ? 't' : sig == SIGHUP ? 'h' : sig == SIGKILL ? 'k' :
	     'i', id);
	if (!script[id].waits && (sig == SIGKILL || !script[id].stubborn))
		die(id, sig == SIGKILL ? SIGKILL : 0);
}

int orders_connect(struct orders *o, uid_t *hub_uid)
{
	CHECK(o == &orders);
	*hub_uid = 42;
	return dup(0);
}

void console_pump(struct console *c)
{
	CHECK(c == &console);
}

void console_say(struct console *c, const char *fmt, ...)
{
	va_list ap;

	CHECK(c == &console);
	va_start(ap, fmt);
	vsnprintf(said + strlen(said), sizeof(said) - strlen(said), fmt, ap);
	va_end(ap);
	strcat(said, "\n");
}

/* --- what the phases want --------------------------------------------------------- */

static void want_hub(void *arg, int fd, uid_t uid, bool ready)
{
	CHECK(arg == &p && uid == 42);
	close(fd);
	if (ready && loader_up)
		samples++;		/* as the hub's status will say */
}

static void want_recorder(void *arg, int fd)
{
	CHECK(arg == &p && fd >= 0);
	note('c', PROGRAM_RECORDER);
}

static void want_feed(void *arg, int fd)
{
	CHECK(arg == &p && fd >= 0);
	feeds++;
}

static void want_running(void *arg, uint64_t t)
{
	CHECK(arg == &p && t == now);
	note('r', PROGRAM_FRONT);
}

static void want_ending(void *arg)
{
	CHECK(arg == &p);
	note('e', PROGRAM_FRONT);
}

static int want_write(void *arg, uint64_t start_ns, uint64_t end_ns)
{
	CHECK(arg == &p);
	note('w', PROGRAM_RECORDER);
	writes++;
	wrote_start = start_ns;
	wrote_end = end_ns;
	if (!failing_write && !script[PROGRAM_RECORDER].stubborn)
		die(PROGRAM_RECORDER, 0);
	return failing_write;
}

static const struct phases_ops ops = {
	.hub = want_hub, .recorder = want_recorder, .feed = want_feed,
	.running = want_running, .ending = want_ending, .write = want_write,
};

/* --- time ------------------------------------------------------------------------- */

/* As its READY=1 comes, by whoever sends it. */
static void ready(enum program id)
{
	p.proc[id].ready = p.proc[id].was_ready = true;
}

/* One turn of the front's loop. */
static void turn(void)
{
	for (int i = 0; i <= PROGRAM_RECORDER; i++) {
		if (runs[i] && !script[i].silent)
			ready(i);
	}
	for (int i = 0; i < n_told; i++)
		phases_tell(&p, &told[i], now);
	n_told = 0;
	if (samples) {
		samples = 0;
		phases_run(&p, now);
	}
	phases_advance(&p, now);
}

/* So long, ms, or until it has ended. */
static void pass(uint64_t ms)
{
	uint64_t end = now + ms * MS;

	while (now < end && p.phase != PHASE_ENDED) {
		int wait = n_told || samples ? 0 : phases_timeout_ms(&p, now);

		CHECK(wait >= 0);
		/* what the programs do wakes it up, too */
		now += (uint64_t)(wait < 10 ? wait : 10) * MS;
		if (!wait && !n_told && !samples)
			now += MS / 10;
		turn();
	}
}

static void begin(uint32_t flags, uint64_t duration_ms)
{
	plan_init(&plan);
	plan.flags = flags;
	plan.duration_ms = duration_ms;
	p = (struct phases){ .plan = &plan, .orders = &orders, .ops = &ops,
			     .console = &console, .arg = &p, .notify = -1,
			     .tty = -1 };
	phases_begin(&p, now);
}

static void get_signal(int sig, bool by_kernel)
{
	told[n_told++] = (struct tell){ .kind = TELL_SIGNAL, .value = sig,
					.by_kernel = by_kernel };
	turn();
}

static void ended(bool failed, int status)
{
	CHECK_EQ(p.phase, PHASE_ENDED);
	CHECK_EQ(p.failed, failed);
	CHECK_EQ(p.status, status);
	for (int i = 0; i < PROGRAM__COUNT; i++)
		CHECK(!runs[i]);
}

TEST(all_end_in_the_order_of_the_stream)
{
	begin(PLAN_PAGE, 500);
	pass(100000);
	ended(false, 0);
	CHECK_STR(said, "");
	CHECK_STR(order, "s0 s1 s2 s3 r7 e7 t2 t0 t1 t3 ");
	CHECK(now - START >= 500 * MS && now - START < 1000 * MS);
}

TEST(without_a_page_there_is_no_viewer)
{
	begin(0, 0);
	pass(1000);
	CHECK_EQ(p.phase, PHASE_RUNNING);
	CHECK_EQ(starts[PROGRAM_VIEWER], 0);
	phases_end(&p, now);
	pass(1000);
	ended(false, 0);
}

TEST(one_that_dies_is_started_again)
{
	script[PROGRAM_EXPORTER].deaths_before = 2;
	script[PROGRAM_EXPORTER].silent = true;
	begin(0, 0);
	pass(1000);
	CHECK_EQ(starts[PROGRAM_EXPORTER], 3);
	CHECK(strstr(said, "trifold-exporterd exited with status 3; "
		     "restarting in 0.1 s\n"));
	CHECK(strstr(said, "trifold-exporterd exited with status 3; "
		     "restarting in 0.2 s\n"));
	script[PROGRAM_EXPORTER].silent = false;
	pass(1000);
	CHECK_EQ(p.phase, PHASE_RUNNING);
	/* once it was ready, any number of times */
	for (int i = 0; i < 8; i++) {
		die(PROGRAM_LOADER, SIGKILL);
		pass(1100);	/* so it lives less than 2 s */
		CHECK(runs[PROGRAM_LOADER]);
	}
	CHECK_EQ(starts[PROGRAM_LOADER], 9);
	CHECK_EQ(starts[PROGRAM_HUB], 1);
	/* also before it is ready again */
	script[PROGRAM_LOADER].silent = true;
	for (int i = 0; i < 4; i++) {
		die(PROGRAM_LOADER, SIGKILL);
		pass(5000);
		CHECK(runs[PROGRAM_LOADER]);
	}
	CHECK(!strstr(said, "giving up"));
	CHECK(strstr(said, "trifold-loaderd was killed by signal 9 (Killed); "
		     "restarting in 1.0 s\n"));
}

TEST(what_cannot_be_started_is_tried_again)
{
	script[PROGRAM_HUB].refused = 2;
	begin(0, 0);
	pass(1000);
	CHECK_EQ(p.phase, PHASE_RUNNING);
	CHECK(strstr(said, "trifold-symbolizerd cannot be started: "));
}

TEST(three_deaths_are_the_end)
{
	script[PROGRAM_LOADER].silent = true;
	script[PROGRAM_LOADER].deaths_before = 9;
	begin(0, 0);
	pass(10000);
	ended(true, 0);
	CHECK_EQ(starts[PROGRAM_LOADER], 3);
	CHECK(strstr(said, "trifold-loaderd exited with status 3; failed three "
		     "times; giving up\n"));
}

TEST(one_that_is_never_ready_is_named)
{
	script[PROGRAM_LOADER].silent = true;
	begin(0, 0);
	pass(59000);
	CHECK_EQ(p.phase, PHASE_STARTING);
	pass(3000);
	ended(true, 0);
	CHECK_STR(said, "trifold-loaderd is not ready after 60 s\n");
}

TEST(loaderd_must_sample)
{
	loader_up = false;
	begin(0, 0);
	pass(59000);
	CHECK_EQ(p.phase, PHASE_STARTING);
	pass(3000);
	ended(true, 0);
}

TEST(one_that_does_not_end_is_killed)
{
	script[PROGRAM_LOADER].stubborn = true;
	begin(0, 100);
	pass(20000);
	ended(false, 0);
	CHECK(when("t2 ") >= 0 && when("k2 ") > when("t2 "));
	CHECK(when("t1 ") > when("k2 "));
	CHECK(strstr(said, "trifold-loaderd (pid 301) does not end: sending "
		     "SIGKILL\n"));
}

TEST(a_signal_ends_it_and_a_second_one_at_once)
{
	begin(0, 0);
	pass(1000);
	get_signal(SIGTERM, false);
	pass(1000);
	ended(false, 0);
	CHECK_STR(said, "");

	script[PROGRAM_LOADER].stubborn = true;
	begin(0, 0);
	pass(1000);
	get_signal(SIGINT, true);
	CHECK(when("k0 ") < 0);
	get_signal(SIGINT, true);
	pass(1000);
	ended(true, 0);
	CHECK(when("k0 ") > 0);
	CHECK_STR(said, "stopping now: samples under way are not waited for\n");
}

TEST(who_ends_a_recording_at_once_is_told_that_there_is_none)
{
	script[PROGRAM_LOADER].stubborn = true;
	begin(PLAN_RECORD, 0);
	pass(1000);
	get_signal(SIGINT, true);
	get_signal(SIGINT, true);
	CHECK_STR(said, "stopping now: the recording is given up\n");
	pass(1000);
	ended(true, 0);
	CHECK(p.unwritten);
	script[PROGRAM_LOADER].stubborn = false;
	begin(PLAN_RECORD, 500);
	pass(100000);
	ended(false, 0);
	CHECK(!p.unwritten);
	begin(PLAN_RECORD, 0);
	pass(1000);
	die(PROGRAM_RECORDER, 1 << 8);
	pass(1000);
	ended(true, 0);
	CHECK(p.unwritten);
}

TEST(a_signal_before_the_start_is_a_failure)
{
	script[PROGRAM_HUB].silent = true;
	begin(0, 0);
	pass(100);
	get_signal(SIGINT, true);
	pass(1000);
	ended(true, 0);
	CHECK_STR(said, "stopped before it sampled\n");
}

TEST(it_sleeps_until_something_is_due)
{
	begin(0, 0);
	p.deadline_ns = now + 3 * MS / 2;
	CHECK_EQ(phases_timeout_ms(&p, now), 0);	/* nothing was started yet */
	phases_advance(&p, now);
	/* rounded up: what is not due yet would make it turn in vain */
	CHECK_EQ(phases_timeout_ms(&p, now), 2);
	CHECK_EQ(phases_timeout_ms(&p, now + MS), 1);
	CHECK_EQ(phases_timeout_ms(&p, now + 2 * MS), 0);
}

/* --- the recorder and the command ------------------------------------------- */

TEST(the_recorder_is_first_and_writes_last)
{
	begin(PLAN_RECORD, 500);
	CHECK_STR(order, "s4 c4 ");
	pass(100000);
	ended(false, 0);
	CHECK_EQ(feeds, 1);
	CHECK(when("w4 ") > when("t1 "));
	CHECK(wrote_start && wrote_end >= wrote_start);
	/* exporterd has a socket of its own, and so has its successor */
	begin(PLAN_RECORD, 0);
	pass(1000);
	die(PROGRAM_EXPORTER, SIGKILL);
	pass(1000);
	CHECK(peer[PROGRAM_EXPORTER] >= 0);
	CHECK_EQ(feeds, 3);
}

TEST(a_recording_that_never_began_leaves_no_file)
{
	script[PROGRAM_LOADER].silent = true;
	begin(PLAN_RECORD, 500);
	pass(100000);
	ended(true, 0);
	CHECK_EQ(writes, 0);
	CHECK(when("t4 ") > 0);
}

TEST(a_recorder_that_does_not_listen_or_dies_is_a_failure)
{
	failing_write = -EPIPE;
	begin(PLAN_RECORD, 500);
	pass(100000);
	CHECK(when("t4 ") > 0);
	failing_write = 0;
	begin(PLAN_RECORD, 0);
	pass(1000);
	die(PROGRAM_RECORDER, SIGKILL);
	pass(1000);
	ended(true, 0);
	CHECK_STR(said, "the recorder was killed by signal 9 (Killed)\n");
	/* by SIGTERM, then by SIGKILL */
	script[PROGRAM_RECORDER].stubborn = true;
	begin(PLAN_RECORD, 100);
	pass(100000);
	ended(true, 0);
	CHECK(strstr(said, "the recorder (pid 503) does not end: sending "
		     "SIGTERM\nthe recorder (pid 503) does not end: sending "
		     "SIGKILL\n"));
}

/* `record --output - | less`. */
TEST(who_reads_standard_output_takes_its_time)
{
	script[PROGRAM_RECORDER].stubborn = true;
	begin(PLAN_RECORD | PLAN_PIPED, 100);
	for (int i = 0; i < 5; i++)
		pass(100000);
	CHECK_EQ(p.phase, PHASE_END_RECORDER);
	CHECK_STR(said, "");
	CHECK_EQ(when("t4 "), -1);
	die(PROGRAM_RECORDER, 0);
	pass(100);
	ended(false, 0);
	/* until it is asked twice to end */
	begin(PLAN_RECORD | PLAN_PIPED, 100);
	pass(100000);
	get_signal(SIGINT, true);
	pass(100000);
	ended(true, 0);
	script[PROGRAM_RECORDER].stubborn = false;
}

static bool command_began(void)
{
	char c;

	return recv(peer[PROGRAM_LAUNCHER], &c, 1, MSG_DONTWAIT) == 1;
}

TEST(the_command_gives_the_exit_status)
{
	begin(PLAN_COMMAND | PLAN_BELOW, 0);
	CHECK_STR(order, "s6 ");
	CHECK(!command_began());
	pass(1000);
	CHECK(command_began());
	CHECK_STR(plan_next(&plan, PROGRAM_LOADER, NULL), "--filter-below=701");
	die(PROGRAM_LAUNCHER, 7 << 8);
	pass(1000);
	ended(false, 7);
	begin(PLAN_COMMAND, 0);
	CHECK(!plan_next(&plan, PROGRAM_LOADER, NULL));
	pass(1000);
	die(PROGRAM_LAUNCHER, SIGKILL);
	pass(1000);
	ended(false, 137);
}

TEST(the_command_ends_first)
{
	script[PROGRAM_LAUNCHER].stubborn = true;
	begin(PLAN_COMMAND, 0);
	pass(1000);
	get_signal(SIGINT, false);
	pass(100);
	CHECK(when("i6 ") > 0 && when("t2 ") < 0);
	pass(6000);
	CHECK(when("t6 ") > 0 && when("t2 ") < 0);
	pass(6000);
	CHECK(when("k6 ") > 0);
	/* what it ran until then was sampled, and is in the time */
	CHECK(when("e7 ") > when("k6 ") && when("e7 ") < when("t2 "));
	CHECK(strstr(said, "the command (below pid 701) does not end: sending "
		     "SIGTERM\n"));
	pass(1000);
	CHECK_EQ(p.phase, PHASE_ENDED);
	/* Ctrl-C it has itself */
	begin(PLAN_COMMAND, 0);
	pass(1000);
	order[0] = '\0';
	get_signal(SIGINT, true);
	pass(100);
	CHECK_STR(order, "");
	die(PROGRAM_LAUNCHER, SIGINT);
	pass(100);
	CHECK(when("e7 ") == 0 && when("t2 ") > 0);
}

TEST(a_command_that_has_not_begun_never_does)
{
	script[PROGRAM_LOADER].silent = true;
	begin(PLAN_COMMAND, 0);
	pass(100);
	get_signal(SIGTERM, false);
	CHECK_EQ(p.go, -1);
	CHECK(!command_began());
	CHECK(when("t6 ") < 0);
	die(PROGRAM_LAUNCHER, 0);
	pass(100);
	ended(true, 0);
}

/* --- reading the configuration again ---------------------------------------- */

TEST(a_reload_replaces_only_who_obeys_it)
{
	int first;

	begin(PLAN_RELOAD, 0);
	pass(1000);
	get_signal(SIGHUP, false);
	CHECK_EQ(starts[PROGRAM_READER], 1);
	CHECK(p.reader >= 0);
	first = p.reader;
	/* another one while it reads: once more when it has */
	get_signal(SIGHUP, false);
	CHECK_EQ(starts[PROGRAM_READER], 1);
	die(PROGRAM_READER, 0);
	turn();
	CHECK_EQ(starts[PROGRAM_READER], 2);
	CHECK(p.reader != first && fcntl(first, F_GETFD) < 0);
	phases_replace(&p, 1u << PROGRAM_EXPORTER, now);
	pass(1000);
	CHECK_EQ(starts[PROGRAM_EXPORTER], 2);
	CHECK_EQ(starts[PROGRAM_LOADER], 1);
	CHECK(when("h1 ") > 0);
	phases_replace(&p, 1u << PROGRAM_LOADER, now);
	pass(1000);
	CHECK_EQ(starts[PROGRAM_LOADER], 2);
	CHECK_STR(said, "");
	CHECK_EQ(p.phase, PHASE_RUNNING);
}

TEST(one_that_does_not_make_room_is_killed)
{
	script[PROGRAM_EXPORTER].stubborn = true;
	begin(PLAN_RELOAD, 0);
	pass(1000);
	phases_replace(&p, 1u << PROGRAM_EXPORTER, now);
	pass(7000);
	CHECK_EQ(starts[PROGRAM_EXPORTER], 1);
	pass(2000);
	CHECK_EQ(starts[PROGRAM_EXPORTER], 2);
	CHECK(strstr(said, "trifold-exporterd (pid 201) does not end: sending "
		     "SIGKILL\n"));
	/* that is said and sent once */
	script[PROGRAM_EXPORTER].waits = true;
	said[0] = '\0';
	phases_replace(&p, 1u << PROGRAM_EXPORTER, now);
	pass(20000);
	CHECK_STR(said, "trifold-exporterd (pid 202) does not end: sending SIGKILL\n");
}

TEST(a_hangup_ends_what_cannot_reload)
{
	begin(0, 0);
	pass(1000);
	p.nohup = true;
	get_signal(SIGHUP, true);
	CHECK_EQ(p.phase, PHASE_RUNNING);
	p.nohup = false;
	get_signal(SIGHUP, true);
	pass(1000);
	ended(false, 0);
	/* a terminal that is gone: this descriptor is none */
	begin(PLAN_RELOAD, 0);
	pass(1000);
	p.tty = dup(0);
	close(p.tty);
	get_signal(SIGHUP, true);
	pass(1000);
	ended(false, 0);
	CHECK_EQ(starts[PROGRAM_READER], 0);
}

/* --- READY=1 ------------------------------------------------------------------- */

TEST(only_a_child_can_say_that_it_is_ready)
{
	int s[2], one = 1;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, s), 0);
	CHECK_EQ(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)),
		 0);
	begin(0, 0);
	p.notify = s[0];
	phases_advance(&p, now);
	CHECK_EQ(send(s[1], "READY=1\n", 8, 0), 8);
	phases_notify(&p);
	CHECK(!p.proc[PROGRAM_HUB].ready);
	p.proc[PROGRAM_HUB].pid = getpid();
	CHECK_EQ(send(s[1], "STATUS=x\n", 9, 0), 9);
	phases_notify(&p);
	CHECK(!p.proc[PROGRAM_HUB].ready);
	CHECK_EQ(send(s[1], "STATUS=x\nREADY=1", 16, 0), 16);
	phases_notify(&p);
	CHECK(p.proc[PROGRAM_HUB].ready && !p.proc[PROGRAM_LOADER].ready);
	phases_notify(&p);		/* nothing more: no harm */
}

TEST(only_the_recorder_can_name_its_writer)
{
	int s[2], one = 1;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, s), 0);
	CHECK_EQ(setsockopt(s[0], SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)), 0);
	begin(0, 0);
	p.notify = s[0];
	p.proc[PROGRAM_HUB].pid = getpid();
	CHECK_EQ(send(s[1], "STATUS=writer 77", 16, 0), 16);
	phases_notify(&p);
	CHECK(!p.writer && !plan_next(&plan, PROGRAM_HUB, NULL));
	p.proc[PROGRAM_RECORDER].pid = getpid();
	CHECK_EQ(send(s[1], "STATUS=writer 78", 16, 0), 16);
	phases_notify(&p);
	CHECK_EQ(p.writer, 78);
	CHECK_STR(plan_next(&plan, PROGRAM_HUB, NULL), "--own=78");
	/* and once */
	CHECK_EQ(send(s[1], "STATUS=writer 79", 16, 0), 16);
	phases_notify(&p);
	CHECK_EQ(p.writer, 78);
}
