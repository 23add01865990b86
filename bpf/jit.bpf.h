/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * jit - which runtime has code in executable memory of no file
 *
 * In a stack, frames of JITed code come before any frame that names their runtime.  So
 * at the first such frame of an address space, its mappings are walked from the stack
 * downwards, where libraries lie that were mapped early, until one is of the file of a
 * runtime with a JIT.  The result is remembered.  If there was none, the walk is
 * repeated later, at growing intervals.
 */
#ifndef BPF_JIT_BPF_H
#define BPF_JIT_BPF_H

#include "hotspot.bpf.h"
#include "lookup.bpf.h"
#include "runtime.h"
#include "state.bpf.h"
#include "vma.bpf.h"

#define WALK_MAX	768	/* steps down: mappings and gaps */
/* Time until the walk is repeated: a quarter longer each time, up to 21 s. */
#define WALK_NS(tries)	((10000000ULL + 2500000ULL * ((tries) & 3)) << ((tries) >> 2 & 15))
#define WALK_TRIES	44

/* Look at the mapping at s->walk_at.  True: it is of a runtime's file, and s->hotspot.vm
 * is filled. */
__weak __noinline int jit_look(void)
{
	struct scratch *s = scratch();
	const struct unwind_rule *facts;
	struct file_entry *f;
	__u64 next = 0;
	int found;

	if (!s)
		return 0;
	found = vma_down(s->mm, s->walk_at, &s->m, s->vma, &next);
	s->walk_at = next;
	if (!found || !s->m.exec || !s->m.has_file)
		return 0;
	f = bpf_map_lookup_elem(&files, &s->m.key);
	if (!f || f->exe == EXE_NONE ||
	    (f->state & FILE_STATE) == FILE_PENDING)
		s->walk_waits = 1;
	if (!f || f->runtime != RUNTIME_HOTSPOT || !f->pages)
		return 0;
	facts = rule_at(table_rule(f->dir, f->pages, 0));
	if (!facts || facts->cfa != CFA_RUNTIME ||
	    !hotspot_has_layout(RUNTIME_VERSION(facts)))
		return 0;
	hotspot_find(&s->hotspot, RUNTIME_VERSION(facts),
		     s->m.start - s->m.off + RUNTIME_ROOT(facts));
	if (!s->hotspot.vm.version)	/* the runtime is there but has no code yet */
		s->walk_waits = 1;
	return s->hotspot.vm.version != 0;
}

/* Walk all mappings; the result goes into s->jit and the map `jits`. */
static __always_inline void jit_walk(struct scratch *s)
{
	s->hotspot.vm.version = 0;
	s->walk_waits = 0;
	s->walk_at = (__u64)KLOAD(mm_struct, s->mm, start_stack);
	for (int i = 0; i < WALK_MAX; i++) {
		if (!s->walk_at || jit_look())
			break;
	}
	s->jit.looked_ns = s->now;
	s->jit.waits = s->walk_waits;
	s->jit.hotspot = s->hotspot.vm;
	if (!s->jit.waits && s->jit.tries < WALK_TRIES)
		s->jit.tries = WALK_TRIES;
	bpf_map_update_elem(&jits, &s->rec.process, &s->jit, BPF_ANY);
}

/* Fill s->hotspot.vm of the current process: from the map `jits`, or by a walk. */
static __always_inline void jit_recall(struct scratch *s)
{
	struct jit_owner *j;

	s->hotspot.known = 1;
	s->jit.tries = 0;
	s->hotspot.vm.version = 0;
	j = bpf_map_lookup_elem(&jits, &s->rec.process);
	if (j && (j->hotspot.version || s->now - j->looked_ns < WALK_NS(j->tries))) {
		s->hotspot.vm = j->hotspot;
		return;
	}
	if (j) {
		int more = j->tries < WALK_TRIES;

		s->jit.tries = j->tries + more;
	}
	jit_walk(s);
}

/* The runtime that memory of no file belongs to in the current process; RUNTIME_NONE: no
 * known one. */
__weak __noinline int jit_runtime(void)
{
	struct scratch *s = scratch();

	if (!s)
		return RUNTIME_NONE;
	if (!s->hotspot.known)
		jit_recall(s);
	return s->hotspot.vm.version ? RUNTIME_HOTSPOT : RUNTIME_NONE;
}

#endif /* BPF_JIT_BPF_H */
