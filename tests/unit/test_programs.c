// SPDX-License-Identifier: Apache-2.0
/* Programs as the supervisor starts them: shell scripts in their place. */
#include "cli/supervisor/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/wait_status.h"
#include "tests/unit/harness.h"

static char dir[] = "/tmp/trifold-test-XXXXXX", trifold[64];
static char *argv[] = { trifold, (char *)"record", (char *)"--output", (char *)"/o",
			(char *)"--", (char *)"a", (char *)"--b=c", NULL };
static struct launch l = { .dir = dir, .argv = argv };
static char out[2048];

static void script(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	if (!*trifold) {
		CHECK(mkdtemp(dir) != NULL);
		snprintf(trifold, sizeof(trifold), "%s/trifold", dir);
		for (int i = 0; i < ID__COUNT; i++)
			l.ids.uid[i] = l.ids.gid[i] = 100 + (uid_t)i;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "w");
	CHECK(f != NULL);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	fclose(f);
	CHECK_EQ(chmod(path, 0700), 0);
}

/* Each test has a directory of its own. */
static void clean(void)
{
	char command[96];

	snprintf(command, sizeof(command), "rm -r %s", dir);
	CHECK_EQ(system(command), 0);
}

/* Start it; what it says goes to out.  Its wait status. */
static int run(enum program id, const char *words, size_t len, const int *fds,
	       int n)
{
	static struct ask m = { .kind = ASK_START };
	int p[2], status, err = dup(2);
	size_t got = 0;
	ssize_t r;
	pid_t pid;

	CHECK_EQ(pipe2(p, O_CLOEXEC), 0);
	m.program = id;
	memcpy(m.words, words, len);
	l.log_fd = p[1];
	if (id > PROGRAM_READER)
		dup2(p[1], 2);
	pid = program_start(&l, &m, ASK_BYTES(len), fds, n);
	dup2(err, 2);
	close(err);
	CHECK(pid > 0);
	close(p[1]);
	while ((r = read(p[0], out + got, sizeof(out) - 1 - got)) > 0)
		got += (size_t)r;
	out[got] = '\0';
	close(p[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(a_program_gets_its_descriptors_and_nothing_else)
{
	int a, b, leak;

	for (int fd = 3; fd < 10; fd++)		/* what this test inherited */
		close(fd);
	script("trifold-viewer",
	       "readlink /proc/$$/fd/3 /proc/$$/fd/4 /proc/$$/fd/0\n"
	       "for i in 5 6 7 8 9; do test ! -e /proc/$$/fd/$i || echo $i; done");
	a = open("/dev/null", O_RDONLY);
	b = open("/dev/zero", O_RDONLY);
	/* not close-on-exec, and in the way of where fds[] go */
	leak = dup(a);
	CHECK(leak >= 0 && a <= 4);
	/* in the wrong order, so that one takes the other's place; the shell
	 * holds its script at 10 and above */
	CHECK_EQ(run(PROGRAM_VIEWER, "", 0, (int[]){ b, a }, 2), 0);
	CHECK_STR(out, "/dev/zero\n/dev/null\n/dev/null\n");
	clean();
}

#define PRINT "echo \"$@\"; env | grep -v '^PWD\\|^_\\|^SHLVL\\|^OLDPWD' | sort"

TEST(a_daemon_has_a_clean_environment_and_its_words)
{
	static const char words[] = "--otlp\0--memory=5\0TRIFOLD_VIEWER_KEY=k";

	script("trifold-viewer", PRINT);
	setenv("SECRET", "1", 1);
	setenv("SUDO_UID", "7", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "token", 1);
	CHECK_EQ(run(PROGRAM_VIEWER, words, sizeof(words), NULL, 0), 0);
	CHECK_STR(out, "--uid=103 --gid=103 --hub=/run/trifold/status.sock "
		  "--hub-uid=100 --otlp --memory=5\n"
		  "JOURNAL_STREAM=0:0\nLANG=C.UTF-8\n"
		  "NOTIFY_SOCKET=/run/trifold/notify.sock\n"
		  "PATH=/usr/sbin:/usr/bin:/sbin:/bin\nTRIFOLD_VIEWER_KEY=k\n");
	clean();
}

TEST(the_hub_gets_its_sockets)
{
	script("trifold-symbolizerd", "test $LISTEN_PID = $$ || echo no\n"
	       "echo $LISTEN_FDS $LISTEN_FDNAMES \"$@\"; readlink /proc/$$/fd/5");
	for (int i = 0; i < RUNTIME_SOCKETS; i++)
		l.socket[i] = open(i == 2 ? "/dev/zero" : "/dev/null", O_RDONLY);
	CHECK_EQ(run(PROGRAM_HUB, "", 0, NULL, 0), 0);
	CHECK_STR(out, "3 loader:export:status --uid=100 --gid=100 "
		  "--loader-uid=102 --exporter-uid=101 --viewer-uid=103\n"
		  "/dev/zero\n");
	clean();
}

TEST(the_recorder_writes_where_the_user_said)
{
	static const char words[] = "--output=trifold.html";

	/* its standard output is ours, not the log */
	script("trifold", "{ " PRINT "; } | grep -v '^LANG\\|^PATH\\|^NOTIFY' >&2; "
	       "test $(readlink /proc/self/fd/1) != $(readlink /proc/self/fd/2)");
	setenv("SUDO_UID", "7", 1);
	setenv("SUDO_GID", "8", 1);
	CHECK_EQ(run(PROGRAM_RECORDER, words, sizeof(words), NULL, 0), 0);
	CHECK_STR(out, "recorder --output=trifold.html --seal-uid=105 "
		  "--output=/o\nSUDO_GID=8\nSUDO_UID=7\n");
	clean();
}

TEST(trifold_itself_gets_what_the_user_said)
{
	setenv("SECRET", "1", 1);
	script("trifold", "echo \"$@\" >&2; test \"$SECRET\"");
	CHECK_EQ(run(PROGRAM_FRONT, "", 0, NULL, 0), 0);
	CHECK_STR(out, "front 106 record --output /o -- a --b=c\n");
	CHECK_EQ(run(PROGRAM_READER, "", 0, NULL, 0), 0);
	CHECK_STR(out, "reader 106 record --output /o -- a --b=c\n");
	CHECK_EQ(run(PROGRAM_LAUNCHER, "", 0, NULL, 0), 0);
	CHECK_STR(out, "launch a --b=c\n");
	clean();
}

TEST(few_descriptors_are_few_for_the_command_alone)
{
	struct rlimit old, few;

	CHECK_EQ(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){ 24, old.rlim_max };
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &few), 0);
	script("trifold-loaderd", "ulimit -n");
	CHECK_EQ(run(PROGRAM_LOADER, "", 0, NULL, 0), 0);
	CHECK_STR(out, "2048\n");
	script("trifold", "ulimit -n >&2");
	CHECK_EQ(run(PROGRAM_LAUNCHER, "", 0, NULL, 0), 0);
	CHECK_STR(out, "24\n");
	CHECK_EQ(setrlimit(RLIMIT_NOFILE, &old), 0);
	clean();
}

TEST(a_failed_exec_says_so)
{
	char how[64];
	int status;

	script("trifold", "");
	status = run(PROGRAM_LOADER, "", 0, NULL, 0);
	CHECK(strstr(out, "/trifold-loaderd: cannot be run: No such file"));
	CHECK_STR(wait_status_text(status, how, sizeof(how)),
		  "exited with status 127");
	CHECK_STR(wait_status_text(9, how, sizeof(how)),
		  "was killed by signal 9 (Killed)");
	CHECK_EQ(wait_status_code(status), 127);
	CHECK_EQ(wait_status_code(9), 137);
	clean();
}

TEST(identities_are_distinct_and_not_root)
{
	struct identities ids;

	CHECK_EQ(identity_find(&ids), 0);
	for (int i = 0; i < ID__COUNT; i++) {
		CHECK(ids.uid[i] != 0 && ids.gid[i] != 0);
		for (int k = 0; k < i; k++)
			CHECK(ids.uid[i] != ids.uid[k]);
	}
}

/* A process of somebody else under uid; -1 without the right to make one. */
static pid_t squatter(uid_t uid)
{
	int ready[2];
	char said = 0;
	pid_t pid;

	CHECK_EQ(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (!setuid(uid) && write(ready[1], "", 1) == 1)
			pause();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &said, 1) != 1) {
		waitpid(pid, NULL, 0);
		pid = -1;
	}
	close(ready[0]);
	return pid;
}

/* Who runs processes under our ids does not keep us from starting, and no
 * service that systemd starts can get one of them (61184..65519). */
TEST(identities_that_others_have_are_left_alone)
{
	struct identities ids[32];
	pid_t pids[32];
	int n = 0;

	if (getuid() != 0)
		exit(TEST_SKIP);
	for (; n < 32; n++) {
		CHECK_EQ(identity_find(&ids[n]), 0);
		CHECK(ids[n].uid[ID_FRONT] >= 0x70000000 &&
		      ids[n].uid[ID_FRONT] < 0x80000000);
		for (int k = 0; k < n; k++)
			CHECK(ids[n].uid[ID_FRONT] != ids[k].uid[ID_FRONT]);
		pids[n] = squatter(ids[n].uid[ID_FRONT]);
		CHECK(pids[n] > 0);
	}
	while (n--) {
		kill(pids[n], SIGKILL);
		waitpid(pids[n], NULL, 0);
	}
}
