// SPDX-License-Identifier: Apache-2.0
#include "cli/record/named.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define COMM_MAX	15	/* TASK_COMM_LEN of linux/sched.h, without NUL */

static bool named_equals(const char *name, const char *s, size_t len)
{
	return strlen(name) == len && !memcmp(name, s, len);
}

bool named_is(const char *name, const char *comm, size_t comm_len,
	      const char *arg, size_t arg_len)
{
	const char *slash = NULL;

	if (arg_len)
		slash = memrchr(arg, '/', arg_len);
	if (slash) {
		arg_len -= (size_t)(slash + 1 - arg);
		arg = slash + 1;
	}
	return named_equals(name, comm, comm_len) ||
	       named_equals(name, arg, arg_len) ||
	       (comm_len == COMM_MAX && strlen(name) > COMM_MAX &&
		!memcmp(name, comm, COMM_MAX));
}

/* The beginning of /proc/PID/FILE; 0 bytes: it cannot be read. */
static size_t named_read(int proc, uint32_t pid, const char *file, char *buf,
			 size_t size)
{
	char path[40];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%u/%s", pid, file);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, buf, size);
	close(fd);
	if (n > 0)
		return (size_t)n;
	return 0;
}

bool named_has(int proc, uint32_t pid, const char *name)
{
	char comm[64], args[4096];
	size_t n = named_read(proc, pid, "comm", comm, sizeof(comm));
	size_t m = named_read(proc, pid, "cmdline", args, sizeof(args));

	if (n && comm[n - 1] == '\n')
		n--;
	return named_is(name, comm, n, args, strnlen(args, m));
}

int named_find(int proc, const char *name, struct number_list *to)
{
	DIR *d = fdopendir(proc);
	const struct dirent *e;
	int found = 0;

	to->n = 0;
	if (!d) {
		close(proc);
		return -errno;
	}
	while ((e = readdir(d))) {
		uint64_t pid;

		if (!number_parse(e->d_name, 1, INT32_MAX, &pid) ||
		    pid == (uint64_t)getpid() || pid == (uint64_t)getppid() ||
		    !named_has(dirfd(d), (uint32_t)pid, name))
			continue;
		if (to->n < NUMBERS_MAX)
			to->v[to->n++] = (uint32_t)pid;
		found++;
	}
	closedir(d);
	return found;
}
