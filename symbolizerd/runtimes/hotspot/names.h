/* SPDX-License-Identifier: Apache-2.0 */
/*
 * names - names of methods, read from the process's memory
 *
 * The sampler sends them, but it can read only what is in memory: Symbols of the class
 * archive, which is mapped from a file, may lie on pages that the program never touched.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_NAMES_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/symbols/frame_names.h"
#include "symbolizerd/symbols/process_memory.h"

/*
 * runtime_ops.names.  What is at the address must be a Method, by what the sampler
 * believes, and have the word's cookie, in one of the layouts that are known.  A frame
 * has two places: the name and the file, then the name with parameters.
 */
int hotspot_names(struct process_memory *m, const uint64_t *words, size_t n,
		  struct frame_names_build *out);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_NAMES_H */
