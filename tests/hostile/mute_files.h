/* SPDX-License-Identifier: Apache-2.0 */
/* mute_files - a FUSE file system with two files, "code" and "held", which are never read */
#ifndef TESTS_HOSTILE_MUTE_FILES_H
#define TESTS_HOSTILE_MUTE_FILES_H

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define MUTE_SIZE	(1u << 20)
#define MUTE_CODE	2
#define MUTE_HELD	3

struct mute_answer {
	struct fuse_out_header h;
	union {
		struct fuse_init_out init;
		struct fuse_entry_out entry;
		struct fuse_attr_out attr;
		struct fuse_open_out open;
	} u;
};

static struct fuse_attr mute_attr(uint64_t id)
{
	return (struct fuse_attr){
		.ino = id, .size = MUTE_SIZE, .nlink = 1, .blksize = 4096,
		.mode = id == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755,
	};
}

/* Bytes of the answer after its header; -1: there is none, ever. */
static int mute_answer_to(const struct fuse_in_header *in, struct mute_answer *a)
{
	uint64_t id;

	switch (in->opcode) {
	case FUSE_INIT:
		a->u.init = (struct fuse_init_out){
			.major = FUSE_KERNEL_VERSION,
			.minor = FUSE_KERNEL_MINOR_VERSION, .max_write = 4096,
		};
		return sizeof(a->u.init);
	case FUSE_LOOKUP:
		/* of debug files nothing is told */
		if (!strcmp((const char *)(in + 1), "code"))
			id = MUTE_CODE;
		else if (!strcmp((const char *)(in + 1), "held"))
			id = MUTE_HELD;
		else
			return -1;
		a->u.entry = (struct fuse_entry_out){
			.nodeid = id, .entry_valid = 3600,
			.attr_valid = 3600, .attr = mute_attr(id),
		};
		return sizeof(a->u.entry);
	case FUSE_GETATTR:
		a->u.attr = (struct fuse_attr_out){
			.attr_valid = 3600, .attr = mute_attr(in->nodeid),
		};
		return sizeof(a->u.attr);
	case FUSE_OPEN:
		a->u.open = (struct fuse_open_out){ .fh = 1 };
		return sizeof(a->u.open);
	case FUSE_FLUSH:	/* or we hang ourselves in close(2) */
		a->h.error = -ENOSYS;
		return 0;
	}
	return -1;
}

static inline void mute_serve(int fd)
{
	static char buf[FUSE_MIN_READ_BUFFER * 16];

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (;;) {
		const struct fuse_in_header *in = (const void *)buf;
		struct mute_answer a = { 0 };
		int n;

		if (read(fd, buf, sizeof(buf)) < 0) {
			if (errno == EINTR || errno == ENOENT)
				continue;
			_exit(1);
		}
		n = mute_answer_to(in, &a);
		if (n < 0)
			continue;
		a.h.len = (uint32_t)(sizeof(a.h) + (size_t)n);
		a.h.unique = in->unique;
		if (write(fd, &a, a.h.len) < 0 && errno != ENOENT)
			_exit(1);
	}
}

/* Mount it by a device node of /dev/fuse.  Its server's pid, which is our child; -1. */
static pid_t mute_files(const char *device, const char *at)
{
	pid_t pid;
	int fd = open(device, O_RDWR | O_CLOEXEC);
	char options[96];

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (fd < 0 || mount("mute", at, "fuse", MS_NOSUID | MS_NODEV, options))
		return -1;
	pid = fork();
	if (pid == 0)
		mute_serve(fd);
	close(fd);
	return pid;
}

#endif /* TESTS_HOSTILE_MUTE_FILES_H */
