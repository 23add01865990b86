/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile - names of a batch as they are shown, and its account
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdint.h>

#include "common/buffer.h"
#include "ipc/batch.h"

/* The account of the samples during the recording, by the supervisor's last
 * status; plain data, sent from one `trifold` to another. */
struct profile_account {
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME */
	uint64_t taken, delivered, lost;
	int64_t difference;
	uint8_t known;			/* 0: there is no account */
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

#endif /* PROFILE_PROFILE_H */
