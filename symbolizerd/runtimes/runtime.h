/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtime - what a language implements, in a folder of its own here
 *
 * table.c has a row for each language; the code of a language includes neither it
 * nor this header.  A member that a language does not need is NULL.  How to add
 * one: docs/HOWTO_ADD_RUNTIME.md.
 *
 * All of this parses files or memory of profiled processes: only workers call it.
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

/* What is known about an executable. */
struct runtime_facts {
	uint32_t runtime;		/* enum runtime */
	bool unknown;			/* its frames cannot be walked in this version */
	char id[RUNTIME_ID_MAX];	/* NUL-padded; "" without one: the value
					 * of runtime_info().id_key */
};

struct runtime_ops {
	uint32_t number;		/* enum runtime */
	/* Was this file made by the language's tools, or is it the runtime itself?
	 * Fills the size bytes at id: runtime_facts.id. */
	bool (*detect)(const struct elf_file *f, char *id, size_t size);
	/* Is the version of a file that was detected known?  NULL: all are. */
	bool (*version_known)(const struct elf_file *f);
	/* Unwind rules by the runtime's own tables, for code that CFI does not
	 * cover.  As unwind_rows_fn says. */
	unwind_rows_fn rows;
	/* Names, files, lines and inlined calls of code in the file. */
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

#endif /* SYMBOLIZERD_RUNTIMES_RUNTIME_H */
