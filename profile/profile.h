/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile - names of a batch as they are shown, and its account
 */
#ifndef PROFILE_PROFILE_H
#define PROFILE_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "ipc/batch.h"

/* The account of the samples of a recording, of the last status; plain data that one
 * process of `trifold` sends to another. */
struct profile_account {
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME */
	uint64_t taken, delivered, lost, own;	/* own: left out */
	int64_t difference;
	uint64_t covered_ns;		/* CPU time that was sampled ... */
	uint64_t missed_ns;		/* ... and that was not: ipc/counters.h */
	uint8_t known;			/* 0: there is no account */
	char reasons[255];		/* "ring_full 3, no_hub 1"; NUL-padded */
};

struct profile_info {
	char host[65], kernel[65], machine[65];	/* as of uname(2) */
	char command[256];		/* recorded command, or "" */
	uint32_t cpus;			/* of the host; 0: not known, or only a
					 * part of the system was recorded */
	struct profile_account account;
	bool lines, inlined;		/* of folded stacks (formats/folded.h) */
	bool nameless;			/* of otlp and pprof: code without a name has no
					 * function where profile_can_be_looked_up() */
};

/* A box of a flame graph has the kind of its frame (enum batch_frame_kind), or: */
#define KIND_PROCESS	BATCH_FRAME_NONE
#define KIND_MARKER	BATCH_FRAME_CUT	/* says that frames are missing, and why */

/* Placeholders of unknown names; those of kinds of frames are in ipc/frame_kinds.def,
 * docs/SUPPORT.md explains all. */
#define PROFILE_UNKNOWN_FILE	"[unknown file]"
#define PROFILE_UNKNOWN_PROCESS	"[unknown process]"
#define PROFILE_UNKNOWN_THREAD	"[unknown thread]"
#define PROFILE_NO_SYMBOL	"+0x..."	/* after a file's name: all its nameless code */
#define PROFILE_KERNEL		"[kernel]"	/* the kernel's file */

/* Does a placeholder stand for the frame? */
static inline bool profile_is_nameless(const struct batch_frame *f)
{
	return !f->function || frame_kind_class(f->kind) == FRAMES_MARK;
}

/* Does nobody know what the frame's function is called? */
static inline bool profile_is_unnamed(const struct batch *b, const struct batch_frame *f)
{
	return !f->function || b->functions[f->function].unnamed;
}

/* Can a tool with symbols find the frame's function?  It needs the file's ID (has_id:
 * what is written has it) and the address, which coarse frames (remap.h) have no more. */
static inline bool profile_can_be_looked_up(const struct batch_frame *f, bool has_id)
{
	return has_id && f->address && frame_kind_class(f->kind) == FRAMES_FILE;
}

/*
 * Append the name of a frame: its function; else a placeholder, which all formats have
 * as a function, for a tool that sees no function would give its samples to the caller.
 * It is that of the frame's kind; for code of a file one for all of the file,
 * "libfoo.so+0x...", since a function for each address would have one sample;
 * PROFILE_UNKNOWN_FILE without a file.  Returns the frame's kind.
 */
uint32_t profile_frame_name(const struct batch *b, uint32_t frame,
			    struct buffer *out);

/* Append the last part of the path of a frame's file; kernel: "kernel". */
void profile_frame_module(const struct batch *b, uint32_t frame,
			  struct buffer *out);

/* Special properties of a frame, one bit each. */
enum profile_mark {
	PROFILE_INLINED = 1,		/* the compiler put the call's code into
					 * its caller's */
	PROFILE_MARKS = 1,		/* all of them */
};

uint32_t profile_frame_marks(const struct batch_frame *f);

/* The text after a name: " (inlined)"; "": none. */
const char *profile_marks_text(uint32_t marks);

/* Append " (file.c:12)", the line of a frame, if it is known; the file is the last
 * part of its path. */
void profile_frame_line(const struct batch *b, uint32_t frame,
			struct buffer *out);

/* The order of two numbers, for qsort(3). */
static inline int profile_order(uint64_t a, uint64_t b)
{
	if (a < b)
		return -1;
	return a > b;
}

#define PROFILE_COMM_MAX	15	/* TASK_COMM_LEN without the NUL */

/* Is a thread's name the beginning of its executable's, cut by the kernel? */
static inline bool profile_name_is_cut(const char *name, size_t len, const char *exe,
				       size_t exe_len)
{
	return len == PROFILE_COMM_MAX && exe_len > len && !memcmp(name, exe, len);
}

/*
 * A name for each resource, as indices of strings: that of the process, which is its main
 * thread's; else of its executable; 0 if none is known.  A name that is the beginning
 * of the executable's, cut after PROFILE_COMM_MAX bytes as the kernel does, is replaced
 * by the executable's.  malloc'ed, or NULL.
 */
uint32_t *profile_process_names(const struct batch *b);

/* "stack ends: no_table", or NULL: the stack is complete, has no user part, or has a
 * frame that tells why it ends. */
const char *profile_stop_marker(uint32_t stop);

#endif /* PROFILE_PROFILE_H */
