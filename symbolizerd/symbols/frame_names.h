/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names - names of frames of a process's runtime, or of places in a file
 *
 * Built by a worker for the frames that the main process asked for, passed as a
 * sealed memfd, validated there.
 *
 * After the header there are n struct frame_name, then string_bytes of NUL-terminated
 * strings, the first of which is empty.  A frame has several frame_names if calls
 * are inlined there: the innermost is the first.
 */
#ifndef SYMBOLIZERD_SYMBOLS_FRAME_NAMES_H
#define SYMBOLIZERD_SYMBOLS_FRAME_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "symbolizerd/symbols/index.h"

#define FRAME_NAMES_MAGIC	0x6e744674u	/* "tFtn", little endian */
#define FRAME_NAMES_MAX		4096		/* of a visit */
#define FRAME_NAMES_STRINGS	(512u << 10)	/* bytes, with their NULs */
#define FRAME_NAMES_BYTES_MAX						\
	(sizeof(struct frame_names_hdr) + FRAME_NAMES_STRINGS +		\
	 FRAME_NAMES_MAX * sizeof(struct frame_name))

struct frame_names_hdr {
	uint32_t magic;
	uint32_t n;
	uint32_t string_bytes;
	uint32_t left;		/* how many of the last frames, not all, were skipped for
				 * lack of time or room */
};

struct frame_name {
	uint32_t frame;		/* number in the request: 0 first, then the same or
				 * one more */
	uint32_t name, file;	/* offsets into the strings; "": unknown */
	uint32_t system;	/* likewise, its name in the file; "": the same as .name */
	uint32_t first_line;	/* of the function; 0: unknown */
	uint32_t line;		/* 0: unknown */
};

struct frame_names {
	const struct frame_name *v;
	const char *strings;
	uint32_t n, left;
};

/* Validate len bytes (aligned to 8) as names of n_frames frames, each of which
 * has 1 to SYMBOL_DEPTH_MAX.  0, or -EPROTO and *ret untouched. */
int frame_names_open(const void *data, size_t len, uint32_t n_frames,
		     struct frame_names *ret);

/* The place in v[i]; its strings live as long as the data. */
struct symbol_place frame_names_place(const struct frame_names *x, uint32_t i);

/* --- building: a frame that is left out has an empty name ------------------------ */

#define FRAME_NAMES_LAST	1024	/* recent strings, to be shared */

struct frame_names_build {
	struct frame_names_hdr hdr;
	uint32_t n_frames;	/* at most FRAME_NAMES_MAX */
	uint32_t named;		/* frames that have a name so far */
	uint32_t depth;		/* frame_names of the last one */
	uint32_t last[FRAME_NAMES_LAST];	/* offset of a string, by its hash; 0: none */
	struct frame_name v[FRAME_NAMES_MAX];
	char strings[FRAME_NAMES_STRINGS];
};

void frame_names_begin(struct frame_names_build *b, uint32_t n_frames);

/*
 * Add a name of this frame; its strings are copied.  Earlier frames and calls that are
 * inlined into this one go first.  False, and nothing is added: the order is wrong,
 * the frame has SYMBOL_DEPTH_MAX, or there is no room.
 */
bool frame_names_add(struct frame_names_build *b, uint32_t frame,
		     const struct symbol_place *place);

/* Frames from this one on, which is not the first, were skipped. */
static inline void frame_names_stop(struct frame_names_build *b, uint32_t frame)
{
	b->hdr.left = b->n_frames - frame;
}

/* The result in three parts, all inside of *b, with empty names for frames that were
 * left out. */
void frame_names_end(struct frame_names_build *b, struct iovec parts[3]);

#endif /* SYMBOLIZERD_SYMBOLS_FRAME_NAMES_H */
