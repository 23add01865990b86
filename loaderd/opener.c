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
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "loaderd/confine.h"

#define STUCK_MAX	64	/* killed openers that are still there */

/* --- the opener ------------------------------------------------------------ */

bool opener_trusts(uint32_t magic)
{
	switch (magic) {
	case EXT4_SUPER_MAGIC: case XFS_SUPER_MAGIC: case BTRFS_SUPER_MAGIC:
	case TMPFS_MAGIC: case OVERLAYFS_SUPER_MAGIC: case SQUASHFS_MAGIC:
	case RAMFS_MAGIC: case F2FS_SUPER_MAGIC: case HUGETLBFS_MAGIC:
	case 0xe0f5e1e2: /* erofs */ case 0x2fc12fc1: /* zfs */
	case 0xca451a4e: /* bcachefs */
		return true;
	default:
		return false;
	}
}

/* To whom /proc/TGID/mem belongs, other than himself, has no dumpable memory
 * (PR_SET_DUMPABLE); of root's processes that does not tell. */
static bool opener_owns(uint32_t tgid, int fd)
{
	struct stat process, file;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%u", tgid);
	return !stat(name, &process) && !fstat(fd, &file) && file.st_nlink == 1 &&
	       process.st_uid == file.st_uid && process.st_gid == file.st_gid;
}

/*
 * What an O_PATH descriptor stands for is looked at before it is opened: to
 * open a device has effects, and a file system like FUSE may never answer.
 * layer: where it must be, if it is in an overlay; NULL: anywhere.
 * tgid: the process that must own it; 0: anybody.  Takes over path_fd.
 */
static int opener_reopen(int path_fd, const uint64_t *layer, uint32_t tgid)
{
	struct statfs fs;
	struct stat st;
	char name[32];
	int r;

	snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
	if (fstatfs(path_fd, &fs) < 0 || !opener_trusts(fs.f_type))
		r = -EXDEV;
	else if (fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode))
		r = -EBADF;
	else if (layer && fs.f_type == OVERLAYFS_SUPER_MAGIC &&
		 *layer != MSG_LAYER(st.st_dev, st.st_ino))
		r = -EXDEV;
	else if (tgid && !opener_owns(tgid, path_fd))
		r = -EPERM;
	else if ((r = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK)) < 0)
		r = -errno;
	close(path_fd);
	return r;
}

static int open_mapping(const struct request_file *q, char *path, ssize_t *path_len)
{
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%llx-%llx", q->tgid,
		 (unsigned long long)q->start, (unsigned long long)q->end);
	fd = open(name, O_PATH | O_CLOEXEC);
	fd = fd < 0 ? -errno : opener_reopen(fd, NULL, 0);
	/* of what was opened: another file may be mapped there by now */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	*path_len = fd < 0 ? 0 : readlink(name, path, MSG_PATH_MAX);
	return fd;
}

/* With CAP_DAC_READ_SEARCH, or as somebody who owns no file. */
static int opener_privileged(bool yes)
{
	struct __user_cap_header_struct hdr = { _LINUX_CAPABILITY_VERSION_3, 0 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &hdr, d) < 0)
		return -errno;
	d[0].effective = d[0].permitted & ~(yes ? 0 : 1u << CAP_DAC_READ_SEARCH);
	return syscall(SYS_capset, &hdr, d) < 0 ? -errno : 0;
}

/*
 * A path below a root, whatever links say.  Who shaped what lies there, by bind
 * mounts too, is not known: so only what everybody may reach and read.
 */
static int open_below(const char *root, const char *path, const uint64_t *layer)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), fd = opener_privileged(false);

	if (fd == 0) {
		fd = syscall(SYS_openat2, dir, path, &how, sizeof(how));
		fd = fd < 0 ? -errno : opener_reopen(fd, layer, 0);
	}
	close(dir);
	if (opener_privileged(true))
		_exit(1);
	return fd;
}

/* The first of these that is there, below the process's root or else ours.  The hub is
 * not believed: other names than those of debug files are none. */
static int open_debug(const struct msg_wanted *q)
{
	char root[32];
	int fd = -ENOENT;

	snprintf(root, sizeof(root), "/proc/%u/root", q->tgid);
	for (const char *path = q->paths; fd < 0 && *path; path += strlen(path) + 1) {
		const char *end = strrchr(path, '.');

		if ((!end || (strcmp(end, DEBUG_SUFFIX) && strcmp(end, PACKAGE_SUFFIX))) &&
		    (strncmp(path, DEBUG_ALTERNATES, strlen(DEBUG_ALTERNATES)) || strstr(path, "/..")))
			continue;
		fd = open_below(root, path, &q->layer);
		fd = fd < 0 ? open_below("/", path, &q->layer) : fd;
	}
	return fd;
}

/* What keeps keys, and what is ours, by the beginning of its name. */
static bool mem_denied(uint32_t tgid)
{
	static const char *const names[] = { MEM_DENIED };
	char link[32], exe[MSG_PATH_MAX + 1] = "", *base;

	snprintf(link, sizeof(link), "/proc/%u/exe", tgid);
	if (readlink(link, exe, sizeof(exe) - 1) < 0)
		return true;
	base = strrchr(exe, '/');
	for (size_t i = 0; base && i < sizeof(names) / sizeof(*names); i++) {
		if (!strncmp(base + 1, names[i], strlen(names[i])))
			return true;
	}
	return !base;
}

/* Asked before and after: it may become another program meanwhile. */
static int open_mem(const struct msg_wanted *q)
{
	char name[32];
	int fd;

	if (mem_denied(q->tgid))
		return -EPERM;
	snprintf(name, sizeof(name), "/proc/%u/mem", q->tgid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (!mem_denied(q->tgid) && opener_owns(q->tgid, fd))
		return fd;
	close(fd);
	return -EPERM;
}

/*
 * Where a JIT names its code.  A process of the host's root may have a root that
 * others shaped: so only a file of that very name, of the process's own user, on
 * which nothing is mounted or linked.
 */
static int open_perf_map(const struct msg_wanted *q)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS };
	char name[48];
	int dir, fd;

	snprintf(name, sizeof(name), "/proc/%u/root/tmp", q->tgid);
	dir = q->ns_tgid ? open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	snprintf(name, sizeof(name), "perf-%u.map", q->ns_tgid);
	fd = syscall(SYS_openat2, dir, name, &how, sizeof(how));
	fd = fd < 0 ? -errno : opener_reopen(fd, NULL, q->tgid);
	close(dir);
	return fd;
}

static int opener_answer(struct conn *c, const struct msg *m)
{
	char path[MSG_PATH_MAX];
	ssize_t len = 0;
	int fd, r;

	if (m->hdr.type == MSG_DEBUG_WANTED)
		fd = open_debug((const void *)m->buf);
	else if (m->hdr.type == MSG_MEM_WANTED)
		fd = open_mem((const void *)m->buf);
	else if (m->hdr.type == MSG_PERF_MAP_WANTED)
		fd = open_perf_map((const void *)m->buf);
	else
		fd = open_mapping((const void *)m->buf, path, &len);
	if (fd < 0)
		return conn_send(c, MSG_OPEN_FAILED, m->hdr.id, &(struct msg_open_failed){ -fd },
				 sizeof(struct msg_open_failed), NULL, 0, NULL, 0);
	/* -1: longer than the kernel tells */
	r = conn_send(c, MSG_OPENED, m->hdr.id, path, len < 0 ? 0 : len, NULL, 0, &fd, 1);
	close(fd);
	return r;
}

static _Noreturn void opener_main(int fd, struct opener_stats *shared)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	uint64_t before_ns = shared->cpu_ns;
	struct rusage used;
	struct conn c;
	struct msg m;
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->pid = getpid();
	r = conn_init(&c, fd, PEER_LOADERD);
	c.state = CONN_READY;
	while (!r) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			break;
		r = conn_recv(&c, &m);
		if (!r)
			r = opener_answer(&c, &m);
		if (r == -EAGAIN)
			r = 0;
		getrusage(RUSAGE_SELF, &used);
		shared->rss_bytes = (uint64_t)used.ru_maxrss * 1024;
		shared->cpu_ns = before_ns + clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
	_exit(r != 0);
}

/* --- the respawner --------------------------------------------------------- */

/* Only so that ppoll() returns when an opener dies, or has died before. */
static void on_child(__attribute__((unused)) int sig)
{
}

/*
 * Main writes a byte to have the opener killed, and closes to end it all.  An
 * opener within a file system that does not answer outlives SIGKILL until it
 * does: it is left behind, and another one takes its place.
 */
static _Noreturn void respawner_main(int control, int fd, struct opener_stats *shared)
{
	struct pollfd p = { .fd = control, .events = POLLIN };
	sigset_t none = { 0 }, child = { 0 };
	uint32_t children = 0;
	pid_t opener = 0, pid;
	char byte;

	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signal(SIGCHLD, on_child);
	for (;;) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0) {
			opener = pid == opener ? 0 : opener;
			children--;
		}
		if (!opener && children < STUCK_MAX) {
			opener = fork();
			if (opener == 0)
				opener_main(fd, shared);
			if (opener < 0)
				_exit(1);
			children++;
		}
		shared->stuck = children - (opener != 0);
		if (ppoll(&p, 1, NULL, &none) <= 0)
			continue;
		if (read(control, &byte, 1) <= 0)
			_exit(0);
		if (opener)
			kill(opener, SIGKILL);
		opener = 0;
	}
}

int opener_start(struct opener *o, uid_t uid, gid_t gid)
{
	int req[2], ctl[2], r;
	pid_t pid;

	o->shared = mmap(NULL, sizeof(*o->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (o->shared == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, req) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ctl) < 0 || (pid = fork()) < 0)
		return -errno;
	if (pid == 0) {
		int keep[] = { 2, req[1], ctl[1] };

		prctl(PR_SET_NAME, "trifold-opener");
		if (confine_opener(uid, gid, keep, 3))
			_exit(1);
		respawner_main(ctl[1], req[1], o->shared);
	}
	close(req[1]);
	close(ctl[1]);
	o->control = ctl[0];
	o->respawner = pid;
	r = conn_init(&o->conn, req[0], PEER_OPENER);
	o->conn.state = CONN_READY;
	return r;
}

void opener_kill(struct opener *o)
{
	if (write(o->control, "k", 1) != 1)
		log_err("the opener's respawner is gone");
}

void opener_stop(struct opener *o)
{
	close(o->control);
	waitpid(o->respawner, NULL, 0);
	conn_close(&o->conn);
}
