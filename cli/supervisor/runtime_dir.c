// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/runtime_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "cli/supervisor/say.h"

#define BACKLOG		8

static int complain(const char *path)
{
	int r = errno ? -errno : -EPERM;

	say("%s: %s", path, strerror(-r));
	return r;
}

/* A directory that only root can write to, made or found. */
static int make_dir(void)
{
	struct stat st;

	/* whatever the umask says */
	if (mkdir(RUNTIME_DIR, 0755) == 0 ? chmod(RUNTIME_DIR, 0755) < 0 :
	    errno != EEXIST)
		return complain(RUNTIME_DIR);
	if (lstat(RUNTIME_DIR, &st) < 0)
		return complain(RUNTIME_DIR);
	if (S_ISDIR(st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022))
		return 0;
	say("%s is not a directory of root's alone", RUNTIME_DIR);
	return -EPERM;
}

static int say_taken(int fd)
{
	char text[64] = "";
	int pid = 0;

	if (pread(fd, text, sizeof(text) - 1, 0) > 0)
		sscanf(text, "pid %d", &pid);
	say("another trifold is running (pid %d): only one can", pid);
	return -EBUSY;
}

/*
 * The lock, unless its holder removed the file in the meantime: -EAGAIN.  What
 * an earlier version left, everybody could open, and so lock: it is replaced
 * by one that is root's alone, unless a trifold holds it.
 */
static int lock_once(void)
{
	struct stat a, b;
	int fd, r = make_dir();

	if (r)
		return r;
	fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : complain(LOCK_FILE);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0)
		r = errno == EWOULDBLOCK ? say_taken(fd) : complain(LOCK_FILE);
	else if (fstat(fd, &a) < 0 || lstat(LOCK_FILE, &b) < 0 ||
		 a.st_ino != b.st_ino || a.st_dev != b.st_dev)
		r = -EAGAIN;
	else if (a.st_mode & 077)
		r = unlink(LOCK_FILE) < 0 ? complain(LOCK_FILE) : -EAGAIN;
	if (r)
		close(fd);
	return r ? r : fd;
}

static int take_lock(uid_t hub_uid)
{
	char text[64];
	int fd = -EAGAIN, n;

	for (int i = 0; i < 10 && fd == -EAGAIN; i++)
		fd = lock_once();
	if (fd < 0)
		return fd;
	n = snprintf(text, sizeof(text), "pid %d hub-uid %u\n", (int)getpid(),
		     hub_uid);
	if (ftruncate(fd, 0) == 0 && pwrite(fd, text, (size_t)n, 0) == n)
		return fd;
	n = complain(LOCK_FILE);
	close(fd);
	return n;
}

int runtime_dir_connect(void)
{
	struct sockaddr_un addr = { AF_UNIX, STATUS_SOCKET };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK,
			0), one = 1, r;

	if (fd < 0)
		return -errno;
	/* before connect, so that the very first message carries them */
	if (setsockopt(fd, SOL_SOCKET, SO_PASSCRED, &one, sizeof(one)) == 0 &&
	    connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0)
		return fd;
	r = -errno;
	close(fd);
	return r;
}

static int make_socket(const char *path, int type, uid_t uid, gid_t gid)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;
	mode_t mask;

	if (fd < 0)
		return complain("socket");
	strcpy(addr.sun_path, path);
	unlink(path);
	/* nobody else's from the first moment on */
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (r == 0)
		r = chown(path, uid, gid);
	if (r == 0 && type == SOCK_SEQPACKET)
		r = listen(fd, BACKLOG);
	if (r == 0)
		return fd;
	r = complain(path);
	close(fd);
	return r;
}

int runtime_dir_make(struct runtime_dir *d, const struct identities *ids)
{
	int fd, one = 1;

	*d = (struct runtime_dir){ -1, -1, -1, -1, -1 };
	d->lock = take_lock(ids->uid[ID_HUB]);
	if (d->lock < 0)
		return d->lock;
	fd = runtime_dir_connect();
	if (fd >= 0) {		/* the directory is somebody else's */
		say("%s answers already: trifold's services are running "
		    "(`systemctl stop trifold.target`), or what a killed "
		    "trifold left (`trifold status`)", STATUS_SOCKET);
		unlink(LOCK_FILE);
		close(d->lock);
		close(fd);
		d->lock = -1;
		return -EBUSY;
	}
	d->loader = make_socket(LOADER_SOCKET, SOCK_SEQPACKET,
				ids->uid[ID_LOADER], ids->gid[ID_LOADER]);
	d->export = make_socket(EXPORT_SOCKET, SOCK_SEQPACKET,
				ids->uid[ID_EXPORTER], ids->gid[ID_EXPORTER]);
	d->status = make_socket(STATUS_SOCKET, SOCK_SEQPACKET,
				ids->uid[ID_VIEWER], ids->gid[ID_VIEWER]);
	d->notify = make_socket(NOTIFY_SOCKET, SOCK_DGRAM, 0, 0);
	if (d->loader >= 0 && d->export >= 0 && d->status >= 0 &&
	    d->notify >= 0 && setsockopt(d->notify, SOL_SOCKET, SO_PASSCRED,
					 &one, sizeof(one)) == 0)
		return 0;
	runtime_dir_remove(d);
	return -EIO;
}

void runtime_dir_remove(struct runtime_dir *d)
{
	static const char *const sockets[] = {
		LOADER_SOCKET, EXPORT_SOCKET, STATUS_SOCKET, NOTIFY_SOCKET,
	};
	const int fds[] = { d->loader, d->export, d->status, d->notify };

	for (int i = 0; i < 4; i++) {
		unlink(sockets[i]);
		if (fds[i] >= 0)
			close(fds[i]);
	}
	/* while the lock is held: lock_once() sees that the file is gone */
	unlink(LOCK_FILE);
	rmdir(RUNTIME_DIR);
	close(d->lock);
	d->lock = -1;
}
