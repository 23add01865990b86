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

static const struct runtime_socket {
	const char *path;
	int type;
	enum identity who;		/* may connect */
} runtime_sockets[RUNTIME_SOCKETS] = {
	{ LOADER_SOCKET, SOCK_SEQPACKET, ID_LOADER },
	{ EXPORT_SOCKET, SOCK_SEQPACKET, ID_EXPORTER },
	{ STATUS_SOCKET, SOCK_SEQPACKET, ID_VIEWER },
	[RUNTIME_NOTIFY] = { NOTIFY_SOCKET, SOCK_DGRAM, ID_FRONT },
};

static int runtime_failed(const char *path)
{
	int r = -errno;

	warn("%s", path);
	return r;
}

/* Make or find a directory that only root can write to. */
static int runtime_make_dir(void)
{
	struct stat st;

	if (mkdir(RUNTIME_DIR, 0755) < 0 && errno != EEXIST)
		return runtime_failed(RUNTIME_DIR);
	if (lstat(RUNTIME_DIR, &st) < 0)
		return runtime_failed(RUNTIME_DIR);
	if (S_ISDIR(st.st_mode) && st.st_uid == 0 && !(st.st_mode & 022))
		return 0;
	warnx("%s is not a directory of root's alone", RUNTIME_DIR);
	return -EPERM;
}

static void runtime_name_holder(int lock)
{
	char text[64] = "";
	int pid = 0;

	(void)!pread(lock, text, sizeof(text) - 1, 0);
	sscanf(text, "pid %d", &pid);
	warnx("another trifold is running (pid %d): only one can", pid);
}

/* 0: the lock is ours.  -EAGAIN: its file is not the one that is there now, since its
 * holder has removed it.  Or another -errno. */
static int runtime_lock_file(int fd)
{
	struct stat ours, there;

	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		runtime_name_holder(fd);
		return -EBUSY;
	}
	if (fstat(fd, &ours) < 0 || lstat(LOCK_FILE, &there) < 0 ||
	    ours.st_ino != there.st_ino || ours.st_dev != there.st_dev)
		return -EAGAIN;
	return 0;
}

/* A descriptor of the locked file, or -errno; -EAGAIN: to be tried again. */
static int runtime_lock_once(void)
{
	int fd, r = runtime_make_dir();

	if (r)
		return r;
	fd = open(LOCK_FILE, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return errno == ENOENT ? -EAGAIN : runtime_failed(LOCK_FILE);
	r = runtime_lock_file(fd);
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

static int runtime_lock(uid_t hub_uid)
{
	int fd = -EAGAIN, r;

	for (int i = 0; i < 10 && fd == -EAGAIN; i++)
		fd = runtime_lock_once();
	if (fd < 0)
		return fd;
	if (ftruncate(fd, 0) < 0 ||
	    dprintf(fd, "pid %d hub-uid %u\n", (int)getpid(), hub_uid) < 0) {
		r = runtime_failed(LOCK_FILE);
		close(fd);
		return r;
	}
	return 0;
}

int runtime_dir_connect(void)
{
	struct sockaddr_un addr = { AF_UNIX, STATUS_SOCKET };
	int one = 1, fd, r;

	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
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

static int runtime_make_socket(int i, const struct identities *ids)
{
	const struct runtime_socket *s = &runtime_sockets[i];
	int fd = socket(AF_UNIX, s->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct sockaddr_un addr = { .sun_family = AF_UNIX };

	strcpy(addr.sun_path, s->path);
	unlink(s->path);
	/* by the umask no other user can connect, from the first moment on */
	if (bind(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0 ||
	    chown(s->path, ids->uid[s->who], ids->gid[s->who]) < 0 ||
	    (s->type == SOCK_SEQPACKET && listen(fd, BACKLOG) < 0))
		return runtime_failed(s->path);
	return fd;
}

static int runtime_make_all(int socket[RUNTIME_SOCKETS], const struct identities *ids)
{
	int r = runtime_lock(ids->uid[ID_HUB]);

	if (r)
		return r;
	if (runtime_dir_connect() >= 0) {
		warnx("%s answers already: trifold's services are running "
		      "(`systemctl stop trifold.target`), or what a killed "
		      "trifold left (`trifold status`)", STATUS_SOCKET);
		/* the sockets are not ours */
		unlink(LOCK_FILE);
		return -EBUSY;
	}
	for (int i = 0; i < RUNTIME_SOCKETS; i++) {
		socket[i] = runtime_make_socket(i, ids);
		if (socket[i] < 0) {
			runtime_dir_remove();
			return socket[i];
		}
	}
	return 0;
}

int runtime_dir_make(int socket[RUNTIME_SOCKETS], const struct identities *ids)
{
	/* only the owner can write, and so connect */
	mode_t mask = umask(022);
	int r = runtime_make_all(socket, ids);

	umask(mask);
	return r;
}

void runtime_dir_remove(void)
{
	for (int i = 0; i < RUNTIME_SOCKETS; i++)
		unlink(runtime_sockets[i].path);
	/* while the lock is held: runtime_lock_file() sees that the file has been removed */
	unlink(LOCK_FILE);
	rmdir(RUNTIME_DIR);
}
