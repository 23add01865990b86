/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * remember - a cache of the rules that this CPU looked up last
 *
 * Most frames of a stack were in the sample before, at the same stack pointer.  A
 * lookup in a table reads four cache lines in as many pages; where the caches are cold,
 * that is half of the cost of a sample (docs/BENCHMARKS.md).  So rules are kept in the
 * order of the stack: the next one that is needed lies beside the last one.
 *
 * A process chooses its stack pointers, and so which cached rules it replaces: a rule that
 * is missing is looked up.  It cannot choose what is cached for a place: that is found by
 * the table's directory and the number of the file, and neither is reused within a second
 * after it was dropped (symbolizerd/tables/tables.h).
 */
#ifndef BPF_REMEMBER_BPF_H
#define BPF_REMEMBER_BPF_H

#include "hash.h"
#include "lookup.bpf.h"
#include "state.bpf.h"

#define REMEMBERED	256		/* pairs; a power of two */
#define REMEMBER_SHIFT	20		/* unit of time: about a millisecond */
#define REMEMBER_TIME	860		/* 0.9 s: less than the grace period */
#define REMEMBER_STACK	7		/* each 128 bytes of a stack have a pair */
#define REMEMBER_REGION	23		/* regions of 8 MiB start at hashed pairs */

struct remembered {
	__u64 place;		/* directory << 36 | offset in the file */
	__u64 since;		/* time << 20 | number of the file */
	struct unwind_rule rule;
};

struct remembered_rules {
	struct remembered v[REMEMBERED][2];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct remembered_rules);
} remembered_rules SEC(".maps");

/* As table_rule(); global, so that it is verified once. */
__weak __noinline int look_up_rule(__u32 dir, __u32 pages, __u64 off)
{
	return table_rule(dir, pages, off);
}

/* The pair of rules for frames at this stack pointer. */
static __always_inline struct remembered *remembered_at(__u64 sp)
{
	__u64 region = (sp >> REMEMBER_REGION) * HASH_FACTOR >> 32;
	struct remembered_rules *all;
	__u32 zero = 0;

	all = bpf_map_lookup_elem(&remembered_rules, &zero);
	return all ? all->v[((sp >> REMEMBER_STACK) + region) &
			    (REMEMBERED - 1)] : NULL;
}

static __always_inline int is_remembered(const struct remembered *e, __u64 place,
					 __u64 since)
{
	return e->place == place &&
	       !((e->since ^ since) & FRAME_NUMBER_MASK) &&
	       (since >> REMEMBER_SHIFT) - (e->since >> REMEMBER_SHIFT) <
	       REMEMBER_TIME;
}

/* The rule for a place of a file that has a table; NULL: an element is missing. */
static __always_inline const struct unwind_rule *
find_rule(const struct scratch *s, const struct memo *m, __u64 off)
{
	__u64 place = (__u64)m->dir << FRAME_NUMBER_SHIFT | (off & FRAME_PLACE_MASK);
	__u64 since = s->now >> REMEMBER_SHIFT << REMEMBER_SHIFT | m->exe;
	struct remembered *e = remembered_at(s->st.sp);
	const struct unwind_rule *r;
	__u32 older;	/* which of the two */

	if (!e)
		return NULL;
	if (is_remembered(e, place, since))
		return &e->rule;
	if (is_remembered(e + 1, place, since))
		return &e[1].rule;
	r = rule_at(look_up_rule(m->dir, m->pages, off));
	if (!r)
		return NULL;
	older = e[1].since < e->since;
	e = &e[older];
	e->place = place;
	e->since = since;
	e->rule = *r;
	return &e->rule;
}

#endif /* BPF_REMEMBER_BPF_H */
