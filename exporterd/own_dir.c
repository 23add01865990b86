// SPDX-License-Identifier: Apache-2.0
#include "exporterd/own_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "common/log.h"

static int own_dir_check(const char *what, const char *path, int fd)
{
	struct stat st;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_uid != geteuid()) {
		log_err("%s %s: it belongs to user %u, and this is user %u: make one for the "
			"user trifold-exporterd: install -d -m 700 -o trifold-exporterd DIRECTORY",
			what, path, (unsigned int)st.st_uid, (unsigned int)geteuid());
		return -EPERM;
	}
	if (st.st_mode & 077) {
		log_err("%s %s: others may use it: chmod 700", what, path);
		return -EPERM;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		log_err("%s %s: %s", what, path, errno == EWOULDBLOCK ?
			"another exporterd uses it" : strerror(errno));
		return -EBUSY;
	}
	return 0;
}

int own_dir_open(const char *what, const char *path)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;

	if (fd < 0) {
		r = -errno;
		log_err("%s %s: cannot be opened as user %u: %s", what, path,
			(unsigned int)geteuid(), strerror(-r));
		return r;
	}
	r = own_dir_check(what, path, fd);
	if (r < 0) {
		close(fd);
		return r;
	}
	return fd;
}

int own_dir_probe(int dir)
{
	int fd, r;

	if (unlinkat(dir, OWN_DIR_TEMPORARY, 0) < 0 && errno != ENOENT)
		return -errno;
	fd = own_dir_create(dir);
	if (fd == -ENOSPC || fd == -EDQUOT)
		return 0;
	if (fd < 0)
		return fd;
	r = unlinkat(dir, OWN_DIR_TEMPORARY, 0) < 0 ? -errno : 0;
	close(fd);
	return r;
}

int own_dir_list(int dir, int max, void (*fn)(void *arg, const char *name), void *arg)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	const struct dirent *e;
	int r = 0;
	DIR *d;

	if (fd < 0)
		return -errno;
	d = fdopendir(fd);
	if (!d) {
		r = -errno;
		close(fd);
		return r;
	}
	for (int n = 0; ; n++) {
		e = readdir(d);
		if (!e)
			break;
		if (n >= max) {
			r = 1;
			break;
		}
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			fn(arg, e->d_name);
	}
	closedir(d);
	return r;
}

bool own_dir_has(int dir, const char *name, struct stat *ret)
{
	return fstatat(dir, name, ret, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(ret->st_mode) &&
	       ret->st_uid == geteuid();
}

int own_dir_create(int dir)
{
	const int how = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
	int fd = openat(dir, OWN_DIR_TEMPORARY, how, 0600);

	if (fd < 0 && errno == EEXIST && unlinkat(dir, OWN_DIR_TEMPORARY, 0) == 0)
		fd = openat(dir, OWN_DIR_TEMPORARY, how, 0600);
	if (fd < 0)
		return -errno;
	return fd;
}

int own_dir_read(int dir, const char *name, struct stat *ret)
{
	int fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return errno == ELOOP ? -EPROTO : -errno;
	if (fstat(fd, ret) == 0 && S_ISREG(ret->st_mode) && ret->st_uid == geteuid())
		return fd;
	close(fd);
	return -EPROTO;
}
