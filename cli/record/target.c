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

#include "cli/record/container_name.h"
#include "cli/record/named.h"
#include "common/container.h"
#include "common/log.h"

#define CGROUPS		"/sys/fs/cgroup"
#define HYBRID		CGROUPS "/unified"	/* v2 beside v1 (systemd) */
#define PID_INIT	"pid:[4026531836]"	/* linux/proc_ns.h */
#define HEX		"0123456789abcdef"
#define DECIMAL		"0123456789"
#define ID_LEAST	4
#define ID_SURE		12	/* digits that engines show; never a name */
#define DEPTH_MAX	64	/* as deep as the sampler looks */

/* --- options ------------------------------------------------------------------ */

int target_check(const struct options *o, char *err, size_t size)
{
	int kinds = (o->pids.n > 0) + (o->name != NULL) + (o->unit != NULL) +
		    (o->cgroup != NULL) + (o->container != NULL);
	bool command = o->rest[0] != NULL;

	err[0] = '\0';
	if (kinds + command > 1)
		snprintf(err, size, "only one of --pid, --name, --unit, "
			 "--cgroup, --container and a command after -- can be "
			 "recorded at a time");
	else if (o->all && kinds)
		snprintf(err, size, "--all is the whole system: leave it out, "
			 "or leave out --pid, --name, --unit, --cgroup and "
			 "--container");
	else if (command && o->duration_ms)
		snprintf(err, size, "either --duration or a command, not both");
	else if (!command && !kinds && !o->duration_ms)
		snprintf(err, size, "nothing to record: give --duration, a "
			 "command after --, --pid, --name, --unit, --cgroup or "
			 "--container");
	else if (o->unit && !target_is_unit(o->unit))
		snprintf(err, size, "--unit needs a unit of systemd, such as "
			 "nginx.service: `systemctl list-units` shows them");
	else if (o->container && !target_is_container(o->container) &&
		 !container_name_is(o->container))
		snprintf(err, size, "--container needs the name of a container "
			 "or pod (letters, digits and \"_.-\"), its ID, or at "
			 "least %d of the ID's first digits (0-9, a-f)",
			 ID_LEAST);
	if (*err)
		return -EINVAL;
	return 0;
}

/* --- processes ------------------------------------------------------------------ */

uint32_t target_tgid(const char *status, size_t len)
{
	static const char name[] = "Tgid:\t";
	const char *end = status + len;
	uint64_t v = 0;

	/* a name's newlines are escaped, so each newline ends a line */
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
	if (status < end && *status == '\n' && v <= INT_MAX)
		return (uint32_t)v;
	return 0;
}

static uint32_t target_process_of(uint32_t tid)
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
	if (n > 0)
		return target_tgid(text, (size_t)n);
	return 0;
}

/* The sampler goes by the numbers of the first PID namespace. */
static int target_check_namespace(const char *what)
{
	char text[64];
	ssize_t n = readlink("/proc/self/ns/pid", text, sizeof(text) - 1);

	text[n > 0 ? n : 0] = '\0';
	if (n <= 0 || !strcmp(text, PID_INIT))
		return 0;
	log_err("%s cannot be identified in this PID namespace: run trifold "
		"on the host itself, or in a container with --pid=host", what);
	return -EXDEV;
}

static int target_open_process(uint32_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	uint32_t tgid;
	int r = errno;

	if (fd >= 0)
		return fd;
	/* pidfd_open(2) of a thread's number depends on the kernel */
	tgid = target_process_of(pid);
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

/* fd: of the i-th process; taken over. */
static int target_watch(struct target *t, uint32_t i, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = i };

	t->pidfd[i] = fd;
	t->running++;
	if (epoll_ctl(t->ended, EPOLL_CTL_ADD, fd, &ev) < 0) {
		log_err("epoll_ctl: %s", strerror(errno));
		return -errno;
	}
	return 0;
}

static int target_add_process(struct target *t, uint32_t i)
{
	int fd = target_open_process(t->pids.v[i]);
	size_t len = strlen(t->what);

	if (fd < 0)
		return fd;
	snprintf(t->what + len, sizeof(t->what) - len, "%s%u",
		 i ? ", " : t->pids.n > 1 ? "processes " : "process ",
		 t->pids.v[i]);
	return target_watch(t, i, fd);
}

static int target_watch_open(struct target *t)
{
	int r = target_check_namespace("a process");

	if (r)
		t->ended = -1;
	else
		t->ended = epoll_create1(EPOLL_CLOEXEC);
	if (!r && t->ended < 0) {
		log_err("epoll_create1: %s", strerror(errno));
		return -errno;
	}
	return r;
}

static int target_find_processes(struct target *t)
{
	int r = target_watch_open(t);

	for (uint32_t i = 0; i < t->pids.n && !r; i++)
		r = target_add_process(t, i);
	return r;
}

static int target_say_names(const char *name, int found)
{
	if (found < 0)
		log_err("/proc: %s", strerror(-found));
	else if (found <= NUMBERS_MAX)
		log_err("no process is named %s (`ps -eo comm` lists the names)",
			name);
	else
		log_err("%d processes are named %s, more than %d: use --unit, "
			"--container or --cgroup, or some of them by --pid",
			found, name, NUMBERS_MAX);
	if (found < 0)
		return found;
	if (found > NUMBERS_MAX)
		return -E2BIG;
	return -ESRCH;
}

/* A process that ended since it was found is left out. */
static int target_take_named(struct target *t, int proc, const char *name,
			     const struct number_list *all)
{
	int r = target_watch_open(t);

	for (uint32_t i = 0; i < all->n && !r; i++) {
		int fd = (int)syscall(SYS_pidfd_open, (pid_t)all->v[i], 0);

		if (fd >= 0 && named_has(proc, all->v[i], name)) {
			t->pids.v[t->pids.n] = all->v[i];
			r = target_watch(t, t->pids.n++, fd);
		} else if (fd >= 0) {
			close(fd);
		}
	}
	return r;
}

static int target_find_named(struct target *t, const char *given)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct number_list all;
	char name[256];
	int found, r = 0;

	if (proc < 0)
		found = -errno;
	else
		found = named_find(dup(proc), given, &t->pids);
	all = t->pids;
	log_quote(given, strlen(given), name, sizeof(name));
	t->pids.n = 0;
	if (found > 0 && found <= NUMBERS_MAX)
		r = target_take_named(t, proc, given, &all);
	if (proc >= 0)
		close(proc);
	snprintf(t->what, sizeof(t->what), "%u process%s named %s", t->pids.n,
		 t->pids.n == 1 ? "" : "es", name);
	if (r)
		return r;
	if (t->pids.n)
		return 0;
	return target_say_names(name, found);
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

static bool target_is_cgroup2(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	       (unsigned long)fs.f_type == CGROUP2_SUPER_MAGIC;
}

/* The hierarchy's directory, open; or -errno. */
static int target_open_hierarchy(const char **path)
{
	static const char *const places[] = { CGROUPS, HYBRID };

	for (size_t i = 0; i < 2; i++) {
		int fd = open(places[i], O_RDONLY | O_DIRECTORY | O_CLOEXEC);

		*path = places[i];
		if (fd >= 0 && target_is_cgroup2(fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	log_err("--cgroup, --container and --unit need cgroup v2, which is not "
		"mounted on " CGROUPS ": boot with "
		"systemd.unified_cgroup_hierarchy=1, or use --pid or --name");
	return -EOPNOTSUPP;
}

static int target_find_cgroup(struct target *t, const char *path)
{
	size_t skip = strlen(CGROUPS);
	const char *place;
	char name[300];
	struct stat st;
	int top = target_open_hierarchy(&place), fd, r;

	if (top < 0)
		return top;
	log_quote(path, strlen(path), name, sizeof(name));
	if (!strncmp(path, CGROUPS, skip) && (!path[skip] || path[skip] == '/'))
		fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	else
		fd = openat(top, path[strspn(path, "/")] ?
			    path + strspn(path, "/") : ".",
			    O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		r = -errno;
	else if (!target_is_cgroup2(fd))
		r = -EXDEV;
	else if (fstat(fd, &st) < 0)
		r = -errno;
	else
		r = 0;
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
	const char *unit;	/* or this directory's name */
	bool of_system;		/* only in slices of the system's systemd */
	dev_t dev;
	char *path;		/* of the first one found */
	size_t size;
	uint64_t number;
	char first[NAME_MAX + 1], other[NAME_MAX + 1];
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

/* Does the directory at s->at belong to the container that is looked for? */
static void target_judge(struct search *s, const char *name, uint64_t number)
{
	size_t n = strlen(name), below = s->first[0] ? strlen(s->path) : 0;
	size_t len = strlen(s->at);
	const char *own = s->at + len - n, *id;

	if (s->unit)
		id = name;
	else
		id = container_id(s->at, len, &n);
	if (!s->unit && id && id < own)
		id = NULL;		/* it lies in that container, and is none */
	if (s->unit ? strcmp(name, s->unit) != 0 :
	    !id || n < s->len || memcmp(id, s->id, s->len))
		return;
	if (!s->first[0]) {
		memcpy(s->first, id, n);
		snprintf(s->path, s->size, "%s", s->at);
		s->number = number;
		return;
	}
	/* some engines give a container's inner cgroup the same name */
	if (!strncmp(s->at, s->path, below) && s->at[below] == '/' &&
	    strlen(s->first) == n && !memcmp(s->first, id, n))
		return;
	if (!s->other[0])
		memcpy(s->other, id, n);
}

static bool target_has_end(const char *name, const char *end)
{
	size_t len = strlen(name), n = strlen(end);

	return len > n && !strcmp(name + len - n, end);
}

/* Can the cgroup that is looked for be in this directory? */
static bool target_is_inside(const struct search *s, const char *name, int depth)
{
	return !s->of_system || (target_has_end(name, ".slice") &&
				 (depth || strcmp(name, "user.slice") != 0));
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
		if (target_is_inside(s, e->d_name, depth))
			target_search(s, fd, at + 1 + len, depth + 1);
		else
			close(fd);
	}
	closedir(d);
}

/* Search below `dir`, which is closed.  0 or -errno. */
static int target_search_id(int dir, const char *id, struct search *s)
{
	struct stat st;

	s->id = id;
	s->len = strlen(id);
	if (fstat(dir, &st) < 0) {
		close(dir);
		return -errno;
	}
	s->dev = st.st_dev;
	target_search(s, dir, 0, 0);
	return 0;
}

int target_container(int dir, const char *id, char *path, size_t size,
		     uint64_t *number)
{
	struct search s = { .path = path, .size = size };
	int r = target_search_id(dir, id, &s);
	char name[300];

	if (r)
		return r;
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
	if (!s.first[0])
		return -ENOENT;
	if (s.other[0])
		return -ENOTUNIQ;
	return 0;
}

/* Does the container of this whole ID have a cgroup below dir? */
static bool target_runs(int dir, const char *id)
{
	char path[PATH_MAX];
	struct search s = { .path = path, .size = sizeof(path) };
	int own = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return own >= 0 && target_search_id(own, id, &s) == 0 && s.first[0];
}

static void target_say_several(const char *name,
			       const struct container_matches *m)
{
	char list[800] = "";

	for (uint32_t i = 0; i < m->n && i < 4; i++) {
		size_t len = strlen(list);

		snprintf(list + len, sizeof(list) - len, "%s%.*s (%.120s)",
			 i ? ", " : "", ID_SURE, m->v[i].id, m->v[i].from);
	}
	log_err("%u running containers have the name %s: give --container the "
		"ID of one: %s%s", m->n, name, list, m->n > 4 ? ", ..." : "");
}

int target_container_named(int dir, int root, const char *given,
			   char id[CONTAINER_ID_MAX + 1])
{
	bool is_id = target_is_container(given);
	struct container_matches all = { 0 };
	uint32_t found, n = 0;

	snprintf(id, CONTAINER_ID_MAX + 1, "%s", is_id ? given : "");
	if (is_id && strlen(given) >= ID_SURE)
		return 0;
	container_name_find(root, given, &all);
	found = all.n;
	for (uint32_t i = 0; i < found; i++) {
		if (target_runs(dir, all.v[i].id))
			all.v[n++] = all.v[i];
	}
	all.n = n;
	if (n > 1) {
		target_say_several(given, &all);
		return -ENOTUNIQ;
	}
	if (n) {
		memcpy(id, all.v[0].id, sizeof(all.v[0].id));
	} else if (!is_id && found) {
		log_err("the container %s (%.*s, %s) has no cgroup here: does "
			"it run?", given, ID_SURE, all.v[0].id, all.v[0].from);
	} else if (!is_id) {
		log_err("no container or pod has the name %s in the files of "
			"docker, nerdctl and root's podman (/var/lib), nor in "
			"/var/log/containers: give the ID, which `docker ps`, "
			"`podman ps` or `crictl ps` shows", given);
	}
	if (*id)
		return 0;
	return -ENOENT;
}

static int target_find_container(struct target *t, const char *given)
{
	const char *place;
	char path[PATH_MAX];
	int top = target_open_hierarchy(&place), root, r;

	if (top < 0)
		return top;
	root = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = target_container_named(top, root, given, t->container);
	if (root >= 0)
		close(root);
	if (r) {
		close(top);
		return r;
	}
	r = target_container(top, t->container, path, sizeof(path),
			     &t->cgroup);	/* closes */
	snprintf(t->what, sizeof(t->what), "container %s", given);
	if (!r)
		log_debug("container %s is %s%s", given, place, path);
	return r;
}

/* --- units of systemd ------------------------------------------------------------- */

bool target_is_unit(const char *name)
{
	return *name && *name != '.' && !strchr(name, '/') &&
	       strlen(name) + strlen(".service") <= NAME_MAX;
}

/* Types of units that have processes: systemd.unit(5). */
static bool target_has_type(const char *name)
{
	static const char *const types[] = {
		".service", ".scope", ".slice", ".socket", ".mount", ".swap",
	};

	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (target_has_end(name, types[i]))
			return true;
	}
	return false;
}

size_t target_service(const char *unit)
{
	size_t len = strlen(unit);

	if (target_has_end(unit, ".service"))
		return len - strlen(".service");
	if (target_has_type(unit))
		return 0;
	return len;
}

int target_unit(int dir, const char *unit, char *path, size_t size,
		uint64_t *number)
{
	struct search s = { .path = path, .size = size, .of_system = true };
	char name[NAME_MAX + 1], q[300], at[300];
	struct stat st;

	snprintf(name, sizeof(name), "%s%s", unit,
		 target_has_type(unit) ? "" : ".service");
	s.unit = name;
	if (fstat(dir, &st) == 0)
		s.dev = st.st_dev;
	target_search(&s, dup(dir), 0, 0);
	if (!s.first[0]) {	/* a user's, or one in a container */
		s.of_system = false;
		lseek(dir, 0, SEEK_SET);
		target_search(&s, dup(dir), 0, 0);
	}
	close(dir);
	*number = s.number;
	log_quote(name, strlen(name), q, sizeof(q));
	if (!s.first[0])
		log_err("the unit %s has no cgroup here: does it run "
			"(`systemctl status %s`)?  If that is an alias, give "
			"the name that `systemd-cgls` shows", q, q);
	else if (s.other[0])
		log_err("several units are named %s: choose one by --cgroup "
			"(`systemd-cgls` shows them)", q);
	else if (!s.of_system)
		log_info("the unit %s is %s", q,
			 log_quote(path, strlen(path), at, sizeof(at)));
	if (!s.first[0])
		return -ENOENT;
	if (s.other[0])
		return -ENOTUNIQ;
	return 0;
}

void target_note_unit(struct target *t, const char *unit, const char *path)
{
	size_t len = strlen(path), want = target_service(unit), n = 0;
	const char *id = container_id(path, len, &n), *name;

	if (id)
		memcpy(t->container, id, n);
	if (!id)
		n = 0;
	t->container[n] = '\0';
	(void)!cgroup_service(path, len, t->service, sizeof(t->service));
	name = strrchr(t->service, '/');
	name = name ? name + 1 : t->service;
	/* what a service made below itself is in batches that service's */
	if (!want || strlen(name) != want || memcmp(name, unit, want))
		t->service[0] = '\0';
}

static int target_find_unit(struct target *t, const char *unit)
{
	char path[PATH_MAX], q[300];
	const char *place;
	int top = target_open_hierarchy(&place), r;

	if (top < 0)
		return top;
	r = target_unit(top, unit, path, sizeof(path), &t->cgroup);	/* closes */
	snprintf(t->what, sizeof(t->what), "unit %s",
		 log_quote(unit, strlen(unit), q, sizeof(q)));
	if (r)
		return r;
	target_note_unit(t, unit, path);
	log_debug("%s is %s%s", t->what, place, path);
	return 0;
}

/* --- all of them ------------------------------------------------------------------ */

int target_find(const struct options *o, struct target *t)
{
	int r = 0;

	*t = (struct target){ .pids = o->pids, .ended = -1 };
	memset(t->pidfd, -1, sizeof(t->pidfd));
	if (o->pids.n) {
		t->kind = TARGET_PIDS;
		r = target_find_processes(t);
	} else if (o->name) {
		t->kind = TARGET_PIDS;
		r = target_find_named(t, o->name);
	} else if (o->unit) {
		t->kind = TARGET_CGROUP;
		r = target_find_unit(t, o->unit);
	} else if (o->cgroup) {
		t->kind = TARGET_CGROUP;
		r = target_find_cgroup(t, o->cgroup);
	} else if (o->container) {
		t->kind = TARGET_CGROUP;
		r = target_find_container(t, o->container);
	} else if (o->rest[0] && !o->all) {
		t->kind = TARGET_COMMAND;
		r = target_check_namespace("a command (other than with --all)");
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
