// SPDX-License-Identifier: Apache-2.0
/*
 * The supervisor with real children: what is started is a fork of this test
 * that does as script[] says, and the front is one that does as the test says.
 * alarm() is FAST times as fast as it is.
 */
#include "cli/supervisor/supervise.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cli/supervisor/programs.h"
#include "tests/unit/harness.h"

#define FAST	20

unsigned int alarm(unsigned int seconds)
{
	const struct itimerval t = {
		.it_value.tv_usec = seconds * 1000000 / FAST % 1000000,
		.it_value.tv_sec = seconds / FAST,
	};

	setitimer(ITIMER_REAL, &t, NULL);
	return 0;
}

static void sleep_ms(unsigned int real)
{
	usleep(real * 1000);
}

/* --- what the supervisor starts --------------------------------------------- */

static struct {
	bool stubborn;		/* ignores SIGTERM */
	bool leaves_child;	/* as symbolizerd its zygote */
	bool dies;
} script[PROGRAM__COUNT];

/* Shared by all processes of a test. */
static struct seen {
	int starts[PROGRAM__COUNT];
	int terms[PROGRAM__COUNT];
	int kills;			/* LAUNCHER_KILL */
	int removed;			/* the runtime directory */
	int running;			/* the front has come so far */
	int left[PROGRAM__COUNT];	/* pid of what was left */
	int stuck;			/* a group that waits where no signal reaches */
	char words[64];
	struct tell last;
} *seen;

int kill(pid_t pid, int sig)
{
	if (pid < 0 && pid == -seen->stuck)
		return 0;
	return (int)syscall(SYS_kill, pid, sig);
}

static enum program me;

static void on_term(int sig)
{
	if (sig == LAUNCHER_KILL) {
		seen->kills++;
		_exit(0);
	}
	seen->terms[me]++;
	if (!script[me].stubborn)
		_exit(0);
}

static _Noreturn void be(enum program id)
{
	struct sigaction sa = { .sa_handler = on_term };
	sigset_t none;

	me = id;
	setsid();
	sigaction(SIGTERM, &sa, NULL);
	if (id == PROGRAM_LAUNCHER)
		sigaction(LAUNCHER_KILL, &sa, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (script[id].leaves_child) {
		pid_t left = fork();

		if (!left) {
			signal(SIGTERM, SIG_IGN);
			close(STDERR_FILENO);	/* finish() reads up to the end */
			close_range(3, ~0U, 0);
			for (;;)
				pause();
		}
		seen->left[id] = left;
	}
	if (script[id].dies)
		_exit(3);
	for (;;)
		pause();
}

static void (*front)(int socket);

pid_t program_start(const struct launch *l, const struct ask *m, size_t len,
		    const int *fds, int n)
{
	pid_t pid;

	CHECK(n == 0 || fds[n - 1] >= 0);
	CHECK_STR(l->dir, "/daemons");
	seen->starts[m->program]++;
	if (m->program != PROGRAM_FRONT)
		memcpy(seen->words, m->words, len - ASK_BYTES(0));
	pid = fork();
	if (pid)
		return pid;
	if (m->program != PROGRAM_FRONT)
		be(m->program);
	signal(SIGTERM, SIG_IGN);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	front(fds[0]);
	_exit(0);
}

char *const *program_command(char *const *argv)
{
	while (*argv && strcmp(*argv, "--"))
		argv++;
	return *argv ? argv + 1 : argv;
}

int identity_find(struct identities *ret)
{
	memset(ret, 1, sizeof(*ret));
	return 0;
}

static int runtime_result;

int runtime_dir_make(int sockets[RUNTIME_SOCKETS], const struct identities *ids)
{
	(void)ids;
	sockets[RUNTIME_NOTIFY] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return runtime_result;
}

void runtime_dir_remove(void)
{
	seen->removed++;
}

int runtime_dir_connect(void)
{
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* --- the front, as a test has it -------------------------------------------- */

/* The next thing told; whoever is told nothing more ends. */
static struct tell hear(int socket, int *fd)
{
	struct tell t;
	int fds[ASK_FDS_MAX], n;

	if (ask_recv(socket, &t, sizeof(t), fds, &n, 0) != sizeof(t))
		_exit(9);
	if (fd)
		*fd = n ? fds[0] : -1;
	else if (n)
		close(fds[0]);
	return t;
}

/* Skip what comes before it. */
static struct tell hear_kind(int socket, enum tell_kind kind, int *fd)
{
	struct tell t;

	do
		t = hear(socket, fd);
	while (t.kind != kind);
	return t;
}

static int order(int socket, enum ask_kind kind, enum program id, int *fd)
{
	static struct ask m;
	int log = 2;

	m.kind = kind;
	m.program = id;
	if (ask_send(socket, &m, ASK_BYTES(0), &log, kind == ASK_OPEN, 0))
		_exit(9);
	return hear_kind(socket, TELL_REPLY, fd).value;
}

static void order_signal(int socket, enum program id, int sig)
{
	static struct ask m = { .kind = ASK_SIGNAL };

	m.program = id;
	m.signal = sig;
	ask_send(socket, &m, ASK_BYTES(0), NULL, 0, 0);
}

static void open_and_start(int socket)
{
	CHECK_EQ(order(socket, ASK_OPEN, 0, NULL), 0);
	for (int i = 0; i < PROGRAM_READER; i++)
		CHECK(order(socket, ASK_START, i, NULL) > 0);
	sleep_ms(20);
	seen->running = 1;
}

/* --- running it ------------------------------------------------------------- */

static char said[4096];		/* by the supervisor, on standard error */
static pid_t supervisor;
static int err_pipe;
static char *command[] = {
	(char *)"/trifold", (char *)"record", (char *)"--libexec=/daemons",
	(char *)"--", (char *)"true", NULL
};
static char *none[] = {
	(char *)"/trifold", (char *)"run", (char *)"--libexec",
	(char *)"/daemons", NULL
};

static void start(void (*f)(int), char **argv)
{
	int p[2];

	front = f;
	if (seen)
		munmap(seen, sizeof(*seen));
	seen = mmap(NULL, sizeof(*seen), PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(seen != MAP_FAILED);
	CHECK_EQ(pipe(p), 0);
	fflush(stdout);
	supervisor = fork();
	if (supervisor == 0) {
		dup2(p[1], 2);
		close(p[0]);
		close(p[1]);
		_exit(supervise(argv));
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

static int go(void (*f)(int))
{
	start(f, command);
	return finish();
}

static void wait_running(void)
{
	for (int i = 0; i < 500 && !seen->running; i++)
		sleep_ms(10);
	CHECK(seen->running);
}

/* --- what a good front gets --------------------------------------------------- */

static void good_front(int socket)
{
	struct tell t;
	int fd;

	CHECK_EQ(order(socket, ASK_OPEN, 0, &fd), 0);
	CHECK(fd >= 0);
	CHECK(order(socket, ASK_START, PROGRAM_LOADER, &fd) > 0);
	CHECK_EQ(fd, -1);
	CHECK_EQ(order(socket, ASK_HUB, 0, &fd), 0x01010101);
	CHECK(fd >= 0);
	sleep_ms(20);
	order_signal(socket, PROGRAM_HUB, SIGTERM);	/* is not there */
	order_signal(socket, PROGRAM_LOADER, SIGTERM);
	t = hear_kind(socket, TELL_DIED, NULL);
	CHECK_EQ(t.program, PROGRAM_LOADER);
	CHECK_EQ(t.value, 0);
	/* another one */
	CHECK(order(socket, ASK_START, PROGRAM_LOADER, NULL) > 0);
	order_signal(socket, PROGRAM_LOADER, SIGKILL);
	CHECK_EQ(hear_kind(socket, TELL_DIED, NULL).value, SIGKILL);
	_exit(7);
}

TEST(a_front_has_programs_started_and_ended)
{
	CHECK_EQ(go(good_front), 7);
	CHECK_STR(said, "");
	CHECK_EQ(seen->starts[PROGRAM_LOADER], 2);
	CHECK_EQ(seen->terms[PROGRAM_LOADER], 1);
	CHECK_EQ(seen->removed, 1);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

static void usage_front(int socket)
{
	(void)socket;
	_exit(2);
}

TEST(a_front_that_asks_for_nothing_gives_its_status)
{
	CHECK_EQ(go(usage_front), 2);
	CHECK_STR(said, "");
	CHECK_EQ(seen->removed, 0);
}

static void refused_front(int socket)
{
	CHECK_EQ(order(socket, ASK_OPEN, 0, NULL), -EBUSY);
	_exit(1);
}

TEST(there_is_no_second_trifold)
{
	runtime_result = -EBUSY;
	CHECK_EQ(go(refused_front), 1);
	CHECK_EQ(seen->removed, 0);
	runtime_result = 0;
}

static void listening_front(int socket)
{
	open_and_start(socket);
	do
		seen->last = hear(socket, NULL);
	while (seen->last.kind != TELL_SIGNAL || seen->last.value != SIGTERM);
	for (int i = 0; i < PROGRAM_READER; i++)
		order_signal(socket, i, SIGKILL);
	for (int i = 0; i < PROGRAM_READER; i++)
		hear_kind(socket, TELL_DIED, NULL);
	_exit(0);
}

TEST(signals_are_told)
{
	start(listening_front, none);
	wait_running();
	kill(supervisor, SIGHUP);
	kill(supervisor, SIGTERM);
	CHECK_EQ(finish(), 0);
	CHECK_STR(said, "");
	CHECK_EQ(seen->last.by_kernel, 0);
}

/* --- nothing outlives it ------------------------------------------------------- */

static void dying_front(int socket)
{
	open_and_start(socket);
	raise(SIGKILL);
}

static void leaving_front(int socket)
{
	open_and_start(socket);
	_exit(0);
}

static void launching_front(int socket)
{
	open_and_start(socket);
	CHECK(order(socket, ASK_START, PROGRAM_LAUNCHER, NULL) > 0);
	sleep_ms(20);
	_exit(5);
}

TEST(what_a_front_leaves_is_ended)
{
	CHECK_EQ(go(dying_front), 1);
	CHECK(strstr(said, "the front was killed by signal 9 (Killed)\n"));
	CHECK_EQ(seen->terms[PROGRAM_LOADER], 1);
	CHECK_EQ(seen->removed, 1);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);

	script[PROGRAM_LOADER].stubborn = true;
	CHECK_EQ(go(leaving_front), 1);
	CHECK_EQ(seen->terms[PROGRAM_HUB], 1);
	CHECK_EQ(seen->terms[PROGRAM_LOADER], 1);	/* then killed */
	CHECK_STR(said, "");

	/* the launcher is told, and never killed itself */
	script[PROGRAM_LOADER].stubborn = false;
	script[PROGRAM_LAUNCHER].stubborn = true;
	CHECK_EQ(go(launching_front), 1);
	CHECK_EQ(seen->terms[PROGRAM_LAUNCHER], 1);
	CHECK_EQ(seen->kills, 1);
	script[PROGRAM_LAUNCHER].stubborn = false;
}

static void start_that_leaves(int socket, enum program id)
{
	CHECK(order(socket, ASK_START, id, NULL) > 0);
	CHECK_EQ(hear_kind(socket, TELL_DIED, NULL).value, 3 << 8);
}

static void zygote_front(int socket)
{
	CHECK_EQ(order(socket, ASK_OPEN, 0, NULL), 0);
	start_that_leaves(socket, PROGRAM_HUB);
	_exit(0);
}

static bool is_gone(pid_t pid)
{
	return pid > 0 && kill(pid, 0) < 0 && errno == ESRCH;
}

TEST(what_a_daemon_leaves_is_ended)
{
	script[PROGRAM_HUB].leaves_child = script[PROGRAM_HUB].dies = true;
	CHECK_EQ(go(zygote_front), 0);
	CHECK(is_gone(seen->left[PROGRAM_HUB]));
	script[PROGRAM_HUB].leaves_child = script[PROGRAM_HUB].dies = false;
}

static void stuck_front(int socket)
{
	CHECK_EQ(order(socket, ASK_OPEN, 0, NULL), 0);
	seen->stuck = order(socket, ASK_START, PROGRAM_HUB, NULL);
	CHECK_EQ(hear_kind(socket, TELL_DIED, NULL).value, 3 << 8);
	start_that_leaves(socket, PROGRAM_EXPORTER);
	_exit(0);
}

/* What another daemon left is ended, and is not said to wait. */
TEST(what_cannot_be_ended_keeps_nobody)
{
	char text[64];

	for (int i = PROGRAM_HUB; i <= PROGRAM_EXPORTER; i++)
		script[i].leaves_child = script[i].dies = true;
	CHECK_EQ(go(stuck_front), 0);
	snprintf(text, sizeof(text), "a process of group %d does not end, not even by SIGKILL",
		 seen->stuck);
	CHECK(strstr(said, text));
	CHECK(strchr(said, '\n') == said + strlen(said) - 1);
	CHECK(is_gone(seen->left[PROGRAM_EXPORTER]));
	CHECK_EQ(seen->removed, 1);
	CHECK_EQ(kill(seen->left[PROGRAM_HUB], SIGKILL), 0);
	for (int i = PROGRAM_HUB; i <= PROGRAM_EXPORTER; i++)
		script[i].leaves_child = script[i].dies = false;
}

static void mute_front(int socket)
{
	open_and_start(socket);
	for (;;)
		pause();
}

TEST(a_second_signal_ends_a_front_that_does_not)
{
	start(mute_front, none);
	wait_running();
	kill(supervisor, SIGINT);
	sleep_ms(50);
	CHECK_EQ(waitpid(supervisor, NULL, WNOHANG), 0);
	kill(supervisor, SIGINT);
	CHECK_EQ(finish(), 1);
	CHECK_EQ(seen->terms[PROGRAM_EXPORTER], 1);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

/* More than fits into its socket. */
static void deaf_front(int socket)
{
	static const struct ask m = { .kind = ASK_HUB };

	open_and_start(socket);
	for (;;)
		ask_send(socket, &m, ASK_BYTES(0), NULL, 0, 0);
}

static void closing_front(int socket)
{
	open_and_start(socket);
	close(socket);
	for (;;)
		pause();
}

TEST(a_front_that_does_not_listen_is_killed)
{
	CHECK_EQ(go(deaf_front), 1);
	CHECK(strstr(said, "the front was killed by signal 9 (Killed)\n"));
	CHECK_EQ(go(closing_front), 1);
	CHECK_EQ(seen->removed, 1);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

/* --- a front in an attacker's hand ------------------------------------------ */

static const void *evil;
static size_t evil_len;
static int evil_fds;

static void evil_send(int socket)
{
	const int fds[] = { 0, 1 };

	if (ask_send(socket, evil, evil_len, fds, evil_fds, 0))
		_exit(8);
	for (;;)
		pause();
}

static void evil_later(int socket)
{
	open_and_start(socket);
	evil_send(socket);
}

static void refused(void (*f)(int), const void *bytes, size_t len, int fds)
{
	evil = bytes;
	evil_len = len;
	evil_fds = fds;
	CHECK_EQ(go(f), 1);
	CHECK(strstr(said, "invalid message from the front: it is killed\n"));
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

static void refused_ask(void (*f)(int), enum ask_kind kind, uint32_t program,
			int sig, int fds)
{
	static struct ask m;

	m = (struct ask){ .kind = kind, .program = program, .signal = sig };
	refused(f, &m, ASK_BYTES(0), fds);
}

TEST(every_malformed_message_is_refused)
{
	static char big[sizeof(struct ask) + 1];
	static struct ask m = { .kind = ASK_START, .words = "--uid=0" };

	refused_ask(evil_send, 0, 0, 0, 0);
	refused_ask(evil_send, ASK_HUB + 1, 0, 0, 0);
	for (size_t i = 1; i < ASK_BYTES(0); i += 3)
		refused(evil_send, big, i, 0);
	refused(evil_send, big, sizeof(big), 0);
	/* what must be bare */
	m.kind = ASK_OPEN;
	refused(evil_send, &m, ASK_BYTES(8), 1);
	m.kind = ASK_HUB;
	refused(evil_send, &m, ASK_BYTES(1), 0);
	refused_ask(evil_send, ASK_OPEN, 0, 0, 0);
	refused_ask(evil_send, ASK_OPEN, 0, 0, 2);
	refused_ask(evil_later, ASK_HUB, 0, 0, 1);
	refused_ask(evil_later, ASK_SIGNAL, 0, SIGTERM, 1);
}

TEST(every_forbidden_start_is_refused)
{
	static struct ask m = { .kind = ASK_START };

	/* before there is a runtime directory; what is running; what is not
	 * one, or not for a front to start */
	refused_ask(evil_send, ASK_START, PROGRAM_HUB, 0, 0);
	refused_ask(evil_later, ASK_START, PROGRAM_LOADER, 0, 0);
	refused_ask(evil_later, ASK_START, PROGRAM_FRONT, 0, 0);
	refused_ask(evil_later, ASK_START, PROGRAM__COUNT, 0, 0);
	refused_ask(evil_later, ASK_START, ~0u, 0, 0);
	CHECK_EQ(seen->starts[PROGRAM_LOADER], 1);
	CHECK_EQ(seen->starts[PROGRAM_FRONT], 1);
	/* another descriptor than it has use for */
	refused_ask(evil_later, ASK_START, PROGRAM_READER, 0, 2);
	/* words that it must not have: test_ask has all */
	m.program = PROGRAM_READER;
	strcpy(m.words, "--debug");
	refused(evil_later, &m, ASK_BYTES(8), 0);
	CHECK_EQ(seen->starts[PROGRAM_READER], 0);
	refused_ask(evil_later, ASK_OPEN, 0, 0, 1);
}

TEST(every_forbidden_signal_is_refused)
{
	static const int signals[] = { 0, SIGSTOP, SIGUSR1, SIGCONT, 64, 256 + 15,
				       -1, -241 };

	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		refused_ask(evil_later, ASK_SIGNAL, PROGRAM_HUB, signals[i], 0);
	refused_ask(evil_later, ASK_SIGNAL, PROGRAM_FRONT, SIGTERM, 0);
	refused_ask(evil_later, ASK_SIGNAL, ~0u, SIGTERM, 0);
}

static void again_front(int socket)
{
	struct ask m = { .kind = ASK_START, .program = PROGRAM_LAUNCHER };

	CHECK_EQ(order(socket, ASK_OPEN, 0, NULL), 0);
	CHECK(order(socket, ASK_START, PROGRAM_LAUNCHER, NULL) > 0);
	order_signal(socket, PROGRAM_LAUNCHER, SIGTERM);
	hear_kind(socket, TELL_DIED, NULL);
	ask_send(socket, &m, ASK_BYTES(0), NULL, 0, 0);
	for (;;)
		pause();
}

TEST(the_command_runs_once_and_only_if_there_is_one)
{
	refused(again_front, "", 0, 0);
	CHECK_EQ(seen->starts[PROGRAM_LAUNCHER], 1);
	command[3] = NULL;
	refused_ask(evil_later, ASK_START, PROGRAM_LAUNCHER, 0, 0);
	CHECK_EQ(seen->starts[PROGRAM_LAUNCHER], 0);
	command[3] = (char *)"--";
}

/* As many as it gets. */
static void bomb_front(int socket)
{
	CHECK_EQ(order(socket, ASK_OPEN, 0, NULL), 0);
	for (;;) {
		CHECK(order(socket, ASK_START, PROGRAM_VIEWER, NULL) > 0);
		hear_kind(socket, TELL_DIED, NULL);
	}
}

TEST(starts_come_slowly_to_who_wants_many)
{
	script[PROGRAM_VIEWER].dies = true;
	start(bomb_front, none);
	sleep_ms(1000);
	kill(supervisor, SIGINT);
	sleep_ms(500);
	kill(supervisor, SIGINT);
	CHECK_EQ(finish(), 1);
	/* 16 at once, then 20 a second, for 2.5 s or so */
	CHECK(seen->starts[PROGRAM_VIEWER] >= 16);
	CHECK(seen->starts[PROGRAM_VIEWER] <= 16 + 100);
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
	script[PROGRAM_VIEWER].dies = false;
}
