/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace - the distinct stacks that samples have had lately
 *
 * A trace is all words of a record, kernel and user.  It is found by a hash of
 * them with a seed of this process, and the words are compared: a profiled
 * program that found a collision would gain nothing.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_TRACE_H
#define SYMBOLIZERD_KNOWLEDGE_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "common/hash_table.h"

#define TRACE_NONE		UINT32_MAX
#define TRACE_NO_STACK		UINT32_MAX
#define TRACE_NO_SCRIPT		UINT16_MAX
#define TRACE_BYTES_MAX		(24u << 20)	/* all words of all traces */
#define TRACE_IDLE_INTERVALS	12

struct trace {
	uint64_t hash;
	uint64_t former_ns;	/* of the pass: samples from before have former names (jit.h) */
	uint32_t used;		/* interval of the last sample */
	uint32_t stamp;		/* of the pass that the rest belongs to */
	uint32_t stack;		/* in that pass's batch; TRACE_NO_STACK: not made yet */
	uint16_t n_kernel, n_user;
	uint32_t space;		/* of its frames in memory of no file: jit.h; 0: none */
	uint8_t waits;		/* in that pass: a frame waits for a worker */
	uint8_t met;		/* samples since the last pass, up to 255 */
	uint16_t script;	/* in that pass: word of the frame that says which program runs
				 * (script.h); TRACE_NO_SCRIPT: none does */
	uint64_t words[];
};

struct traces {
	struct trace **v;	/* index: NULL when free */
	uint32_t cap;		/* of v */
	uint32_t top;		/* indices below were used */
	uint32_t n;		/* traces known */
	uint32_t free_hint;	/* below, no index is free */
	size_t bytes;		/* of them */
	size_t bytes_max;
	struct hash_table by_words;
	uint64_t seed;
};

void traces_init(struct traces *t, uint64_t seed);
void traces_fini(struct traces *t);

/*
 * The index of a record's stack, in this space; *first: it is the first of it in this interval
 * (from 1).  TRACE_NONE when memory is short or the cap is reached.
 */
uint32_t traces_add(struct traces *t, const struct trace_rec *rec, uint32_t space,
		    uint32_t interval, int *first);

/* Forget those that were not used for TRACE_IDLE_INTERVALS; with half the memory
 * in use, all that were not used in this interval.  The caller must hold none of
 * their indices. */
void traces_sweep(struct traces *t, uint32_t interval);
void traces_clear(struct traces *t);

static inline struct trace *traces_get(const struct traces *t, uint32_t i)
{
	return t->v[i];
}

#endif /* SYMBOLIZERD_KNOWLEDGE_TRACE_H */
