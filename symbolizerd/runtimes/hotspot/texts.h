/* SPDX-License-Identifier: Apache-2.0 */
/*
 * texts - where libjvm.so has the names of kinds of code
 *
 * What kind a CodeBlob is, its name says: text in the file, on a page that a process may
 * not have mapped in, and the sampler cannot wait for that.  So the file's table says which
 * of these texts lies where.  A text may be at several places: as the end of another one.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_TEXTS_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_TEXTS_H

#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

#define TEXTS_EACH	64u		/* places of a text */
#define TEXTS_BYTES	(64u << 20)	/* of a file that are searched */

/* at: the virtual address.  Not 0: no more. */
typedef int (*text_fn)(void *ctx, uint64_t at, uint32_t kind);

/* Calls fn for each text in what is loaded read-only: in segments without code, if any
 * of the texts is there.  kind: enum hotspot_kind.  0, or what fn has returned. */
int texts_find(const struct elf_file *f, text_fn fn, void *ctx);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_TEXTS_H */
