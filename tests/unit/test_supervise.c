// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/restart.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/console.h"
#include "cli/supervisor/child.h"
#include "cli/supervisor/identity.h"
#include "profile/outfile.h"
#include "tests/unit/harness.h"

#define MS	1000000ULL

TEST(backoff_doubles_to_five_seconds)
{
	static const uint64_t want[] = { 100, 200, 400, 800, 1600, 3200, 5000,
					 5000 };
	uint64_t backoff = 0;

	for (int i = 0; i < 8; i++)
		CHECK_EQ(restart_backoff(&backoff, 9999 * MS), want[i] * MS);
	CHECK_EQ(restart_backoff(&backoff, 10000 * MS), 100 * MS);
	CHECK_EQ(restart_backoff(&backoff, 0), 200 * MS);
}

/* Run a shell as a service and collect what it says. */
static int shell(const char *script, const int *fds, int n, char *pid_var,
		 char *const *extra, char *out, size_t size)
{
	char *argv[] = { (char *)"sh", (char *)"-c", (char *)script, NULL };
	char *env[CHILD_ENV_MAX];
	struct child_spec spec = {
		.path = "/bin/sh", .argv = argv, .env = env, .n_fds = n,
		.listen_pid = pid_var, .service = true,
	};
	int p[2], status;
	size_t len = 0;
	ssize_t r;
	pid_t pid;

	CHECK_EQ(pipe(p), 0);
	CHECK_EQ(child_env(env, false, extra), 0);
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
	char *extra[] = { (char *)"NOTIFY_SOCKET=/x", NULL, NULL };
	char pid[CHILD_LISTEN_PID] = "LISTEN_PID=0", out[512];

	setenv("SECRET", "1", 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "token", 1);
	extra[1] = pid;
	CHECK_EQ(shell("env | grep -v '^PWD\\|^_\\|^SHLVL' | sort; "
		       "test $LISTEN_PID = $$", NULL, 0, pid, extra, out,
		       sizeof(out)), 0);
	CHECK(strncmp(out, "LANG=C.UTF-8\nLISTEN_PID=", 24) == 0);
	CHECK(strstr(out, "\nNOTIFY_SOCKET=/x\nPATH=/usr/sbin:") != NULL);
	CHECK(strstr(out, "OTEL") == NULL && strstr(out, "SECRET") == NULL);
}

static bool has(char *const *env, const char *var)
{
	for (; *env; env++) {
		if (!strcmp(*env, var))
			return true;
	}
	return false;
}

TEST(exporter_sees_its_variables_only)
{
	char *extra[] = { (char *)"OTEL_B=ours", NULL };
	char *env[CHILD_ENV_MAX];

	clearenv();
	setenv("OTEL_A", "1", 1);
	setenv("OTEL_B", "theirs", 1);
	setenv("https_proxy", "p", 1);
	setenv("SSL_CERT_FILE", "f", 1);
	setenv("SSL_CERT_FILE_X", "f", 1);
	setenv("TRIFOLD_EXPORTER_2_ENDPOINT", "e", 1);
	setenv("LD_PRELOAD", "x", 1);
	CHECK_EQ(child_env(env, true, extra), 0);
	CHECK(has(env, "OTEL_A=1") && has(env, "OTEL_B=ours"));
	CHECK(has(env, "https_proxy=p") && has(env, "SSL_CERT_FILE=f"));
	CHECK(has(env, "TRIFOLD_EXPORTER_2_ENDPOINT=e"));
	CHECK(!has(env, "OTEL_B=theirs") && !has(env, "LD_PRELOAD=x"));
	CHECK(!has(env, "SSL_CERT_FILE_X=f"));
	for (int i = 0; i < CHILD_ENV_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "OTEL_%d", i);
		setenv(name, "1", 1);
	}
	CHECK(child_env(env, true, extra) < 0);
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

/* --- the output file --------------------------------------------------------- */


static unsigned int entries(void)
{
	DIR *d = opendir(".");
	unsigned int n = 0;

	while (readdir(d))
		n++;
	closedir(d);
	return n - 2;
}

static void enter_dir(void)
{
	char dir[64];

	snprintf(dir, sizeof(dir), "/tmp/trifold-test-%d", (int)getpid());
	CHECK_EQ(mkdir(dir, 0700), 0);
	CHECK_EQ(chdir(dir), 0);
}

static void leave_dir(void)
{
	CHECK_EQ(system("rm -rf \"$PWD\""), 0);
}

TEST(outfile_replaces_at_once_and_for_its_owner)
{
	struct outfile f;
	struct stat st;
	char text[8] = "";
	int old;

	enter_dir();
	CHECK_EQ(system("echo old > x.html; chmod 666 x.html"), 0);
	old = open("x.html", O_RDONLY);
	CHECK_EQ(outfile_open(&f, "x.html"), 0);
	CHECK_EQ(write(f.fd, "new\n", 4), 4);
	CHECK_EQ(entries(), 2);
	CHECK_EQ(outfile_commit(&f), 0);
	CHECK_EQ(entries(), 1);
	CHECK_EQ(stat("x.html", &st), 0);
	CHECK_EQ(st.st_mode, S_IFREG | 0600);
	CHECK_EQ(st.st_size, 4);
	/* the former file is another, and whole */
	CHECK_EQ(read(old, text, sizeof(text)), 4);
	CHECK(strcmp(text, "old\n") == 0);
	CHECK_EQ(outfile_open(&f, "./y.html"), 0);
	outfile_abandon(&f);
	CHECK_EQ(entries(), 1);
	leave_dir();
}

TEST(outfile_writes_through_nothing)
{
	static const char *const bad[] = { "link", "dangling", "fifo", "sub",
					   "sub/", "", "nowhere/x", "/" };
	struct outfile f;
	struct stat st;

	enter_dir();
	CHECK_EQ(system("echo x > target; ln -s target link; "
			"ln -s missing dangling; mkfifo fifo; mkdir sub"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(outfile_open(&f, bad[i]) != 0);
	CHECK_EQ(entries(), 5);
	/* a link that appears meanwhile is replaced, not followed */
	CHECK_EQ(outfile_open(&f, "late"), 0);
	CHECK_EQ(symlink("target", "late"), 0);
	CHECK_EQ(outfile_commit(&f), 0);
	CHECK(lstat("late", &st) == 0 && S_ISREG(st.st_mode));
	CHECK(stat("target", &st) == 0 && st.st_size == 2);
	leave_dir();
}

/* --- the console ----------------------------------------------------------------- */

/* What reaches standard error when children write this. */
static void through_console(const char *text, bool all, char *out, size_t size)
{
	int p[2], saved = dup(2);
	struct console c;
	ssize_t n;

	CHECK_EQ(pipe(p), 0);
	dup2(p[1], 2);
	CHECK_EQ(console_init(&c, all), 0);
	CHECK_EQ(write(c.write_fd, text, strlen(text)), strlen(text));
	console_fini(&c);
	dup2(saved, 2);
	close(p[1]);
	close(saved);
	n = read(p[0], out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	close(p[0]);
}

TEST(console_lets_no_escape_through)
{
	char out[8192], longer[3000];

	through_console("<3>a: \033[2J\a\nb\xff\n\n<4>warn\n<6>info\n<9>x\n",
			false, out, sizeof(out));
	CHECK(strcmp(out, "a: \\x1b[2J\\x07\nb\\xff\nwarn\n<9>x\n") == 0);
	through_console("<6>info\n<7>debug\n", true, out, sizeof(out));
	CHECK(strcmp(out, "info\ndebug\n") == 0);
	memset(longer, 1, sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	longer[sizeof(longer) - 2] = '\n';
	through_console(longer, false, out, sizeof(out));
	CHECK(strlen(out) >= 4 * 1024 && strspn(out, "\\x01\n") == strlen(out));
}
