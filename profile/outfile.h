/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile - a file that appears complete or not at all
 *
 * Written beside its place as FILE.PID.tmp, made with O_EXCL and mode 0600
 * (a profile tells what everybody on the machine ran), then renamed.  What is
 * there already is replaced if it is a regular file; anything else (a link, a
 * device) is refused, so nothing is ever written through it.
 */
#ifndef PROFILE_OUTFILE_H
#define PROFILE_OUTFILE_H

#include <limits.h>

struct outfile {
	int dir;
	int fd;			/* for writing */
	char name[NAME_MAX + 1];
	char tmp[NAME_MAX + 1];
};

/* 0, or -errno after a line in the log. */
int outfile_open(struct outfile *f, const char *path);

/* Put it in place; 0, or -errno after a line in the log.  Either way, or by
 * outfile_abandon(), everything is closed and the temporary name is gone. */
int outfile_commit(struct outfile *f);
void outfile_abandon(struct outfile *f);

#endif /* PROFILE_OUTFILE_H */
