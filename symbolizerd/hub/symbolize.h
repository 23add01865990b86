/* SPDX-License-Identifier: Apache-2.0 */
/*
 * symbolize - the words of a stack as frames of a batch
 */
#ifndef SYMBOLIZERD_HUB_SYMBOLIZE_H
#define SYMBOLIZERD_HUB_SYMBOLIZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash_table.h"
#include "common/vector.h"
#include "ipc/batch.h"
#include "symbolizerd/knowledge/executable.h"
#include "symbolizerd/knowledge/jit.h"
#include "symbolizerd/knowledge/ksym.h"
#include "symbolizerd/knowledge/managed.h"
#include "symbolizerd/knowledge/script.h"
#include "symbolizerd/knowledge/source_lines.h"
#include "symbolizerd/knowledge/trace.h"

struct memo_frame {
	uint64_t word;
	uint32_t space;
	uint32_t frame;		/* of the batch */
};

/* Frames of one batch that were symbolized, by their word. */
struct frame_memo {
	struct hash_table by_word;
	VECTOR(struct memo_frame) list;
};

/* One batch being built. */
struct pass {
	struct batch_builder *builder;
	struct executables *exes;
	struct ksym_names *ksyms;
	struct managed *managed;
	struct jit *jit;	/* NULL: no names */
	struct source_lines *lines;	/* likewise */
	uint32_t number;	/* as in the stamps */
	uint32_t interval;
	uint64_t now_ns;	/* CLOCK_MONOTONIC */
	uint64_t time_ns;	/* of the sample at hand, if it is to have former names; else 0 */
	struct frame_memo memo;
	uint64_t events;	/* given to the builder */
	size_t cost;		/* estimate of the batch's bytes */
	uint64_t frames, unsymbolized;	/* distinct ones */
	bool unnamed;		/* the function of the frame at hand */
};

void pass_fini(struct pass *p);		/* the builder is the caller's */

/* Does this stack wait for a worker, or for loaderd to open a file? */
bool pass_trace_waits(const struct pass *p, const struct trace *tr);

/* Find out once a pass what holds for all samples of this trace: the members that are of a
 * pass. */
void pass_trace(const struct pass *p, struct trace *tr);

/* The stack of the batch that shows this trace; made once a pass.  But if the code of some
 * frame had another name when the sample was taken (time_ns, CLOCK_MONOTONIC), a stack
 * with that. */
uint32_t pass_stack(struct pass *p, struct trace *tr, uint64_t time_ns);

/* Which program the interpreter runs in this trace, after its pass_trace().  False: the
 * trace does not say. */
bool pass_script(const struct pass *p, const struct trace *tr, char ret[SCRIPT_MAX]);

#endif /* SYMBOLIZERD_HUB_SYMBOLIZE_H */
