// SPDX-License-Identifier: Apache-2.0
#include "cli/status/processes.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/number.h"

#define PROGRAM		"trifold"
#define DEPTH_MAX	8	/* run, loaderd, its respawner, the opener: 3 */

static bool processes_read_text(const char *path, char *buf, size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, buf, size - 1);
	close(fd);
	buf[n > 0 ? n : 0] = '\0';
	return n > 0;
}

/* The name of a process's program, if that is trifold's. */
static bool processes_is_ours(pid_t pid, char *name, size_t size)
{
	char path[64], exe[PATH_MAX], *slash;
	ssize_t n;

	snprintf(path, sizeof(path), "/proc/%d/exe", (int)pid);
	n = readlink(path, exe, sizeof(exe) - 1);
	if (n <= 0)
		return false;
	exe[n] = '\0';
	slash = strrchr(exe, '/');
	if (!slash || strncmp(slash + 1, PROGRAM, strlen(PROGRAM)) != 0)
		return false;
	slash[1 + strcspn(slash + 1, " ")] = '\0';	/* " (deleted)" */
	snprintf(name, size, "%s", slash + 1);
	return true;
}

/* Field number n, separated by blanks; the first is 1. */
static bool processes_field(const char *s, unsigned int n, uint64_t *ret)
{
	s += strspn(s, " ");
	while (--n) {
		s += strcspn(s, " ");
		s += strspn(s, " ");
	}
	return number_read(s, ret);
}

/* proc_pid_stat(5): pid (comm) state ppid ..., utime and stime are the 14th and
 * 15th, rss, in pages, the 24th; so after the name the 12th, the 13th and the
 * 22nd. */
static bool processes_read_stat(struct own_process *p)
{
	char path[64], text[1024], *comm, *end;
	uint64_t parent, user, system, rss;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)p->pid);
	if (!processes_read_text(path, text, sizeof(text)))
		return false;
	comm = strchr(text, '(');
	end = strrchr(text, ')');
	if (!comm || !end || !processes_field(end + 1, 2, &parent) ||
	    !processes_field(end + 1, 12, &user) ||
	    !processes_field(end + 1, 13, &system) ||
	    !processes_field(end + 1, 22, &rss))
		return false;
	p->parent = (pid_t)parent;
	*end = '\0';
	/* "trifold-opener"; the program's own name is cut at 15 bytes */
	if (strncmp(comm + 1, PROGRAM, strlen(PROGRAM)) == 0 &&
	    strncmp(comm + 1, p->name, strlen(comm + 1)) != 0)
		snprintf(p->name, sizeof(p->name), "%.*s",
			 (int)sizeof(p->name) - 1, comm + 1);
	p->cpu_ns = (user + system) * (NSEC_PER_SEC /
				       (uint64_t)sysconf(_SC_CLK_TCK));
	p->rss_bytes = rss * (uint64_t)sysconf(_SC_PAGESIZE);
	return true;
}

static int processes_push(struct own_processes *to,
			    const struct own_process *p)
{
	if (vector_push(to, *p))
		return 0;
	return -ENOMEM;
}

static int processes_find_all(struct own_processes *ret)
{
	DIR *proc = opendir("/proc");
	struct dirent *e;
	int r = 0;

	if (!proc)
		return -errno;
	while (r == 0 && (e = readdir(proc))) {
		struct own_process p = { .depth = 0 };
		uint64_t pid;

		if (!number_parse(e->d_name, 1, INT_MAX, &pid))
			continue;
		p.pid = (pid_t)pid;
		if (processes_is_ours(p.pid, p.name, sizeof(p.name)) &&
		    processes_read_stat(&p))
			r = processes_push(ret, &p);
	}
	closedir(proc);
	return r;
}

static int processes_add_below(struct own_processes *to,
			       const struct own_processes *all,
			       pid_t parent, unsigned int depth)
{
	int r = 0;

	for (size_t i = 0; i < all->n && r == 0 && depth < DEPTH_MAX; i++) {
		struct own_process p = all->v[i];

		if (p.parent != parent)
			continue;
		p.depth = depth;
		r = processes_push(to, &p);
		if (r == 0)
			r = processes_add_below(to, all, p.pid, depth + 1);
	}
	return r;
}

int processes_find(pid_t top, struct own_processes *ret)
{
	struct own_processes all = { .n = 0 };
	int r = processes_find_all(&all);

	*ret = (struct own_processes){ .n = 0 };
	for (size_t i = 0; i < all.n && r == 0; i++) {
		if (all.v[i].pid == top)
			r = processes_push(ret, &all.v[i]);
	}
	if (r == 0)
		r = processes_add_below(ret, &all, top, ret->n);
	processes_free(&all);
	return r;
}

void processes_free(struct own_processes *p)
{
	free(p->v);
	*p = (struct own_processes){ .n = 0 };
}

/* In struct status is what it used. */
static bool processes_reports(const struct own_process *p)
{
	static const char *const names[] = {
		"trifold-loaderd", "trifold-opener", "trifold-symbolizerd", "trifold-exporterd",
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strcmp(p->name, names[i]))
			return true;
	}
	return false;
}

uint64_t processes_silent_ns(const struct own_processes *p)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!processes_reports(&p->v[i]))
			ns += p->v[i].cpu_ns;
	}
	return ns;
}
