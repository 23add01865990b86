/* SPDX-License-Identifier: Apache-2.0 */
/*
 * show_names - what names an executable has, for people
 *
 * A line for each place at an address, the innermost first; its columns have a
 * tab between them:
 *
 *	0x1142	leaf	/src/chain.c:3	(inlined)
 *	0x1142	main	/src/chain.c:20
 *
 * "?" stands for a function that nothing names, "!0x1130" for one without a name
 * that begins there.  Where no line is known, the third column is empty or not there.
 * Of all symbols a line has address, size and name.  Addresses are virtual ones of
 * the file, as in readelf and nm.  Controls, and the backslash, are printed as \xNN.
 */
#ifndef SYMBOLIZERD_SHOW_NAMES_H
#define SYMBOLIZERD_SHOW_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "symbolizerd/elf/elf_file.h"
#include "symbolizerd/symbols/dwarf_places.h"
#include "symbolizerd/symbols/index.h"
#include "symbolizerd/symbols/index_build.h"

struct shown_names {
	const struct elf_file *f;
	FILE *to;
	bool mangled;		/* names as the file has them */
	struct symbol_index index;
	void *data;		/* of the index */
	struct dwarf_places *dwarf;	/* NULL: none that can be read */
	int package, dwo;	/* for show_split.h */
};

/* Read the symbols and the DWARF of f, or what it does not have of its debug file;
 * both are borrowed.  JOB_OK or a verdict (ipc/message_hub.h). */
int show_names_open(struct shown_names *s, const struct elf_file *f,
		    symbol_sources_fn sources, bool mangled, FILE *to);
/* What split DWARF needs, 0: there is none: descriptor of a package, and the socket
 * for .dwo files. */
void show_names_split(struct shown_names *s, int package, int dwo);
void show_names_close(struct shown_names *s);

/* The places at an address. */
void show_names_at(const struct shown_names *s, uint64_t vaddr);

/* All symbols, ascending. */
void show_names_all(const struct shown_names *s);

#endif /* SYMBOLIZERD_SHOW_NAMES_H */
