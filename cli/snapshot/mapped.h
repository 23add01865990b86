/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mapped - what a process has mapped, and the files of its code
 */
#ifndef CLI_SNAPSHOT_MAPPED_H
#define CLI_SNAPSHOT_MAPPED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "common/buffer.h"
#include "common/vector.h"

struct mapped_file {
	uint64_t dev, ino;	/* as /proc/PID/maps has them; 0: the vDSO */
	char name[64];		/* the last part of its path, printable */
	int fd;			/* -1: it could not be opened, or has no code */
};

/* Files keep their numbers from one mapped_read() to the next. */
struct mapped {
	pid_t pid;
	VECTOR(struct mapped_file) files;
};

/* Read /proc/PID/maps, and open the files of code that are new.  0 or -errno. */
int mapped_open(struct mapped *m, pid_t pid);

/* Append all but the threads (docs/SNAPSHOT.md): files that were not there at
 * mapped_open() get numbers after the others, and no descriptor.  0 or -errno. */
int mapped_describe(struct mapped *m, struct buffer *to);

/* Files of a core by their paths, each terminated by NUL, below the directory root
 * (NULL: /).  0 or -errno. */
int mapped_open_paths(struct mapped *m, const char *paths, size_t len, const char *root);

void mapped_close(struct mapped *m);

#endif /* CLI_SNAPSHOT_MAPPED_H */
