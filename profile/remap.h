/* SPDX-License-Identifier: Apache-2.0 */
/*
 * remap - copies the needed elements of a batch into a builder
 *
 * batch_merge() of ipc/batch.h copies all; this copies what the given samples refer to,
 * and can leave out frames and details.
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
	bool leaf;			/* keep only the innermost of these frames of
					 * a stack */
	bool coarse;			/* keep addresses and lines only of frames
					 * without a name */
	uint32_t *strings, *exes, *functions, *frames, *stacks, *attrs,
		*resources;		/* number in the builder + 1; 0: not yet */
};

#define REMAP_ALL	0xffffffffu
#define REMAP_NONE	0xffffffffu

/* The caller sets .to, .from, .kinds, .leaf and .coarse before.  0 or -ENOMEM;
 * remap_fini() in either case. */
int remap_init(struct remap *r);
void remap_fini(struct remap *r);

/* Return the number in the builder; REMAP_NONE for a stack of which no frame is kept. */
uint32_t remap_stack(struct remap *r, uint32_t stack);
uint32_t remap_attr(struct remap *r, uint32_t attr);
uint32_t remap_resource(struct remap *r, uint32_t resource);
/* The same, with the process's name as exe_name too, so that profile_process_names()
 * finds it without threads. */
uint32_t remap_named(struct remap *r, uint32_t resource);

#endif /* PROFILE_REMAP_H */
