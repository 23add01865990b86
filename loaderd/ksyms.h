/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksyms - kernel addresses become symbol numbers
 *
 * The kernel itself names an address (bpf_name()): no kallsyms, no CAP_SYSLOG.
 * A symbol is asked for once; its range is remembered.  Ranges are forgotten now and then, since
 * modules and BPF programs come and go; numbers of names never change.
 */
#ifndef LOADERD_KSYMS_H
#define LOADERD_KSYMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"
#include "loaderd/bpf.h"

#define KSYM_NONE	0	/* number of "[unknown]" */

struct ksym_range {
	uint64_t start;
	uint32_t size;
	uint32_t number;
};

struct ksym_name {
	char *name;
	uint32_t epoch;		/* last trace ring that it was defined in */
};

struct ksyms {
	struct bpf *bpf;	/* borrowed */
	struct ksym_range *ranges;	/* sorted by start */
	uint32_t n_ranges, cap_ranges;
	struct ksym_name *names;
	uint32_t n_names, cap_names;
	uint32_t *hash;		/* number + 1, open addressing */
	uint32_t hash_size;
	uint64_t flushed_ns;
};

/* 0 or -ENOMEM. */
int ksyms_init(struct ksyms *k, struct bpf *bpf);

/*
 * Number and offset for an address; leaf: the address itself is meant, not
 * the instruction before it.  Never fails: KSYM_NONE, offset 0.
 */
uint32_t ksyms_find(struct ksyms *k, uint64_t addr, bool leaf, uint64_t *off);

/* Forget ranges that are older than five minutes; cheap to call often. */
void ksyms_refresh(struct ksyms *k, uint64_t now);

#endif /* LOADERD_KSYMS_H */
