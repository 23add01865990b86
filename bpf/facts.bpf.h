/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * facts - what the table of a runtime's file says of the file
 *
 * Rules of CFA_RUNTIME at its first places, where no code is.  Each has three numbers:
 * RUNTIME_VERSION, RUNTIME_ROOT and RUNTIME_AUX (table.h).
 */
#ifndef BPF_FACTS_BPF_H
#define BPF_FACTS_BPF_H

#include "remember.bpf.h"
#include "state.bpf.h"

/* Fact n of the file at hand, s->file; NULL: there is none. */
static __always_inline const struct unwind_rule *fact_of(const struct scratch *s, __u32 n)
{
	const struct unwind_rule *r;

	if (n >= RUNTIME_FACTS)
		return NULL;
	r = rule_at(look_up_rule(s->file.dir, s->file.pages, n));
	return r && r->cfa == CFA_RUNTIME ? r : NULL;
}

#endif /* BPF_FACTS_BPF_H */
