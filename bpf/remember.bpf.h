/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * remember - rules that were looked up a moment ago, of this CPU
 *
 * Most frames of a stack were in the sample before, at the same stack pointer.  A
 * look-up in a table reads four lines in as many pages of memory; where the caches are
 * cold, that is half of what a sample costs (docs/BENCHMARKS.md).  So rules are kept in
 * the order of the stack: what is asked for next lies beside what was found.
 *
 * A process chooses its stack pointers, and with them whose rules it drives out: who
 * misses one looks it up, as everyone did before.  What is remembered of a place it
 * does not choose: that is known by the table's directory and the number of its file,
 * and neither is given again within a second of being dropped (symbolizerd/tables/tables.h).
 */
#ifndef BPF_REMEMBER_BPF_H
#define BPF_REMEMBER_BPF_H

#include "hash.h"
#include "lookup.bpf.h"
#include "state.bpf.h"

#define REMEMBERED	256		/* pairs; a power of two */
#define REMEMBER_SHIFT	20		/* unit of time: about a millisecond */
#define REMEMBER_TIME	860		/* 0.9 s: less than the grace period */
#define REMEMBER_STACK	7		/* 128 bytes of a stack have a pair */
#define REMEMBER_REGION	23		/* regions of 8 MiB begin anywhere */

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

/* As table_rule(); once for the verifier. */
__weak __noinline int look_up_rule(__u32 dir, __u32 pages, __u64 off)
{
	return table_rule(dir, pages, off);
}

/* The pair of rules for the frames that lie here. */
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

	if (!e)
		return NULL;
	if (is_remembered(e, place, since))
		return &e->rule;
	if (is_remembered(e + 1, place, since))
		return &e[1].rule;
	r = rule_at(look_up_rule(m->dir, m->pages, off));
	if (!r)
		return NULL;
	e += e[1].since < e->since;	/* the older one */
	e->place = place;
	e->since = since;
	e->rule = *r;
	return &e->rule;
}

#endif /* BPF_REMEMBER_BPF_H */
