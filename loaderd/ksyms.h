/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksyms - kernel addresses become symbol numbers
 *
 * The kernel itself names an address (bpf_name()), without kallsyms and CAP_SYSLOG.
 * It is asked once for each symbol.  The range of its addresses is kept, and the number
 * under which symbolizerd has its name.  All ranges are forgotten now and then, and at
 * each new connection (.n = 0).  A module may be loaded where another one was: after one
 * was loaded or unloaded, the kernel is asked for all symbols again.  BPF programs change
 * more often: the kernel is asked for their symbols again with each drain.  A symbol then
 * gets another number, and symbolizerd sees by its name that it is the same.
 */
#ifndef LOADERD_KSYMS_H
#define LOADERD_KSYMS_H

#include <stdbool.h>
#include <stdint.h>

#include "bpf/record.h"
#include "common/clock.h"
#include "loaderd/bpf.h"

#define KSYM_NONE	0	/* number of what the kernel has no name for */
#define KSYMS_NS	(300 * NSEC_PER_SEC)
#define KSYM_RANGES	65536	/* remembered; then all are forgotten */

struct ksym_range {
	uint64_t start;
	uint32_t size;		/* bytes */
	uint32_t number : 30;
	uint32_t passing : 1;	/* of a BPF program, by its name */
	uint32_t stale : 1;	/* ask the kernel again; if it has no name now, the module or
				 * program is gone, and this is still its name */
};

struct ksyms {			/* zero-initialised except .bpf and .range */
	struct bpf *bpf;	/* borrowed */
	uint32_t last;		/* number given */
	uint32_t n;		/* 0 forgets: every KSYMS_NS, and for each new connection */
	struct ksym_range *range;	/* KSYM_RANGES, zero; ascending, apart; borrowed */
};

/*
 * The FRAME_KERNEL word of an address: symbol and offset in it, never the
 * address.  True: its symbol is new, and *def, which must be sent before, defines it.
 * Otherwise *def is undefined.
 */
bool ksyms_word(struct ksyms *k, uint64_t addr, uint64_t *word,
		struct ksym_rec *def);

/* Before each drain: ask again for ranges of BPF programs; or, when a module was
 * loaded or unloaded, for all. */
void ksyms_doubt(struct ksyms *k, bool all);

#endif /* LOADERD_KSYMS_H */
