/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - which of a function's names is shown
 *
 * A function of a batch has up to three names (struct batch_function); .name is the one
 * that is shown, so a choice replaces it.  OTLP does not depend on the choice: it has the
 * whole name and that of the file.
 */
#ifndef PROFILE_NAMES_H
#define PROFILE_NAMES_H

#include "ipc/batch.h"

/* In the order of NAMES_WORDS. */
enum function_names {
	NAMES_SHORT,		/* without parameters, templates cut: as received */
	NAMES_FULL,		/* demangled, whole */
	NAMES_RAW,		/* as in the file, mangled */
};

#define NAMES_WORDS	"short|full|raw"

/* Set .name of all functions of the batch in data, which is open as *b. */
void names_choose(const struct batch *b, void *data, enum function_names which);

#endif /* PROFILE_NAMES_H */
