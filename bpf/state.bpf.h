/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * state - the maps, what loaderd sets, and the state of the sample at hand
 *
 * Every part of the sampler that is not a pure function of its arguments includes this.
 * Global functions get the state by scratch(): not all kernels let them take a pointer.
 */
#ifndef BPF_STATE_BPF_H
#define BPF_STATE_BPF_H

#include "kern.h"

#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include "count.h"
#include "file.h"
#include "frame.h"
#include "lookup.bpf.h"
#include "record.h"
#include "request.h"
#include "runtime.h"
#include "table.h"
#include "unwind.bpf.h"
#include "vma.bpf.h"

#define MEMO		4		/* mappings remembered within a sample */
#define ASKED_MAX	2048
#define SHARES_MAX	2048
#define NAMED_SAMPLE	64		/* in one record, at most */

/* --- maps ---------------------------------------------------------------- */

/* Files that the kernel has confirmed.  A hash: looked up once per mapping and sample. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, FILES_MAX);
	__type(key, struct file_key);
	__type(value, struct file_entry);
} files SEC(".maps");

/* Tables and rules.  Inner maps of one fixed size: their lookups are inlined;
 * mappable: loaderd writes them by memcpy. */
struct slab_map {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, SLAB_ELEMENTS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, union element);
} slab0 SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY_OF_MAPS);
	__uint(max_entries, SLABS_MAX);
	__type(key, __u32);
	__array(values, struct slab_map);
} slabs SEC(".maps") = { .values = { &slab0 } };

/* Records on their way to loaderd; sized by loaderd. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 19);
} ring SEC(".maps");

/* Requests to loaderd; small, and every entry wakes it. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} requests SEC(".maps");

/* When each thing was asked for last; LRU: what is dropped is only asked for again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ASKED_MAX);
	__type(key, __u64);
	__type(value, __u64);
} asked SEC(".maps");

/* How much a process or a user has asked for in this second. */
struct share {
	__u64 since_ns;
	__u32 n, lists;		/* files; lists of a process's mappings */
};

/* LRU: an entry that is dropped begins anew. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SHARES_MAX);
	__type(key, __u64);
	__type(value, struct share);
} shares SEC(".maps");

/* A managed frame of a process: equal keys have equal names. */
struct named_key {
	struct process_id process;
	__u64 function, cookie;
};

/* By CPU, sized by loaderd.  Not a per-CPU map: the hub can map this one, so that counts
 * can be read while loaderd is away. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct cpu_counts);
} counts SEC(".maps");

/* Data of loaderd for its successor; sized and used by loaderd only. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} left SEC(".maps");

struct memo {
	__u64 start, end, off;
	__u32 exe, dir, pages;
	__u16 has_file;		/* 0: anonymous; 1: known; 2: no number yet */
	__u16 runtime;		/* enum runtime; RUNTIME_NONE if not known, or no file */
};

/* A file that is mapped, for its runtime. */
struct runtime_file {
	__u64 base;		/* the address of its place 0, mapped or not */
	__u32 dir, pages;	/* its table */
};

/* The address space of a process: which runtimes have code in memory of no file. */
struct space {
	__u64 looked_ns;
	__u32 tries;		/* searches that found nothing */
	__u32 waits;		/* 1: a file was not known yet */
	__u64 owners;		/* bits of enum runtime */
};

#ifdef __TARGET_ARCH_arm64
typedef struct user_pt_regs regs_t;
#else
typedef struct pt_regs regs_t;
#endif

/* Of one sample (guess.bpf.h). */
struct guesses {
	__u32 n;		/* callers that were guessed */
	__u32 words;		/* that were looked at */
	__u32 why;		/* how the stack would have ended without the first one */
	__u32 at, depth, managed;	/* .n, .st.depth and .managed before the first one */
	__u8 flags;		/* rec.flags before the first one */
};

struct scratch {
	__u64 vma[VMA_SCRATCH_WORDS];
	struct mapping m;
	struct memo memo[MEMO];
	struct unwind_state st;
	regs_t regs;		/* arm64: too large for the stack */
	__u64 mm;
	__u64 vdso;
	__u64 now;
	__u64 base;		/* of find_moved_text() */
	__u32 memo_next;
	__u32 n;		/* words used in rec.words */
	__u32 no_rule;		/* why the step before had no rule, or 0 */
	__u32 files_asked;	/* in this sample */
	__u32 named_words;	/* of names, in this record */
	__u32 n_named;		/* frames whose names are in it */
	__u32 managed;		/* managed frames in it */
	struct guesses guesses;
	/* of runtimes: walk.bpf.h */
	__u64 fresh;		/* bits of those that have a state in this sample */
	__u64 met;		/* ... whose files are in this stack */
	__u64 ended;		/* ... that were asked what comes where it ends */
	__u32 inside;		/* the runtime whose frames are next; 0: none */
	__u32 stopped;		/* when it has no more: enum stop_reason */
	__u32 part, part_of;	/* of step(): what it came to, and whose it is */
	struct runtime_file file;	/* ... in which file */
	struct unwind_rule rule;	/* ... the rule of a loop */
	__u64 loop_word;	/* the frame of a loop that was taken back; or 0 */
	__u32 loop_managed;	/* .managed then */
	__u32 reads;		/* of memory, by runtimes */
	__u64 passed;		/* the last step was by frame pointer, from this stack
				 * pointer; 0: it was not */
	struct space space;
	__u32 space_known;
	__u32 space_lost;	/* a runtime has lost what it knew of it */
	__u32 pad;
	__u64 space_at;		/* where space_look() looks next; 0: nowhere */
	struct named_key named[NAMED_SAMPLE + 1];	/* by this record */
	__u64 text[FRAME_MORE_MAX + 1];
	struct request_file request_file;
	struct request_cgroup request_cgroup;
	__u64 name_at;		/* of ask_cgroup(): what is to be read next; 0: nothing */
	struct trace_rec rec;
	__u64 words[REC_WORDS];	/* of rec */
};

/* All state of the sample that this CPU takes. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_map SEC(".maps");

struct file_key identity;	/* answer of identify(), for loaderd */
__u64 symbol_addr;		/* question of loaderd, for name_symbol() */
__u32 wake;			/* wake loaderd for each sample: it sleeps */
__u32 modules;			/* some were loaded or unloaded since loaderd looked */
__u64 asked_since;		/* what was asked for before this time is forgotten */

const volatile __u64 ring_wake_bytes = 1 << 18;	/* wake loaderd beyond this */
const volatile __u32 thread_size = 16384;	/* kernel stack, before 5.15 */
/* Bits of enum runtime: those that the host has.  A map of its own, which loaderd replaces
 * when it loads the program again; constant, so the verifier does not look at the others. */
const volatile __u64 runtimes SEC(".rodata.runtimes") = ~0ULL;
#define RUNTIME_ON(r)	(runtimes >> (r) & 1)
const volatile struct task_filter filter;		/* constant, so what is not asked for is
						 * dropped when the program is loaded */

static __always_inline struct scratch *scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_map, &zero);
}

/* Fill s->m with the mapping of addr; 0: there is none.  Global, so that it is verified
 * once. */
__weak __noinline int find_vma(__u64 addr)
{
	struct scratch *s = scratch();

	return s && vma_lookup(s->mm, addr, &s->m, s->vma);
}

static __always_inline struct cpu_counts *counts_here(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&counts, &cpu);
}

static __always_inline const union element *element_at(__u32 pos)
{
	__u32 slab = pos >> SLAB_SHIFT, i = pos & (SLAB_ELEMENTS - 1);
	void *inner = bpf_map_lookup_elem(&slabs, &slab);

	return inner ? bpf_map_lookup_elem(inner, &i) : NULL;
}

static __always_inline void count(__u32 which)
{
	struct cpu_counts *c = counts_here();

	if (c && which < BPF_COUNT__MAX)
		c->n[which]++;
}

/* The state of a runtime in a sample: a map of its own, which is only there if the runtime
 * is, and a function that finds it.  The first use in a sample clears it: first_use(). */
#ifndef RUNTIME_STATE
#define RUNTIME_STATE(number, name)					\
struct {								\
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);			\
	__uint(max_entries, 1);						\
	__type(key, __u32);						\
	__type(value, struct name);					\
} rt##number##_state SEC(".maps");					\
									\
static __always_inline struct name *name(void)				\
{									\
	__u32 zero = 0;							\
									\
	return bpf_map_lookup_elem(&rt##number##_state, &zero);		\
}
#endif

/* Is this runtime one of those, and does this host have it?  of: RUNTIMES_... */
static __always_inline int runtime_in(__u64 of, __u32 runtime)
{
	/* a shift by what is not constant would not be: for the verifier of 5.10 */
	return runtime < RUNTIME__MAX && (of & runtimes & 1ULL << (runtime & 63)) != 0;
}

/* Is this the first use of a runtime's state in the sample?  Then it is to be cleared. */
static __always_inline int first_use(struct scratch *s, __u32 runtime)
{
	__u64 bit = 1ULL << runtime;

	if (s->fresh & bit)
		return 0;
	s->fresh |= bit;
	return 1;
}

/* Append a word to the record. */
static __always_inline void push(struct scratch *s, __u64 word)
{
	s->words[s->n & (REC_WORDS - 1)] = word;
	s->n++;
}

#endif /* BPF_STATE_BPF_H */
