/* SPDX-License-Identifier: Apache-2.0 */
/*
 * detect - did Go build this file?
 */
#ifndef SYMBOLIZERD_RUNTIMES_GO_DETECT_H
#define SYMBOLIZERD_RUNTIMES_GO_DETECT_H

#include <stdbool.h>
#include <stddef.h>

#include "symbolizerd/elf/elf_file.h"

/* The Go build ID, NUL-padded; "" if there is none.  Returns whether Go built
 * this file (it has the note, or a .gopclntab). */
bool go_build_id(const struct elf_file *f, char *ret, size_t size);

#endif /* SYMBOLIZERD_RUNTIMES_GO_DETECT_H */
