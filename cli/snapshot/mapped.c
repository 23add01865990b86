// SPDX-License-Identifier: Apache-2.0
#include "cli/snapshot/mapped.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "common/log.h"
#include "ipc/snapshot_fds.h"

#define MAPS_MAX	65536	/* lines that are looked at */

struct mapped_line {
	uint64_t start, end, off, ino, dev;
	bool exec, write, vdso, stack, heap;
	const char *path;	/* "": none */
};

/* "start-end perms offset major:minor inode   path" */
static bool mapped_parse(char *s, struct mapped_line *l)
{
	unsigned int major, minor;
	char perms[8];
	int n = 0;

	s[strcspn(s, "\n")] = '\0';
	if (sscanf(s, "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %x:%x %" SCNu64 " %n",
		   &l->start, &l->end, perms, &l->off, &major, &minor, &l->ino, &n) < 7)
		return false;
	l->path = s + n;
	l->dev = makedev(major, minor);
	l->exec = perms[2] == 'x';
	l->write = perms[1] == 'w';
	l->vdso = !l->ino && !strcmp(l->path, "[vdso]");
	l->stack = !l->ino && !strcmp(l->path, "[stack]");
	l->heap = !l->ino && !strcmp(l->path, "[heap]");
	return l->start < l->end && l->end <= INT64_MAX;	/* not [vsyscall] */
}

/* Calls fn for each line of /proc/PID/maps.  0 or -errno. */
static int mapped_each(struct mapped *m,
		       int (*fn)(struct mapped *m, const struct mapped_line *l, void *ctx),
		       void *ctx)
{
	struct mapped_line l;
	char path[48], *line = NULL;
	size_t cap = 0;
	FILE *f;
	int r = 0;

	snprintf(path, sizeof(path), "/proc/%d/maps", m->pid);
	f = fopen(path, "re");
	if (!f && errno == ENOENT)
		return -ESRCH;
	if (!f)
		return -errno;
	errno = 0;
	for (int i = 0; !r && i < MAPS_MAX && getline(&line, &cap, f) > 0; i++) {
		if (mapped_parse(line, &l))
			r = fn(m, &l, ctx);
	}
	if (!r && ferror(f))
		r = -errno;
	if (!r && ferror(f))	/* the C library did not say why */
		r = -EIO;
	free(line);
	fclose(f);
	return r;
}

/* --- files ---------------------------------------------------------------------------- */

static bool mapped_is_elf(int fd)
{
	char magic[SELFMAG];

	return pread(fd, magic, SELFMAG, 0) == SELFMAG && !memcmp(magic, ELFMAG, SELFMAG);
}

/* A regular file that begins as ELF does; nothing else is opened for reading. */
static int mapped_open_path(const char *path, const struct mapped_line *l, bool same)
{
	struct stat st;
	int fd;

	if (stat(path, &st) < 0 || !S_ISREG(st.st_mode) ||
	    (same && st.st_ino != l->ino))
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
			(same && st.st_ino != l->ino) || !mapped_is_elf(fd))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* Open the file itself, which may be deleted.  A user may open that of no process: then
 * its path, with the user's rights.  Root never does: the process's mounts could lead to
 * another file of that number. */
static int mapped_open_file(pid_t pid, const struct mapped_line *l)
{
	char path[PATH_MAX + 32];
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/map_files/%" PRIx64 "-%" PRIx64, pid,
		 l->start, l->end);
	fd = mapped_open_path(path, l, false);
	if (fd >= 0 || !geteuid() || l->path[0] != '/' || strlen(l->path) >= PATH_MAX)
		return fd;
	snprintf(path, sizeof(path), "/proc/%d/root%s", pid, l->path);
	return mapped_open_path(path, l, true);
}

static uint32_t mapped_find(const struct mapped *m, const struct mapped_line *l)
{
	for (uint32_t i = 0; i < m->files.n; i++) {
		if (m->files.v[i].dev == l->dev && m->files.v[i].ino == l->ino)
			return i;
	}
	return INDEX_NONE;
}

static int mapped_add(struct mapped *m, const struct mapped_line *l, int fd)
{
	struct mapped_file f = { .dev = l->dev, .ino = l->ino, .fd = fd };
	const char *slash = strrchr(l->path, '/'), *name = l->path;

	if (slash)
		name = slash + 1;
	log_quote(name, strlen(name), f.name, sizeof(f.name));
	if (!f.name[0])
		strcpy(f.name, "?");
	if (m->files.n >= SNAPSHOT_MAPPED_MAX || !vector_push(&m->files, f))
		return -ENOMEM;
	return 0;
}

static int mapped_take(struct mapped *m, const struct mapped_line *l, void *ctx)
{
	int fd = -1;

	(void)ctx;
	if (!l->exec || (!l->ino && !l->vdso) || m->files.n >= SNAPSHOT_MAPPED_MAX ||
	    mapped_find(m, l) != INDEX_NONE)
		return 0;
	if (!l->vdso)
		fd = mapped_open_file(m->pid, l);
	return mapped_add(m, l, fd);
}

int mapped_open(struct mapped *m, pid_t pid)
{
	*m = (struct mapped){ .pid = pid };
	return mapped_each(m, mapped_take, NULL);
}

int mapped_open_paths(struct mapped *m, const char *paths, size_t len, const char *root)
{
	*m = (struct mapped){ 0 };
	if (!root)
		root = "";
	for (size_t i = 0; i < len && m->files.n < SNAPSHOT_MAPPED_MAX;
	     i += strlen(paths + i) + 1) {
		struct mapped_file f = { .fd = -1 };
		char path[PATH_MAX];
		int n = snprintf(path, sizeof(path), "%s%s", root, paths + i);

		if (paths[i] == '/' && n > 0 && n < PATH_MAX)
			f.fd = mapped_open_path(path, NULL, false);
		if (!vector_push(&m->files, f))
			return -ENOMEM;
	}
	return 0;
}

/* --- as text --------------------------------------------------------------------------- */

struct describing {
	struct buffer *to;
	uint64_t vdso;
};

static int mapped_know(struct mapped *m, const struct mapped_line *l, void *ctx)
{
	struct describing *d = ctx;

	if (l->vdso)
		d->vdso = l->start;
	if ((!l->ino && !l->vdso) || m->files.n >= SNAPSHOT_MAPPED_MAX ||
	    mapped_find(m, l) != INDEX_NONE)
		return 0;
	return mapped_add(m, l, -1);
}

static int mapped_map(struct mapped *m, const struct mapped_line *l, void *ctx)
{
	struct describing *d = ctx;
	uint32_t file = INDEX_NONE;
	uint64_t off = l->off;

	if (l->ino || l->vdso)
		file = mapped_find(m, l);
	if (l->vdso)
		off = 0;
	buffer_printf(d->to, "map %" PRIx64 " %" PRIx64 " %" PRIx64 " -", l->start, l->end,
		      off);
	if (l->exec)
		buffer_str(d->to, "x");
	if (l->write)
		buffer_str(d->to, "w");
	if (l->stack)
		buffer_str(d->to, "s");
	if (l->heap)
		buffer_str(d->to, "h");
	buffer_str(d->to, " ");
	if (file == INDEX_NONE)
		buffer_str(d->to, "-\n");
	else
		buffer_printf(d->to, "%" PRIx32 "\n", file);
	return 0;
}

/* The stack pointer that the process began with; 0: not known. */
static uint64_t mapped_stack(pid_t pid)
{
	char path[48], line[1024] = "", *p = NULL;
	unsigned long long v = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f))
		p = strrchr(line, ')');
	fclose(f);
	/* field 3, after the name; startstack is field 28 (proc(5)) */
	for (int field = 2; p && field < 28; field++)
		p = strchr(p + 1, ' ');
	if (p)
		v = strtoull(p, NULL, 10);
	return v;
}

int mapped_describe(struct mapped *m, struct buffer *to)
{
	struct describing d = { .to = to };
	int r = mapped_each(m, mapped_know, &d);

	if (r)
		return r;
	buffer_printf(to, "trifold-snapshot 1\nmachine %s\nstack %" PRIx64 "\nvdso %" PRIx64
		      "\n",
#ifdef __aarch64__
		      "aarch64",
#else
		      "x86-64",
#endif
		      mapped_stack(m->pid), d.vdso);
	for (uint32_t i = 0; i < m->files.n; i++)
		buffer_printf(to, "file %" PRIx32 " 0 - %s\n", i, m->files.v[i].name);
	return mapped_each(m, mapped_map, &d);
}

void mapped_close(struct mapped *m)
{
	for (uint32_t i = 0; i < m->files.n; i++) {
		if (m->files.v[i].fd >= 0)
			close(m->files.v[i].fd);
	}
	free(m->files.v);
	m->files.v = NULL;
	m->files.n = 0;
}
