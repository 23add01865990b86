// SPDX-License-Identifier: Apache-2.0
/*
 * The state machine of the supervisor, with real children: what is started is
 * a fork of this test that does as script[] says, and the front is one that
 * does as the test says.  Clock and poll run FAST times as fast as they are.
 */
#include "cli/supervisor/supervise.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/supervisor/programs.h"
#include "tests/unit/harness.h"

#define FAST	10
#define MS	1000000ULL
#define ORDER	64

TEST(backoff_doubles_to_five_seconds)
{
	static const uint64_t want[] = { 100, 200, 400, 800, 1600, 3200, 5000,
					 5000 };
	uint64_t backoff = 0;

	for (int i = 0; i < 8; i++)
		CHECK_EQ(supervise_backoff(&backoff, 9999 * MS), want[i] * MS);
	CHECK_EQ(supervise_backoff(&backoff, 10000 * MS), 100 * MS);
	CHECK_EQ(supervise_backoff(&backoff, 0), 200 * MS);
}

/* --- time ------------------------------------------------------------------- */

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int64_t ns;

	if (syscall(SYS_clock_gettime, id, ts))
		return -1;
	ns = (ts->tv_sec % 1000000 * 1000000000 + ts->tv_nsec) * FAST;
	ts->tv_sec = ns / 1000000000;
	ts->tv_nsec = ns % 1000000000;
	return 0;
}

int poll(struct pollfd *p, nfds_t n, int ms)
{
	struct timespec ts = { ms / 1000 / FAST, ms * 1000000LL / FAST %
						 1000000000 };

	return (int)syscall(SYS_ppoll, p, n, ms < 0 ? NULL : &ts, NULL, 0);
}

static void sleep_ms(unsigned int real)
{
	usleep(real * 1000);
}

/* --- what the supervisor starts --------------------------------------------- */

struct script {
	int deaths_before;	/* so many die before they are ready */
	int deaths_after;	/* so many of the next ones afterwards */
	bool silent;		/* never ready */
	bool stubborn;		/* ignores SIGTERM and SIGHUP */
	bool leaves_child;	/* as symbolizerd its zygote */
};
static struct script script[PROGRAM__COUNT];

/* Shared by all processes of a test. */
static struct seen {
	int starts[PROGRAM__COUNT];
	int n;
	struct {
		char what;		/* s: started, t: SIGTERM, h: SIGHUP */
		enum program id;
	} order[ORDER];
	int removed;			/* the runtime directory */
	int readers;
	pid_t recorder;
	struct told done;
} *seen;

static int notify[2];
static pid_t supervisor;

static void note(char what, enum program id)
{
	int i = __atomic_fetch_add(&seen->n, 1, __ATOMIC_SEQ_CST);

	if (i >= ORDER)
		return;
	seen->order[i].id = id;
	__atomic_store_n(&seen->order[i].what, what, __ATOMIC_SEQ_CST);
}

/* Where in the order that is first noted, or -1. */
static int when(char what, enum program id)
{
	for (int i = 0; i < ORDER && i < seen->n; i++) {
		if (seen->order[i].what == what && seen->order[i].id == id)
			return i;
	}
	return -1;
}

static enum program me;

static void on_term(int sig)
{
	note(sig == SIGHUP ? 'h' : 't', me);
	if (!script[me].stubborn)
		_exit(0);
}

static _Noreturn void be(enum program id, int n)
{
	const struct script *s = &script[id];
	struct sigaction sa = { .sa_handler = on_term };
	sigset_t none;

	me = id;
	setsid();
	sigaction(SIGTERM, &sa, NULL);
	sigaction(SIGHUP, &sa, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (n < s->deaths_before)
		_exit(3);
	if (s->leaves_child && fork() == 0) {
		signal(SIGTERM, SIG_IGN);
		sleep_ms(200);
		_exit(0);
	}
	if (!s->silent)
		CHECK(send(notify[1], "READY=1\n", 8, 0) == 8);
	if (n < s->deaths_before + s->deaths_after) {
		sleep_ms(30);
		kill(getpid(), SIGKILL);
	}
	for (;;)
		pause();
}

pid_t program_start(const struct launch *l, enum program id, int fd)
{
	int n = seen->starts[id]++;
	pid_t pid;

	CHECK(fd < 0 || id == PROGRAM_EXPORTER || id == PROGRAM_RECORDER);
	CHECK(l->plan->kind == FRONT_PLAN);
	note('s', id);
	pid = fork();
	if (pid == 0)
		be(id, n);
	if (id == PROGRAM_RECORDER)
		seen->recorder = pid;
	return pid;
}

static void (*front)(int socket);
static void (*reader)(int socket);

pid_t program_start_front(const struct launch *l, enum program id, int socket,
			  int log_pipe)
{
	pid_t pid = fork();

	(void)l;
	if (pid)
		return pid;
	signal(SIGTERM, SIG_IGN);
	if (id == PROGRAM_READER) {
		seen->readers++;
		reader(socket);
		_exit(0);
	}
	dup2(log_pipe, 0);
	front(socket);
	_exit(0);
}

const char *const program_names[PROGRAM__COUNT] = {
	"hub", "exporter", "loader", "viewer", "recorder", "front", "reader",
	"command",
};

int programs_find(const char *libexec, char dir[PATH_MAX])
{
	(void)libexec;
	strcpy(dir, "/nowhere");
	return 0;
}

int identity_find(struct identities *ret)
{
	memset(ret, 1, sizeof(*ret));
	return 0;
}

static int runtime_result;

int runtime_dir_make(struct runtime_dir *d, const struct identities *ids)
{
	int one = 1;

	(void)ids;
	if (runtime_result)
		return runtime_result;
	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM, 0, notify), 0);
	CHECK_EQ(setsockopt(notify[0], SOL_SOCKET, SO_PASSCRED, &one,
			    sizeof(one)), 0);
	d->lock = d->notify = notify[0];
	return 0;
}

void runtime_dir_remove(struct runtime_dir *d)
{
	d->lock = -1;
	seen->removed++;
}

int runtime_dir_connect(void)
{
	return dup(0);
}

/* --- the front, as a test has it -------------------------------------------- */

static struct {
	struct plan p;
	char words[200];
} plan;

static void plan_begin(uint32_t flags)
{
	memset(&plan, 0, sizeof(plan));
	plan.p.kind = FRONT_PLAN;
	plan.p.bytes = sizeof(plan.p);
	plan.p.flags = flags;
}

static void plan_word(const char *word)
{
	strcpy((char *)&plan + plan.p.bytes, word);
	plan.p.bytes += (uint32_t)strlen(word) + 1;
}

static void plan_send(int socket)
{
	CHECK_EQ(send(socket, &plan, plan.p.bytes, MSG_NOSIGNAL), plan.p.bytes);
}

static void front_say(int socket, uint32_t kind)
{
	CHECK_EQ(send(socket, &kind, sizeof(kind), MSG_NOSIGNAL), sizeof(kind));
}

/* The next thing said; its descriptor goes to *fd, if wanted. */
static struct told hear(int socket, int *fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control;
	struct told t = { .kind = 0 };
	struct iovec iov = { &t, sizeof(t) };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
			     .msg_control = &control,
			     .msg_controllen = sizeof(control) };
	const struct cmsghdr *c;
	int got = -1;

	if (recvmsg(socket, &mh, 0) != sizeof(t))
		_exit(9);		/* the supervisor is gone */
	c = CMSG_FIRSTHDR(&mh);
	if (c)
		memcpy(&got, CMSG_DATA(c), sizeof(got));
	if (fd)
		*fd = got;
	else if (got >= 0)
		close(got);
	return t;
}

/* Skip what comes up to that; begin where all are ready. */
static struct told hear_until(int socket, enum told_kind kind)
{
	struct told t;

	do {
		t = hear(socket, NULL);
		if (t.kind == TOLD_HUB && t.ready)
			front_say(socket, FRONT_BEGIN);
	} while (t.kind != kind);
	return t;
}

static void front_end(int socket)
{
	seen->done = hear_until(socket, TOLD_DONE);
}

/* --- running it ------------------------------------------------------------- */

static char said[8192];		/* by the supervisor, on standard error */

static void begin(void (*f)(int))
{
	front = f;
	if (seen)
		munmap(seen, sizeof(*seen));
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(seen != MAP_FAILED);
}

static int err_pipe;

static void start(char *const *argv)
{
	static char *const run[] = { (char *)"/trifold", (char *)"run", NULL };
	int p[2];

	CHECK_EQ(pipe(p), 0);
	fflush(stdout);
	supervisor = fork();
	if (supervisor == 0) {
		dup2(p[1], 2);
		close(p[0]);
		close(p[1]);
		_exit(supervise((char **)(argv ? argv : run)));
	}
	close(p[1]);
	err_pipe = p[0];
}

/* Wait for it; its exit status. */
static int finish(void)
{
	size_t len = 0;
	ssize_t n;
	int status;

	CHECK_EQ(waitpid(supervisor, &status, 0), supervisor);
	while (len < sizeof(said) - 1 &&
	       (n = read(err_pipe, said + len, sizeof(said) - 1 - len)) > 0)
		len += (size_t)n;
	said[len] = '\0';
	close(err_pipe);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int go(void (*f)(int), char *const *argv)
{
	begin(f);
	start(argv);
	return finish();
}

static void wait_running(void)
{
	for (int i = 0; i < 500 && when('r', PROGRAM_FRONT) < 0; i++)
		sleep_ms(10);
	CHECK(when('r', PROGRAM_FRONT) >= 0);
}

/* A front that does all as it should; notes 'r' when it runs. */
static uint32_t flags;
static uint64_t duration_ms;

static void good_front(int socket)
{
	plan_begin(flags);
	plan.p.duration_ms = duration_ms;
	plan_word("0--interval=5");
	plan_send(socket);
	hear_until(socket, TOLD_RUNNING);
	note('r', PROGRAM_FRONT);
	front_end(socket);
}

TEST(all_end_in_the_order_of_the_stream)
{
	duration_ms = 500;
	flags = 0;
	script[PROGRAM_HUB].leaves_child = true;
	CHECK_EQ(go(good_front, NULL), 0);
	CHECK_STR(said, "");
	CHECK(when('s', PROGRAM_HUB) < when('s', PROGRAM_LOADER));
	CHECK_EQ(seen->starts[PROGRAM_VIEWER], 0);
	CHECK(when('t', PROGRAM_LOADER) >= 0);
	CHECK(when('t', PROGRAM_LOADER) < when('t', PROGRAM_HUB));
	CHECK(when('t', PROGRAM_HUB) < when('t', PROGRAM_EXPORTER));
	CHECK_EQ(seen->done.failed, 0);
	/* half a second, on its own clock */
	CHECK(seen->done.end_ns - seen->done.start_ns >= 500 * MS);
	CHECK_EQ(seen->removed, 1);
}

/* Lines of the supervisor come to the front while there is one. */
static void reading_front(int socket)
{
	char buf[4096];
	ssize_t n;

	good_front(socket);
	n = read(0, buf, sizeof(buf));
	if (n > 0)
		CHECK_EQ(write(2, buf, (size_t)n), n);
}

TEST(one_that_dies_is_started_again)
{
	duration_ms = 4000;
	flags = 0;
	script[PROGRAM_LOADER].deaths_after = 2;
	script[PROGRAM_EXPORTER].deaths_before = 2;
	CHECK_EQ(go(reading_front, NULL), 0);
	CHECK_EQ(seen->starts[PROGRAM_LOADER], 3);
	CHECK_EQ(seen->starts[PROGRAM_EXPORTER], 3);
	CHECK_EQ(seen->starts[PROGRAM_HUB], 1);
	CHECK(strstr(said, "loader was killed by signal 9 (Killed); it is "
		     "started again in 0.1 s\n"));
	CHECK(strstr(said, "exporter exited with status 3; it is started again "
		     "in 0.2 s\n"));
}

static void patient_front(int socket)
{
	char buf[4096];
	ssize_t n;

	plan_begin(flags);
	plan_send(socket);
	seen->done = hear_until(socket, TOLD_DONE);
	n = read(0, buf, sizeof(buf));
	if (n > 0)
		CHECK_EQ(write(2, buf, (size_t)n), n);
}

TEST(what_went_wrong_is_said)
{
	flags = 0;
	script[PROGRAM_LOADER].deaths_before = 9;
	CHECK_EQ(go(patient_front, NULL), 1);
	CHECK_EQ(seen->done.failed, 1);
	CHECK_EQ(seen->starts[PROGRAM_LOADER], 3);
	CHECK_EQ(seen->removed, 1);
	CHECK(strstr(said, "loader exited with status 3; failed three times; "
		     "giving up\n"));
	script[PROGRAM_LOADER].deaths_before = 0;
	script[PROGRAM_LOADER].silent = true;
	CHECK_EQ(go(patient_front, NULL), 1);
	CHECK(strstr(said, "loader is not ready after 20 s\n"));
	CHECK(!strstr(said, "hub is not ready"));
	runtime_result = -EBUSY;
	CHECK_EQ(go(patient_front, NULL), 1);
	CHECK_EQ(seen->starts[PROGRAM_HUB], 0);
	CHECK_EQ(seen->removed, 0);
}

TEST(one_that_does_not_end_is_killed)
{
	duration_ms = 100;
	flags = 0;
	script[PROGRAM_LOADER].stubborn = true;
	CHECK_EQ(go(reading_front, NULL), 0);
	CHECK(strstr(said, "loader (pid ") && strstr(said, "sending SIGKILL\n"));
	CHECK(when('t', PROGRAM_EXPORTER) >= 0);
}

TEST(a_signal_ends_it_and_a_second_one_at_once)
{
	duration_ms = 0;
	flags = 0;
	begin(good_front);
	start(NULL);
	wait_running();
	kill(supervisor, SIGTERM);
	CHECK_EQ(finish(), 0);
	CHECK(when('t', PROGRAM_EXPORTER) >= 0);

	script[PROGRAM_LOADER].stubborn = true;
	begin(good_front);
	start(NULL);
	wait_running();
	kill(supervisor, SIGINT);
	for (int i = 0; i < 200 && when('t', PROGRAM_LOADER) < 0; i++)
		sleep_ms(5);
	kill(supervisor, SIGINT);
	CHECK_EQ(finish(), 1);
	CHECK_EQ(seen->done.failed, 1);
	CHECK(when('t', PROGRAM_HUB) < 0);	/* killed, not asked */
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

/* --- the recorder and the command ------------------------------------------- */

static int recorder_control = -1;

static void recording_front(int socket)
{
	struct told t;
	int fd, feeds = 0;

	plan_begin(flags);
	plan.p.duration_ms = duration_ms;
	plan_send(socket);
	do {
		t = hear(socket, &fd);
		if (t.kind == TOLD_RECORDER)
			recorder_control = fd;
		else if (t.kind == TOLD_FEED)
			feeds++;
		else if (t.kind == TOLD_HUB && t.ready)
			front_say(socket, FRONT_BEGIN);
		if (t.kind == TOLD_WRITE) {
			CHECK(feeds > 0 && recorder_control >= 0 && t.start_ns &&
			      t.end_ns >= t.start_ns);
			note('w', PROGRAM_RECORDER);
			kill(seen->recorder, SIGTERM);	/* it has written */
		}
	} while (t.kind != TOLD_DONE);
	seen->done = t;
}

TEST(the_recorder_is_first_and_writes_last)
{
	duration_ms = 100;
	flags = PLAN_RECORD;
	CHECK_EQ(go(recording_front, NULL), 0);
	CHECK_EQ(when('s', PROGRAM_RECORDER), 0);
	CHECK(when('w', PROGRAM_RECORDER) > when('t', PROGRAM_EXPORTER));
}

TEST(the_command_gives_the_exit_status)
{
	char *argv[] = { (char *)"/trifold", (char *)"record", (char *)"--",
			 (char *)"/bin/sh", (char *)"-c", (char *)"exit 7",
			 NULL };

	duration_ms = 0;
	flags = PLAN_COMMAND | PLAN_BELOW;
	CHECK_EQ(go(good_front, argv), 7);
	CHECK_EQ(seen->done.failed, 0);
	argv[5] = (char *)"kill -9 $$";
	CHECK_EQ(go(good_front, argv), 137);
	/* a plan with a command where the user gave none */
	argv[2] = NULL;
	CHECK_EQ(go(good_front, argv), 1);
	CHECK_EQ(seen->starts[PROGRAM_HUB], 0);
}

/* --- reading the configuration again ---------------------------------------- */

static void reload_reader(int socket)
{
	CHECK_EQ(send(socket, "conf", 4, MSG_NOSIGNAL), 4);
}

static void reload_front(int socket)
{
	struct told t;
	int fd;

	plan_begin(PLAN_RELOAD);
	plan_send(socket);
	hear_until(socket, TOLD_RUNNING);
	note('r', PROGRAM_FRONT);
	do {
		t = hear(socket, &fd);
		if (t.kind == TOLD_RELOAD) {
			char text[8] = "";

			CHECK_EQ(recv(fd, text, 4, 0), 4);
			CHECK_STR(text, "conf");
			plan.p.replace = 1u << PROGRAM_EXPORTER;
			plan_send(socket);
			note('p', PROGRAM_FRONT);
		}
		if (fd >= 0)
			close(fd);
	} while (t.kind != TOLD_DONE);
	seen->done = t;
}

TEST(a_reload_replaces_only_who_obeys_it)
{
	reader = reload_reader;
	begin(reload_front);
	start(NULL);
	wait_running();
	kill(supervisor, SIGHUP);
	for (int i = 0; i < 200 && seen->starts[PROGRAM_EXPORTER] < 2; i++)
		sleep_ms(5);
	CHECK_EQ(seen->starts[PROGRAM_EXPORTER], 2);
	CHECK_EQ(seen->starts[PROGRAM_LOADER], 1);
	CHECK(when('h', PROGRAM_EXPORTER) >= 0);
	CHECK_EQ(seen->readers, 1);
	kill(supervisor, SIGTERM);
	CHECK_EQ(finish(), 0);
	CHECK_STR(said, "");
}

TEST(one_that_does_not_make_room_is_killed)
{
	reader = reload_reader;
	script[PROGRAM_EXPORTER].stubborn = true;
	begin(reload_front);
	start(NULL);
	wait_running();
	kill(supervisor, SIGHUP);
	for (int i = 0; i < 400 && seen->starts[PROGRAM_EXPORTER] < 2; i++)
		sleep_ms(5);
	CHECK_EQ(seen->starts[PROGRAM_EXPORTER], 2);
	kill(supervisor, SIGTERM);
	CHECK_EQ(finish(), 0);
}

/* --- a front in an attacker's hand ------------------------------------------ */

static const void *evil;
static size_t evil_len;
static int evil_fds;

static void evil_send(int socket)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(8 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)evil, evil_len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };
	size_t len = (size_t)evil_fds * sizeof(int);

	if (evil_fds) {
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(len);
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(len);
	}
	if (sendmsg(socket, &mh, MSG_NOSIGNAL) < 0)
		_exit(8);
}

/* As the first message; then it waits to be killed. */
static void evil_first(int socket)
{
	evil_send(socket);
	for (;;)
		pause();
}

/* Once it runs. */
static void evil_later(int socket)
{
	plan_begin(flags);
	plan_send(socket);
	hear_until(socket, TOLD_RUNNING);
	evil_send(socket);
	for (;;)
		pause();
}

static void refused(void (*f)(int), const void *bytes, size_t len, int fds)
{
	evil = bytes;
	evil_len = len;
	evil_fds = fds;
	CHECK_EQ(go(f, NULL), 1);
	CHECK(strstr(said, "the front says what it must not: it is killed\n"));
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

TEST(every_malformed_message_is_refused)
{
	static const char big[PLAN_BYTES_MAX + 1];
	static const uint32_t words[] = { 0, FRONT_BEGIN, FRONT_END, 4, ~0u };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		refused(evil_first, &words[i], sizeof(words[i]), 0);
	for (size_t i = 1; i < sizeof(struct plan); i += 5)
		refused(evil_first, big, i, 0);
	refused(evil_first, big, sizeof(big), 0);
	plan_begin(PLAN__FLAGS + 1);
	refused(evil_first, &plan, plan.p.bytes, 0);
	plan_begin(0);
	refused(evil_first, &plan, plan.p.bytes - 1, 0);
	refused(evil_first, &plan, plan.p.bytes + 1, 0);
	plan.p.replace = 1;
	refused(evil_first, &plan, plan.p.bytes, 0);
	plan_begin(0);
	plan.p.duration_ms = PLAN_DURATION_MAX_MS + 1;
	refused(evil_first, &plan, plan.p.bytes, 0);
	plan_begin(0);
	plan_word("2--frequency=19");
	plan.p.bytes--;			/* no end of the string */
	refused(evil_first, &plan, plan.p.bytes, 0);
	plan_begin(0);
	plan_word("2--uid=0");
	refused(evil_first, &plan, plan.p.bytes, 0);
	/* descriptors that nobody asked for, and a page without any */
	plan_begin(0);
	refused(evil_first, &plan, plan.p.bytes, 1);
	plan_begin(PLAN_PAGE);
	refused(evil_first, &plan, plan.p.bytes, 0);
	refused(evil_first, &plan, plan.p.bytes, 3);
	CHECK_EQ(seen->starts[PROGRAM_HUB], 0);
}

TEST(nothing_comes_out_of_turn)
{
	static const uint32_t begin_word = FRONT_BEGIN;

	flags = 0;
	plan_begin(0);
	refused(evil_later, &plan, plan.p.bytes, 0);	/* nobody asked */
	CHECK(when('t', PROGRAM_EXPORTER) >= 0);
	refused(evil_later, &begin_word, sizeof(begin_word), 1);
}

/* Says the same without end. */
static void flooding_front(int socket)
{
	plan_begin(0);
	plan_send(socket);
	hear_until(socket, TOLD_RUNNING);
	for (;;)
		front_say(socket, FRONT_END);
}

static void silent_front(int socket)
{
	plan_begin(0);
	plan_send(socket);
	for (;;)
		pause();
}

static void mute_front(int socket)
{
	(void)socket;
	for (;;)
		pause();
}

static void dying_front(int socket)
{
	plan_begin(0);
	plan_send(socket);
	hear_until(socket, TOLD_RUNNING);
	raise(SIGKILL);
}

static void deaf_front(int socket)
{
	plan_begin(0);
	plan.p.duration_ms = 100;
	plan_send(socket);
	hear_until(socket, TOLD_RUNNING);
	for (;;)
		pause();
}

TEST(floods_silence_and_death_do_not_hold_it_up)
{
	CHECK_EQ(go(flooding_front, NULL), 1);
	CHECK_EQ(go(silent_front, NULL), 1);
	CHECK_EQ(go(mute_front, NULL), 1);
	CHECK(strstr(said, "the front sends no plan\n"));
	CHECK_EQ(go(dying_front, NULL), 1);
	CHECK(strstr(said, "the front was killed by signal 9"));
	CHECK(when('t', PROGRAM_EXPORTER) >= 0);
	CHECK_EQ(go(deaf_front, NULL), 1);
	CHECK(strstr(said, "front (pid "));
	CHECK_EQ(seen->removed, 1);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

static void usage_front(int socket)
{
	close(socket);
	_exit(2);
}

TEST(a_front_without_a_plan_gives_its_status)
{
	CHECK_EQ(go(usage_front, NULL), 2);
	CHECK_STR(said, "");
	CHECK_EQ(seen->removed, 0);
}
