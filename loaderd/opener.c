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
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/log.h"
#include "loaderd/confine.h"

#define STUCK_MAX	64	/* killed openers that are still there */

/* Descriptors of the opener and its respawner; 2 is the log. */
#define FD_REQUESTS	0	/* from main to the opener, and its answers */
#define FD_CONTROL	1	/* from main to the respawner */

/* --- what may be opened ----------------------------------------------------- */

bool opener_trusts(uint32_t magic)
{
	static const uint32_t local[] = {
		EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
		TMPFS_MAGIC, OVERLAYFS_SUPER_MAGIC, SQUASHFS_MAGIC,
		RAMFS_MAGIC, F2FS_SUPER_MAGIC, HUGETLBFS_MAGIC,
		0xe0f5e1e2 /* erofs */, 0x2fc12fc1 /* zfs */,
		0xca451a4e /* bcachefs */, ROOT_OURS,
	};

	for (size_t i = 0; i < sizeof(local) / sizeof(local[0]); i++) {
		if (local[i] == magic)
			return true;
	}
	return false;
}

/*
 * Does the file belong to the user and group of this process, without another link?
 * /proc/TGID/mem of a process whose memory is not dumpable (PR_SET_DUMPABLE) belongs to
 * root: that cannot be told of root's own processes.
 */
static bool opener_owned(uint32_t tgid, int fd)
{
	struct stat process, file;
	char name[32];

	snprintf(name, sizeof(name), "/proc/%u", tgid);
	return !stat(name, &process) && !fstat(fd, &file) && file.st_nlink == 1 &&
	       process.st_uid == file.st_uid && process.st_gid == file.st_gid;
}

/* 0, or the -errno for which this O_PATH descriptor is not to be opened; see
 * opener_reopen(). */
static int opener_check(int path_fd, const uint64_t *layer, uint32_t tgid)
{
	struct statfs fs;
	struct stat st;

	if (fstatfs(path_fd, &fs) < 0 || !opener_trusts(fs.f_type))
		return -EXDEV;
	if (fstat(path_fd, &st) < 0 || !S_ISREG(st.st_mode))
		return -EBADF;
	if (layer && (fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_flags & ST_NOSUID) &&
	    *layer != MSG_LAYER(st.st_dev, st.st_ino))
		return -EXDEV;
	if (tgid && !opener_owned(tgid, path_fd))
		return -EPERM;
	return 0;
}

/*
 * Open for reading what an O_PATH descriptor stands for.  That is checked before: to open
 * a device has effects, and a file system like FUSE may never answer.
 * path_fd: what open(2) returned, taken over; if that is -1, errno says why.
 * layer: where the file must be, if it is in an overlay, or mounted nosuid: who mounts what
 * users bring, with owners of their choice, mounts it so; NULL: anywhere.
 * tgid: the process that must own it; 0: any owner.
 * Returns a descriptor or -errno.
 */
static int opener_reopen(int path_fd, const uint64_t *layer, uint32_t tgid)
{
	char name[32];
	int r;

	if (path_fd < 0)
		return -errno;
	r = opener_check(path_fd, layer, tgid);
	if (!r) {
		snprintf(name, sizeof(name), "/proc/self/fd/%d", path_fd);
		r = open(name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
		if (r < 0)
			r = -errno;
	}
	close(path_fd);
	return r;
}

/* --- the opener ------------------------------------------------------------- */

static int opener_open_mapping(const struct request_file *q, char *path, ssize_t *path_len)
{
	char name[96];
	int fd;

	snprintf(name, sizeof(name), "/proc/%u/map_files/%llx-%llx", q->process.tgid,
		 (unsigned long long)q->start, (unsigned long long)q->end);
	fd = opener_reopen(open(name, O_PATH | O_CLOEXEC), NULL, 0);
	if (fd < 0)
		return fd;
	/* the path of what was opened: another file may be mapped there by now */
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	*path_len = readlink(name, path, MSG_PATH_MAX);
	return fd;
}

/* Have these of the opener's capabilities in effect, or end. */
static void opener_use(uint64_t caps)
{
	struct __user_cap_header_struct hdr = { _LINUX_CAPABILITY_VERSION_3, 0 };
	uint64_t all = confinement_opener.caps;
	struct __user_cap_data_struct d[2] = {
		{ (uint32_t)caps, (uint32_t)all, 0 },
		{ (uint32_t)(caps >> 32), (uint32_t)(all >> 32), 0 },
	};

	if (syscall(SYS_capset, &hdr, d))
		_exit(1);
}

/*
 * Open a path below a root, which its links cannot leave.  Any user may have made what is
 * there, also by bind mounts: so only what every user may reach and read is opened, by a
 * user who owns no file.
 */
static int opener_open_below(const char *root, const char *path, const uint64_t *layer)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS };
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
	int r;

	opener_use(confinement_opener.caps & ~CAP(DAC_READ_SEARCH));
	r = opener_reopen(syscall(SYS_openat2, dir, path, &how, sizeof(how)), layer, 0);
	close(dir);
	opener_use(confinement_opener.caps);
	return r;
}

/* The hub may ask for debug files only: for these names. */
static bool opener_is_debug_name(const char *path)
{
	const char *suffix = strrchr(path, '.');

	return (suffix && (!strcmp(suffix, DEBUG_SUFFIX) || !strcmp(suffix, PACKAGE_SUFFIX))) ||
	       (!strncmp(path, DEBUG_ALTERNATES, strlen(DEBUG_ALTERNATES)) && !strstr(path, "/.."));
}

/* The first of these names that can be opened, below the process's root or else ours. */
static int opener_open_debug(const struct msg_wanted *q)
{
	char root[32];
	int fd = -ENOENT;

	snprintf(root, sizeof(root), "/proc/%u/root", q->process.tgid);
	for (const char *path = q->paths; fd < 0 && *path; path += strlen(path) + 1) {
		if (!opener_is_debug_name(path))
			continue;
		fd = opener_open_below(root, path, &q->layer);
		if (fd < 0)
			fd = opener_open_below("/", path, &q->layer);
	}
	return fd;
}

/* Does this process keep keys, or is it one of ours, by the beginning of its name? */
static bool opener_denies_mem(uint32_t tgid)
{
	static const char *const names[] = { MEM_DENIED };
	char link[32], exe[MSG_PATH_MAX + 1] = "", *base;

	snprintf(link, sizeof(link), "/proc/%u/exe", tgid);
	/* that of nobody stays empty */
	(void)!readlink(link, exe, sizeof(exe) - 1);
	base = strrchr(exe, '/');
	if (!base)
		return true;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (!strncmp(base + 1, names[i], strlen(names[i])))
			return true;
	}
	return false;
}

/* Its name is checked before and after: it may become another program meanwhile. */
static int opener_open_mem(const struct msg_wanted *q)
{
	char name[32];
	int fd;

	if (opener_denies_mem(q->process.tgid))
		return -EPERM;
	snprintf(name, sizeof(name), "/proc/%u/mem", q->process.tgid);
	fd = open(name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (opener_denies_mem(q->process.tgid) || !opener_owned(q->process.tgid, fd)) {
		close(fd);
		return -EPERM;
	}
	return fd;
}

/*
 * Where a JIT compiler writes the names of its code.  The root of a process that the
 * host's root runs may have been made by others: so only a file of this very name that
 * belongs to the process's user, and nothing mounted or linked.
 */
static int opener_open_perf_map(const struct msg_wanted *q)
{
	struct open_how how = { .flags = O_PATH | O_CLOEXEC,
				.resolve = RESOLVE_NO_XDEV | RESOLVE_NO_SYMLINKS };
	char name[48];
	int dir, fd;

	snprintf(name, sizeof(name), "/proc/%u/root/tmp", q->process.tgid);
	dir = open(name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	snprintf(name, sizeof(name), "perf-%u.map", q->ns_tgid);
	fd = opener_reopen(syscall(SYS_openat2, dir, name, &how, sizeof(how)), NULL, q->process.tgid);
	close(dir);
	return fd;
}

/* A descriptor, or -errno; of a mapping its path, too: *path_len is less than 0 if it is
 * longer than the kernel tells.  What is not for the opener is an offence, which ends it. */
static int opener_open(const struct msg *m, char *path, ssize_t *path_len)
{
	const void *payload = m->buf;

	switch (m->hdr.type) {
	case MSG_OPEN:
		return opener_open_mapping(payload, path, path_len);
	case MSG_DEBUG_WANTED:
		return opener_open_debug(payload);
	case MSG_MEM_WANTED:
		return opener_open_mem(payload);
	case MSG_PERF_MAP_WANTED:
		return opener_open_perf_map(payload);
	default:
		_exit(1);
	}
}

static int opener_answer(struct conn *c, const struct msg *m)
{
	struct msg_open_failed failed;
	char path[MSG_PATH_MAX];
	ssize_t len = 0;
	int fd = opener_open(m, path, &len), r;

	if (fd < 0) {
		failed.error = -fd;
		return conn_send(c, MSG_OPEN_FAILED, m->hdr.id, &failed, sizeof(failed), NULL, 0, NULL, 0);
	}
	r = conn_send(c, MSG_OPENED, m->hdr.id, path, len < 0 ? 0 : len, NULL, 0, &fd, 1);
	close(fd);
	return r;
}

static _Noreturn void opener_main(struct opener_stats *shared)
{
	struct pollfd p = { .fd = FD_REQUESTS, .events = POLLIN };
	uint64_t before_ns = shared->cpu_ns;
	struct rusage used;
	struct conn c;
	struct msg m;
	int r = 0;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	shared->pid = getpid();
	conn_init(&c, FD_REQUESTS, PEER_LOADERD, CONN_READY);
	while (!r) {
		poll(&p, 1, -1);
		r = conn_recv(&c, &m);
		if (!r) {
			r = opener_answer(&c, &m);
			msg_close_fds(&m);
		}
		if (r == -EAGAIN)
			r = 0;
		getrusage(RUSAGE_SELF, &used);
		shared->rss_bytes = (uint64_t)used.ru_maxrss * 1024;
		shared->cpu_ns = before_ns + clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	}
	_exit(1);
}

/* --- the respawner ---------------------------------------------------------- */

/* Only so that ppoll() returns when an opener ends, or has ended before. */
static void opener_on_child(__attribute__((unused)) int sig)
{
}

/*
 * Main writes a byte to have the opener killed, and closes the socket to end both.  An
 * opener that hangs in a file system outlives SIGKILL until that answers: it is left
 * alone, and another one takes its place.
 */
static _Noreturn void opener_respawn(struct opener_stats *shared)
{
	struct pollfd p = { .fd = FD_CONTROL, .events = POLLIN };
	static const sigset_t none;
	sigset_t child = { 0 };
	uint32_t stuck = 0;
	pid_t opener = 0, ended;
	char byte;

	sigaddset(&child, SIGCHLD);
	sigprocmask(SIG_BLOCK, &child, NULL);
	signal(SIGCHLD, opener_on_child);
	for (;;) {
		if (!opener && stuck < STUCK_MAX) {
			opener = fork();
			if (opener == 0)
				opener_main(shared);
			if (opener < 0)
				_exit(1);
		}
		shared->stuck = stuck;
		if (ppoll(&p, 1, NULL, &none) > 0) {
			if (read(FD_CONTROL, &byte, 1) <= 0)
				_exit(0);
			if (opener) {
				kill(opener, SIGKILL);
				opener = 0;
				stuck++;
			}
		}
		for (ended = waitpid(-1, NULL, WNOHANG); ended > 0; ended = waitpid(-1, NULL, WNOHANG)) {
			if (ended == opener)
				opener = 0;
			else
				stuck--;
		}
	}
}

/* All other descriptors are closed. */
static void opener_keep_fds(int requests, int control)
{
	if (dup2(requests, FD_REQUESTS) < 0 || dup2(control, FD_CONTROL) < 0 ||
	    syscall(SYS_close_range, 3, ~0U, 0) < 0)
		sandbox_failed("descriptors");
}

/* --- main's side ------------------------------------------------------------ */

int opener_start(struct opener *o, uid_t uid, gid_t gid)
{
	int req[2], ctl[2];

	o->shared = mmap(NULL, sizeof(*o->shared), PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (o->shared == MAP_FAILED ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, req) < 0 ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ctl) < 0)
		return -errno;
	o->respawner = fork();
	if (o->respawner < 0)
		return -errno;
	if (o->respawner == 0) {
		prctl(PR_SET_NAME, "trifold-opener");
		opener_keep_fds(req[1], ctl[1]);
		confine_opener(uid, gid);
		opener_respawn(o->shared);
	}
	close(req[1]);
	close(ctl[1]);
	o->control = ctl[0];
	conn_init(&o->conn, req[0], PEER_OPENER, CONN_READY);
	return 0;
}

void opener_kill(struct opener *o)
{
	if (write(o->control, "k", 1) != 1)
		log_err("the opener's parent has ended");
}

void opener_stop(struct opener *o)
{
	close(o->control);
	waitpid(o->respawner, NULL, 0);
	conn_close(&o->conn);
}
