/* SPDX-License-Identifier: Apache-2.0 */
/*
 * taking - walk a process that stands still, and keep what that needed
 */
#ifndef SYMBOLIZERD_SNAPSHOT_TAKING_H
#define SYMBOLIZERD_SNAPSHOT_TAKING_H

#include <stdio.h>

#include "symbolizerd/snapshot/core.h"
#include "symbolizerd/snapshot/snapshot.h"
#include "symbolizerd/snapshot/walk.h"

/* What a worker would say of a file. */
struct taking_built {
	void *table;		/* owned; NULL: it has none */
	char build_id[41];
	uint32_t runtime;
	bool done;
};

struct taken_process {
	int memory;		/* /proc/PID/mem */
	const struct core *core;	/* instead, if not NULL */
	int files;		/* descriptor of file 0; the others follow */
	uint32_t n_files;
	struct snapshot s;	/* of the last taking_walk() */
	struct walk walk;
	struct taking_built built[SNAPSHOT_FILES_MAX];	/* by file; kept */
};

/* Tables are kept for the next time.  said: what the process has, text.h, whose
 * frames count for nothing.  0 or -errno; -EPROTO: what was said is wrong. */
int taking_walk(struct taken_process *c, const void *said, size_t len);

/* The same with what is in c->s already. */
int taking_walk_again(struct taken_process *c);

/* Give native frames the names of their functions. */
void taking_names(struct taken_process *c);

/* A summary for the user to decide: kinds of memory in it, and how much of each. */
void taking_summary(const struct taken_process *c, FILE *to);

void taking_fini(struct taken_process *c);

#endif /* SYMBOLIZERD_SNAPSHOT_TAKING_H */
