/* SPDX-License-Identifier: Apache-2.0 */
/* mute_fuse - FUSE file systems that do not answer */
#ifndef TESTS_HOSTILE_MUTE_FUSE_H
#define TESTS_HOSTILE_MUTE_FUSE_H

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

/* A FUSE server: says hello, takes one more request, never answers it. */
static int mute_mount(const char *at)
{
	struct {
		struct fuse_out_header h;
		struct fuse_init_out init;
	} hello = { .h.len = sizeof(hello), .init.major = FUSE_KERNEL_VERSION,
		    .init.minor = FUSE_KERNEL_MINOR_VERSION,
		    .init.max_write = 4096 };
	static char buf[FUSE_MIN_READ_BUFFER * 2];
	int fd = open("/dev/fuse", O_RDWR);
	char options[96];

	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other", fd);
	if (fd < 0 || mount("mute", at, "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		return -1;
	if (read(fd, buf, sizeof(buf)) < 0)
		return -1;
	hello.h.unique = ((struct fuse_in_header *)buf)->unique;
	return write(fd, &hello, sizeof(hello)) < 0 ? -1 : fd;
}

/* Answers what an overlay asks for when it is mounted, and no lookup: of that it tells. */
static _Noreturn void mute_layer(int fuse, int tell)
{
	static char buf[FUSE_MIN_READ_BUFFER * 2];
	const struct fuse_in_header *q = (const void *)buf;
	struct {
		struct fuse_out_header h;
		union {
			struct fuse_attr_out attr;
			struct fuse_statfs_out statfs;
		} u;
	} r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (read(fuse, buf, sizeof(buf)) > 0) {
		memset(&r, 0, sizeof(r));
		r.h = (struct fuse_out_header){ sizeof(r.h), -ENOSYS, q->unique };
		if (q->opcode == FUSE_LOOKUP) {
			(void)!write(tell, "l", 1);
			continue;
		}
		if (q->opcode == FUSE_GETATTR) {
			r.u.attr.attr = (struct fuse_attr){ .ino = 1, .mode = S_IFDIR | 0755,
							    .nlink = 2 };
			r.h.len += sizeof(r.u.attr);
			r.h.error = 0;
		} else if (q->opcode == FUSE_STATFS) {
			r.u.statfs.st = (struct fuse_kstatfs){ .bsize = 4096, .namelen = 255 };
			r.h.len += sizeof(r.u.statfs);
			r.h.error = 0;
		}
		if (q->opcode != FUSE_FORGET)
			(void)!write(fuse, &r, r.h.len);
	}
	_exit(0);
}

#endif /* TESTS_HOSTILE_MUTE_FUSE_H */
