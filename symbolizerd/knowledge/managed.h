/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed - functions of interpreters, by name
 *
 * BPF says what stands for a function in a process and, with the first record that
 * has it and from time to time, its names and lines.  As a record comes in that is
 * exchanged for our number of the function, one for each (name, file, first line, table
 * of lines): so the same stack is the same in each process that runs it.
 *
 * What BPF could not read of the names of a runtime that is visited (ipc/runtimes.h),
 * pages of a file that the program never touched or that were taken from it, a worker
 * reads (visits.h).  Until then the frame has a number of its own.
 *
 * The memory of what stands for functions, and that of names, is shared by users
 * (owner_cache.h).  A function whose names were lost gets them again when BPF sends them,
 * or is visited again.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_MANAGED_H
#define SYMBOLIZERD_KNOWLEDGE_MANAGED_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "bpf/runtime.h"
#include "symbolizerd/knowledge/name_source.h"
#include "symbolizerd/knowledge/owner_cache.h"
#include "symbolizerd/knowledge/trace.h"
#include "symbolizerd/knowledge/visits.h"

#define MANAGED_UNKNOWN		0	/* our number for what has no name */
#define MANAGED_FRAMES_BYTES	(12u << 20)	/* of what stands for functions */
#define MANAGED_NAMES_BYTES	(20u << 20)	/* of functions */
/* BPF sends names again after 30 s (NAMED_NS): until then they are kept here. */
#define MANAGED_KEPT_NS		60000000000ULL
#define MANAGED_TARGETS		256u	/* processes that are visited */
#define MANAGED_ASK		256u	/* frames of a visit */
#define MANAGED_WAITING		2048u	/* frames of all processes */
#define MANAGED_AT_ONCE		64u	/* visits */
#define MANAGED_GAP_NS		500000000ULL
#define MANAGED_GAP_MAX_NS	8000000000ULL
#define MANAGED_LATE_NS		300000000ULL	/* BPF may still send names so long */

enum managed_state {
	MANAGED_FREE = 0,
	MANAGED_NAMED,
	MANAGED_GONE,		/* lost its name: the number rests while a frame or a trace
				 * has it */
	MANAGED_WANTED,		/* what is known of a function whose names are to be
				 * read from its process's memory */
	MANAGED_NAMELESS,	/* was that, and the memory has none */
	MANAGED_SAME,		/* was wanted; .same has its names */
};

struct managed_function {
	struct cache_entry entry;	/* first */
	char *name;		/* owned, all up to .lines in the same piece; NULL
				 * unless MANAGED_NAMED or MANAGED_WANTED */
	const char *full;	/* with parameters; "": as name */
	const char *file;	/* "": unknown */
	const uint8_t *lines;	/* table of lines, its beginning; in that piece */
	uint32_t line;		/* the first one; 0: unknown */
	uint16_t n_lines;	/* bytes */
	uint16_t form;		/* of the table; 0: there is none */
	uint8_t runtime;	/* whose table it is */
	uint32_t same;		/* our number of the function that it is */
	uint8_t state;		/* enum managed_state */
	bool used;		/* while sweeping */
};

/* What stands for a function in a process. */
struct managed_key {
	struct process_id process;
	uint64_t words[MANAGED_WORDS_MAX];	/* 0 behind those of the frame */
	uint32_t runtime, cookie;
};

struct managed_frame {
	struct cache_entry entry;	/* first */
	struct managed_key key;
	uint64_t used_ns;	/* CLOCK_MONOTONIC */
	uint32_t function;	/* our number */
};

struct managed {
	uint64_t seed;
	struct owner_cache functions;	/* [0] has number 1 */
	struct owner_cache frames;
	uint32_t gone;		/* functions */
	bool show_loops;	/* the loops' own frames, too, after those of functions */
	struct visits visits;
	visit_fn visit;		/* the owner's to set; NULL: no memory is read */
	void *ctx;
	uint64_t read;		/* functions whose names a visit has read */
};

#define OUR_WORD(number, runtime, at)					\
	FRAME_WORD(FRAME_MANAGED, number, (__u64)(runtime) << 28 | (at))
#define OUR_RUNTIME(w)	((uint32_t)(FRAME_PLACE(w) >> 28))
#define OUR_AT(w)	((uint32_t)(FRAME_PLACE(w) & MANAGED_AT_MAX))

void managed_init(struct managed *m, uint64_t seed);
void managed_fini(struct managed *m);

/* Are there such frames in a record that was judged? */
bool managed_has(const struct trace_rec *rec);

/* Take the names out of a record that was judged, and put our numbers into its
 * managed frames: one word each, OUR_WORD.  The record gets shorter. */
void managed_translate(struct managed *m, struct trace_rec *rec, uint64_t now_ns);

/* A function by our number; NULL: unknown. */
const struct managed_function *managed_find(const struct managed *m,
					    uint32_t number);

/* May it have names soon?  They are being read. */
bool managed_waits(const struct managed *m, uint32_t number);

/* The line of a place in a function, 0 if that is not known. */
uint32_t managed_line(const struct managed_function *f, uint32_t at);

extern const struct name_source managed_source;		/* of struct managed */

/* Forget frames that were idle, or whose function is gone; and functions that neither
 * a frame nor a trace has, once there are many. */
void managed_sweep(struct managed *m, const struct traces *traces,
		   uint64_t now_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_MANAGED_H */
