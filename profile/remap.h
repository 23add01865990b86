/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remap - elements of one batch, as they are needed, into a builder
 *
 * batch_merge() of ipc/batch.h takes all; this takes what samples lead to, and
 * can leave things out on the way.
 */
#ifndef PROFILE_REMAP_H
#define PROFILE_REMAP_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/batch.h"

struct remap {
	struct batch_builder *to;
	const struct batch *from;
	uint32_t kinds;			/* frames to keep: 1 << kind */
	bool leaf;			/* of a stack only the innermost frame
					 * that is kept */
	bool coarse;			/* addresses and lines only where there
					 * is no name */
	uint32_t *strings, *exes, *functions, *frames, *stacks, *attrs,
		*resources;		/* number there + 1; 0: not yet */
};

#define REMAP_ALL	0xffffffffu
#define REMAP_NONE	0xffffffffu

/* .to, .from, .kinds, .leaf and .coarse are the caller's to set before.  0 or
 * -ENOMEM; remap_fini() either way. */
int remap_init(struct remap *r);
void remap_fini(struct remap *r);

/* Numbers in the builder; of a stack REMAP_NONE where no frame is kept. */
uint32_t remap_stack(struct remap *r, uint32_t stack);
uint32_t remap_attr(struct remap *r, uint32_t attr);
uint32_t remap_resource(struct remap *r, uint32_t resource);
/* The same, with the process's name as exe_name too: what is called by
 * profile_process_names() without threads is called the same then. */
uint32_t remap_named(struct remap *r, uint32_t resource);

#endif /* PROFILE_REMAP_H */
