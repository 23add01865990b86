// SPDX-License-Identifier: Apache-2.0
#include "cli/record/target.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/container.h"
#include "common/log.h"
#include "common/log_quote.h"

#define CGROUPS		"/sys/fs/cgroup"
#define HYBRID		CGROUPS "/unified"	/* v2 beside v1 (systemd) */
#define PID_INIT	"pid:[4026531836]"	/* linux/proc_ns.h */
#define HEX		"0123456789abcdef"
#define DECIMAL		"0123456789"
#define ID_LEAST	4
#define DEPTH_MAX	64	/* so far down the sampler looks, too */

/* --- options ------------------------------------------------------------------ */

int target_check(const struct options *o, char *err, size_t size)
{
	int kinds = (o->pids.n > 0) + (o->cgroup != NULL) +
		    (o->container != NULL);
	bool command = o->rest[0] != NULL;

	err[0] = '\0';
	if (kinds + command > 1)
		snprintf(err, size, "only one of --pid, --cgroup, --container "
			 "and a command behind -- can be recorded at a time");
	else if (o->all && kinds)
		snprintf(err, size, "--all is the whole system: leave it out, "
			 "or leave out --pid, --cgroup and --container");
	else if (command && o->duration_ms)
		snprintf(err, size, "either --duration or a command, not both");
	else if (!command && !kinds && !o->duration_ms)
		snprintf(err, size, "how long, or what? --duration SECONDS, or "
			 "a command behind --, or --pid, --cgroup or "
			 "--container (until Ctrl-C)");
	else if (o->container && !target_is_container(o->container))
		snprintf(err, size, "--container needs an ID, or at least %d "
			 "of its first digits (0-9, a-f): `docker ps "
			 "--no-trunc`, `podman ps --no-trunc` or `crictl ps "
			 "--no-trunc` show it beside the name", ID_LEAST);
	return *err ? -EINVAL : 0;
}

/* --- processes ------------------------------------------------------------------ */

uint32_t target_tgid(const char *status, size_t len)
{
	static const char name[] = "Tgid:\t";
	const char *end = status + len;
	uint64_t v = 0;

	/* a name's newlines are escaped, so a line begins behind each */
	while (status < end && ((size_t)(end - status) < strlen(name) ||
				memcmp(status, name, strlen(name)))) {
		status = memchr(status, '\n', (size_t)(end - status));
		if (!status)
			return 0;
		status++;
	}
	for (status += strlen(name); status < end && *status >= '0' &&
				     *status <= '9' && v <= INT_MAX; status++)
		v = v * 10 + (uint64_t)(*status - '0');
	return status < end && *status == '\n' && v <= INT_MAX ? (uint32_t)v : 0;
}

static uint32_t process_of(uint32_t tid)
{
	char path[40], text[4096];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/status", tid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text));
	close(fd);
	return n > 0 ? target_tgid(text, (size_t)n) : 0;
}

/* The sampler goes by the numbers of the first PID namespace. */
static int check_namespace(const char *what)
{
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	if (n <= 0 || !strcmp(text, PID_INIT))
		return 0;
	log_err("%s cannot be told from others here, where processes have "
		"other numbers than on the machine: run trifold on the host "
		"itself, or in a container with --pid=host", what);
	return -EXDEV;
}

static int open_process(uint32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	uint32_t tgid;
	int r = errno;

	if (fd >= 0)
		return fd;
	/* what a thread's number gives depends on the kernel */
	tgid = process_of(pid);
	if (tgid && tgid != pid)
		log_err("--pid %u is a thread of process %u: a process is "
			"recorded with all of its threads, by --pid %u", pid,
			tgid, tgid);
	else if (r == ESRCH || r == EINVAL || r == ENOENT)
		log_err("there is no process %u (`ps -e` lists those there "
			"are)", pid);
	else
		log_err("process %u: %s", pid, strerror(r));
	return -r;
}

static int add_process(struct target *t, uint32_t i)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = i };
	int fd = open_process(t->pids.v[i]);
	size_t len = strlen(t->what);

	if (fd < 0)
		return fd;
	t->pidfd[i] = fd;
	t->running++;
	snprintf(t->what + len, sizeof(t->what) - len, "%s%u",
		 i ? ", " : t->pids.n > 1 ? "processes " : "process ",
		 t->pids.v[i]);
	if (epoll_ctl(t->ended, EPOLL_CTL_ADD, fd, &ev) < 0) {
		log_err("epoll_ctl: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static int find_processes(struct target *t)
{
	int r = check_namespace("a process");

	t->ended = r ? -1 : epoll_create1(EPOLL_CLOEXEC);
	if (!r && t->ended < 0) {
		log_err("epoll_create1: %s", strerror(errno));
		return -errno;
	}
	for (uint32_t i = 0; i < t->pids.n && !r; i++)
		r = add_process(t, i);
	return r;
}

uint32_t target_ended(struct target *t)
{
	struct epoll_event ev;
	uint32_t i;

	if (t->ended < 0 || epoll_wait(t->ended, &ev, 1, 0) != 1)
		return 0;
	i = ev.data.u32;
	close(t->pidfd[i]);
	t->pidfd[i] = -1;
	t->running--;
	return t->pids.v[i];
}

/* --- cgroups ---------------------------------------------------------------------- */

static bool is_cgroup2(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* The hierarchy's directory, open; or -errno. */
static int open_hierarchy(const char **path)
{
	static const char *const places[] = { CGROUPS, HYBRID };

	for (size_t i = 0; i < 2; i++) {
		int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		*path = places[i];
		if (fd >= 0 && is_cgroup2(fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	log_err("--cgroup and --container need cgroup v2, which is not mounted "
		"on " CGROUPS ": boot with systemd.unified_cgroup_hierarchy=1, "
		"or name processes by --pid");
	return -EOPNOTSUPP;
}

static int find_cgroup(struct target *t, const char *path)
{
	size_t skip = strlen(CGROUPS);
	const char *place;
	char name[300];
	struct stat st;
	int top = open_hierarchy(&place), fd, r;

	if (top < 0)
		return top;
	log_quote(path, strlen(path), name, sizeof(name));
	if (!strncmp(path, CGROUPS, skip) && (!path[skip] || path[skip] == '/'))
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else
		fd = openat(top, path[strspn(path, "/")] ?
			    path + strspn(path, "/") : ".",
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = fd < 0 ? -errno : !is_cgroup2(fd) ? -EXDEV :
	    fstat(fd, &st) < 0 ? -errno : 0;
	if (r == -EXDEV)
		log_err("--cgroup %s is not in the hierarchy of cgroup v2, %s",
			name, place);
	else if (r)
		log_err("--cgroup %s: %s (give its path below %s; `systemd-cgls` "
			"shows them, and a line \"0::\" of /proc/PID/cgroup)",
			name, strerror(-r), place);
	else
		t->cgroup = st.st_ino;
	snprintf(t->what, sizeof(t->what), "cgroup %s", name);
	if (fd >= 0)
		close(fd);
	close(top);
	return r;
}

/* --- containers ------------------------------------------------------------------- */

struct search {
	const char *id;		/* its beginning */
	size_t len;
	dev_t dev;
	char *path;		/* of the first one found */
	size_t size;
	uint64_t number;
	char first[CONTAINER_ID_MAX + 1], other[CONTAINER_ID_MAX + 1];
	char at[PATH_MAX];	/* where the search is */
};

bool target_is_container(const char *id)
{
	size_t n = strspn(id, HEX), len = strlen(id), task = 32;

	if (n == len)
		return n >= ID_LEAST && n <= CONTAINER_ID_MAX;
	/* an ECS task's, see container.h */
	return n == task && id[n] == '-' && len <= CONTAINER_ID_MAX &&
	       strspn(id + n + 1, DECIMAL) == len - n - 1;
}

/* Is the directory at s->at a container's that is looked for? */
static void target_judge(struct search *s, const char *name, uint64_t number)
{
	size_t n, below = s->first[0] ? strlen(s->path) : 0;
	const char *id = container_id(name, strlen(name), &n);

	if (!id || n < s->len || memcmp(id, s->id, s->len))
		return;
	if (!s->first[0]) {
		memcpy(s->first, id, n);
		snprintf(s->path, s->size, "%s", s->at);
		s->number = number;
		return;
	}
	/* some engines give a container's inner cgroup its name once more */
	if (!strncmp(s->at, s->path, below) && s->at[below] == '/' &&
	    strlen(s->first) == n && !memcmp(s->first, id, n))
		return;
	if (!s->other[0])
		memcpy(s->other, id, n);
}

static void target_search(struct search *s, int dir, size_t at, int depth)
{
	DIR *d = fdopendir(dir);
	const struct dirent *e;

	if (!d) {
		close(dir);
		return;
	}
	while ((e = readdir(d))) {
		size_t len = strlen(e->d_name);
		struct stat st;
		int fd;

		if (e->d_type != DT_DIR || !strcmp(e->d_name, ".") ||
		    !strcmp(e->d_name, "..") || depth == DEPTH_MAX ||
		    len + 2 > sizeof(s->at) - at)
			continue;
		fd = openat(dirfd(d), e->d_name, O_RDONLY | O_DIRECTORY |
			    O_NOFOLLOW | O_CLOEXEC);
		if (fd < 0)	/* it may be gone */
			continue;
		if (fstat(fd, &st) < 0 || st.st_dev != s->dev) {
			close(fd);
			continue;
		}
		s->at[at] = '/';
		memcpy(s->at + at + 1, e->d_name, len + 1);
		target_judge(s, e->d_name, st.st_ino);
		target_search(s, fd, at + 1 + len, depth + 1);
	}
	closedir(d);
}

int target_container(int dir, const char *id, char *path, size_t size,
		     uint64_t *number)
{
	struct search s = {
		.id = id, .len = strlen(id), .path = path, .size = size,
	};
	char name[300];
	struct stat st;

	if (fstat(dir, &st) < 0) {
		close(dir);
		return -errno;
	}
	s.dev = st.st_dev;
	target_search(&s, dir, 0, 0);
	*number = s.number;
	if (!s.first[0])
		log_err("no container whose ID begins with %s has a cgroup "
			"here: `docker ps --no-trunc`, `podman ps --no-trunc` "
			"or `crictl ps --no-trunc` lists those that run", id);
	else if (s.other[0] && strcmp(s.first, s.other))
		log_err("several containers' IDs begin with %s, such as %s and "
			"%s: give more digits", id, s.first, s.other);
	else if (s.other[0])
		log_err("container %s has several cgroups, such as %s: choose "
			"one by --cgroup", s.first,
			log_quote(path, strlen(path), name, sizeof(name)));
	return !s.first[0] ? -ENOENT : s.other[0] ? -ENOTUNIQ : 0;
}

static int find_container(struct target *t, const char *id)
{
	const char *place;
	char path[PATH_MAX];
	int top = open_hierarchy(&place), r;

	if (top < 0)
		return top;
	r = target_container(top, id, path, sizeof(path), &t->cgroup);	/* closes */
	snprintf(t->what, sizeof(t->what), "container %s", id);
	if (!r)
		log_debug("container %s is %s%s", id, place, path);
	return r;
}

/* --- all of them ------------------------------------------------------------------ */

int target_find(const struct options *o, struct target *t)
{
	int r = 0;

	*t = (struct target){ .pids = o->pids, .ended = -1 };
	memset(t->pidfd, -1, sizeof(t->pidfd));
	if (o->pids.n) {
		t->kind = TARGET_PIDS;
		r = find_processes(t);
	} else if (o->cgroup) {
		t->kind = TARGET_CGROUP;
		r = find_cgroup(t, o->cgroup);
	} else if (o->container) {
		t->kind = TARGET_CGROUP;
		r = find_container(t, o->container);
	} else if (o->rest[0] && !o->all) {
		t->kind = TARGET_COMMAND;
		r = check_namespace("a command (other than with --all)");
	}
	if (r)
		target_release(t);
	return r;
}

void target_release(struct target *t)
{
	for (uint32_t i = 0; i < NUMBERS_MAX; i++) {
		if (t->pidfd[i] >= 0)
			close(t->pidfd[i]);
	}
	if (t->ended >= 0)
		close(t->ended);
}
