/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outfile - a file that appears complete or not at all
 *
 * Written in the same directory as FILE.PID.tmp, made with O_EXCL and mode 0600
 * (a profile shows what all users of the machine ran), then renamed.  An existing
 * regular file is replaced; anything else (a link, a device) is refused, so nothing
 * is ever written through it.
 *
 * "-" and "/dev/stdout" are standard output: what has been written there stays.
 */
#ifndef PROFILE_OUTFILE_H
#define PROFILE_OUTFILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct outfile {
	int dir;		/* -1: standard output */
	int fd;			/* for writing */
	char name[NAME_MAX + 1];
	char tmp[NAME_MAX + 1];
};

/* Does this path mean standard output? */
bool outfile_is_standard(const char *path);

/* The path for people: quoted, or "standard output".  Returns buf. */
const char *outfile_shown(const char *path, char *buf, size_t size);

/* 0, or -errno after a line in the log.  text: people can read it, so that it may go to a
 * terminal. */
int outfile_open(struct outfile *f, const char *path, bool text);

/* Rename it; 0, or -errno after a line in the log.  In any case, and by
 * outfile_abandon(), all is closed and the temporary file does not exist any more. */
int outfile_commit(struct outfile *f);
void outfile_abandon(struct outfile *f);

#endif /* PROFILE_OUTFILE_H */
