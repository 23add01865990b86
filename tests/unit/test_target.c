// SPDX-License-Identifier: Apache-2.0
#include "cli/record/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/harness.h"

#define ID_A	"0a1b2c3d4e5f60718293a4b5c6d7e8f90a1b2c3d4e5f60718293a4b5c6d7e8f9"
#define ID_B	"0a1bffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff"
#define ID_C	"cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc"
#define TASK	"0a1b2c3d4e5f60718293a4b5c6d7e8f9-1234567890"

static char *command[] = { (char *)"make", NULL };
static char *nothing[] = { NULL };
static char err[400];

/* --- options ------------------------------------------------------------------ */

static int check(struct options o)
{
	if (!o.rest)
		o.rest = nothing;
	return target_check(&o, err, sizeof(err));
}

#define GIVEN(...)	check((struct options){ __VA_ARGS__ })
#define PIDS		.pids = { { 1 }, 1 }

TEST(one_target_at_a_time)
{
	CHECK_EQ(GIVEN(.duration_ms = 1), 0);
	CHECK_EQ(GIVEN(.duration_ms = 1, .all = true), 0);
	CHECK_EQ(GIVEN(.rest = command), 0);
	CHECK_EQ(GIVEN(.rest = command, .all = true), 0);
	CHECK_EQ(GIVEN(PIDS), 0);
	CHECK_EQ(GIVEN(PIDS, .duration_ms = 1), 0);
	CHECK_EQ(GIVEN(.cgroup = "x"), 0);
	CHECK_EQ(GIVEN(.container = "0a1b"), 0);
	CHECK_EQ(GIVEN(PIDS, .cgroup = "x"), -EINVAL);
	CHECK(strstr(err, "only one of --pid, --cgroup, --container"));
	CHECK_EQ(GIVEN(.container = "0a1b", .cgroup = "x"), -EINVAL);
	CHECK_EQ(GIVEN(PIDS, .rest = command), -EINVAL);
	CHECK_EQ(GIVEN(.cgroup = "x", .rest = command), -EINVAL);
	CHECK_EQ(GIVEN(PIDS, .all = true), -EINVAL);
	CHECK(strstr(err, "--all is the whole system"));
	CHECK_EQ(GIVEN(.rest = command, .duration_ms = 1), -EINVAL);
	CHECK(strstr(err, "either --duration or a command"));
	CHECK_EQ(GIVEN(.all = true), -EINVAL);
	CHECK_EQ(GIVEN(.verbose = true), -EINVAL);
	CHECK(strstr(err, "--duration SECONDS") && strstr(err, "--pid") &&
	      strstr(err, "--cgroup") && strstr(err, "--container"));
	CHECK_EQ(GIVEN(.container = "my-web"), -EINVAL);
	CHECK(strstr(err, "docker ps --no-trunc"));
}

TEST(container_ids_and_names)
{
	static const char *const good[] = {
		"0a1b", "0123456789ab", ID_A, TASK,
		"0a1b2c3d4e5f60718293a4b5c6d7e8f9",
		"0a1b2c3d4e5f60718293a4b5c6d7e8f9-",
	};
	static const char *const bad[] = {
		"", "0a1", "web", "0A1B", "0a1b ", "0a1bg", ID_A "0", "0a1b-1",
		"0a1b/..", TASK "x", "0a1b2c3d4e5f60718293a4b5c6d7e8f9-"
		"1234567890123456789012345678901234567890",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(target_is_container(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!target_is_container(bad[i]));
}

/* --- /proc/TID/status ------------------------------------------------------------ */

static uint32_t tgid(const char *text, size_t len)
{
	char *copy = malloc(len ? len : 1);	/* exact: no NUL to stop at */
	uint32_t r;

	CHECK(copy != NULL);
	memcpy(copy, text, len);
	r = target_tgid(copy, len);
	free(copy);
	return r;
}

#define TGID(s)	tgid(s, strlen(s))

TEST(the_process_of_a_thread)
{
	static const char real[] = "Name:\tcat\nUmask:\t0022\nState:\tR "
		"(running)\nTgid:\t4711\nNgid:\t0\nPid:\t4712\n";

	CHECK_EQ(TGID(real), 4711);
	CHECK_EQ(TGID("Tgid:\t1\n"), 1);
	CHECK_EQ(TGID("Tgid:\t2147483647\n"), 2147483647);
	/* a name with a newline comes escaped, one without is no line's start */
	CHECK_EQ(TGID("Name:\tTgid:\t7\nTgid:\t8\n"), 8);
	CHECK_EQ(TGID("Name:\t\\nTgid:\t7\nTgid:\t8\n"), 8);
	CHECK_EQ(TGID(""), 0);
	CHECK_EQ(TGID("\n\n\n"), 0);
	CHECK_EQ(TGID("Tgid:\t"), 0);
	CHECK_EQ(TGID("Tgid:\t\n"), 0);
	CHECK_EQ(TGID("Tgid:\t-1\n"), 0);
	CHECK_EQ(TGID("Tgid: 12\n"), 0);
	CHECK_EQ(TGID("Tgid:\t12x\n"), 0);
	CHECK_EQ(TGID("Tgid:\t2147483648\n"), 0);
	CHECK_EQ(TGID("Tgid:\t99999999999999999999999\n"), 0);
	for (size_t len = 0; len <= strlen(real); len++)
		CHECK_EQ(tgid(real, len), strstr(real, "Ngid") - real <=
			 (long)len ? 4711 : 0);
	for (size_t bit = 0; bit < 8 * strlen(real); bit++) {
		char flipped[sizeof(real)];

		memcpy(flipped, real, sizeof(real));
		flipped[bit / 8] ^= 1 << bit % 8;
		tgid(flipped, strlen(real));
	}
}

/* --- processes ---------------------------------------------------------------------- */

static int find(struct options o, struct target *t)
{
	o.rest = nothing;
	return target_find(&o, t);
}

#define FIND(t, ...)	find((struct options){ __VA_ARGS__ }, t)

static void skip_elsewhere(void)
{
	char text[64] = "";

	if (readlink("/proc/self/ns/pid", text, sizeof(text) - 1) > 0 &&
	    strcmp(text, "pid:[4026531836]")) {
		printf("# not in the machine's PID namespace\n");
		exit(TEST_SKIP);
	}
}

TEST(processes_end_one_by_one)
{
	pid_t a = fork(), b;
	struct target t;

	if (a == 0)
		_exit(pause());
	b = fork();
	if (b == 0)
		_exit(pause());
	skip_elsewhere();
	CHECK_EQ(FIND(&t, .pids = { { (uint32_t)a, (uint32_t)b }, 2 }), 0);
	CHECK_EQ(t.kind, TARGET_PIDS);
	CHECK_EQ(t.running, 2);
	CHECK(strncmp(t.what, "processes ", 10) == 0);
	CHECK_EQ(target_ended(&t), 0);
	kill(b, SIGKILL);
	waitpid(b, NULL, 0);
	CHECK_EQ(target_ended(&t), b);
	CHECK_EQ(target_ended(&t), 0);
	CHECK_EQ(t.running, 1);
	kill(a, SIGKILL);
	waitpid(a, NULL, 0);
	CHECK_EQ(target_ended(&t), a);
	CHECK_EQ(t.running, 0);
	target_release(&t);
	/* there is none of this number any more, and nothing stays open */
	CHECK_EQ(FIND(&t, .pids = { { (uint32_t)getpid(), (uint32_t)a }, 2 }),
		 -ESRCH);
	CHECK(FIND(&t, .pids = { { INT32_MAX }, 1 }) != 0);
}

TEST(the_whole_system_is_nothing_in_particular)
{
	struct target t;

	CHECK_EQ(FIND(&t, .duration_ms = 1), 0);
	CHECK(t.kind == TARGET_ALL && t.ended < 0 && !t.what[0]);
	CHECK_EQ(target_ended(&t), 0);
	target_release(&t);
}

/* --- containers --------------------------------------------------------------------- */

static char dir[64];

static void make(const char *path)
{
	char buf[600];
	size_t len = 0;

	for (const char *p = path; ; p++) {
		if ((*p == '/' || !*p) && len) {
			buf[len] = '\0';
			if (mkdir(buf, 0700) < 0)
				CHECK_EQ(errno, EEXIST);
		}
		if (!*p)
			break;
		buf[len++] = *p;
	}
}

static void enter(void)
{
	snprintf(dir, sizeof(dir), "/tmp/trifold-test-%d", (int)getpid());
	CHECK_EQ(mkdir(dir, 0700), 0);
	CHECK_EQ(chdir(dir), 0);
}

static void leave(void)
{
	CHECK_EQ(system("rm -rf \"$PWD\""), 0);
}

static int look(const char *id, char path[256])
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	struct stat st;
	uint64_t number = 0;
	int r;

	path[0] = '\0';
	CHECK(fd >= 0);
	r = target_container(fd, id, path, 256, &number);
	if (!r) {
		char full[400];

		snprintf(full, sizeof(full), "%s%s", dir, path);
		CHECK_EQ(stat(full, &st), 0);
		CHECK_EQ(number, st.st_ino);
	}
	CHECK(fcntl(fd, F_GETFD) < 0);
	return r;
}

TEST(a_container_is_found_by_its_beginning)
{
	char path[256];

	enter();
	make("system.slice/docker-" ID_A ".scope/init.scope");
	make("machine.slice/libpod-conmon-" ID_C ".scope");
	make("machine.slice/libpod-" ID_C ".scope/container");
	make("kubepods.slice/x.slice:cri-containerd:" ID_B);
	make("ecs/" TASK);
	CHECK_EQ(look("0a1b2c3d4e5f6071", path), -ENOTUNIQ);	/* TASK too */
	CHECK_EQ(look(ID_A, path), 0);
	CHECK(!strcmp(path, "/system.slice/docker-" ID_A ".scope"));
	CHECK_EQ(look(TASK, path), 0);
	CHECK(!strcmp(path, "/ecs/" TASK));
	CHECK_EQ(look("0a1bf", path), 0);
	CHECK(!strcmp(path, "/kubepods.slice/x.slice:cri-containerd:" ID_B));
	CHECK_EQ(look("cccc", path), 0);
	CHECK(!strcmp(path, "/machine.slice/libpod-" ID_C ".scope"));
	CHECK_EQ(look("0a1b", path), -ENOTUNIQ);
	CHECK_EQ(look("dddd", path), -ENOENT);
	leave();
}

TEST(one_container_may_lie_in_another)
{
	char path[256];

	enter();
	make("docker/" ID_C "/docker/" ID_A);
	CHECK_EQ(look("cccc", path), 0);
	CHECK(!strcmp(path, "/docker/" ID_C));
	CHECK_EQ(look("0a1b", path), 0);
	CHECK(!strcmp(path, "/docker/" ID_C "/docker/" ID_A));
	/* once more below itself is the same, elsewhere it is not */
	make("docker/" ID_C "/" ID_C);
	CHECK_EQ(look("cccc", path), 0);
	CHECK(!strcmp(path, "/docker/" ID_C));
	make("user.slice/" ID_C);
	CHECK_EQ(look("cccc", path), -ENOTUNIQ);
	leave();
}

TEST(odd_directories_are_passed)
{
	char path[256], name[256];

	enter();
	memset(name, 'x', 255);
	name[255] = '\0';
	make(name);
	make("\x1b[2J\n\xff");
	make("docker-.scope/docker-");
	make(ID_A "0");
	CHECK_EQ(symlink("/", "docker-" ID_A ".scope"), 0);
	CHECK_EQ(symlink(".", "loop"), 0);
	CHECK_EQ(system("mkfifo " ID_C), 0);
	CHECK_EQ(look("0a1b", path), -ENOENT);
	CHECK_EQ(look("cccc", path), -ENOENT);
	make("a\nb/" ID_B);
	CHECK_EQ(look("0a1b", path), 0);
	CHECK(!strcmp(path, "/a\nb/" ID_B));
	leave();
}

/* Deeper than the sampler looks: passed, and no descriptors run out. */
TEST(depth_has_an_end)
{
	char path[256];

	enter();
	for (int i = 0; i < 200; i++) {
		CHECK_EQ(mkdir("deep", 0700), 0);
		CHECK_EQ(chdir("deep"), 0);
	}
	CHECK_EQ(mkdir(ID_A, 0700), 0);
	CHECK_EQ(chdir(dir), 0);
	CHECK_EQ(look("0a1b", path), -ENOENT);
	leave();
}
