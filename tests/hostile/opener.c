// SPDX-License-Identifier: Apache-2.0
/*
 * The opener as main sees it: what it opens, what it refuses, and how it gets out of a
 * file system that never answers (a FUSE server of ours).
 */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdint.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>

#include "ipc/conn.h"
#include "loaderd/opener.h"
#include "tests/hostile/forbidden.h"
#include "tests/hostile/mute_fuse.h"

#define WAIT_MS		3000
#define BELOW		"/usr/lib/debug/.build-id/de"
#define NAME		BELOW "/adbeef.debug"

static struct opener opener;
static uint64_t last_id, layer;		/* layer: of the executable, as the hub says */
static char root[] = "/tmp/trifold-opener-XXXXXX";

/* The next answer, its id and its descriptor (-1: none); false: none came. */
static bool answer(uint64_t *id, int *fd)
{
	struct pollfd p = { .fd = opener.conn.fd, .events = POLLIN };
	struct msg m;

	if (poll(&p, 1, WAIT_MS) != 1 || conn_recv(&opener.conn, &m))
		return false;
	*id = m.hdr.id;
	*fd = m.hdr.type == MSG_OPENED ? msg_take_fd(&m, 0) : -1;
	msg_close_fds(&m);
	return true;
}

static int answer_to(uint64_t id)
{
	uint64_t got;
	int fd;

	return answer(&got, &fd) && got == id ? fd : -2;
}

static int say(enum msg_type type, const void *payload, size_t len)
{
	return conn_send(&opener.conn, type, ++last_id, payload, len, NULL, 0, NULL, 0);
}

static int ask(enum msg_type type, const void *payload, size_t len)
{
	return say(type, payload, len) ? -2 : answer_to(last_id);
}

/* A debug file by these names (len bytes) below the root of a process: descriptor, -1:
 * refused, -2: no answer. */
static int ask_debug_by(pid_t pid, const char *names, size_t len)
{
	struct msg_wanted q = { .process.tgid = (uint32_t)pid, .layer = layer };

	memcpy(q.paths, names, len);
	return ask(MSG_DEBUG_WANTED, &q, sizeof(q));
}

static int ask_debug(pid_t pid)
{
	return ask_debug_by(pid, NAME, sizeof(NAME));
}

static int ask_mapping(const void *at, size_t len)
{
	struct request_file q = {
		.process.tgid = (uint32_t)getpid(), .start = (uintptr_t)at,
		.end = (uintptr_t)at + len,
	};

	return ask(MSG_OPEN, &q, sizeof(q));
}

static const char *in_root(const char *path)
{
	static char full[256];

	snprintf(full, sizeof(full), "%s%s", root, path);
	return full;
}

static void make(const char *path, mode_t mode)
{
	int fd = open(in_root(path), O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || write(fd, "x", 1) != 1 || fchmod(fd, mode) < 0)
		perror(path);
	close(fd);
}

/* A process with a root of its own, until its standard input ends. */
static pid_t inhabitant(int *stop)
{
	int in[2], up[2];
	pid_t pid;
	char c;

	if (pipe(in) < 0 || pipe(up) < 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		close(in[1]);
		signal(SIGPIPE, SIG_DFL);
		if (chroot(root) < 0 || chdir("/") < 0 || write(up[1], "x", 1) != 1)
			_exit(1);
		_exit(read(in[0], &c, 1) != 0);
	}
	close(in[0]);
	close(up[1]);
	if (read(up[0], &c, 1) != 1)
		pid = -1;
	close(up[0]);
	*stop = in[1];
	return pid;
}

static void make_root(void)
{
	static const char *const dirs[] = {
		"/usr", "/usr/lib", "/usr/lib/debug",
		"/usr/lib/debug/.build-id", BELOW, "/locked", "/open", "/tmp",
	};

	if (!mkdtemp(root) || chmod(root, 0755) < 0)
		exit(1);
	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++)
		mkdir(in_root(dirs[i]), 0755);
	make("/secret", 0640);
	make("/open/plain", 0644);
	make("/locked/plain", 0644);
	chmod(in_root("/locked"), 0700);
}

static void expect(int got, bool opened, const char *what)
{
	verdict(opened ? got >= 0 : got == -1, "opener", what,
		got >= 0 ? "opened" : got == -1 ? "refused" : "not answered");
	if (got >= 0)
		close(got);
}

static void debug_link(pid_t pid, const char *to, bool opened, const char *what)
{
	char name[256];

	snprintf(name, sizeof(name), "%s", in_root(NAME));
	unlink(name);
	if (to && symlink(to, name) < 0)
		perror("symlink");
	expect(ask_debug(pid), opened, what);
}

static void debug_files(pid_t pid)
{
	debug_link(pid, NULL, false, "no debug file at all");
	debug_link(pid, "/open/plain", true, "what everybody may read");
	debug_link(pid, "/secret", false, "what not everybody may read");
	debug_link(pid, "/locked/plain", false, "a file in a locked folder");
	debug_link(pid, "/../../../../../etc/passwd", false, "a link out of the root");
	debug_link(pid, "/open", false, "a folder");
	mknod(in_root("/device"), S_IFCHR | 0666, makedev(1, 3));
	chmod(in_root("/device"), 0666);
	debug_link(pid, "/device", false, "a device");
	mkfifo(in_root("/fifo"), 0666);
	debug_link(pid, "/fifo", false, "a FIFO");
}

#define BY(names)	ask_debug_by(pid, names, sizeof(names))

/* What the hub may ask for by name. */
static void debug_names(pid_t pid)
{
	debug_link(pid, "/open/plain", true, "to begin with, a file");
	expect(BY("/open/plain"), false, "a name that is no debug file's");
	expect(BY(NAME "/../../../../../../../open/plain"), false, "the same by a detour");
	expect(BY("debug"), false, "a name shorter than its ending");
	expect(BY(""), false, "no name");
	expect(BY("/none.debug\0" NAME), true, "the second of two names");
	expect(BY("/open/plain\0" NAME), true, "a name behind a bad one");
	expect(BY("/none.debug\0/neither.debug"), false, "two names of nothing");
	expect(BY("../../.." NAME), true, "a name that does not leave the root");
}

/* Packages of split DWARF have an ending of their own. */
static void package_names(pid_t pid)
{
	make("/open/prog.dwp", 0644);
	make("/open/secret.dwp", 0640);
	make("/open/prog.dwpx", 0644);
	expect(BY("/open/prog.dwp"), true, "a package");
	expect(BY("/none.dwp\0/open/prog.dwp"), true, "a package as the second name");
	expect(BY("/open/secret.dwp"), false, "a package that not everybody may read");
	expect(BY("/open/prog.dwpx"), false, "a name with a longer ending");
	expect(BY("/open/prog.dwp/../plain"), false, "a detour through a package");
	expect(BY("dwp"), false, "a name that is the ending without its dot");
}

#define DWZ	"/usr/lib/debug/.dwz/"

/* dwz's have any name, in one directory. */
static void alternate_names(pid_t pid)
{
	mkdir(in_root(DWZ), 0755);
	mkdir(in_root(DWZ "x86_64-linux-gnu"), 0755);
	make(DWZ "foo-1.0-1.fc39.x86_64", 0644);
	make(DWZ "x86_64-linux-gnu/foo.debug", 0644);
	make(DWZ "secret", 0640);
	make("/usr/lib/debug/.dwzfoo", 0644);
	(void)!symlink("/../../../etc/passwd", in_root(DWZ "out"));
	(void)!symlink("/secret", in_root(DWZ "link"));
	expect(BY(DWZ "foo-1.0-1.fc39.x86_64"), true, "an alternate file as Fedora names it");
	expect(BY(DWZ "x86_64-linux-gnu/foo.debug"), true, "one as Debian names it");
	expect(BY("/none.debug\0" DWZ "foo-1.0-1.fc39.x86_64"), true, "one as the second name");
	expect(BY(DWZ "secret"), false, "one that not everybody may read");
	expect(BY(DWZ "out"), false, "one that is a link out of the root");
	expect(BY(DWZ "link"), false, "one that is a link to a secret");
	expect(BY(DWZ), false, "the directory of these");
	expect(BY(DWZ "../../../../open/plain"), false, "a detour through it");
	expect(BY(DWZ "x86_64-linux-gnu/../foo-1.0-1.fc39.x86_64"), false, "a detour within it");
	expect(BY("/x" DWZ "foo-1.0-1.fc39.x86_64"), false, "a directory that ends so");
	expect(BY("/usr/lib/debug/.dwzfoo"), false, "a file that begins so");
	expect(BY("usr/lib/debug/.dwz/foo-1.0-1.fc39.x86_64"), false, "its name without a slash");
}

/* An overlay of /one/layer, where prog is, and of another layer, with the debug file;
 * true if there is one. */
static bool overlay(const char *debug, const char *more)
{
	char options[1024], first[256], at[256];
	struct stat st;

	snprintf(first, sizeof(first), "%s", in_root("/one/layer"));
	snprintf(at, sizeof(at), "%s", in_root("/usr/lib/debug/.build-id"));
	snprintf(options, sizeof(options), "lowerdir=%s:%s%s", first, in_root(debug), more);
	if (mount("overlay", at, "overlay", MS_RDONLY, options) < 0) {
		perror("# overlay");
		return false;
	}
	snprintf(options, sizeof(options), "%s/prog", at);
	layer = stat(options, &st) ? 0 : MSG_LAYER(st.st_dev, st.st_ino);
	return true;
}

static void no_overlay(void)
{
	umount2(in_root("/usr/lib/debug/.build-id"), MNT_DETACH);
	layer = 0;
}

/* Of an overlay only what is in the file system that the executable is in. */
static void overlays(pid_t pid)
{
	static const char *const dirs[] = {
		"/one", "/other", "/one/layer", "/one/below", "/one/below/de", "/other/de",
	};

	for (size_t i = 0; i < sizeof(dirs) / sizeof(*dirs); i++) {
		mkdir(in_root(dirs[i]), 0755);
		if (i < 2 && mount("layer", in_root(dirs[i]), "tmpfs", 0, "mode=755"))
			perror("# tmpfs");
	}
	make("/one/layer/prog", 0644);
	make("/one/below/de/adbeef.debug", 0644);
	make("/other/de/adbeef.debug", 0644);
	if (overlay("/one/below", "")) {
		expect(ask_debug(pid), true, "a file of the executable's layers");
		layer ^= 1 << 16;
		expect(ask_debug(pid), false, "a file of another overlay");
		layer = 0;
		expect(ask_debug(pid), false, "an overlay's file for an executable of none");
		no_overlay();
	}
	for (int i = 0; i < 2 && overlay("/other", i ? ",xino=on" : ",xino=off"); i++) {
		expect(ask_debug(pid), false, i ? "a layer of another file system, numbered" :
						  "a layer of another file system");
		no_overlay();
	}
	umount2(in_root("/one"), MNT_DETACH);
	umount2(in_root("/other"), MNT_DETACH);
}

/* What a user brought, whose files belong to whom he likes, is mounted nosuid: it counts only
 * for executables that are there, too. */
static void media(pid_t pid)
{
	char at[256];
	struct stat st;

	snprintf(at, sizeof(at), "%s", in_root("/usr/lib/debug/.build-id/de"));
	if (mount("media", at, "tmpfs", MS_NOSUID, "mode=755")) {
		perror("# tmpfs");
		return;
	}
	make(NAME, 0644);
	expect(ask_debug(pid), false, "a file on media that somebody brought");
	layer = stat(at, &st) ? 0 : MSG_LAYER(st.st_dev, 0);
	expect(ask_debug(pid), true, "a file on the media on which its executable is");
	layer = 0;
	mount(NULL, at, NULL, MS_REMOUNT, "mode=755");
	expect(ask_debug(pid), true, "a file of another file system of the host's");
	umount2(at, MNT_DETACH);
}

static void mappings(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int secret = open(in_root("/secret"), O_RDONLY);
	int zero = open("/dev/zero", O_RDWR);
	void *p = mmap(NULL, page, PROT_READ, MAP_PRIVATE, secret, 0);
	void *q = mmap(NULL, page, PROT_READ, MAP_SHARED, zero, 0);

	expect(ask_mapping(p, page), true, "a file that is mapped");
	expect(ask_mapping(p, 2 * page), false, "a range that is not mapped");
	expect(ask_mapping(q, page), true, "shared memory");
	munmap(p, page);
	munmap(q, page);
	close(secret);
	close(zero);
}

/* What loaderd may send to the hub is an offence here: it ends this opener, and another one
 * takes its place. */
static void offence(enum msg_type type, int fd, const char *what)
{
	struct pollfd p = { .fd = opener.conn.fd, .events = POLLIN };
	volatile struct opener_stats *shared = opener.shared;
	struct timespec ms = { 0, 1000000 };
	uint64_t pid, began;

	mappings();
	pid = shared->pid;
	began = (uint64_t)time(NULL);
	conn_send(&opener.conn, type, ++last_id, NULL, 0, NULL, 0, &fd, fd >= 0);
	while (shared->pid == pid && (uint64_t)time(NULL) - began < WAIT_MS / 1000)
		nanosleep(&ms, NULL);
	verdict(shared->pid != pid, "opener", what, "an offence");
	verdict(poll(&p, 1, 0) == 0, "opener", what, "not answered");
	mappings();
}

static void offences(void)
{
	offence(MSG_BYE, -1, "a message for the hub");
	offence(MSG_MAPPED, STDIN_FILENO, "one for the hub with a descriptor");
}

/* --- perf maps --------------------------------------------------------------- */

#define MAP	"/tmp/perf-7.map"

static int ask_map(pid_t pid, uint32_t ns_tgid)
{
	struct msg_wanted q = { .process.tgid = (uint32_t)pid, .ns_tgid = ns_tgid };

	return ask(MSG_PERF_MAP_WANTED, &q, sizeof(q));
}

/* What is there in place of the map, made by make_it(). */
static void map_is(pid_t pid, void (*make_it)(const char *path), bool opened,
		   const char *what)
{
	char path[256];

	snprintf(path, sizeof(path), "%s", in_root(MAP));
	make_it(path);
	expect(ask_map(pid, 7), opened, what);
	umount2(path, MNT_DETACH);
	if (remove(path))
		perror(path);
}

static void map_file(const char *path, uid_t uid)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);

	if (fd < 0 || write(fd, "1000 10 f\n", 10) != 10 || fchown(fd, uid, uid))
		perror(path);
	close(fd);
}

static void map_own(const char *path)
{
	map_file(path, 0);
}

static void map_of_another(const char *path)
{
	map_file(path, TEST_UID);
}

static void map_symlink(const char *path)
{
	if (symlink("../secret", path))
		perror(path);
}

static void map_hard_link(const char *path)
{
	if (link(in_root("/secret"), path))
		perror(path);
}

static void map_bind_mount(const char *path)
{
	map_own(path);
	if (mount(in_root("/secret"), path, NULL, MS_BIND, NULL))
		perror(path);
}

static void map_fifo(const char *path)
{
	if (mkfifo(path, 0644))
		perror(path);
}

static void map_device(const char *path)
{
	if (mknod(path, S_IFCHR | 0644, makedev(1, 5)))
		perror(path);
}

static void map_folder(const char *path)
{
	if (mkdir(path, 0755))
		perror(path);
}

static void perf_maps(pid_t pid)
{
	char tmp[256], real[256];
	int fd;

	expect(ask_map(pid, 7), false, "no perf map at all");
	map_is(pid, map_own, true, "a perf map");
	map_is(pid, map_of_another, false, "another user's perf map");
	map_is(pid, map_symlink, false, "a link for a perf map");
	map_is(pid, map_hard_link, false, "a second name of a file for a perf map");
	map_is(pid, map_bind_mount, false, "a file that is mounted on a perf map");
	map_is(pid, map_fifo, false, "a FIFO for a perf map");
	map_is(pid, map_device, false, "a device for a perf map");
	map_is(pid, map_folder, false, "a folder for a perf map");
	map_own(in_root(MAP));
	fd = ask_map(pid, 7);
	verdict(fd >= 0 && write(fd, "x", 1) == -1, "opener", "a perf map",
		"not to be written");
	close(fd);
	expect(ask_map(pid, 8), false, "a perf map of another number");
	expect(ask_map(0x7ffffff0, 7), false, "a perf map of nobody");
	snprintf(tmp, sizeof(tmp), "%s", in_root("/tmp"));
	snprintf(real, sizeof(real), "%s", in_root("/elsewhere"));
	if (rename(tmp, real) || symlink("elsewhere", tmp))
		perror(tmp);
	expect(ask_map(pid, 7), false, "a perf map where /tmp is a link");
	if (unlink(tmp) || rename(real, tmp))
		perror(tmp);
}

/* --- memory ----------------------------------------------------------------- */

static int ask_mem(pid_t pid)
{
	struct msg_wanted q = { .process.tgid = (uint32_t)pid };

	return ask(MSG_MEM_WANTED, &q, sizeof(q));
}

/* A process of a user, from a copy of this program with this name, until its
 * standard input ends. */
static pid_t named(const char *name, bool dumpable, int *stop)
{
	int in[2], up[2];
	pid_t pid;
	char c;

	if (pipe(in) < 0 || pipe(up) < 0)
		return -1;
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		dup2(in[0], 0);
		dup2(up[1], 1);
		close(in[1]);
		if (setgid(TEST_UID) || setuid(TEST_UID))
			_exit(1);
		execl(in_root(name), "x", dumpable ? "wait" : "hide", NULL);
		_exit(1);
	}
	close(in[0]);
	close(up[1]);
	if (read(up[0], &c, 1) != 1)
		pid = -1;
	close(up[0]);
	*stop = in[1];
	return pid;
}

/* What named() runs. */
static int wait_for_end(bool dumpable)
{
	char c;

	prctl(PR_SET_DUMPABLE, dumpable);
	return write(1, "x", 1) == 1 && read(0, &c, 1) == 0 ? 0 : 1;
}

static void mem_of(const char *name, bool dumpable, bool opened,
		   const char *what)
{
	char copy[512];
	int stop = -1;
	pid_t pid;

	snprintf(copy, sizeof(copy), "cp /proc/%d/exe %s", getpid(), in_root(name));
	if (system(copy))
		printf("# no copy\n");
	pid = named(name, dumpable, &stop);
	expect(ask_mem(pid), opened, what);
	close(stop);
	waitpid(pid, NULL, 0);
}

static void memory(void)
{
	static const char secret[] = "what is in our memory";
	static const char *const denied[] = { MEM_DENIED };
	char name[32];
	char got[sizeof(secret)] = "";
	int fd = ask_mem(getpid());

	verdict(fd >= 0 && pread(fd, got, sizeof(got), (uintptr_t)secret) ==
		(ssize_t)sizeof(got) && !strcmp(got, secret), "opener",
		"memory", "to be read");
	verdict(fd >= 0 && pwrite(fd, "x", 1, (uintptr_t)got) == -1, "opener",
		"memory", "not to be written");
	close(fd);
	mem_of("/program", true, true, "a user's memory");
	mem_of("/program", false, false, "memory that is not dumpable");
	for (size_t i = 0; i < sizeof(denied) / sizeof(*denied); i++) {
		snprintf(name, sizeof(name), "/%s-x", denied[i]);
		mem_of(name, true, false, name + 1);
		name[strlen(name) - 3] = '\0';
		mem_of(name, true, true, name + 1);
	}
	expect(ask_mem(opener.respawner), false, "the opener's own memory");
	expect(ask_mem(2), false, "a kernel thread's memory");
	expect(ask_mem(0x7ffffff0), false, "memory of nobody");
}

/* --- one that dies --------------------------------------------------------------- */

int __real_poll(struct pollfd *p, nfds_t n, int ms);
int __real_ppoll(struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *mask);
int __wrap_poll(struct pollfd *p, nfds_t n, int ms);
int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *mask);

/* Shared with the respawner. */
static volatile struct {
	pid_t test;		/* 0: nobody is to die */
	pid_t before;		/* not this one */
} *early;

/* Has this process ended, and was not waited for? */
static bool is_zombie(pid_t pid)
{
	char name[32], stat[64] = "";
	int fd;

	snprintf(name, sizeof(name), "/proc/%d/stat", pid);
	fd = open(name, O_RDONLY);
	(void)!read(fd, stat, sizeof(stat) - 1);
	close(fd);
	return strstr(stat, ") Z ") != NULL;
}

/* In the respawner, right before it waits: its new opener dies. */
static void dies_before_poll(void)
{
	volatile uint64_t *pid = opener.shared ? &opener.shared->pid : NULL;

	if (!early || !early->test || getppid() != early->test)
		return;
	while ((pid_t)*pid == early->before)
		;
	early->test = 0;
	kill((pid_t)*pid, SIGKILL);
	while (!is_zombie((pid_t)*pid))
		;
}

int __wrap_poll(struct pollfd *p, nfds_t n, int ms)
{
	dies_before_poll();
	return __real_poll(p, n, ms);
}

int __wrap_ppoll(struct pollfd *p, nfds_t n, const struct timespec *t, const sigset_t *mask)
{
	dies_before_poll();
	return __real_ppoll(p, n, t, mask);
}

/* It is replaced, although nobody kills it again. */
static void dies(pid_t pid)
{
	struct timespec ms = { 0, 1000000 };

	debug_link(pid, "/open/plain", true, "before it dies, a file");
	kill((pid_t)opener.shared->pid, SIGKILL);
	expect(ask_debug(pid), true, "a file after one that died");
	/* the next one that is started dies before its parent waits */
	early->before = (pid_t)opener.shared->pid;
	early->test = getpid();
	opener_kill(&opener);
	for (int i = 0; early->test && i < WAIT_MS; i++)
		nanosleep(&ms, NULL);
	verdict(!early->test, "opener", "one that dies at once", "started");
	expect(ask_debug(pid), true, "a file after one that died at once");
}

static bool stuck_becomes(uint64_t n)
{
	struct timespec ms = { 0, 10 * 1000000 };

	for (int i = 0; i < 300; i++) {
		if (((volatile struct opener_stats *)opener.shared)->stuck == n)
			return true;
		nanosleep(&ms, NULL);
	}
	return false;
}

static void hangs(pid_t pid)
{
	struct msg_wanted q = { .process.tgid = (uint32_t)pid, .paths = NAME };
	char buf[FUSE_MIN_READ_BUFFER * 2];
	char at[256];
	int fuse;

	debug_link(pid, "/open/plain", true, "before it hangs, a file");
	snprintf(at, sizeof(at), "%s", in_root("/usr/lib/debug"));
	fuse = mute_mount(at);
	if (fuse < 0) {
		printf("# no FUSE here\n");
		return;
	}
	say(MSG_DEBUG_WANTED, &q, sizeof(q));
	/* the opener's lookup: from now on it waits where no signal reaches */
	if (read(fuse, buf, sizeof(buf)) < 0)
		perror("fuse");
	opener_kill(&opener);
	verdict(stuck_becomes(1), "opener", "one that hangs", "counted");
	expect(ask_debug(getpid()), false, "a request after one that hangs");
	umount2(at, MNT_DETACH);
	expect(ask_debug(pid), true, "a file after one that hangs");
	close(fuse);
	verdict(stuck_becomes(0), "opener", "one that hung", "reaped");
}

/* What lies beneath an overlay never answers: the same. */
static void hangs_below(pid_t pid)
{
	struct msg_wanted q = { .process.tgid = (uint32_t)pid, .paths = NAME };
	struct pollfd told = { .events = POLLIN };
	char at[256];
	int up[2], fuse;
	pid_t server;

	mkdir(in_root("/one"), 0755);
	if (mount("layer", in_root("/one"), "tmpfs", 0, "mode=755"))
		perror("# tmpfs");
	mkdir(in_root("/one/layer"), 0755);
	mkdir(in_root("/one/layer/de"), 0755);
	make("/one/layer/prog", 0644);
	mkdir(in_root("/mute"), 0755);
	snprintf(at, sizeof(at), "%s", in_root("/mute"));
	fuse = mute_mount(at);
	if (fuse < 0 || pipe(up) < 0) {
		printf("# no FUSE here\n");
		return;
	}
	fflush(stdout);
	server = fork();
	if (server == 0)
		mute_layer(fuse, up[1]);
	close(fuse);
	told.fd = up[0];
	verdict(overlay("/mute", ""), "opener", "an overlay with a layer that is mute", "mounted");
	say(MSG_DEBUG_WANTED, &q, sizeof(q));
	verdict(poll(&told, 1, WAIT_MS) == 1, "opener", "that layer", "asked");
	opener_kill(&opener);
	verdict(stuck_becomes(1), "opener", "one that hangs in it", "counted");
	expect(ask_debug(getpid()), false, "a request after one that hangs in it");
	no_overlay();
	debug_link(pid, "/open/plain", true, "a file after one that hangs in it");
	umount2(at, MNT_DETACH);
	kill(server, SIGKILL);
	waitpid(server, NULL, 0);
	verdict(stuck_becomes(0), "opener", "one that hung in it", "reaped");
	umount2(in_root("/one"), MNT_DETACH);
}

static void remove_root(void)
{
	char clean[64];

	snprintf(clean, sizeof(clean), "rm -rf --one-file-system %s", root);
	if (system(clean))
		printf("# %s is left behind\n", root);
}

/* Nobody reads what we say. */
static void opener_ends(int sig)
{
	no_overlay();
	umount2(in_root("/usr/lib/debug"), MNT_DETACH);
	umount2(in_root("/mute"), MNT_DETACH);
	umount2(in_root("/one"), MNT_DETACH);
	umount2(in_root("/other"), MNT_DETACH);
	umount2(in_root(MAP), MNT_DETACH);
	remove_root();
	_exit(128 + sig);
}

int main(int argc, char **argv)
{
	int stop = -1;
	pid_t pid;

	if (argc > 1)
		return wait_for_end(!strcmp(argv[1], "wait"));
	need_root();
	setvbuf(stdout, NULL, _IOLBF, 0);
	make_root();
	signal(SIGPIPE, opener_ends);
	early = mmap(NULL, sizeof(*early), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (opener_start(&opener, TEST_UID, TEST_UID)) {
		printf("not ok 1 - the opener starts\n1..1\n");
		return 1;
	}
	pid = inhabitant(&stop);
	offences();
	debug_files(pid);
	debug_names(pid);
	package_names(pid);
	alternate_names(pid);
	overlays(pid);
	media(pid);
	memory();
	perf_maps(pid);
	dies(pid);
	hangs(pid);
	hangs_below(pid);
	verdict(opener.shared->cpu_ns > 0 && opener.shared->rss_bytes > 0,
		"opener", "its cost", "told");
	/* first the child that has a copy of our end of the control socket */
	close(stop);
	waitpid(pid, NULL, 0);
	opener_stop(&opener);
	remove_root();
	return finish();
}
