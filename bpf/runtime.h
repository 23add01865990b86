/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* runtime - the runtimes of languages that need an unwinder of their own (runtimes.def) */
#ifndef BPF_RUNTIME_H
#define BPF_RUNTIME_H

/* The runtime that a file is or contains: in file_entry.runtime, messages, batches. */
enum runtime {
	RUNTIME_NONE = 0,
#define RUNTIME(number, id, ...)	RUNTIME_##id = number,
#include "runtimes.def"
	RUNTIME__MAX
};

enum runtime_flags {
	RUNTIME_WALKS = 1,	/* the sampler has code for its frames */
	RUNTIME_MEMORY = 2,	/* it has code in memory of no file: NAME_owns() */
	RUNTIME_VISITED = 4,	/* a visit to the process may read what names of managed frames
				 * lack; class and descriptor belong to them */
	RUNTIME_BESIDE = 16,	/* it is asked of memory of no file that comes behind frames of
				 * its own file: PART_JIT (parts.h) */
	RUNTIME_PASSES = 32,	/* it wants to know where a loop may have been passed over:
				 * PART_PASSED */
	RUNTIME_ENDS = 64,	/* it may have frames where the native stack ends: PART_ENDS */
	RUNTIME_LINE_IS_PLACE = 8,	/* the place in a managed word is the line itself */
};

#define RUNTIME(...)	+ 1
enum {
	RUNTIME__ROWS = 0
#include "runtimes.def"
};
_Static_assert(RUNTIME__MAX <= 64, "runtime: 6 bits of a managed word (frame.h)");
_Static_assert(RUNTIME__MAX == RUNTIME__ROWS + 1, "runtimes.def: rows ascend without gaps");

#endif /* BPF_RUNTIME_H */
