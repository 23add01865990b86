/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names_build - makes what frame_names.h describes
 *
 * A runtime adds what it knows; a frame that it leaves out has an empty name.
 */
#ifndef SYMBOLIZERD_SYMBOLS_FRAME_NAMES_BUILD_H
#define SYMBOLIZERD_SYMBOLS_FRAME_NAMES_BUILD_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>

#include "symbolizerd/symbols/frame_names.h"

#define FRAME_NAMES_LAST	1024	/* strings that are not written again */

struct frame_names_build {
	struct frame_names_hdr hdr;
	uint32_t n_frames;	/* at most FRAME_NAMES_MAX */
	uint32_t named;		/* frames below have a name */
	uint32_t depth;		/* frame_names of the last of them */
	uint32_t last[FRAME_NAMES_LAST];	/* offset of a string, by its hash; 0: none */
	struct frame_name v[FRAME_NAMES_MAX];
	char strings[FRAME_NAMES_STRINGS];
};

void frame_names_begin(struct frame_names_build *b, uint32_t n_frames);

/*
 * A name of this frame, its strings copied: after those of the frames before
 * it, and after what is inlined into it.  False, and nothing is added: the order
 * is another, the frame has SYMBOL_DEPTH_MAX, or there is no room.
 */
bool frame_names_add(struct frame_names_build *b, uint32_t frame,
		     const struct symbol_place *place);

/* It ends before this frame, which is not the first: from there on they were not
 * looked at. */
static inline void frame_names_stop(struct frame_names_build *b, uint32_t frame)
{
	b->hdr.left = b->n_frames - frame;
}

/* The whole in three parts, all inside of *b, with empty names for what was left
 * out. */
void frame_names_end(struct frame_names_build *b, struct iovec parts[3]);

#endif /* SYMBOLIZERD_SYMBOLS_FRAME_NAMES_BUILD_H */
