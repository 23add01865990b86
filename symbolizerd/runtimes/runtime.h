/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime - what a language implements, in a folder of its own here
 *
 * A language has a row in bpf/runtimes.def and a `const struct runtime_ops runtime_NAME`
 * in its folder: nothing else here names it.  A member that a language does not need is
 * NULL.  How to add one: docs/HOWTO_ADD_RUNTIME.md.
 *
 * All of this parses files or memory of profiled processes: only workers call it.
 */
#ifndef SYMBOLIZERD_RUNTIMES_RUNTIME_H
#define SYMBOLIZERD_RUNTIMES_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/runtime.h"
#include "bpf/table.h"
#include "ipc/runtimes.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/symbols/process_memory.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/unwind/build.h"

/*
 * What find() says of a file.
 *
 * Facts are what the language's code in BPF must know of the file, by a number from 0 on
 * that only this code knows.  The sampler gets fact i as the rule of place i
 * (RUNTIME_FACTS in bpf/table.h).  Spans are code that it must know, as unwind_rows_fn has it.
 */
struct runtime_found {
	uint32_t runtime;		/* enum runtime; for find() to read */
	bool unknown;			/* its frames cannot be walked in this version: there
					 * are no facts, spans and texts then */
	char id[RUNTIME_ID_MAX];	/* NUL-padded; "" without one: the value of
					 * runtime_info().id_key, or the version */
	uint32_t n_facts;
	struct runtime_fact {
		uint32_t which;		/* RUNTIME_VERSION */
		int32_t aux;		/* RUNTIME_AUX */
		uint64_t value;		/* RUNTIME_ROOT */
	} facts[RUNTIME_FACTS];
	uint32_t n_spans;
	struct runtime_span {
		uint64_t start, end;	/* virtual addresses */
		uint8_t mark;		/* RULE_LOOP, RULE_LOOP_PART */
	} spans[UNWIND_SPANS];
};

/* Add one; what is beyond the last, or empty, is dropped. */
void runtime_add_fact(struct runtime_found *r, uint32_t which, uint64_t value, int32_t aux);
void runtime_add_span(struct runtime_found *r, uint64_t start, uint64_t end, uint8_t mark);

/*
 * A virtual address, from where file offset 0 would be by the mapping of the code at
 * another one: what BPF adds to s->file.base.  False: there is no such code.
 */
bool runtime_relative(const struct elf_file *f, uint64_t code, uint64_t addr, uint64_t *ret);

struct runtime_ops {
	/* Was this file made by the language's tools, or is it the runtime itself?  Asked once
	 * a file; ret is 0 but for .runtime.  False: it is not. */
	bool (*find)(const struct elf_file *f, struct runtime_found *ret);
	/* Unwind rules by the runtime's own tables, for code that CFI does not
	 * cover, of any file.  As unwind_rows_fn says. */
	unwind_rows_fn rows;
	/* Which text that the walk reads lies where, of a file that find() has found and knows: empty
	 * rules of CFA_RUNTIME, with the text's number in .aux.  Places that hold facts are dropped. */
	unwind_rows_fn texts;
	/* Names, files, lines and inlined calls of code in the file.  Its debug file is not
	 * asked for lines then. */
	const struct symbol_source *symbols;
	/*
	 * Names of frames of one process, by reading its memory.  The frames
	 * are n words: each is a word and FRAME_MORE() more of them, whole
	 * (bpf/frame.h).  Names are added to out by the number of the frame,
	 * from 0.  JOB_OK, also if some or all have no name; or a verdict.
	 */
	int (*names)(struct process_memory *m, const uint64_t *words, size_t n,
		     struct frame_names_build *out);
};

#define RUNTIME(number, id, name, ...)	extern const struct runtime_ops runtime_##name;
#include "bpf/runtimes.def"

#endif /* SYMBOLIZERD_RUNTIMES_RUNTIME_H */
