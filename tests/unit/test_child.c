// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/child.h"

#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/supervisor/identity.h"
#include "tests/unit/harness.h"

/* Run a shell as a service and collect what it says. */
static int shell(const char *script, const int *fds, int n, char *pid_var,
		 char *const *env, char *out, size_t size)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	struct child_spec spec = {
		.path = "/bin/sh", .argv = argv, .env = env, .n_fds = n,
		.listen_pid = pid_var, .service = true,
	};
	int p[2], status;
	size_t len = 0;
	ssize_t r;
	pid_t pid;

	CHECK_EQ(pipe(p), 0);
	if (n)
		memcpy(spec.fds, fds, (size_t)n * sizeof(*fds));
	spec.log_fd = p[1];
	pid = child_start(&spec);
	CHECK(pid > 0);
	close(p[1]);
	while ((r = read(p[0], out + len, size - 1 - len)) > 0)
		len += (size_t)r;
	out[len] = '\0';
	close(p[0]);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

TEST(service_gets_its_descriptors_and_nothing_else)
{
	char *none[] = { NULL };
	char out[512];
	int a, b, leak;

	for (int fd = 3; fd < 10; fd++)		/* what this test inherited */
		close(fd);
	a = open("/dev/null", O_RDONLY);
	b = open("/dev/zero", O_RDONLY);
	/* not close-on-exec, and in the way of where fds[] go */
	leak = dup(a);
	CHECK(leak >= 0 && a <= 4);
	/* in the wrong order, so that one takes the other's place */
	CHECK_EQ(shell("readlink /proc/$$/fd/3 /proc/$$/fd/4 /proc/$$/fd/0; "
		       "for i in 5 6 7 8 9; do test ! -e /proc/$$/fd/$i || "
		       "echo $i; done", (int[]){ b, a }, 2, NULL, none, out,
		       sizeof(out)), 0);
	CHECK(strcmp(out, "/dev/zero\n/dev/null\n/dev/null\n") == 0);
}

TEST(service_gets_a_clean_environment)
{
	char *env[] = { (char *)"PATH=/usr/bin:/bin",
			(char *)"NOTIFY_SOCKET=/x", NULL, NULL };
	char pid[CHILD_LISTEN_PID] = "LISTEN_PID=0", out[512];

	setenv("SECRET", "1", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "token", 1);
	env[2] = pid;
	CHECK_EQ(shell("env | grep -v '^PWD\\|^_\\|^SHLVL' | sort; "
		       "test $LISTEN_PID = $$", NULL, 0, pid, env, out,
		       sizeof(out)), 0);
	CHECK(strncmp(out, "LISTEN_PID=", 11) == 0);
	CHECK(strstr(out, "\nNOTIFY_SOCKET=/x\nPATH=/usr/bin:") != NULL);
	CHECK(strstr(out, "OTEL") == NULL && strstr(out, "SECRET") == NULL);
}

TEST(failed_exec_says_so)
{
	char *argv[] = { (char *)"x", NULL }, *env[] = { NULL }, how[64];
	struct child_spec spec = {
		.path = "/nonexistent", .argv = argv, .env = env, .log_fd = -1,
	};
	pid_t pid = child_start(&spec);
	int status;

	CHECK(pid > 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(strcmp(child_how(status, how, sizeof(how)),
		     "exited with status 127") == 0);
	CHECK(strcmp(child_how(9, how, sizeof(how)),
		     "was killed by signal 9 (Killed)") == 0);
}

TEST(sudo_user_is_believed_only_if_whole)
{
	static const char *const bad[] = { NULL, "", "0", "-1", "1000x", " 1",
					   "4294967295", "4294967296" };
	uid_t uid = 7;
	gid_t gid = 7;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(!identity_sudo(bad[i], "1000", &uid, &gid));
		CHECK(!identity_sudo("1000", i == 2 ? "x" : bad[i], &uid, &gid));
	}
	CHECK(uid == 7 && gid == 7);
	CHECK(identity_sudo("1000", "0", &uid, &gid));
	CHECK(uid == 1000 && gid == 0);
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
