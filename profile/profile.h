/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile - what a finished batch means to people, and the formats of a file
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdint.h>

#include "common/buffer.h"
#include "ipc/batch.h"

enum profile_format {
	FORMAT_NONE = 0,
	FORMAT_HTML,
	FORMAT_FOLDED,
	FORMAT_PPROF,
	FORMAT_OTLP,
	FORMAT_SPEEDSCOPE,
	FORMAT_FIREFOX,
	FORMAT__MAX
};

/* What --format calls it; NULL for FORMAT_NONE and from FORMAT__MAX on. */
const char *profile_format_name(uint32_t format);
/* By that name, or FORMAT_NONE. */
enum profile_format profile_format_named(const char *name);
/* By the ending of a file's name: .html .htm, .folded .txt, .pb.gz .pprof,
 * .otlp, .speedscope.json, .firefox.json; or FORMAT_NONE. */
enum profile_format profile_format_of(const char *path);

/* How samples fared while this was recorded, by the supervisor's last word;
 * plain data, sent from one `trifold` to another. */
struct profile_account {
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME */
	uint64_t taken, delivered, lost;
	int64_t difference;
	uint8_t known;			/* 0: nobody gave an account */
	char reasons[255];		/* "ring_full 3, no_hub 1"; NUL-padded */
};

struct profile_info {
	char host[65], kernel[65], machine[65];	/* as of uname(2) */
	char command[256];		/* recorded command, or "" */
	struct profile_account account;
};

/* A line of a flame graph has the kind of its frame (enum batch_frame_kind), or: */
#define KIND_PROCESS	BATCH_FRAME_NONE
#define KIND_MARKER	BATCH_FRAME_CUT	/* says that frames are missing, and why */

/*
 * Append the name of a frame: its function; else "file+0xoffset"; for memory
 * of no file, whose addresses mean nothing elsewhere, "[anonymous]"; for a cut
 * "[frames missing]".  Returns its kind.
 */
uint32_t profile_frame_name(const struct batch *b, uint32_t frame,
			    struct buffer *out);

/* Append the last part of the path of a frame's file; kernel: "kernel". */
void profile_frame_module(const struct batch *b, uint32_t frame,
			  struct buffer *out);

/*
 * A name for each resource, as indices of strings: what the thread that leads
 * the process calls itself; else the name of its executable; else of any
 * thread; 0 where nothing is known.  malloc'ed, or NULL.
 */
uint32_t *profile_process_names(const struct batch *b);

/* "stack ends: no_table", or NULL where nothing is missing: the stack is
 * complete, has no user part, or has a frame that says so. */
const char *profile_stop_marker(uint32_t stop);

/* Append the file's bytes.  Returns 0 or -ENOMEM, -EIO (compression). */
int profile_encode(enum profile_format format, const struct batch *b,
		   const struct profile_info *info, struct buffer *out);

#endif /* PROFILE_PROFILE_H */
