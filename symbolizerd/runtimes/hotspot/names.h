/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - names of methods, read from the process's memory
 *
 * The sampler sends names, but can only read pages that are present: Symbols of the
 * class archive, which is mapped from a file, may be on pages that the program never
 * touched.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_NAMES_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/symbols/process_memory.h"

/*
 * runtime_ops.names.  By the sampler's checks, a Method must be at the address in one of
 * the known layouts, and it must have the word's cookie.  A frame has two places: the
 * name and the file, then the name with parameters.
 */
int hotspot_names(struct process_memory *m, const uint64_t *words, size_t n,
		  struct frame_names_build *out);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_NAMES_H */
