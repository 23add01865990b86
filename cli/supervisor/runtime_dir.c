// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/runtime_dir.h"

#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG		8

static const struct {
	const char *path;
	enum identity who;		/* may connect */
} runtime_sockets[RUNTIME_SOCKETS] = {
	{ LOADER_SOCKET, ID_LOADER }, { EXPORT_SOCKET, ID_EXPORTER },
	{ STATUS_SOCKET, ID_VIEWER }, { NOTIFY_SOCKET, ID_FRONT },
};

static int complain(const char *path)
{
	int r = errno ? -errno : -EPERM;

	warn("%s", path);
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
	warnx("%s is not a directory of root's alone", RUNTIME_DIR);
	return -EPERM;
}

/*
 * The lock, unless its holder removed the file in the meantime: -EAGAIN.  What
 * an earlier version left, everybody could open, and so lock: it is replaced
 * by one that is root's alone, unless a trifold holds it.
 */
static int lock_once(void)
{
	struct stat a, b;
	char text[64] = "";
	int fd, r = make_dir(), pid = 0;

	if (r)
		return r;
	fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : complain(LOCK_FILE);
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		r = -EBUSY;
		(void)!pread(fd, text, sizeof(text) - 1, 0);
		sscanf(text, "pid %d", &pid);
		warnx("another trifold is running (pid %d): only one can", pid);
	} else if (fstat(fd, &a) < 0 || lstat(LOCK_FILE, &b) < 0 ||
		 a.st_ino != b.st_ino || a.st_dev != b.st_dev) {
		r = -EAGAIN;
	} else if (a.st_mode & 077) {
		r = unlink(LOCK_FILE) < 0 ? complain(LOCK_FILE) : -EAGAIN;
	}
	if (r)
		close(fd);
	return r ? r : fd;
}

static int take_lock(uid_t hub_uid)
{
	int fd = -EAGAIN;

	for (int i = 0; i < 10 && fd == -EAGAIN; i++)
		fd = lock_once();
	if (fd < 0 || (ftruncate(fd, 0) == 0 &&
		       dprintf(fd, "pid %d hub-uid %u\n", (int)getpid(),
			       hub_uid) > 0))
		return fd;
	close(fd);
	return complain(LOCK_FILE);
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

static int make_socket(int i, const struct identities *ids)
{
	const char *path = runtime_sockets[i].path;
	int type = i == RUNTIME_NOTIFY ? SOCK_DGRAM : SOCK_SEQPACKET;
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), r;
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	mode_t mask;

	strcpy(addr.sun_path, path);
	unlink(path);
	/* nobody else's from the first moment on */
	mask = umask(0177);
	r = bind(fd, (struct sockaddr *)&addr, sizeof(addr));
	umask(mask);
	if (r < 0 || chown(path, ids->uid[runtime_sockets[i].who],
			   ids->gid[runtime_sockets[i].who]) < 0 ||
	    (type == SOCK_SEQPACKET && listen(fd, BACKLOG) < 0))
		return complain(path);
	return fd;
}

int runtime_dir_make(int socket[RUNTIME_SOCKETS], const struct identities *ids)
{
	int r = take_lock(ids->uid[ID_HUB]);

	if (r < 0)
		return r;
	if (runtime_dir_connect() >= 0) {
		warnx("%s answers already: trifold's services are running "
		      "(`systemctl stop trifold.target`), or what a killed "
		      "trifold left (`trifold status`)", STATUS_SOCKET);
		unlink(LOCK_FILE);	/* the rest is somebody else's */
		return -EBUSY;
	}
	for (int i = 0; i < RUNTIME_SOCKETS && r >= 0; i++)
		r = socket[i] = make_socket(i, ids);
	if (r < 0)
		runtime_dir_remove();
	return r < 0 ? r : 0;
}

void runtime_dir_remove(void)
{
	for (int i = 0; i < RUNTIME_SOCKETS; i++)
		unlink(runtime_sockets[i].path);
	/* while the lock is held: lock_once() sees that the file is gone */
	unlink(LOCK_FILE);
	rmdir(RUNTIME_DIR);
}
