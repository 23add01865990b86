/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * space - which runtimes have code in executable memory of no file
 *
 * In a stack, frames of JITed code come before any frame that names their runtime.  So
 * at the first such frame of an address space, its mappings are walked from the stack
 * downwards, where libraries lie that were mapped early, until each runtime that has such
 * code (RUNTIME_MEMORY) was asked, at a mapping of its file: NAME_owns().  The result is
 * remembered.  If there was none, the walk is repeated later, at growing intervals.
 */
#ifndef BPF_SPACE_BPF_H
#define BPF_SPACE_BPF_H

#include "bpf/runtimes.gen.h"
#include "parts.h"
#include "runtime.h"
#include "state.bpf.h"
#include "vma.bpf.h"

#define SPACES_MAX	512	/* address spaces with code of no file */
#define WALK_MAX	768	/* steps down: mappings and gaps */
/* Time until the walk is repeated: a quarter longer each time, up to 21 s. */
#define WALK_NS(tries)	((10000000ULL + 2500000ULL * ((tries) & 3)) << ((tries) >> 2 & 15))
#define WALK_TRIES	44

/* LRU: a process that is dropped is walked again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SPACES_MAX);
	__type(key, struct process_id);
	__type(value, struct space);
} rt0_spaces SEC(".maps");

/* Ask the runtime whose file is mapped in s->m. */
static __always_inline void space_ask(struct scratch *s, const struct file_entry *f)
{
	__u32 runtime = f->runtime;
	int owns;

	s->file.base = s->m.start - s->m.off;
	s->file.dir = f->dir;
	s->file.pages = f->pages;
	owns = runtime_owns(runtime, s->st.pc);
	if (owns == OWNS_CODE)
		s->space.owners |= 1ULL << (runtime & 63);
	if (owns == OWNS_LATER)
		s->space.waits = 1;
}

/* Look at the mapping at s->space_at.  True: no other is to be looked at. */
__weak __noinline int space_look(void)
{
	struct scratch *s = scratch();
	struct file_entry *f;
	__u64 next = 0;
	int found;

	if (!s)
		return 1;
	found = vma_down(s->mm, s->space_at, &s->m, s->vma, &next);
	s->space_at = next;
	if (!found || !s->m.exec || !s->m.has_file)
		return !next;
	f = bpf_map_lookup_elem(&files, &s->m.key);
	if (!f || f->exe == EXE_NONE ||
	    (f->state & FILE_STATE) == FILE_PENDING)
		s->space.waits = 1;
	if (f && f->pages && runtime_in(RUNTIMES_MEMORY & ~s->space.owners, f->runtime))
		space_ask(s, f);
	return !next || !(RUNTIMES_MEMORY & runtimes & ~s->space.owners);
}

/* Walk all mappings; the result goes into s->space and the map. */
static __always_inline void space_walk(struct scratch *s)
{
	s->space.owners = 0;
	s->space.waits = 0;
	s->space_at = (__u64)KLOAD(mm_struct, s->mm, start_stack);
	for (int i = 0; i < WALK_MAX; i++) {
		if (space_look())
			break;
	}
	s->space.looked_ns = s->now;
	if (!s->space.waits && s->space.tries < WALK_TRIES)
		s->space.tries = WALK_TRIES;
	bpf_map_update_elem(&rt0_spaces, &s->rec.process, &s->space, BPF_ANY);
}

/* Fill s->space of the current process, once a sample: from the map, or by a walk. */
__weak __noinline int space_recall(void)
{
	struct scratch *s = scratch();
	struct space *known;

	if (!s || s->space_known)
		return 0;
	s->space_known = 1;
	s->space.owners = 0;
	if (!(RUNTIMES_MEMORY & runtimes))
		return 0;
	s->space.tries = 0;
	known = bpf_map_lookup_elem(&rt0_spaces, &s->rec.process);
	if (known && (known->owners || s->now - known->looked_ns < WALK_NS(known->tries))) {
		s->space.owners = known->owners;
		return 0;
	}
	if (known) {
		__u32 more = known->tries < WALK_TRIES;

		s->space.tries = known->tries + more;
	}
	space_walk(s);
	return 0;
}

#endif /* BPF_SPACE_BPF_H */
