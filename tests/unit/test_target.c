// SPDX-License-Identifier: Apache-2.0
#include "cli/record/target.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/named.h"
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
	CHECK(strstr(err, "only one of --pid, --name, --unit, --cgroup"));
	CHECK_EQ(GIVEN(.name = "x"), 0);
	CHECK_EQ(GIVEN(.unit = "x.service"), 0);
	CHECK_EQ(GIVEN(.unit = "x", .name = "x"), -EINVAL);
	CHECK_EQ(GIVEN(.unit = "x", .all = true), -EINVAL);
	CHECK_EQ(GIVEN(.unit = "system.slice/x.service"), -EINVAL);
	CHECK(strstr(err, "systemctl list-units"));
	CHECK_EQ(GIVEN(.container = "0a1b", .cgroup = "x"), -EINVAL);
	CHECK_EQ(GIVEN(PIDS, .rest = command), -EINVAL);
	CHECK_EQ(GIVEN(.cgroup = "x", .rest = command), -EINVAL);
	CHECK_EQ(GIVEN(PIDS, .all = true), -EINVAL);
	CHECK(strstr(err, "--all is the whole system"));
	CHECK_EQ(GIVEN(.rest = command, .duration_ms = 1), -EINVAL);
	CHECK(strstr(err, "either --duration or a command"));
	CHECK_EQ(GIVEN(.all = true), -EINVAL);
	CHECK_EQ(GIVEN(.verbose = true), -EINVAL);
	CHECK(strstr(err, "give --duration") && strstr(err, "--pid") &&
	      strstr(err, "--cgroup") && strstr(err, "--container"));
	CHECK_EQ(GIVEN(.container = "my-web"), 0);
	CHECK_EQ(GIVEN(.container = "my/web"), -EINVAL);
	CHECK(strstr(err, "the name of a container or pod"));
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

static bool named(const char *name, const char *comm, const char *arg)
{
	return named_is(name, comm, strlen(comm), arg, strlen(arg));
}

TEST(a_name_is_comm_or_the_end_of_argv0)
{
	CHECK(named("nginx", "nginx", ""));
	CHECK(named("nginx", "x", "nginx"));
	CHECK(named("nginx", "x", "/usr/sbin/nginx"));
	CHECK(named("prometheus-node-exporter", "prometheus-node", "x"));
	CHECK(!named("prometheus-nodes", "prometheus-nod", "x"));
	CHECK(!named("nginx", "nginx2", "/usr/sbin/nginx2"));
	CHECK(!named("nginx", "ngin", "/nginx/"));
	CHECK(!named("nginx", "", "nginx/x"));
	CHECK(!named("x", "", ""));
}

static pid_t sleeper(const char *name)
{
	int up[2];
	pid_t pid;
	char c;

	CHECK_EQ(pipe(up), 0);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_NAME, name);
		(void)!write(up[1], "", 1);
		_exit(pause());
	}
	CHECK_EQ(read(up[0], &c, 1), 1);
	close(up[0]);
	close(up[1]);
	return pid;
}

TEST(processes_by_name)
{
	pid_t pids[NUMBERS_MAX + 1];
	struct target t;
	char name[16];

	skip_elsewhere();
	snprintf(name, sizeof(name), "tf %d", (int)getpid());
	CHECK_EQ(FIND(&t, .name = name), -ESRCH);
	for (int i = 0; i < 2; i++)
		pids[i] = sleeper(name);
	CHECK_EQ(FIND(&t, .name = name), 0);
	CHECK(t.kind == TARGET_PIDS && t.pids.n == 2 && t.running == 2);
	CHECK(strstr(t.what, "2 processes named tf "));
	kill(pids[0], SIGKILL);
	waitpid(pids[0], NULL, 0);
	CHECK_EQ(target_ended(&t), pids[0]);
	target_release(&t);
	pids[0] = sleeper(name);
	for (int i = 2; i <= NUMBERS_MAX; i++)
		pids[i] = sleeper(name);
	CHECK_EQ(FIND(&t, .name = name), -E2BIG);
	for (int i = 0; i <= NUMBERS_MAX; i++)
		kill(pids[i], SIGKILL);
	while (wait(NULL) > 0)
		;
	CHECK_EQ(FIND(&t, .name = name), -ESRCH);
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

static int look_by(int (*search)(int, const char *, char *, size_t, uint64_t *),
		   const char *id, char path[256])
{
	int fd = open(".", O_RDONLY | O_DIRECTORY);
	struct stat st;
	uint64_t number = 0;
	int r;

	path[0] = '\0';
	CHECK(fd >= 0);
	r = search(fd, id, path, 256, &number);
	if (!r) {
		char full[400];

		snprintf(full, sizeof(full), "%s%s", dir, path);
		CHECK_EQ(stat(full, &st), 0);
		CHECK_EQ(number, st.st_ino);
	}
	CHECK(fcntl(fd, F_GETFD) < 0);
	return r;
}

static int look(const char *id, char path[256])
{
	return look_by(target_container, id, path);
}

/* What target_unit() says of this unit. */
static const char *said_of(const char *unit)
{
	static char text[512];
	int saved = dup(2), f = memfd_create("said", MFD_CLOEXEC);
	char path[256];
	ssize_t n;

	CHECK(saved >= 0 && f >= 0 && dup2(f, 2) == 2);
	look_by(target_unit, unit, path);
	dup2(saved, 2);
	close(saved);
	n = pread(f, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	close(f);
	return text;
}

TEST(where_a_unit_is_that_may_be_another_is_said)
{
	enter();
	make("system.slice/web.service");
	make("user.slice/user-7.slice/user@7.service/app.slice/web.service");
	make("user.slice/user-7.slice/user@7.service/app.slice/own.service");
	CHECK_STR(said_of("web"), "");
	CHECK(strstr(said_of("own"), "the unit own.service is /user.slice/"
		     "user-7.slice/user@7.service/app.slice/own.service\n"));
	CHECK(strstr(said_of("mysql"), "alias, give the name that"));
	leave();
}

TEST(a_unit_is_the_systems_before_others)
{
	char path[256];

	enter();
	make("system.slice/web.service");
	make("system.slice/system-db.slice/db@1.service/inner");
	make("user.slice/user-7.slice/user@7.service/app.slice/web.service");
	make("user.slice/user-7.slice/user@7.service/app.slice/own.service");
	make("docker/" ID_A "/system.slice/web.service");
	make("system.slice/docker-" ID_A ".scope/system.slice/two.service");
	make("lxc/system.slice/two.service");
	CHECK_EQ(look_by(target_unit, "web.service", path), 0);
	CHECK_STR(path, "/system.slice/web.service");
	CHECK_EQ(look_by(target_unit, "web", path), 0);
	CHECK_EQ(look_by(target_unit, "db@1", path), 0);
	CHECK_STR(path, "/system.slice/system-db.slice/db@1.service");
	CHECK_EQ(look_by(target_unit, "system-db.slice", path), 0);
	CHECK_EQ(look_by(target_unit, "own", path), 0);
	CHECK_STR(path, "/user.slice/user-7.slice/user@7.service/app.slice/"
		  "own.service");
	CHECK_EQ(look_by(target_unit, "user@7.service", path), 0);
	CHECK_EQ(look_by(target_unit, "two", path), -ENOTUNIQ);
	CHECK_EQ(look_by(target_unit, "we", path), -ENOENT);
	CHECK_EQ(look_by(target_unit, "inner", path), -ENOENT);
	leave();
}

/* What batches have of a unit with this path. */
static const char *service_of(const char *unit, const char *path)
{
	static struct target t;

	target_note_unit(&t, unit, path);
	return t.service;
}

TEST(a_unit_beside_a_running_trifold_is_the_one_of_that_path)
{
	static const char user[] = "/user.slice/user-7.slice/user@7.service/app.slice/web.service";
	struct target t = { .cgroup = 1 };

	CHECK_STR(service_of("web", "/system.slice/web.service"), "web");
	CHECK_STR(service_of("web.service", "/system.slice/web.service"), "web");
	CHECK_STR(service_of("web.service", user), "user@7/web");
	CHECK_STR(service_of("web", "/lxc.payload.a/system.slice/web.service"),
		  "lxc.payload.a/web");
	CHECK_STR(service_of("web", "/system.slice/app.service/web.service"), "");
	CHECK_STR(service_of("some.scope", "/system.slice/some.scope"), "");
	CHECK_STR(service_of("system-db.slice", "/system.slice/system-db.slice"), "");
	target_note_unit(&t, "web", "/docker/" ID_A "/system.slice/web.service");
	CHECK_STR(t.service, "web");
	CHECK_STR(t.container, ID_A);
	target_note_unit(&t, "web", "/system.slice/web.service");
	CHECK_STR(t.container, "");
}

TEST(unit_names)
{
	char longest[260];

	memset(longest, 'u', sizeof(longest));
	longest[247] = '\0';
	CHECK(target_is_unit("nginx") && target_is_unit("a@b.service"));
	CHECK(target_is_unit(longest));
	longest[247] = 'u';
	longest[248] = '\0';
	CHECK(!target_is_unit(longest));
	CHECK_EQ(target_service("nginx"), 5);
	CHECK_EQ(target_service("a@b.service"), 3);
	CHECK_EQ(target_service("a.b"), 3);
	CHECK_EQ(target_service("a.scope"), 0);
	CHECK(!target_is_unit("") && !target_is_unit("..") &&
	      !target_is_unit("a/b"));
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

static void put(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fputs(text, f) >= 0 && fclose(f) == 0);
}

/* What --container GIVEN is, and what was said about it. */
static int name(const char *given, char id[CONTAINER_ID_MAX + 1], char *said)
{
	int saved = dup(2), f = memfd_create("said", MFD_CLOEXEC);
	int top = open("cgroups", O_RDONLY | O_DIRECTORY), r;
	int root = open(".", O_RDONLY | O_DIRECTORY);
	ssize_t n;

	CHECK(saved >= 0 && f >= 0 && dup2(f, 2) == 2);
	r = target_container_named(top, root, given, id);
	dup2(saved, 2);
	n = pread(f, said, 999, 0);
	said[n > 0 ? n : 0] = '\0';
	close(saved);
	close(root);
	close(top);
	close(f);
	return r;
}

#define LOGS	"var/log/containers/"

TEST(a_container_is_found_by_its_name)
{
	char id[CONTAINER_ID_MAX + 1], said[1000];

	if (geteuid() != 0) {
		printf("# needs root\n");
		exit(TEST_SKIP);
	}
	enter();
	make("cgroups/system.slice/docker-" ID_A ".scope");
	make("cgroups/machine.slice/libpod-" ID_C ".scope/container");
	make("var/lib/docker/containers/" ID_A);
	make("var/lib/docker/containers/" ID_B);
	make(LOGS);
	put("var/lib/docker/containers/" ID_A "/config.v2.json",
	    "{\"Name\":\"/web\"}");
	put("var/lib/docker/containers/" ID_B "/config.v2.json",
	    "{\"Name\":\"/cccc\"}");
	put(LOGS "shop-1_default_web-" ID_B ".log", "");
	/* ID_B has the name web, too, but does not run */
	CHECK_EQ(name("web", id, said), 0);
	CHECK_STR(id, ID_A);
	CHECK_STR(said, "");
	CHECK_EQ(name("shop-1", id, said), -ENOENT);
	CHECK(strstr(said, "shop-1 (0a1bffffffff, Kubernetes shop-1_default_web"
		     ") has no cgroup here: does it run?"));
	CHECK_EQ(name("nobody", id, said), -ENOENT);
	CHECK(strstr(said, "(/var/lib), nor in /var/log/containers: give the ID"));
	/* the beginning of an ID, and not of one that does not run */
	CHECK_EQ(name("cccc", id, said), 0);
	CHECK_STR(id, "cccc");
	/* a name that runs goes before it, but not before 12 digits */
	put(LOGS "x_default_0a1b-" ID_C ".log", "");
	put(LOGS "x_default_0a1b2c3d4e5f-" ID_C ".log", "");
	CHECK_EQ(name("0a1b", id, said), 0);
	CHECK_STR(id, ID_C);
	CHECK_EQ(name("0a1b2c3d4e5f", id, said), 0);
	CHECK_STR(id, "0a1b2c3d4e5f");
	put(LOGS "x_default_web-" ID_C ".log", "");
	CHECK_EQ(name("web", id, said), -ENOTUNIQ);
	CHECK(strstr(said, "2 running containers have the name web: give "
		     "--container the ID of one: 0a1b2c3d4e5f (docker), "
		     "cccccccccccc (Kubernetes x_default_"));
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

/* An engine's service makes containers; another one only what looks like it. */
TEST(a_container_is_not_what_a_service_made)
{
	char path[256];

	enter();
	make("system.slice/foo.service/" ID_A);
	CHECK_EQ(look("0a1b", path), -ENOENT);
	make("system.slice/containerd.service/x.slice:cri-containerd:" ID_A);
	CHECK_EQ(look("0a1b", path), 0);
	CHECK_STR(path, "/system.slice/containerd.service/x.slice:cri-containerd:" ID_A);
	make("docker/" ID_C "/system.slice/foo.service/" ID_B);
	CHECK_EQ(look(ID_B, path), -ENOENT);
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
