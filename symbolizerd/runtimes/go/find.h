/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find - where in a file pclntab is
 *
 * By its section (.gopclntab; .data.rel.ro.gopclntab of some PIE), else, in Go
 * files without section headers, by its header.
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_FIND_H
#define SYMBOLIZERD_RUNTIMES_GO_FIND_H

#include "symbolizerd/runtimes/go/pclntab.h"

/* JOB_OK, also without a table (.n is 0 then); or JOB_NO_MEMORY and such.
 * pclntab_close() in the end. */
int go_find(struct pclntab *t, const struct elf_file *f);

#endif /* SYMBOLIZERD_RUNTIMES_GO_FIND_H */
