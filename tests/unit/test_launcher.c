// SPDX-License-Identifier: Apache-2.0
#include "cli/record/launcher.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static struct launcher l;

static void start(const char *script)
{
	static char *argv[] = { (char *)"sh", (char *)"-c", NULL, NULL };
	sigset_t set;

	/* a shell cannot trap what was ignored when it began, as by nohup(1) */
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	argv[2] = (char *)script;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGQUIT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	CHECK_EQ(launcher_start(&l, argv), 0);
}

static int finish(void)
{
	int status;

	CHECK_EQ(waitpid(l.pid, &status, 0), l.pid);
	CHECK(WIFEXITED(status));
	return WEXITSTATUS(status);
}

/* Run a shell's script below a launcher; its exit status. */
static int run(const char *script)
{
	start(script);
	CHECK_EQ(launcher_go(&l), 0);
	return finish();
}

/* What comes out of this pipe until it is closed or n bytes have come. */
static void take(int fd, char *buf, size_t n)
{
	size_t len = 0;
	ssize_t r;

	while (len < n && (r = read(fd, buf + len, n - len)) > 0)
		len += (size_t)r;
	buf[len] = '\0';
}

TEST(status_is_passed_on)
{
	CHECK_EQ(run("exit 0"), 0);
	CHECK_EQ(run("exit 7"), 7);
	CHECK_EQ(run("kill -9 $$"), 137);
	CHECK_EQ(run("kill -TERM $$"), 143);
}

TEST(a_command_that_is_not_there_is_127)
{
	char *argv[] = { (char *)"/nonexistent", NULL };

	CHECK_EQ(launcher_start(&l, argv), 0);
	CHECK_EQ(launcher_go(&l), 0);
	CHECK_EQ(finish(), 127);
}

TEST(nothing_runs_before_it_is_told)
{
	char name[64], script[96];

	snprintf(name, sizeof(name), "/tmp/trifold-test-%d", (int)getpid());
	snprintf(script, sizeof(script), "echo x >%s", name);
	start(script);
	launcher_cancel(&l);
	CHECK(l.pid == 0 && l.go < 0);
	CHECK(access(name, F_OK) < 0);
	launcher_cancel(&l);		/* again: nothing */
	CHECK(waitpid(-1, NULL, WNOHANG) < 0);
}

TEST(orphans_are_adopted_and_left_when_the_command_ends)
{
	char parent[16], want[16];
	int p[2], out = dup(1);

	/* a daemon by two forks: it tells its parent, and outlives the command */
	CHECK_EQ(pipe(p), 0);
	CHECK_EQ(fcntl(p[1], F_SETFD, FD_CLOEXEC), 0);
	dup2(p[1], 1);
	start("(sh -c 'sleep 0.2; ps -o ppid= -p $$; exec >&-; sleep 0.5' &)\n"
	      "sleep 0.4; exit 3");
	dup2(out, 1);
	close(out);
	close(p[1]);
	CHECK_EQ(launcher_go(&l), 0);
	take(p[0], parent, sizeof(parent) - 1);
	snprintf(want, sizeof(want), "%d", (int)l.pid);
	CHECK(strstr(parent, want) != NULL);
	CHECK_EQ(finish(), 3);
	close(p[0]);
}

TEST(signals_of_the_parent_reach_the_command)
{
	static const int which[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
	char script[160], c[2];
	int p[2], out = dup(1);

	for (int i = 0; i < 4; i++) {
		CHECK_EQ(pipe(p), 0);
		dup2(p[1], 1);
		snprintf(script, sizeof(script), "trap 'exit %d' %d; echo; "
			 "while :; do sleep 0.05; done", 40 + i, which[i]);
		start(script);
		dup2(out, 1);
		close(p[1]);
		CHECK_EQ(launcher_go(&l), 0);
		take(p[0], c, 1);
		launcher_signal(&l, which[i]);
		CHECK_EQ(finish(), 40 + i);
		close(p[0]);
	}
	close(out);
}

TEST(the_command_can_be_killed_and_strangers_do_not_count)
{
	char c[2];
	int p[2], out = dup(1);
	pid_t other;

	CHECK_EQ(pipe(p), 0);
	dup2(p[1], 1);
	start("trap '' TERM INT; echo; exec sleep 60");
	dup2(out, 1);
	close(out);
	close(p[1]);
	CHECK_EQ(launcher_go(&l), 0);
	take(p[0], c, 1);
	/* not by its parent */
	other = fork();
	if (other == 0) {
		kill(l.pid, SIGUSR1);
		_exit(0);
	}
	CHECK_EQ(waitpid(other, NULL, 0), other);
	launcher_signal(&l, SIGTERM);
	usleep(100000);
	CHECK_EQ(waitpid(l.pid, NULL, WNOHANG), 0);
	launcher_signal(&l, SIGKILL);
	CHECK_EQ(finish(), 137);
	close(p[0]);
}

TEST(it_holds_no_descriptor_of_ours)
{
	int p[2];
	char c;

	CHECK_EQ(pipe(p), 0);
	start("sleep 0.3");
	close(p[1]);
	CHECK_EQ(launcher_go(&l), 0);
	/* the end of file comes while it still runs */
	CHECK_EQ(read(p[0], &c, 1), 0);
	CHECK_EQ(waitpid(l.pid, NULL, WNOHANG), 0);
	CHECK_EQ(finish(), 0);
}
