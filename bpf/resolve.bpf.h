/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/* resolve - which mapping holds a user address, and what is known of its file */
#ifndef BPF_RESOLVE_BPF_H
#define BPF_RESOLVE_BPF_H

#include "requests.bpf.h"
#include "runtime.h"
#include "state.bpf.h"

/*
 * Text of a file that its program has moved: to have it on huge pages it copies the text
 * and maps the copy, which has no file or one without a name, at the same addresses.  So
 * what is mapped there, from start to end, lies between mappings of one file that go on
 * where it ends: at the same distance of address and offset, or (of lld) a page further
 * beyond a segment's end.  Then s->m is the mapping above, and the file's text would
 * begin at s->base.  A process that maps other code there gives itself wrong names.
 */
__weak __noinline int find_moved_text(__u64 start, __u64 end)
{
	struct scratch *s = scratch();
	__u64 file, base, more;
	int exec;

	if (!s || !find_vma(start - 1) || !s->m.has_file || s->m.end != start)
		return 0;
	file = s->m.file;
	base = s->m.start - s->m.off;
	exec = s->m.exec;
	if (!find_vma(end) || s->m.file != file || s->m.start != end)
		return 0;
	more = s->m.start - s->m.off - base;
	if (more && (more != 1ULL << page_shift || (!exec && !s->m.exec)))
		return 0;
	s->base = exec ? base : base + more;
	return 1;
}

/* What is known of the file of s->m; ask for it if need be. */
static __always_inline struct file_entry *find_file(struct scratch *s)
{
	struct file_entry *f = bpf_map_lookup_elem(&files, &s->m.key);

	if (!f || (f->state & (FILE_ASK | FILE_ASK_HOST) &&
		   f->state & ask_bits_of(s->m.file)))
		ask_file(s, 0);
	return f;
}

/* Find the mapping of pc and remember it; index of the memo, or -1. */
__weak __noinline int resolve(__u64 pc)
{
	struct scratch *s = scratch();
	struct file_entry *f = NULL;
	struct memo *o;
	__u32 i;

	if (!s || !find_vma(pc) || !s->m.exec)
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
	if (s->m.has_file) {
		f = find_file(s);
		if (f && (f->state & FILE_STATE) == FILE_CODE)
			o->has_file = 0;
	} else if (s->vdso && s->m.start == s->vdso) {
		__builtin_memset(&s->m.key, 0, sizeof(s->m.key));
		s->m.key.size = 1;
		o->off = 0;
		f = bpf_map_lookup_elem(&files, &s->m.key);
	}
	if (!o->has_file && !(f && f->exe == EXE_VDSO)) {
		if (!find_moved_text(s->m.start, s->m.end))
			return i;
		o->off = o->start - s->base;
		o->has_file = 1;
		f = find_file(s);
	}
	if (!f || f->exe == EXE_NONE) {
		o->has_file *= 2;
		return i;
	}
	o->has_file = 1;
	o->exe = f->exe;
	o->dir = f->dir;
	o->pages = f->pages;
	if (f->runtime >= RUNTIME__MAX) {
		/* a newer hub knows it, or lies: unwound as native code */
		count(BPF_RUNTIME_UNKNOWN);
		return i;
	}
	o->runtime = f->runtime;
	s->met |= 1ULL << (f->runtime & 63);
	return i;
}

#endif /* BPF_RESOLVE_BPF_H */
