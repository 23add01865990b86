/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* stop - how a user stack was found, and how it ends */
#ifndef BPF_STOP_H
#define BPF_STOP_H

enum rec_flags {
	REC_FRAME_POINTER = 1,	/* at least one frame found by frame pointer */
	REC_HAS_ANON = 2,	/* passed through memory of no file */
};

/* Why a user stack ended; also the outcome of one unwinding step. */
enum stop_reason {
	STOP_NOT = 0,		/* step: go on; record: never */
	STOP_COMPLETE,		/* the outermost frame was reached */
	STOP_NO_USER,		/* kernel thread, or no user memory any more */
	STOP_CUT,		/* more than FRAMES_MAX frames, or SAMPLE_NS */
	STOP_NO_MAPPING,	/* address in no mapping */
	STOP_ANON,		/* code in memory of no file, no sound FP */
	STOP_NO_FILE,		/* file not known to loaderd yet */
	STOP_NO_TABLE,		/* file known, table not there (yet) */
	STOP_NO_ROW,		/* table says nothing about this address */
	STOP_UNSUPPORTED,	/* rule that rows cannot express */
	STOP_NO_PROGRESS,	/* caller's frame not above this one */
	STOP_READ,		/* stack not readable */
	STOP_COMPAT,		/* 32-bit process: not unwound */
	STOP_INTERNAL,		/* map entry missing: a fault of trifold */
	STOP_GUESSED,		/* as COMPLETE, but callers were guessed: guess.bpf.h */
	STOP__MAX
};
#define STOP_NAMES							\
	"-", "complete", "no_user", "cut", "no_mapping", "anonymous",	\
	"file_unknown", "no_table", "no_row", "unsupported",		\
	"no_progress", "stack_unreadable", "compat", "internal", "guessed"

#endif /* BPF_STOP_H */
