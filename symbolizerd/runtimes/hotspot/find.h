/* SPDX-License-Identifier: Apache-2.0 */
/*
 * find - HotSpot, OpenJDK's virtual machine, in a libjvm.so under any name
 *
 * By the tables that it exports for debuggers (self.h), stripped or not.  OpenJ9 and
 * GraalVM's native images do not have them.
 */
#ifndef SYMBOLIZERD_RUNTIMES_HOTSPOT_FIND_H
#define SYMBOLIZERD_RUNTIMES_HOTSPOT_FIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbolizerd/elf/elf_file.h"

struct hotspot_file {
	uint32_t feature;	/* the release: 8, 11, 17; 0: not known */
	uint32_t layout;	/* number in bpf/hotspot.h; 0: none */
	uint64_t root;		/* virtual address of CodeCache::_heaps; in 8 of
				 * CodeCache::_heap */
};

/* False: it is not HotSpot. */
bool hotspot_find_in(const struct elf_file *f, struct hotspot_file *ret);

#endif /* SYMBOLIZERD_RUNTIMES_HOTSPOT_FIND_H */
