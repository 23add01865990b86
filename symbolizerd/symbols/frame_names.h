/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_names - names of frames of a process's runtime, or of places in a file
 *
 * Built by a worker (frame_names_build.h) for the frames that the main process
 * asked for, handed over as a sealed memfd, validated there.
 *
 * The header is followed by n struct frame_name and string_bytes of
 * NUL-terminated strings, of which the first is empty.  A frame has several
 * frame_names if functions are inlined into each other there: the innermost is
 * the first.
 */
#ifndef SYMBOLIZERD_SYMBOLS_FRAME_NAMES_H
#define SYMBOLIZERD_SYMBOLS_FRAME_NAMES_H

#include <stddef.h>
#include <stdint.h>

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
	uint32_t left;		/* so many of the last frames were not looked at, for
				 * want of time or room; not all */
};

struct frame_name {
	uint32_t frame;		/* which of those asked for; begins with 0, then
				 * the same or one more */
	uint32_t name, file;	/* offsets into the strings; "": unknown */
	uint32_t system;	/* likewise, what the file calls it; "": as .name */
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

/* What v[i] says; its strings live as long as the data. */
struct symbol_place frame_names_place(const struct frame_names *x, uint32_t i);

#endif /* SYMBOLIZERD_SYMBOLS_FRAME_NAMES_H */
