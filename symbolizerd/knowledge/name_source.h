/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_source - the one way from a frame to what it is called
 *
 * Names come from the kernel's symbols, from the symbol index of a file, from its DWARF,
 * from records of interpreters, and from visits.  Each is a source, whose module has a
 * struct name_source; symbolizerd/hub/symbolize.c has the table that says which sources a
 * kind of frame has, in their order.  A source adds to what those before it have said.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_NAME_SOURCE_H
#define SYMBOLIZERD_KNOWLEDGE_NAME_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "symbolizerd/symbols/index.h"

struct executable;

/* A frame that is to be named. */
struct frame_place {
	const uint64_t *words;		/* bpf/frame.h */
	struct executable *exe;		/* of a frame in a file; NULL: not known */
	uint32_t space;			/* of its process: jit.h; 0: none */
	uint32_t interval;		/* the present one */
	uint32_t samples;		/* of its trace that were not counted yet */
	uint64_t time_ns;		/* of its sample, CLOCK_MONOTONIC; 0: as now_ns */
	uint64_t now_ns;		/* CLOCK_MONOTONIC */
};

/* What it is called; borrowed, until the source changes. */
struct frame_called {
	uint32_t n;			/* 0: it has no name */
	struct symbol_place at[SYMBOL_DEPTH_MAX];	/* n functions, each inlined into
							 * the next one */
	const char *full;		/* at[0].name with parameters; "": as that */
	const char *module;		/* what the kernel's symbol belongs to; "": no such */
};

struct name_source {
	/* The source is what the module's other functions get: const struct jit, say. */
	void (*name)(void *source, const struct frame_place *f, struct frame_called *c);
	/* May it have a name soon?  NULL: never. */
	bool (*waits)(void *source, const struct frame_place *f);
};

#endif /* SYMBOLIZERD_KNOWLEDGE_NAME_SOURCE_H */
