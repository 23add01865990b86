/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ksym - kernel symbols, by name
 *
 * loaderd numbers symbols as it meets them, forgets and numbers them again.  A
 * record's numbers are exchanged for our own as it comes in: one for each name,
 * so that the same stack is the same whatever loaderd called it.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_KSYM_H
#define SYMBOLIZERD_KNOWLEDGE_KSYM_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "common/hash_table.h"
#include "common/vector.h"
#include "symbolizerd/knowledge/name_source.h"
#include "symbolizerd/knowledge/trace.h"

#define KSYM_UNKNOWN	0	/* our number for what has no name */
#define KSYM_NO_NAME	"[kernel]"	/* docs/SUPPORT.md has what stands for names */
#define KSYM_NAMES_MAX	(1u << 17)	/* more stay unknown until some are forgotten */

struct ksym_name {
	char *name;		/* name, NUL, module or nothing, NUL; NULL: free, or [0] */
	uint64_t hash;
	bool used;		/* while sweeping */
};

struct ksym_names {				/* zero-initialised */
	uint64_t seed;
	struct hash_table by_name;
	VECTOR(struct ksym_name) names;
	uint32_t max;			/* KSYM_NAMES_MAX, but for tests; 0: likewise */
	uint32_t *unused;		/* numbers of free ones; NULL until there are any */
	uint32_t n_unused;
	uint64_t full;			/* symbols that stayed unknown for want of room */
	uint32_t *ours;			/* by loaderd's number */
	uint32_t cap;			/* of ours */
};

void ksym_clear(struct ksym_names *k);

/* What loaderd's number means from now on; rec was judged.  0 or -ENOMEM: then
 * it means KSYM_UNKNOWN. */
int ksym_set(struct ksym_names *k, const struct ksym_rec *rec);

/* When there is no room for more: forget what neither a trace nor a number of loaderd's has;
 * if there is none, what no trace has.  loaderd names its symbols anew now and then. */
void ksym_sweep(struct ksym_names *k, const struct traces *traces);

/* Put our numbers into the kernel part of a record that was judged. */
void ksym_translate(const struct ksym_names *k, struct trace_rec *rec);

/* The function's name of one of our numbers, KSYM_NO_NAME for KSYM_UNKNOWN, and what it
 * belongs to: "[kernel]", or "[ext4]" for a symbol of a module.  Borrowed; NULL if it is
 * not one of ours. */
const char *ksym_find(const struct ksym_names *k, uint32_t number, const char **module);

extern const struct name_source ksym_source;	/* of struct ksym_names */

#endif /* SYMBOLIZERD_KNOWLEDGE_KSYM_H */
