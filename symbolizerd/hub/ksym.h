/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksym - names of the kernel symbols that records refer to by number
 */
#ifndef SYMBOLIZERD_HUB_KSYM_H
#define SYMBOLIZERD_HUB_KSYM_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/record.h"

struct ksyms {
	char **v;		/* by number; NULL: not defined */
	uint32_t n;
};

void ksyms_clear(struct ksyms *k);

/* Define a number by a record that was judged.  0 or -ENOMEM. */
int ksyms_set(struct ksyms *k, const struct ksym_rec *rec);

/*
 * "tcp_sendmsg", or "ext4_map [ext4]" for a symbol of a module: the length of
 * the function's name and what it belongs to, "[kernel]" or "[ext4]", borrowed.
 * Returns the name, or NULL for an unknown number.
 */
const char *ksyms_find(const struct ksyms *k, uint32_t number, size_t *len,
		       const char **owner);

#endif /* SYMBOLIZERD_HUB_KSYM_H */
