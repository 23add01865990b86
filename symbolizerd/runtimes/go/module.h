/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module - what runtime.moduledata says that the header of pclntab does not
 *
 * Found by its section (.go.module, Go 1.26), else as the place in writable
 * data that begins with the addresses of the header and of the names.  Fields:
 * runtime/symtab.go of Go 1.18 to 1.27.
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_MODULE_H
#define SYMBOLIZERD_RUNTIMES_GO_MODULE_H

#include "symbolizerd/runtimes/go/pclntab.h"

/* Fill in .text and .gofunc of a table whose header was read; header_text: what
 * that says of .text, 0: nothing.  JOB_OK, or a verdict of reading. */
int go_module_read(struct pclntab *t, uint64_t header_text);

#endif /* SYMBOLIZERD_RUNTIMES_GO_MODULE_H */
