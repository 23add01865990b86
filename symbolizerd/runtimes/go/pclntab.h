/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pclntab - the table of functions that every Go executable carries
 *
 * The runtime itself needs it, so stripping leaves it there.  find.h finds it, and
 * fills in where code begins and where data of functions is (runtime.moduledata).
 *
 * Layout: Go 1.16 to 1.27: runtime/symtab.go (pcHeader, moduledata),
 * runtime/runtime2.go (_func), internal/abi/symtab.go (magic numbers, tables),
 * debug/gosym/pclntab.go.  Go before 1.16 is not read.
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_PCLNTAB_H
#define SYMBOLIZERD_RUNTIMES_GO_PCLNTAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

#define PCLNTAB_MAX		(256u << 20)	/* bytes */
#define PCLNTAB_FUNCS_MAX	(4u << 20)
#define PCLNTAB_NAME_MAX	4096		/* bytes looked at */

enum pclntab_magic {		/* internal/abi/symtab.go */
	PCLNTAB_116 = 0xfffffffa,	/* Go 1.16, 1.17 */
	PCLNTAB_118 = 0xfffffff0,	/* 1.18, 1.19 */
	PCLNTAB_120 = 0xfffffff1,	/* 1.20 and later */
};

/* Tables of values by address, of one function (internal/abi/symtab.go). */
#define PCDATA_INLTREE		2
#define FUNCDATA_INLTREE	3

enum pclntab_flags {		/* of a function; none in Go 1.16 */
	PCLNTAB_TOPFRAME = 1,	/* the outermost of its stack */
	PCLNTAB_SPWRITE = 2,	/* sets the stack pointer */
	PCLNTAB_ASM = 4,
};

struct pclntab_part {
	const uint8_t *data;	/* within pclntab.bytes */
	size_t len;
};

struct pclntab {
	const struct elf_file *f;	/* borrowed */
	struct elf_bytes bytes;	/* from the header on; may hold more */
	uint32_t magic;		/* enum pclntab_magic */
	uint32_t quantum;	/* bytes of the smallest instruction */
	uint32_t n;		/* functions */
	uint64_t text;		/* what entries are relative to; 1.16: 0 */
	uint64_t gofunc;	/* what data of functions is relative to; 0:
				 * unknown (not needed in 1.16) */
	struct pclntab_part names, units, files, pcs, funcs;
};

struct pclntab_func {
	uint64_t entry, end;	/* virtual addresses; entry < end */
	const char *name;	/* NUL-terminated; "" if broken */
	uint32_t pcsp, pcfile, pcln;	/* in .pcs; 0: none */
	uint32_t unit;		/* index into .units */
	uint32_t start_line;	/* 0: unknown (before 1.20) */
	uint8_t flags;		/* enum pclntab_flags */
	uint8_t n_funcdata;
	uint32_t n_pcdata;
	size_t data;		/* of its pcdata, in .funcs */
};

/* May 8 bytes at p begin a table? */
bool pclntab_is_header(const uint8_t *p);

/* Fill in a table of which .f and .bytes are set.  *text: where code begins by the
 * header, 0: it does not say.  False: this is no table. */
bool pclntab_header(struct pclntab *t, uint64_t *text);
void pclntab_close(struct pclntab *t);

/* Function i of .n, in the order of addresses.  False if it is broken, empty,
 * or not in an executable segment of the file. */
bool pclntab_func(const struct pclntab *t, uint32_t i,
		  struct pclntab_func *ret);

/* Offset of its pcdata table in .pcs; 0: none. */
uint32_t pclntab_pcdata(const struct pclntab *t, const struct pclntab_func *fn,
			uint32_t which);

/* Virtual address of its funcdata; 0: none, or not known. */
uint64_t pclntab_funcdata(const struct pclntab *t,
			  const struct pclntab_func *fn, uint32_t which);

/* A string of a part, NUL-terminated, or NULL. */
const char *pclntab_string(const struct pclntab_part *part, uint32_t off);

/* File by its number in a unit, or NULL. */
const char *pclntab_file(const struct pclntab *t, uint32_t unit, int32_t file);

/* A window on what is loaded, for addresses that are near each other. */
struct pclntab_window {
	struct elf_bytes b;	/* owned: elf_bytes_free() */
};

/* len bytes at vaddr, or NULL; reads up to `ahead` bytes at once. */
const uint8_t *pclntab_at(const struct pclntab *t, struct pclntab_window *w,
			  uint64_t vaddr, size_t len, size_t ahead);

/* A call that was inlined (runtime/symtabinl.go, before Go 1.20 symtab.go). */
struct pclntab_inlined {
	const char *name;
	uint32_t first_line;	/* of its function; 0: unknown */
	uint32_t parent_pc;	/* where it was called: bytes after the entry */
};

/* Entry i of the function's inlining tree.  False: there is none. */
bool pclntab_inlined(const struct pclntab *t, const struct pclntab_func *fn,
		     uint32_t i, struct pclntab_window *w,
		     struct pclntab_inlined *ret);

/* Walks the values of one table of a function. */
struct pclntab_walk {
	const uint8_t *pos, *end;
	uint32_t quantum;
	uint64_t start, stop;	/* the value holds in [start, stop) */
	uint64_t limit;		/* of the function */
	int32_t value;
	bool first;
};

/* Begin with the table at off in .pcs; 0: there is none, and no step. */
void pclntab_walk(const struct pclntab *t, const struct pclntab_func *fn,
		  uint32_t off, struct pclntab_walk *w);
/* Go to the next value.  False at the end of the function or of a sound table.
 * Each step is at least one instruction long. */
bool pclntab_step(struct pclntab_walk *w);

#endif /* SYMBOLIZERD_RUNTIMES_GO_PCLNTAB_H */
