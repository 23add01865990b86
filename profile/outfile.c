// SPDX-License-Identifier: Apache-2.0
#include "profile/outfile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"

static int outfile_complain(const char *path)
{
	char name[256];
	int r = errno ? -errno : -EIO;

	log_err("%s: %s", log_quote(path, strlen(path), name, sizeof(name)),
		strerror(-r));
	return r;
}

static int outfile_open_dir(struct outfile *f, const char *path)
{
	const char *slash = strrchr(path, '/'), *name = path;
	char dir[PATH_MAX] = ".";

	if (slash) {
		int len = (int)(slash - path);

		name = slash + 1;
		if (len == 0)		/* "/x" is in "/" */
			len = 1;
		if (snprintf(dir, sizeof(dir), "%.*s", len, path) >= (int)sizeof(dir)) {
			errno = ENAMETOOLONG;
			return -1;
		}
	}
	if (snprintf(f->tmp, sizeof(f->tmp), "%s.%d.tmp", name,
		     (int)getpid()) >= (int)sizeof(f->tmp)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(f->name, name);
	f->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return f->dir < 0 ? -1 : 0;
}

static bool outfile_can_replace(const struct outfile *f)
{
	struct stat st;

	if (!*f->name)
		return false;
	return fstatat(f->dir, f->name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
	       S_ISREG(st.st_mode);
}

bool outfile_is_standard(const char *path)
{
	return !strcmp(path, "-") || !strcmp(path, "/dev/stdout");
}

const char *outfile_shown(const char *path, char *buf, size_t size)
{
	if (!outfile_is_standard(path))
		return log_quote(path, strlen(path), buf, size);
	snprintf(buf, size, "standard output");
	return buf;
}

static int outfile_open_standard(struct outfile *f, bool text)
{
	if (!text && isatty(STDOUT_FILENO)) {
		log_err("standard output is a terminal: only folded stacks are written there");
		return -ENOTTY;
	}
	strcpy(f->name, "standard output");
	f->dir = -1;
	f->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	return f->fd < 0 ? outfile_complain(f->name) : 0;
}

int outfile_open(struct outfile *f, const char *path, bool text)
{
	char shown[256];
	int r = 0;

	if (outfile_is_standard(path))
		return outfile_open_standard(f, text);

	if (outfile_open_dir(f, path) < 0)
		return outfile_complain(path);
	if (!outfile_can_replace(f)) {
		log_err("%s: is there, and is not a regular file",
			log_quote(path, strlen(path), shown, sizeof(shown)));
		close(f->dir);
		return -EEXIST;
	}
	f->fd = openat(f->dir, f->tmp,
		       O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
		       0600);
	if (f->fd < 0) {
		r = outfile_complain(path);
		close(f->dir);
	}
	return r;
}

int outfile_commit(struct outfile *f)
{
	int r = 0;

	if (f->dir < 0) {
		if (close(f->fd) < 0)
			r = outfile_complain(f->name);
		return r;
	}
	if (fsync(f->fd) < 0 && errno != EINVAL)
		r = outfile_complain(f->name);
	if (!r && renameat(f->dir, f->tmp, f->dir, f->name) < 0)
		r = outfile_complain(f->name);
	if (r) {
		outfile_abandon(f);
		return r;
	}
	close(f->fd);
	close(f->dir);
	return 0;
}

void outfile_abandon(struct outfile *f)
{
	if (f->dir >= 0) {
		unlinkat(f->dir, f->tmp, 0);
		close(f->dir);
	}
	close(f->fd);
}
