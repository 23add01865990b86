/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile - a file that appears complete or not at all
 *
 * Written in the same directory as FILE.PID.tmp, made with O_EXCL and mode 0600
 * (a profile shows what all users of the machine ran), then renamed.  An existing
 * regular file is replaced; anything else (a link, a device) is refused, so nothing
 * is ever written through it.
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

/* Rename it; 0, or -errno after a line in the log.  In any case, and by
 * outfile_abandon(), all is closed and the temporary file does not exist any more. */
int outfile_commit(struct outfile *f);
void outfile_abandon(struct outfile *f);

#endif /* PROFILE_OUTFILE_H */
