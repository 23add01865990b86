// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * sampler - one program for each sample: who runs, and how did it get there
 *
 * perf_event -> header, kernel stack, user registers -> one call of step() a
 * user frame -> one bpf_ringbuf_output().  step() and resolve() are *global*
 * functions (not static, numbers as arguments, state in a per-CPU map entry):
 * the verifier checks each once, by itself, so the loop around them may run
 * FRAMES_MAX times on every kernel from 5.10 on.
 */
#include "kern.h"

#include <linux/bpf_perf_event.h>
#include <linux/ptrace.h>

#include "count.h"
#include "entry.bpf.h"
#include "frame.h"
#include "hotspot.bpf.h"
#include "owner.bpf.h"
#include "python.bpf.h"
#include "record.h"
#include "request.h"
#include "table.h"
#include "unwind.bpf.h"
#include "vma.bpf.h"

#define MEMO		4		/* mappings remembered within a sample */
#define ASK_NS		100000000ULL	/* a need is asked once in this time */
#define ASKED_MAX	2048
#define SHARES_MAX	2048
#define NAMED_MAX	8192		/* frames whose names were sent */
#define NAMED_SAMPLE	64		/* so many in one record */
#define NAMED_NS	30000000000ULL	/* again after this time */
#define JITS_MAX	512		/* address spaces with code of no file */
#define FILTER_LEVELS	64		/* parents of a task or of a cgroup */

char LICENSE[] SEC("license") = "GPL";

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

/* What BPF asks of loaderd; small, and every entry wakes it. */
struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 16);
} requests SEC(".maps");

/* When a thing was asked for last; LRU: forgetting only asks again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, ASKED_MAX);
	__type(key, __u64);
	__type(value, __u64);
} asked SEC(".maps");

/* What a process or a user has asked for in the present second. */
struct share {
	__u64 since_ns, n;
};

/* LRU: who is forgotten begins anew. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, SHARES_MAX);
	__type(key, __u64);
	__type(value, struct share);
} shares SEC(".maps");

/* A managed frame of a process: sameness of all is sameness of names. */
struct named_key {
	__u64 start_ns, exec_id, function;
	__u32 tgid, cookie;
};

/* When names were sent last; LRU: forgetting only sends them again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, NAMED_MAX);
	__type(key, struct named_key);
	__type(value, __u64);
} named SEC(".maps");

/* An address space, and what its code is that lies in memory of no file. */
struct jit_key {
	__u64 start_ns, exec_id;
	__u64 tgid;
};

struct jit_owner {
	__u64 looked_ns;
	__u32 tries;		/* while nothing was found */
	__u32 waits;		/* 1: for a file that nobody knew yet */
	struct hotspot_vm hotspot;	/* .version 0: it is not HotSpot's */
};

/* LRU: who is forgotten is looked at again. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, JITS_MAX);
	__type(key, struct jit_key);
	__type(value, struct jit_owner);
} jits SEC(".maps");

/* By CPU, sized by loaderd.  No per-CPU map: others can map this one, so that what
 * was counted is there when loaderd is not. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, __u32);
	__type(value, struct cpu_counts);
} counts SEC(".maps");

/* What loaderd leaves for its successor; sized by loaderd, which alone uses it. */
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
	__u16 runtime;		/* enum runtime; RUNTIME_NONE if not known */
};

#ifdef __TARGET_ARCH_arm64
typedef struct user_pt_regs regs_t;
#else
typedef struct pt_regs regs_t;
#endif

/* Of one sample (guess.bpf.h). */
struct guesses {
	__u32 n;		/* callers that were guessed */
	__u32 words;		/* looked at */
	__u32 why;		/* the stack would have ended without the first one; */
	__u32 at, depth, managed;	/* .n, .st.depth and .managed were so then */
	__u8 flags;		/* rec.flags, likewise */
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
	__u32 memo_next;
	__u32 n;		/* words used in rec.words */
	__u32 no_rule;		/* why the step before had no rule, or 0 */
	__u32 files_asked;	/* in this sample */
	__u32 named_words;	/* of names, in this record */
	__u32 n_named;		/* frames whose names are in it */
	__u32 managed;		/* managed frames in it */
	__u32 after;		/* outcome of the step from a runtime's frame */
	struct guesses guesses;
	struct python_state python;
	struct hotspot_state hotspot;
	struct jit_key jit_key;
	struct jit_owner jit;
	__u64 walk_at;		/* where jit_look() looks next; 0: nowhere */
	__u32 walk_waits;	/* it met a file that nobody knows yet */
	struct named_key named[NAMED_SAMPLE + 1];	/* by this record */
	__u64 text[FRAME_MORE_MAX + 1];
	struct request_file request_file;
	struct request_cgroup request_cgroup;
	struct trace_rec rec;
	__u64 words[REC_WORDS];	/* of rec */
};

/* All state of the sample that this CPU is at. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct scratch);
} scratch_map SEC(".maps");

struct file_key identity;	/* answer of identify(), for loaderd */
__u64 symbol_addr;		/* question of loaderd, for name_symbol() */
__u32 wake;			/* loaderd for each sample: it sleeps */
__u32 modules;			/* were loaded or unloaded since loaderd looked */
__u64 asked_since;		/* what was asked for before is forgotten */

const volatile __u64 ring_wake_bytes = 1 << 18;	/* wake loaderd beyond this */
const volatile __u32 thread_size = 16384;	/* kernel stack, before 5.15 */
const volatile struct task_filter filter;		/* constant, so what is not asked for is
						 * dropped when the program is loaded */

static __always_inline struct scratch *scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_map, &zero);
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

#include "lookup.bpf.h"
#include "requests.bpf.h"
#include "filter.bpf.h"
#include "regs.bpf.h"

#include "managed.bpf.h"
#include "jit.bpf.h"

/* --- frames --------------------------------------------------------------- */

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
		    f->state & asks_of(s->m.file))))
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

#include "hotspot_frames.bpf.h"
#include "remember.bpf.h"
#include "frames.bpf.h"

/* --- the sample ----------------------------------------------------------- */

static __always_inline void describe(struct scratch *s, __u64 task)
{
	struct trace_rec *r = &s->rec;
	__u64 id = bpf_get_current_pid_tgid(), leader, file;
	struct file_entry *f;

	r->kind = REC_SAMPLE;
	r->version = REC_VERSION;
	r->flags = 0;
	r->time_ns = s->now;
	r->tgid = id >> 32;
	r->tid = (__u32)id;
	leader = (__u64)KLOAD(task_struct, task, group_leader);
	r->start_ns = KLOAD(task_struct, leader, start_boottime);
	r->exec_id = KLOAD(task_struct, task, self_exec_id);
	r->cgroup_id = bpf_get_current_cgroup_id();
	r->exe = EXE_NONE;
	r->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	if (!s->mm)
		return;
	file = (__u64)KLOAD(mm_struct, s->mm, exe_file);
	if (!file)
		return;
	file_key_of(file, &s->m.key);
	f = bpf_map_lookup_elem(&files, &s->m.key);
	if (f)
		r->exe = f->exe;
}

/* Words of a record that may be sent. */
#define REC_WORDS_MAX	((RECORD_MAX - sizeof(struct trace_rec)) / 8)

static __always_inline __u32 unwind_user(struct scratch *s)
{
	__u32 stop = STOP_NOT;

	for (int i = 0; i < FRAMES_MAX; i++) {
		/* room for the longest frame and two marks behind it */
		if (s->n > REC_WORDS_MAX - FRAME_WORDS_MAX - 2)
			break;
		stop = step();
		if (stop != STOP_NOT)
			return stop;
	}
	push(s, (__u64)FRAME_CUT << FRAME_KIND_SHIFT);
	return STOP_CUT;
}

static __always_inline void send(struct scratch *s, __u64 t0)
{
	__u32 words = s->n & (REC_WORDS - 1);
	__u32 len = sizeof(struct trace_rec) + words * 8;
	struct cpu_counts *c = counts_here();
	__u64 flags = BPF_RB_NO_WAKEUP;
	int full;

	s->rec.n_user = words - s->rec.n_kernel;
	s->rec.len = len;
	if (wake || bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > ring_wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	s->rec.run_ns = bpf_ktime_get_ns() - t0;
	if (!c)
		return;
	c->n[BPF_RUN_NS] += s->rec.run_ns;
	c->n[BPF_FRAMES] += s->st.depth;
	c->n[BPF_MANAGED] += s->managed;
	if (s->rec.stop < STOP__MAX)
		c->n[BPF_STOP + s->rec.stop]++;
	full = bpf_ringbuf_output(&ring, &s->rec, len, flags) != 0;
	/* together: others read while we count */
	c->n[full ? BPF_RING_FULL : BPF_SENT]++;
	if (full)
		forget_names(s);
	c->n[BPF_TAKEN]++;
}

/* A new sample of the current task. */
static __always_inline void begin(struct scratch *s, __u64 task)
{
	s->now = bpf_ktime_get_ns();
	s->mm = KLOAD(task_struct, task, flags) & PF_KTHREAD ? 0 :
		(__u64)KLOAD(task_struct, task, mm);
	s->vdso = s->mm ? (__u64)KLOAD(mm_struct___ctx, s->mm, context.vdso) : 0;
	describe(s, task);
	for (int i = 0; i < MEMO; i++)
		s->memo[i].start = s->memo[i].end = 0;
	s->memo_next = 0;
	s->no_rule = 0;
	s->files_asked = 0;
	s->named_words = 0;
	s->n_named = 0;
	s->managed = 0;
#ifndef __TARGET_ARCH_arm64
	__builtin_memset(&s->guesses, 0, sizeof(s->guesses));
#endif
	__builtin_memset(&s->python, 0, PYTHON_STATE_BEGIN);
	__builtin_memset(&s->hotspot, 0, HOTSPOT_STATE_BEGIN);
	s->st.depth = 0;
	s->st.exact = EXACT;
	s->st.window_len = 0;
}

SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = scratch();
	__u64 task = (__u64)bpf_get_current_task();
	long len = 0;

	if (!s || !(bpf_get_current_pid_tgid() & 0xffffffff))
		return 0;	/* idle */
	if (filter.kind != FILTER_ALL && !wanted())
		return 0;
	begin(s, task);
	if (!REGS_IN_USER(&ctx->regs))
		len = bpf_get_stack(ctx, s->words, KERNEL_MAX * 8, 0);
	s->n = len > 0 ? len / 8 : 0;
	s->rec.n_kernel = s->n;

	if (REGS_IN_USER(&ctx->regs))
		s->regs = ctx->regs;
	else if (!s->mm || entry_regs(&s->regs, task))
		s->mm = 0;
	if (!s->mm || !REGS_IN_USER(&s->regs)) {
		s->rec.stop = STOP_NO_USER;
	} else if (REGS_COMPAT(&s->regs)) {
		s->rec.stop = STOP_COMPAT;
	} else {
		take_regs(&s->st, &s->regs);
		s->rec.stop = guesses_judged(s, unwind_user(s));
	}
	if (may_ask(s->rec.cgroup_id | 1ULL << 63, s->now)) {
		note_asked(s->rec.cgroup_id | 1ULL << 63, s->now);
		ask_cgroup();
	}
	send(s, s->now);
	return 0;
}

/*
 * A program begins.  If nobody knows its file yet, it is asked for now: so its table
 * is there before most first samples, and its file is open before a short life ends.
 * A sample that interrupts this may mix what is asked for: loaderd confirms it.
 */
SEC("raw_tp/sched_process_exec")
int executed(struct bpf_raw_tracepoint_args *ctx)
{
	struct scratch *s = scratch();
	__u64 task = (__u64)bpf_get_current_task(), leader;
	__u64 mm = (__u64)KLOAD(task_struct, task, mm);

	if (!s || !mm || (filter.kind != FILTER_ALL && !wanted()) ||
	    !vma_lookup(mm, KLOAD(mm_struct, mm, start_code), &s->m, s->vma) ||
	    !s->m.exec || !s->m.has_file ||
	    bpf_map_lookup_elem(&files, &s->m.key))
		return 0;
	leader = (__u64)KLOAD(task_struct, task, group_leader);
	s->now = bpf_ktime_get_ns();
	s->rec.tgid = bpf_get_current_pid_tgid() >> 32;
	s->rec.start_ns = KLOAD(task_struct, leader, start_boottime);
	s->files_asked = 0;
	ask_file(s, 1);
	return 0;
}

/* --- for loaderd itself ---------------------------------------------------- */

/*
 * Which file is mapped at args[0] of the caller?  By test_run, in the caller's
 * own context: so loaderd learns, from the kernel, what a descriptor is.  0: none;
 * 1; 2: and its path is the host's.
 */
SEC("raw_tp")
int identify(struct bpf_raw_tracepoint_args *ctx)
{
	struct scratch *s = scratch();
	__u64 task = (__u64)bpf_get_current_task();
	struct mapping m = {};
	__u64 mm;

	if (!s)
		return 0;
	mm = (__u64)KLOAD(task_struct, task, mm);
	if (!mm || !vma_lookup(mm, ctx->args[0], &m, s->vma) || !m.has_file)
		return 0;
	identity = m.key;
	return 1 + host_path(m.file);
}

/* Every executable mapping of a file, of every process that is sampled, of who
 * reads this (loaderd, which checks its own), and of a command's launcher, which
 * maps what the command will, at start (5.12+). */
SEC("iter/task_vma")
int list_files(struct bpf_iter__task_vma *ctx)
{
	struct vm_area_struct *v = ctx->vma;
	struct task_struct *t = ctx->task;
	struct request_file n = { .kind = REQUEST_FILE };

	if (!v || !t || t->pid != t->tgid || !(v->vm_flags & VM_EXEC) ||
	    !v->vm_file)
		return 0;
	if (filter.kind != FILTER_ALL && !is_wanted((__u64)t) &&
	    t->tgid != bpf_get_current_pid_tgid() >> 32 &&
	    (filter.kind != FILTER_BELOW || (__u64)t->tgid != filter.id[0]))
		return 0;
	n.tgid = t->tgid;
	n.start_ns = t->start_boottime;
	n.start = v->vm_start;
	n.end = v->vm_end;
	file_key_of((__u64)v->vm_file, &n.key);
	n.ask = asks_of((__u64)v->vm_file);
	n.runs = t->on_rq != 0;
	n.ns_tgid = host_mounts((__u64)t) ? own_number((__u64)t) : 0;
	bpf_seq_write(ctx->meta->seq, &n, sizeof(n));
	return 0;
}

/*
 * A module's code will run, or was unloaded: addresses may have other names now.  Of its
 * own two tracepoints; its first instruction runs after the former.
 */
SEC("raw_tp")
int modules_changed(struct bpf_raw_tracepoint_args *ctx)
{
	modules = 1;
	return 0;
}

/*
 * "name+offset/size [module]" of symbol_addr, for who reads this iterator over
 * a map of one element: no kallsyms, no CAP_SYSLOG, right for modules and BPF
 * programs.  bpf_seq_printf() knows %pB from 5.9 on, bpf_snprintf() from 5.13.
 */
SEC("iter/bpf_map_elem")
int name_symbol(struct bpf_iter__bpf_map_elem *ctx)
{
	static const char fmt[] = "%pB";

	if (ctx->key)
		bpf_seq_printf(ctx->meta->seq, fmt, sizeof(fmt), &symbol_addr,
			       sizeof(symbol_addr));
	return 0;
}
