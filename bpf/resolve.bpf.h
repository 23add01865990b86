/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* resolve - which mapping holds a user address, and what is known of its file */
#ifndef BPF_RESOLVE_BPF_H
#define BPF_RESOLVE_BPF_H

#include "jit.bpf.h"
#include "owner.bpf.h"
#include "requests.bpf.h"
#include "state.bpf.h"

/* Find the mapping of pc and remember it; index of the memo, or -1. */
__weak __noinline int resolve(__u64 pc)
{
	struct scratch *s = scratch();
	struct file_entry *f;
	struct memo *o;
	__u32 i;

	if (!s || !vma_lookup(s->mm, pc, &s->m, s->vma) || !s->m.exec)
		return -1;
	i = s->memo_next & (MEMO - 1);
	o = &s->memo[i];
	/* a mapping that is being written may be torn: not for the next frame */
	o->start = s->m.busy ? pc : s->m.start;
	o->end = s->m.busy ? pc + 1 : s->m.end;
	o->off = s->m.off + (o->start - s->m.start);
	o->exe = EXE_NONE;
	o->dir = o->pages = 0;
	o->runtime = RUNTIME_NONE;
	o->has_file = s->m.has_file;
	s->memo_next++;
	if (!s->m.has_file) {
		if (!s->vdso || s->m.start != s->vdso) {
			o->runtime = jit_runtime();
			return i;
		}
		__builtin_memset(&s->m.key, 0, sizeof(s->m.key));
		s->m.key.size = 1;
		o->off = 0;
	}
	f = bpf_map_lookup_elem(&files, &s->m.key);
	if (s->m.has_file &&
	    (!f || (f->state & (FILE_ASK | FILE_ASK_HOST) &&
		    f->state & ask_bits_of(s->m.file))))
		ask_file(s, 0);
	if (!f || f->exe == EXE_NONE) {
		o->has_file *= 2;
		return i;
	}
	o->has_file = 1;
	o->exe = f->exe;
	o->dir = f->dir;
	o->pages = f->pages;
	o->runtime = f->runtime;
	if (!runtime_is_known(f->runtime))
		count(BPF_RUNTIME_UNKNOWN);
	return i;
}

#endif /* BPF_RESOLVE_BPF_H */
