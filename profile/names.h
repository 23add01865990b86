/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - which of a function's names faces show
 *
 * A batch has up to three of each (struct batch_function); all that shows one
 * shows .name, so another choice is another .name.  OTLP is the same whatever is
 * chosen: it has the whole name and the file's.
 */
#ifndef PROFILE_NAMES_H
#define PROFILE_NAMES_H

#include "ipc/batch.h"

/* In the order of NAMES_WORDS. */
enum function_names {
	NAMES_SHORT,		/* no parameters, templates cut: as it comes */
	NAMES_FULL,		/* demangled, and whole */
	NAMES_RAW,		/* as the file calls it, mangled */
};

#define NAMES_WORDS	"short|full|raw"

/* Make it so in a batch that batch_open() accepts, of which *b is open. */
void names_choose(const struct batch *b, void *data, enum function_names which);

#endif /* PROFILE_NAMES_H */
