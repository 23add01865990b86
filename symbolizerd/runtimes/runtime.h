/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime - what a language implements, in a folder of its own here
 *
 * The table of them is in table.c: a language does not know it, nor this
 * header.  A member that a language has no use for is NULL.  How to add one:
 * docs/HOWTO_ADD_RUNTIME.md.
 *
 * All of it parses files or memory of profiled processes: only workers call it.
 */
#ifndef SYMBOLIZERD_RUNTIMES_RUNTIME_H
#define SYMBOLIZERD_RUNTIMES_RUNTIME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/runtime.h"
#include "ipc/runtimes.h"
#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/symbols/process_memory.h"
#include "symbolizerd/symbols/index_build.h"
#include "symbolizerd/unwind/build.h"

/* What is found out of an executable, once. */
struct runtime_facts {
	uint32_t runtime;		/* enum runtime */
	bool unknown;			/* of a version whose frames it cannot walk */
	char id[RUNTIME_ID_MAX];	/* NUL-padded; "" without one: the value
					 * of runtime_info().id_key */
};

struct runtime_ops {
	uint32_t number;		/* enum runtime */
	/* Did it make, or does it contain this file?  Fills the size bytes at
	 * id: runtime_facts.id. */
	bool (*detect)(const struct elf_file *f, char *id, size_t size);
	/* Of one that is its own: is its version known?  NULL: they all are. */
	bool (*version_known)(const struct elf_file *f);
	/* Unwind rules that the runtime itself wrote down, for code that CFI
	 * does not cover.  As unwind_rows_fn says. */
	unwind_rows_fn rows;
	/* Names, files, lines and inlined calls of code in the file. */
	const struct symbol_source *symbols;
	/*
	 * Names of frames of one process, by reading its memory.  The frames
	 * are n words: each is a word and FRAME_MORE() of it behind it, whole
	 * (bpf/frame.h).  What it knows it adds to out, by the number of the
	 * frame, from 0.  JOB_OK, also if some or all have no name; or a
	 * verdict.
	 */
	int (*names)(struct process_memory *m, const uint64_t *words, size_t n,
		     struct frame_names_build *out);
};

#endif /* SYMBOLIZERD_RUNTIMES_RUNTIME_H */
