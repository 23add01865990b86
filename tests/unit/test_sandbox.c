// SPDX-License-Identifier: Apache-2.0
/*
 * Children take the steps; what became of them is read from outside, in
 * /proc/PID, and proved by what kills them.
 */
#include "common/sandbox.h"
#include "tests/unit/child.h"
#include "tests/unit/harness.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/securebits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOBODY	65534
#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void need_root(void)
{
	if (geteuid() != 0) {
		printf("# needs root\n");
		exit(TEST_SKIP);
	}
}

static void need_landlock(void)
{
	if (syscall(444, NULL, 0, 1) < 1) {
		printf("# this kernel has no Landlock\n");
		exit(TEST_SKIP);
	}
}

/* A child that has taken its steps and waits to be looked at. */
struct child {
	pid_t pid;
	int hold;
};

static struct child start(int (*steps)(void))
{
	struct child c;
	int up[2], down[2], r = -1;

	CHECK(pipe(up) == 0 && pipe(down) == 0);
	c.pid = fork();
	CHECK(c.pid >= 0);
	if (c.pid == 0) {
		char byte;

		close(down[1]);
		r = steps();
		if (write(up[1], &r, sizeof(r)) != sizeof(r) ||
		    read(down[0], &byte, 1) < 0)
			syscall(SYS_exit_group, 2);
		syscall(SYS_exit_group, 0);
	}
	close(up[1]);
	close(down[0]);
	CHECK_EQ(read(up[0], &r, sizeof(r)), sizeof(r));
	close(up[0]);
	CHECK_EQ(r, 0);
	c.hold = down[1];
	return c;
}

static void end(struct child *c)
{
	int status;

	close(c->hold);
	CHECK(waitpid(c->pid, &status, 0) == c->pid);
	CHECK_EQ(status, 0);
}

static const char *proc_file(pid_t pid, const char *name)
{
	static char text[16384];
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/%s", (int)pid, name);
	fd = open(path, O_RDONLY);
	CHECK(fd >= 0);
	n = read(fd, text, sizeof(text) - 1);
	CHECK(n >= 0);
	text[n] = '\0';
	close(fd);
	return text;
}

/* The words behind "key:" in /proc/PID/status, blanks made one. */
static bool status_is(pid_t pid, const char *key, const char *want)
{
	const char *p = strstr(proc_file(pid, "status"), key);
	char got[128];
	size_t n = 0;

	CHECK(p != NULL);
	for (p += strlen(key); *p && *p != '\n' && n < sizeof(got) - 1; p++) {
		if (*p != ' ' && *p != '\t')
			got[n++] = *p;
		else if (n && got[n - 1] != ' ')
			got[n++] = ' ';
	}
	while (n && got[n - 1] == ' ')
		n--;
	got[n] = '\0';
	if (strcmp(got, want))
		printf("# %s is '%s', want '%s'\n", key, got, want);
	return !strcmp(got, want);
}

/* Does a step that cannot be taken end the process, which says that it was this one? */
static bool ends(void (*step)(void), const char *name)
{
	int log = memfd_create("log", MFD_CLOEXEC), former = dup(2), status;
	char text[1024], want[64];
	ssize_t n;

	CHECK(log >= 0 && former >= 0 && dup2(log, 2) == 2);
	status = fate(step);
	CHECK(dup2(former, 2) == 2);
	n = pread(log, text, sizeof(text) - 1, 0);
	CHECK(n >= 0);
	text[n] = '\0';
	close(log);
	close(former);
	printf("# %s", text);
	snprintf(want, sizeof(want), "confinement failed at %s: ", name);
	return WIFEXITED(status) && WEXITSTATUS(status) == 1 && strstr(text, want);
}

/* --- identity, limits ------------------------------------------------------- */

static int become_nobody_with_two(void)
{
	static const gid_t groups[] = { 4, 6 };

	if (setgroups(2, groups) < 0)
		return 1;
	sandbox_identity(NOBODY, NOBODY, CAP(SYS_PTRACE) | CAP(DAC_READ_SEARCH));
	return 0;
}

TEST(sandbox_identity_keeps_exactly_the_capabilities_asked_for)
{
	struct child c;

	need_root();
	c = start(become_nobody_with_two);
	CHECK(status_is(c.pid, "Uid:", "65534 65534 65534 65534"));
	CHECK(status_is(c.pid, "Gid:", "65534 65534 65534 65534"));
	CHECK(status_is(c.pid, "Groups:", ""));
	CHECK(status_is(c.pid, "CapInh:", "0000000000000000"));
	CHECK(status_is(c.pid, "CapPrm:", "0000000000080004"));
	CHECK(status_is(c.pid, "CapEff:", "0000000000080004"));
	CHECK(status_is(c.pid, "CapBnd:", "0000000000000000"));
	CHECK(status_is(c.pid, "CapAmb:", "0000000000000000"));
	end(&c);
}

static int become_nobody(void)
{
	sandbox_identity(NOBODY, NOBODY, 0);
	return 0;
}

TEST(sandbox_identity_without_capabilities_has_none)
{
	struct child c;

	need_root();
	c = start(become_nobody);
	CHECK(status_is(c.pid, "CapPrm:", "0000000000000000"));
	CHECK(status_is(c.pid, "CapEff:", "0000000000000000"));
	CHECK(status_is(c.pid, "CapBnd:", "0000000000000000"));
	end(&c);
}

static void try_to_get_back(void)
{
	int bits;

	MUST(become_nobody_with_two() == 0);
	bits = prctl(PR_GET_SECUREBITS);
	MUST(bits & SECBIT_NOROOT && bits & SECBIT_NOROOT_LOCKED);
	MUST(bits & SECBIT_NO_SETUID_FIXUP_LOCKED);
	MUST(bits & SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED);
	MUST(setuid(0) < 0 && setresuid(-1, 0, -1) < 0 && setgid(0) < 0);
	MUST(prctl(PR_SET_SECUREBITS, 0) < 0);
	MUST(prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, CAP_SYS_PTRACE, 0,
		   0) < 0);
	MUST(open("/proc/1/mem", O_RDWR) < 0);
}

TEST(sandbox_identity_is_for_good)
{
	need_root();
	CHECK_EQ(fate(try_to_get_back), 0);
}

/* As under a unit with User= and AmbientCapabilities=. */
static int stay_and_drop_one(void)
{
	int r = become_nobody_with_two();

	sandbox_identity((uid_t)-1, (gid_t)-1, CAP(SYS_PTRACE));
	return r;
}

TEST(sandbox_identity_may_stay_and_drop)
{
	struct child c;

	need_root();
	c = start(stay_and_drop_one);
	CHECK(status_is(c.pid, "Uid:", "65534 65534 65534 65534"));
	CHECK(status_is(c.pid, "CapPrm:", "0000000000080000"));
	CHECK(status_is(c.pid, "CapEff:", "0000000000080000"));
	end(&c);
}

static void ask_for_too_much(void)
{
	MUST(become_nobody_with_two() == 0);
	sandbox_identity((uid_t)-1, (gid_t)-1, CAP(SYS_PTRACE) | CAP(BPF));
}

TEST(sandbox_identity_fails_without_the_capability)
{
	need_root();
	CHECK(ends(ask_for_too_much, "changing identity"));
}

static void ask_to_be_root(void)
{
	sandbox_identity(0, 0, 0);
}

static void ask_to_stay_root(void)
{
	sandbox_identity((uid_t)-1, (gid_t)-1, 0);
}

TEST(sandbox_identity_never_stays_root)
{
	need_root();
	CHECK(ends(ask_to_be_root, "refusing to stay root"));
	CHECK(ends(ask_to_stay_root, "refusing to stay root"));
}

static int set_limits(void)
{
	static const struct confinement c = {
		.limits = { COMMON_LIMITS, LIMIT(NOFILE, 33), LIMIT(AS, 1ULL << 44),
			    LIMIT(CPU, 7), NO_PROCESSES, NO_LOCKED_MEMORY },
	};

	sandbox_limits(&c);
	return 0;
}

TEST(sandbox_limits_are_hard)
{
	struct child c = start(set_limits);
	char text[8192];

	snprintf(text, sizeof(text), "%s", proc_file(c.pid, "limits"));
	CHECK(strstr(text, "Max core file size        0                    0 "));
	CHECK(strstr(text, "Max open files            33                   33 "));
	CHECK(strstr(text, "Max locked memory         0                    0 "));
	CHECK(strstr(text, "Max msgqueue size         0                    0 "));
	CHECK(strstr(text, "Max stack size            1048576              1048576 "));
	CHECK(strstr(text, "Max processes             0                    0 "));
	CHECK(strstr(text, "Max cpu time              7                    7 "));
	CHECK(strstr(text, "Max address space         17592186044416       17592186044416 "));
	end(&c);
}

static int leave_some_limits(void)
{
	static const struct confinement c = {
		.limits = { COMMON_LIMITS, LIMIT(NOFILE, 64) },
	};

	sandbox_limits(&c);
	return 0;
}

TEST(sandbox_limits_leaves_what_is_not_asked_for)
{
	struct child c = start(leave_some_limits);

	CHECK(!strstr(proc_file(c.pid, "limits"),
		      "Max address space         0 "));
	CHECK(!strstr(proc_file(c.pid, "limits"),
		      "Max locked memory         0                    0 "));
	CHECK(!strstr(proc_file(c.pid, "limits"),
		      "Max processes             0 "));
	end(&c);
}

static int quiet(void)
{
	int sig = 0;

	sandbox_quiet(SIGKILL);
	if (prctl(PR_GET_DUMPABLE) != 0 ||
	    prctl(PR_GET_PDEATHSIG, &sig) < 0 || sig != SIGKILL)
		return 2;
	return 0;
}

TEST(sandbox_quiet_sets_no_new_privs)
{
	struct child c = start(quiet);

	CHECK(status_is(c.pid, "NoNewPrivs:", "1"));
	end(&c);
}

static bool is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void close_all_but(void)
{
	static const int keep[] = { 900, 7, -1, 2, 7, 100 };

	for (int fd = 3; fd < 12; fd++)
		dup2(2, fd);
	dup2(2, 100);
	dup2(2, 101);
	dup2(2, 900);
	dup2(2, 901);
	sandbox_close_fds(keep, N(keep));
	for (int fd = 0; fd < 1000; fd++)
		MUST(is_open(fd) == (fd == 2 || fd == 7 || fd == 100 ||
				     fd == 900));
	sandbox_close_fds(NULL, 0);
	for (int fd = 0; fd < 1000; fd++)
		MUST(!is_open(fd));
}

TEST(sandbox_close_fds_leaves_only_those_named)
{
	CHECK_EQ(fate(close_all_but), 0);
}

/* --- namespaces ------------------------------------------------------------- */

static const char *const keep_paths[] = {
	"/etc/passwd", "/usr/include", "/nonexistent/file", NULL,
};

static int new_root(void)
{
	sandbox_namespaces(NEW_ROOT | CLONE_NEWNET, keep_paths, NULL);
	return 0;
}

static void look_around(void)
{
	const struct dirent *d;
	DIR *dir;
	char text[8];
	int fd, n = 0;

	MUST(new_root() == 0);
	dir = opendir("/");
	MUST(dir != NULL);
	while ((d = readdir(dir))) {
		if (d->d_name[0] != '.')
			n += !strcmp(d->d_name, "etc") ||
			     !strcmp(d->d_name, "usr") ? 1 : 100;
	}
	MUST(n == 2);
	fd = open("/etc/passwd", O_RDONLY);
	MUST(fd >= 0 && read(fd, text, 4) == 4 && !memcmp(text, "root", 4));
	MUST(open("/usr/include/stdio.h", O_RDONLY) >= 0);
	MUST(open("/etc/shadow", O_RDONLY) < 0 && errno == ENOENT);
	MUST(open("/proc/self/status", O_RDONLY) < 0 && errno == ENOENT);
	MUST(open("/../../etc/shadow", O_RDONLY) < 0 && errno == ENOENT);
	/* even root may write nowhere */
	MUST(open("/etc/passwd", O_WRONLY) < 0 && errno == EROFS);
	MUST(open("/new", O_WRONLY | O_CREAT, 0600) < 0 && errno == EROFS);
	MUST(open("/etc/new", O_WRONLY | O_CREAT, 0600) < 0 &&
	     errno == EROFS);
	MUST(mkdir("/usr/include/new", 0700) < 0 && errno == EROFS);
}

static bool other_namespace(pid_t pid, const char *name)
{
	char path[64], mine[64] = "", theirs[64] = "";

	snprintf(path, sizeof(path), "/proc/self/ns/%s", name);
	CHECK(readlink(path, mine, sizeof(mine) - 1) > 0);
	snprintf(path, sizeof(path), "/proc/%d/ns/%s", (int)pid, name);
	CHECK(readlink(path, theirs, sizeof(theirs) - 1) > 0);
	return strcmp(mine, theirs) != 0;
}

TEST(sandbox_namespaces_leave_only_what_is_kept)
{
	static const char *const names[] = { "net", "ipc", "uts", "mnt" };
	const char *p;
	struct child c;
	int lines = 0;

	need_root();
	CHECK_EQ(fate(look_around), 0);
	c = start(new_root);
	for (size_t i = 0; i < N(names); i++)
		CHECK(other_namespace(c.pid, names[i]));
	/* the old root is gone: a root and two binds are all there is */
	for (p = proc_file(c.pid, "mountinfo"); (p = strchr(p, '\n')); p++)
		lines++;
	CHECK_EQ(lines, 3);
	end(&c);
}

static int empty_root(void)
{
	DIR *dir;
	int n = 0;

	sandbox_namespaces(NEW_ROOT, NULL, NULL);
	dir = opendir("/");
	if (!dir)
		return 2;
	while (readdir(dir))
		n++;
	return n == 2 ? 0 : 3;
}

TEST(sandbox_namespaces_may_keep_the_network_and_no_file)
{
	struct child c;

	need_root();
	c = start(empty_root);
	CHECK(!other_namespace(c.pid, "net"));
	CHECK(other_namespace(c.pid, "mnt"));
	end(&c);
}

static int two_to_write(void)
{
	static const char *const keep[] = { "/usr/include", NULL };
	static char dir[] = "/tmp/trifold-write-XXXXXX", other[] = "/tmp/trifold-write-XXXXXX";
	const char *const write[] = { dir, "/nonexistent", other, NULL };

	if (!mkdtemp(dir) || !mkdtemp(other))
		return 1;
	sandbox_namespaces(NEW_ROOT, keep, write);
	for (int i = 0; i < 3; i += 2) {
		char path[64];

		snprintf(path, sizeof(path), "%s/file", write[i]);
		if (open(path, O_WRONLY | O_CREAT | O_EXCL, 0600) < 0 || unlink(path) < 0)
			return 3;
	}
	if (open("/usr/include/x", O_WRONLY | O_CREAT, 0600) >= 0 ||
	    errno != EROFS || mkdir("/x", 0700) == 0 ||
	    mkdir("/tmp/x", 0700) == 0)
		return 4;
	return 0;
}

TEST(sandbox_namespaces_may_have_directories_to_write)
{
	struct child c;

	need_root();
	c = start(two_to_write);
	end(&c);
	CHECK_EQ(system("rmdir /tmp/trifold-write-*"), 0);
}

static int nobody_namespaces(void)
{
	int r = become_nobody();

	sandbox_namespaces(NEW_ROOT | CLONE_NEWNET, NULL, NULL);
	return r;
}

TEST(sandbox_namespaces_without_the_right_does_nothing)
{
	struct child c;

	need_root();
	c = start(nobody_namespaces);
	CHECK(!other_namespace(c.pid, "net"));
	CHECK(!other_namespace(c.pid, "mnt"));
	end(&c);
}

/* --- Landlock --------------------------------------------------------------- */

static void landlock_deny(void)
{
	int fd = open("/etc/passwd", O_RDONLY);
	char text[4];

	sandbox_quiet(0);
	sandbox_landlock(false, NULL, NULL);
	MUST(read(fd, text, 4) == 4);		/* held before: still good */
	MUST(open("/etc/passwd", O_RDONLY) < 0 && errno == EACCES);
	MUST(open("/", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES);
	MUST(open("/tmp/trifold-x", O_WRONLY | O_CREAT, 0600) < 0 &&
	     errno == EACCES);
	MUST(kill(getppid(), 0) < 0 || syscall(444, NULL, 0, 1) < 6);
}

TEST(sandbox_landlock_opens_nothing)
{
	need_landlock();
	CHECK_EQ(fate(landlock_deny), 0);
}

static int allow_reading(int ruleset, const void *paths)
{
	return sandbox_allow_files(ruleset, paths, NULL, 0);
}

static void landlock_read(void)
{
	static const char *const paths[] = {
		"/etc/passwd", "/usr/include", "/nonexistent", NULL,
	};

	sandbox_quiet(0);
	sandbox_landlock(true, allow_reading, paths);
	MUST(open("/etc/passwd", O_RDONLY) >= 0);
	MUST(open("/etc/passwd", O_RDWR) < 0 && errno == EACCES);
	MUST(open("/usr/include/stdio.h", O_RDONLY) >= 0);
	MUST(open("/usr/include", O_RDONLY | O_DIRECTORY) >= 0);
	MUST(open("/etc/hostname", O_RDONLY) < 0 && errno == EACCES);
	MUST(open("/usr/include/x", O_WRONLY | O_CREAT, 0600) < 0 &&
	     errno == EACCES);
}

TEST(sandbox_landlock_opens_only_those_named)
{
	need_landlock();
	CHECK_EQ(fate(landlock_read), 0);
}

static int allow_dirs(int ruleset, const void *dirs)
{
	static const char *const paths[] = { "/etc/passwd", NULL };

	return sandbox_allow_files(ruleset, paths, dirs, 3);
}

static void landlock_files(void)
{
	char top[] = "/tmp/trifold-land-XXXXXX", other[] = "/tmp/trifold-land-XXXXXX";
	int dirs[3] = { -1, -1, -1 }, dir, fd;

	MUST(mkdtemp(top) != NULL && mkdtemp(other) != NULL);
	dir = dirs[1] = open(top, O_RDONLY | O_DIRECTORY);
	dirs[2] = open(other, O_RDONLY | O_DIRECTORY);
	MUST(dir >= 0 && dirs[2] >= 0);
	sandbox_quiet(0);
	sandbox_landlock(true, allow_dirs, dirs);
	MUST(openat(dirs[2], "a", O_WRONLY | O_CREAT | O_EXCL, 0600) >= 0 &&
	     unlinkat(dirs[2], "a", 0) == 0);
	fd = openat(dir, "a", O_WRONLY | O_CREAT | O_EXCL, 0600);
	MUST(fd >= 0 && write(fd, "x", 1) == 1 && fsync(fd) == 0);
	MUST(renameat(dir, "a", dir, "b") == 0 && fsync(dir) == 0);
	MUST(openat(dir, "b", O_RDONLY) >= 0);
	MUST(openat(dir, ".", O_RDONLY | O_DIRECTORY) >= 0);
	MUST(unlinkat(dir, "b", 0) == 0);
	MUST(mkdirat(dir, "d", 0700) < 0 && errno == EACCES);
	MUST(symlinkat("/etc", dir, "l") < 0 && errno == EACCES);
	MUST(mknodat(dir, "p", S_IFIFO | 0600, 0) < 0 && errno == EACCES);
	MUST(openat(dir, "..", O_RDONLY | O_DIRECTORY) < 0 && errno == EACCES);
	MUST(open("/etc/passwd", O_RDONLY) >= 0);
	MUST(open("/etc/hostname", O_RDONLY) < 0 && errno == EACCES);
	MUST(open("/tmp/trifold-x", O_WRONLY | O_CREAT, 0600) < 0 &&
	     errno == EACCES);
}

TEST(sandbox_landlock_may_write_into_directories)
{
	need_landlock();
	CHECK_EQ(fate(landlock_files), 0);
	CHECK_EQ(system("rmdir /tmp/trifold-land-*"), 0);
}

/* --- together --------------------------------------------------------------- */

static int confine_all(void)
{
	static const struct confinement c = {
		.namespaces = NEW_ROOT | CLONE_NEWNET,
		.limits = { COMMON_LIMITS, LIMIT(NOFILE, 64) }, .deathsig = SIGKILL,
	};

	sandbox_namespaces(c.namespaces, NULL, NULL);
	confine(&c, &(struct confine_as){ .uid = NOBODY, .gid = NOBODY });
	return 0;
}

TEST(confine_takes_all_steps)
{
	struct child c;

	need_root();
	c = start(confine_all);
	CHECK(status_is(c.pid, "Uid:", "65534 65534 65534 65534"));
	CHECK(status_is(c.pid, "CapEff:", "0000000000000000"));
	CHECK(status_is(c.pid, "CapBnd:", "0000000000000000"));
	CHECK(status_is(c.pid, "NoNewPrivs:", "1"));
	CHECK(status_is(c.pid, "Seccomp:", "2"));
	CHECK(other_namespace(c.pid, "net"));
	end(&c);
}

/* What is set in a struct confine_as, in the order of its calls. */
static char called[8];

static void note_opens(void *arg)
{
	int fd = open("/etc/hostname", O_RDONLY);

	strcat(called, arg == called && geteuid() == NOBODY && fd >= 0 ? "o" : "?");
}

static int note_allows(int ruleset, const void *arg)
{
	static const char *const paths[] = { "/etc/passwd", NULL };

	strcat(called, arg == called ? "a" : "?");
	return sandbox_allow_files(ruleset, paths, NULL, 0);
}

static void note_checks(void *arg)
{
	bool denied = open("/etc/hostname", O_RDONLY) < 0 && errno == EACCES;

	strcat(called, arg == called && denied && open("/etc/passwd", O_RDONLY) >= 0 ? "c" : "?");
}

static int refuse_allows(int ruleset, const void *arg)
{
	(void)ruleset;
	(void)arg;
	errno = ENOKEY;
	return -1;
}

static const struct sandbox_rule uname_rule[] = { YES(uname) };
static const struct confinement with_calls = {
	.landlock = LANDLOCK_FILES, .rules = { RULES(uname_rule, NULL) },
};

static void confine_calls(void)
{
	struct utsname u;

	confine(&with_calls, &(struct confine_as){
		.uid = NOBODY, .gid = NOBODY,
		.opens = note_opens, .allows = note_allows, .checks = note_checks,
		.arg = called });
	MUST(!strcmp(called, "oac"));
	MUST(uname(&u) == 0);
	getsid(0);		/* in no table */
}

static void confine_fails(void)
{
	confine(&with_calls, &(struct confine_as){
		.uid = NOBODY, .gid = NOBODY, .allows = refuse_allows });
}

TEST(confine_calls_back_between_its_steps)
{
	need_root();
	need_landlock();
	CHECK_EQ(WTERMSIG(fate(confine_calls)), SIGSYS);
	CHECK(ends(confine_fails, "landlock_add_rule"));
}
