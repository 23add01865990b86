// SPDX-License-Identifier: Apache-2.0
#include "loaderd/opener.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/cost.h"
#include "common/log.h"
#include "loaderd/confine.h"
#include "loaderd/fs.h"

#define KEEPER_CHECK_MS	5000	/* should SIGCHLD come between two calls */

/* --- the opener ------------------------------------------------------------ */

#define OPEN_FLAGS	(O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)

static int regular(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -EBADF;
}

static int open_mapping(const struct msg_open *q, char *path, ssize_t *path_len)
{
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%llx-%llx", q->tgid,
		 (unsigned long long)q->start, (unsigned long long)q->end);
	*path_len = readlink(name, path, MSG_PATH_MAX);
	fd = open(name, OPEN_FLAGS);
	if (fd < 0 || *path_len < 0) {
		int r = -errno;

		if (fd >= 0)
			close(fd);
		return r;
	}
	return regular(fd);
}

/* path below root, whatever links say */
static int open_below(const char *root, const char *path)
{
	struct open_how how = {
		.flags = OPEN_FLAGS,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd, r;
	struct statfs fs;

	if (dir < 0)
		return -errno;
	fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
	r = fd < 0 ? -errno : regular(fd);
	close(dir);
	if (r >= 0 && (fstatfs(fd, &fs) < 0 || !fs_trusted(fs.f_type) ||
		       fs.f_type == OVERLAYFS_SUPER_MAGIC)) {
		close(fd);
		r = -EXDEV;
	}
	return r;
}

/* The layout of GDB's manual, 18.3 "Debugging Information in Separate Files". */
static int open_debug(const struct msg_open_debug *q)
{
	char path[64 + 2 * BUILD_ID_MAX] = "usr/lib/debug/.build-id/", root[32];
	size_t n = strlen(path);
	int fd;

	for (uint32_t i = 0; i < q->build_id_len && i < BUILD_ID_MAX; i++)
		n += snprintf(path + n, sizeof(path) - n, i ? "%02x" : "%02x/",
			      q->build_id[i]);
	snprintf(path + n, sizeof(path) - n, ".debug");
	snprintf(root, sizeof(root), "/proc/%u/root", q->tgid);
	fd = open_below(root, path);
	return fd < 0 ? open_below("/", path) : fd;
}

/* What was used since it was last told, *told in all. */
static void cost(int statm, uint64_t *told, struct opener_cost *ret)
{
	struct cost now;

	cost_read(statm, &now);
	ret->cpu_ns = now.cpu_ns - *told;
	ret->rss_bytes = now.rss_bytes;
	*told = now.cpu_ns;
}

static int opener_answer(struct conn *c, const struct msg *m, int statm,
			 uint64_t *told)
{
	struct msg_open_failed failed = { 0 };
	struct msg_opened opened = { 0 };
	char path[MSG_PATH_MAX];
	ssize_t len = 0;
	int fd, r;

	if (m->hdr.type == MSG_OPEN_DEBUG)
		fd = open_debug((const void *)m->buf);
	else
		fd = open_mapping((const void *)m->buf, path, &len);
	if (fd < 0) {
		failed.error = -fd;
		cost(statm, told, &failed.cost);
		return conn_send(c, MSG_OPEN_FAILED, m->hdr.id, &failed,
				 sizeof(failed), NULL, 0, NULL, 0);
	}
	opened.path_len = len;
	cost(statm, told, &opened.cost);
	r = conn_send(c, MSG_OPENED, m->hdr.id, &opened, sizeof(opened), path,
		      len, &fd, 1);
	close(fd);
	return r;
}

static _Noreturn void opener_main(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int r, statm = cost_open();
	uint64_t told = 0;
	struct conn c;
	struct msg m;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	r = conn_init(&c, fd, PEER_LOADERD);
	c.state = CONN_READY;
	while (!r) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		r = conn_recv(&c, &m);
		if (!r)
			r = opener_answer(&c, &m, statm, &told);
		if (r == -EAGAIN)
			r = 0;
	}
	_exit(r != 0);
}

/* --- the keeper ------------------------------------------------------------ */

/* Only so that poll() returns when the opener dies. */
static void on_child(int sig)
{
	(void)sig;
}

/* Main writes a byte to have the opener killed, and closes to end it all. */
static _Noreturn void keeper_main(int control, int fd)
{
	struct pollfd p = { .fd = control, .events = POLLIN };

	signal(SIGCHLD, on_child);
	for (;;) {
		pid_t pid = fork();
		ssize_t n = 1;
		char byte;

		if (pid == 0)
			opener_main(fd);
		if (pid < 0)
			_exit(1);
		while (waitpid(pid, NULL, WNOHANG) == 0) {
			if (poll(&p, 1, KEEPER_CHECK_MS) <= 0)
				continue;
			n = read(control, &byte, 1);
			kill(pid, SIGKILL);
			waitpid(pid, NULL, 0);
			break;
		}
		if (n <= 0)
			_exit(0);
	}
}

int opener_start(struct opener *o, uid_t uid, gid_t gid)
{
	int req[2], ctl[2], r;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, req) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ctl) < 0)
		return -errno;
	pid = fork();
	if (pid < 0)
		return -errno;
	if (pid == 0) {
		int keep[] = { 2, req[1], ctl[1] };

		prctl(PR_SET_NAME, "trifold-opener");
		if (confine_opener(uid, gid, keep, 3))
			_exit(1);
		keeper_main(ctl[1], req[1]);
	}
	close(req[1]);
	close(ctl[1]);
	o->control = ctl[0];
	o->keeper = pid;
	r = conn_init(&o->conn, req[0], PEER_OPENER);
	o->conn.state = CONN_READY;
	return r;
}

int opener_ask_debug(struct opener *o, uint64_t id,
		     const struct msg_open_debug *q)
{
	return conn_send(&o->conn, MSG_OPEN_DEBUG, id, q, sizeof(*q), NULL, 0,
			 NULL, 0);
}

int opener_ask(struct opener *o, uint64_t id, const struct request_file *need)
{
	struct msg_open q = {
		.tgid = need->tgid, .start_ns = need->start_ns,
		.start = need->start, .end = need->end,
	};

	return conn_send(&o->conn, MSG_OPEN, id, &q, sizeof(q), NULL, 0, NULL,
			 0);
}

void opener_kill(struct opener *o)
{
	if (write(o->control, "k", 1) != 1)
		log_err("the opener's keeper is gone");
}

void opener_stop(struct opener *o)
{
	close(o->control);
	waitpid(o->keeper, NULL, 0);
	conn_close(&o->conn);
}
