/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_counts - what BPF counts, read where BPF writes it
 *
 * The map `counts` stays while it is mapped.  So when loaderd is
 * killed the hub still reads what was taken after loaderd's last word.
 */
#ifndef SYMBOLIZERD_HUB_LOADER_COUNTS_H
#define SYMBOLIZERD_HUB_LOADER_COUNTS_H

#include <stdint.h>

#include "ipc/counters_loader.h"

struct loader_counts {
	const volatile struct cpu_counts *at;	/* NULL: none */
	uint32_t cpus;
};

/* Map what MSG_HELLO_LOADER brought; fd is borrowed.  0; -errno; or -EPROTO: no
 * sensible number, or memory that could shrink below the mapping. */
int loader_counts_map(struct loader_counts *c, int fd, uint32_t cpus);

void loader_counts_unmap(struct loader_counts *c);

#endif /* SYMBOLIZERD_HUB_LOADER_COUNTS_H */
