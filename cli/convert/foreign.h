/* SPDX-License-Identifier: Apache-2.0 */
/*
 * foreign - recordings whose author is unknown
 *
 * The command opens them, and whatever it writes.  A child that holds nothing else, cannot
 * open or connect, and is not root, reads and parses them.
 */
#ifndef CLI_CONVERT_FOREIGN_H
#define CLI_CONVERT_FOREIGN_H

#include <stdbool.h>

struct format;

struct foreign {
	char name[256];			/* for people, quoted */
	const struct format *format;	/* as its ending says; NULL: its bytes will tell */
	int fd;
};

/* "-" and "/dev/stdin". */
bool foreign_is_standard(const char *path);

/* 0, or -errno after a line in the log.  A path that is a descriptor of ours
 * (/dev/fd/63, of a shell's <(...)) is that one: another user's pipe is not opened again. */
int foreign_open(struct foreign *f, const char *path);
void foreign_close(struct foreign *f);

/*
 * Call work(arg) in the child, with standard input, output and error, and keep[0..n-1]
 * (at most FOREIGN_KEPT_MAX; -1: none), and wait for it.  work() returns an exit status
 * below 256.  Returns its status as waitpid(2) has it, or -errno after a line in the log;
 * a death by a signal but SIGPIPE is said.
 */
#define FOREIGN_KEPT_MAX	4
int foreign_run(int (*work)(void *arg), void *arg, const int *keep, int n);

#endif /* CLI_CONVERT_FOREIGN_H */
