/* SPDX-License-Identifier: Apache-2.0 */
/*
 * managed - functions of interpreters, by name
 *
 * BPF says what stands for a function in a process and, with the first record that
 * has it and from time to time, its names and lines.  As a record comes in that is
 * exchanged for our number of the function, one for each (name, file, first line, table
 * of lines): so the same stack is the same in each process that runs it.
 *
 * What BPF could not read of the names of a runtime that is visited (ipc/runtimes.h) a
 * worker reads (managed_visits.h).  Until then the frame has a number of its own.
 *
 * Room is bounded, for what stands for functions and for names.  Where there is none
 * left, the user whose processes have most gives first: his functions lose their
 * names until BPF sends them again.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_MANAGED_H
#define SYMBOLIZERD_KNOWLEDGE_MANAGED_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "bpf/runtime.h"
#include "common/hash_table.h"
#include "common/vector.h"
#include "symbolizerd/knowledge/managed_visits.h"
#include "symbolizerd/knowledge/trace.h"
#include "symbolizerd/tables/owners.h"

#define MANAGED_UNKNOWN		0	/* our number for what has no name */
#define MANAGED_FRAMES_BYTES	(12u << 20)	/* of what stands for functions */
#define MANAGED_NAMES_BYTES	(20u << 20)	/* of functions */
/* BPF sends names again after 30 s (NAMED_NS): until then they are kept here. */
#define MANAGED_KEPT_NS		60000000000ULL

enum managed_state {
	MANAGED_FREE = 0,
	MANAGED_NAMED,
	MANAGED_GONE,		/* had to give its name: the number rests while
				 * somebody may have it */
	MANAGED_WANTED,		/* what is known of a function whose names are to be
				 * read from its process's memory */
	MANAGED_NAMELESS,	/* was that, and the memory has none */
	MANAGED_SAME,		/* was wanted; .same has its names */
};

struct managed_function {
	char *name;		/* owned, all up to .lines in the same piece; NULL
				 * unless MANAGED_NAMED */
	const char *full;	/* with parameters; "": as name */
	const char *file;	/* "": unknown */
	const uint8_t *lines;	/* table of lines, its beginning; in that piece */
	uint32_t line;		/* the first one; 0: unknown */
	uint16_t n_lines;	/* bytes */
	uint16_t form;		/* enum text_lines; 0: there is none */
	uint32_t bytes;		/* of the piece */
	uint32_t owner;		/* who is charged for it */
	uint32_t same;		/* our number of the function that it is */
	uint64_t hash;
	uint8_t state;		/* enum managed_state */
	bool used;		/* while sweeping */
};

struct managed_frame {
	struct managed_key key;
	uint64_t used_ns;	/* CLOCK_MONOTONIC; 0: free */
	uint32_t function;	/* our number */
	uint32_t owner;
};

struct managed {
	uint64_t seed;
	VECTOR(struct managed_function) functions;	/* [0]: none */
	VECTOR(uint32_t) free_functions, free_frames;
	struct hash_table by_content;
	VECTOR(struct managed_frame) frames;
	struct hash_table by_key;
	struct owners names, places;	/* bytes of each user, of functions and frames */
	uint32_t name_hand, place_hand;	/* where the next one that gives is looked for */
	uint32_t gone;		/* functions */
	bool show_loops;	/* the loops' own frames, behind those of functions */
	uint64_t full;		/* names that found no room, or had to give it */
	struct managed_visits visits;
	/* as jit_visit_fn; the owner's to set; NULL: nobody reads memory */
	int (*visit)(void *ctx, const struct jit_question *q, uint32_t runtime);
	void *ctx;
	uint64_t visited, read;	/* visits, and functions whose names came so */
};

#define OUR_WORD(number, runtime, at)					\
	FRAME_WORD(FRAME_MANAGED, number, (__u64)(runtime) << 28 | (at))
#define OUR_RUNTIME(w)	((uint32_t)(FRAME_PLACE(w) >> 28))
#define OUR_AT(w)	((uint32_t)(FRAME_PLACE(w) & MANAGED_AT_MAX))

void managed_init(struct managed *m, uint64_t seed);
void managed_fini(struct managed *m);

/* Are there such frames in a record that was judged? */
bool managed_has(const struct trace_rec *rec);

/*
 * Take the names out of a record that was judged, and put our numbers into its
 * managed frames: one word each, OUR_WORD.  The record gets shorter.
 */
void managed_translate(struct managed *m, struct trace_rec *rec, uint64_t now_ns);

/* A function by our number; NULL: unknown. */
const struct managed_function *managed_find(const struct managed *m,
					    uint32_t number);

/* May it have names soon?  They are being read. */
bool managed_waits(const struct managed *m, uint32_t number);

/* Ask for names that are to be read; late: also for those that BPF may still send.  Each
 * second, and when records have come. */
void managed_ask(struct managed *m, bool late, uint64_t now_ns);

/* The answer to a question: names of its words, or NULL and the reason (jobs_ops.names). */
void managed_answer(struct managed *m, uint32_t space, const uint64_t *words, size_t n,
		    const struct frame_names *names, int result);

/* The line of a place in a function, 0 if that is not known. */
uint32_t managed_line(const struct managed_function *f, uint32_t at);

/* Forget frames that were idle, or whose function is gone; and functions that neither
 * a frame nor a trace has, once there are many. */
void managed_sweep(struct managed *m, const struct traces *traces,
		   uint64_t now_ns);

#endif /* SYMBOLIZERD_KNOWLEDGE_MANAGED_H */
