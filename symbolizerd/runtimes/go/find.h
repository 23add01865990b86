/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find - did Go build this file, and where is its pclntab?
 *
 * By its section (.gopclntab; .data.rel.ro.gopclntab in some PIEs); in Go files
 * without section headers, by its header.
 *
 * runtime.moduledata says what the header does not: it is in its section
 * (.go.module, Go 1.26), or where writable data begins with the addresses of the
 * header and of the names.  Fields: runtime/symtab.go of Go 1.18 to 1.27.
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_FIND_H
#define SYMBOLIZERD_RUNTIMES_GO_FIND_H

#include "symbolizerd/runtimes/go/pclntab.h"

/* JOB_OK, also without a table (.n is 0 then); or a verdict of reading, such as
 * JOB_NO_MEMORY.  Ended by pclntab_close(). */
int go_find(struct pclntab *t, const struct elf_file *f);

/* The Go build ID, NUL-padded; "" if there is none.  Returns whether Go built
 * this file (it has the note, or a .gopclntab). */
bool go_build_id(const struct elf_file *f, char *ret, size_t size);

#endif /* SYMBOLIZERD_RUNTIMES_GO_FIND_H */
