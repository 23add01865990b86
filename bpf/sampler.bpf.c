// SPDX-License-Identifier: GPL-2.0-only
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

#include "record.h"
#include "table.h"
#include "unwind.bpf.h"
#include "vma.bpf.h"

#define MEMO		4		/* mappings remembered within a sample */
#define ASK_NS		100000000ULL	/* a need is asked once in this time */
#define ASKED_MAX	2048
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
struct slab {
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
	__array(values, struct slab);
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

struct counts {
	__u64 n[BPF_COUNT__MAX];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct counts);
} counts SEC(".maps");

struct memo {
	__u64 start, end, off;
	__u32 exe, dir, pages;
	__u32 has_file;		/* 0: anonymous; 1: known; 2: no number yet */
};

#ifdef __TARGET_ARCH_arm64
typedef struct user_pt_regs regs_t;
#else
typedef struct pt_regs regs_t;
#endif

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
	__u32 guess;		/* why the step before had no rule, or 0 */
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

const volatile __u64 ring_wake_bytes = 1 << 18;	/* wake loaderd beyond this */
const volatile __u32 thread_size = 16384;	/* kernel stack, before 5.15 */
const volatile struct task_filter filter;		/* constant, so what is not asked for is
						 * dropped when the program is loaded */

static __always_inline struct scratch *scratch(void)
{
	__u32 zero = 0;

	return bpf_map_lookup_elem(&scratch_map, &zero);
}

static __always_inline const union element *element_at(__u32 pos)
{
	__u32 slab = pos >> SLAB_SHIFT, i = pos & (SLAB_ELEMENTS - 1);
	void *inner = bpf_map_lookup_elem(&slabs, &slab);

	return inner ? bpf_map_lookup_elem(inner, &i) : NULL;
}

#include "lookup.bpf.h"

/* --- requests ---------------------------------------------------------------- */

/* True if this thing may be asked for now; remembers that it was. */
static __always_inline int may_ask(__u64 thing, __u64 now)
{
	__u64 *last = bpf_map_lookup_elem(&asked, &thing);

	if (last && (*last == ~0ULL || now - *last < ASK_NS))
		return 0;
	bpf_map_update_elem(&asked, &thing, &now, BPF_ANY);
	return 1;
}

static __always_inline void count(__u32 which)
{
	__u32 zero = 0;
	struct counts *c = bpf_map_lookup_elem(&counts, &zero);

	if (c && which < BPF_COUNT__MAX)
		c->n[which]++;
}

static __always_inline __u64 mix(__u64 a, __u64 b)
{
	return (a ^ (b * 0x9e3779b97f4a7c15ULL)) * 0xbf58476d1ce4e5b9ULL;
}

static __always_inline void ask_file(struct scratch *s)
{
	struct request_file *n = &s->request_file;
	struct file_key *k = &s->m.key;
	__u64 thing = mix(mix(k->ino ^ k->size, k->ctime),
			  ((__u64)k->dev << 32) ^ k->ctime_ns ^ k->generation);

	if (!may_ask(thing >> 1, s->now))
		return;
	n->kind = REQUEST_FILE;
	n->tgid = s->rec.tgid;
	n->start_ns = s->rec.start_ns;
	n->start = s->m.start;
	n->end = s->m.end;
	n->key = *k;
	if (bpf_ringbuf_output(&requests, n, sizeof(*n), 0))
		count(BPF_REQUEST_FULL);
}

static __always_inline __u64 kernfs_parent(__u64 kn)
{
	if (bpf_core_field_exists(struct kernfs_node___6_15, __parent))
		return (__u64)KLOAD(kernfs_node___6_15, kn, __parent);
	return (__u64)KLOAD(kernfs_node___old, kn, parent);
}

/* A kernel string, cut to what fits. */
static __always_inline void read_name(char *dst, __u64 src)
{
	__u64 *word = (__u64 *)dst;

	if (!bpf_rdonly_cast) {
		bpf_probe_read_kernel_str(dst, CGROUP_NAME, (void *)src);
		return;
	}
	for (int i = 0; i < CGROUP_NAME / 8; i++) {
		__u64 v = LOAD(src + i * 8);

		word[i] = v;
		if ((v - 0x0101010101010101ULL) & ~v & 0x8080808080808080ULL)
			return;		/* one of its bytes is 0 */
	}
	dst[CGROUP_NAME - 1] = 0;
}

/* Apart, so that its many reads are verified once. */
__weak __noinline int ask_cgroup(void)
{
	struct scratch *s = scratch();
	struct request_cgroup *n;
	__u64 css, kn;

	if (!s)
		return 0;
	n = &s->request_cgroup;
	css = bpf_get_current_task();
	css = (__u64)KLOAD(task_struct, css, cgroups);
	kn = (__u64)KLOAD(css_set, css, dfl_cgrp);
	kn = (__u64)KLOAD(cgroup, kn, kn);
	n->kind = REQUEST_CGROUP;
	n->cgroup_id = s->rec.cgroup_id;
	n->levels = 0;
	for (int i = 0; i < CGROUP_LEVELS; i++) {
		__u64 parent = kn ? kernfs_parent(kn) : 0;

		n->name[i][0] = 0;
		if (!parent)
			break;
		read_name(n->name[i], (__u64)KLOAD(kernfs_node, kn, name));
		n->levels = i + 1;
		kn = parent;
	}
	if (bpf_ringbuf_output(&requests, n, sizeof(*n), 0))
		count(BPF_REQUEST_FULL);
	return 0;
}

/* --- a part of the system ------------------------------------------------- */

static __always_inline int is_named(__u64 task)
{
	__u64 leader = (__u64)KLOAD(task_struct, task, group_leader);
	__u32 tgid = KLOAD(task_struct, task, tgid);

	for (int i = 0; i < FILTER_MAX && i < filter.n; i++) {
		if (filter.id[i] == tgid)
			return KLOAD(task_struct, leader, start_boottime) <=
			       filter.before_ns;
	}
	return 0;
}

static __always_inline int is_below(__u64 task)
{
	for (int i = 0; i < FILTER_LEVELS; i++) {
		__u32 tgid;

		task = (__u64)KLOAD(task_struct, task, real_parent);
		tgid = KLOAD(task_struct, task, tgid);
		if (tgid == filter.id[0])
			return 1;
		if (tgid <= 1)
			break;
	}
	return 0;
}

static __always_inline int is_within(__u64 task)
{
	__u64 kn = (__u64)KLOAD(task_struct, task, cgroups);

	kn = (__u64)KLOAD(css_set, kn, dfl_cgrp);
	kn = (__u64)KLOAD(cgroup, kn, kn);
	for (int i = 0; kn && i < FILTER_LEVELS; i++) {
		if ((__u64)KLOAD(kernfs_node, kn, id) == filter.id[0])
			return 1;
		kn = kernfs_parent(kn);
	}
	return 0;
}

static __always_inline int is_wanted(__u64 task)
{
	switch (filter.kind) {
	case FILTER_PID:		return is_named(task);
	case FILTER_BELOW:	return is_below(task);
	case FILTER_CGROUP:	return is_within(task);
	}
	return 1;
}

/* The current task.  Apart, so that its loops are verified once. */
__weak __noinline int wanted(void)
{
	return is_wanted((__u64)bpf_get_current_task());
}

/* --- a frame -------------------------------------------------------------- */

static __always_inline void push(struct scratch *s, __u64 word)
{
	s->words[s->n & (REC_WORDS - 1)] = word;
	s->n++;
}

/* The frame just pushed is a signal trampoline, which nothing called: it begins
 * where its handler returns to, not before. */
static __always_inline void uncalled(struct scratch *s)
{
	if (!s->st.exact)
		s->words[(s->n - 1) & (REC_WORDS - 1)]++;
}

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
	o->has_file = s->m.has_file;
	s->memo_next++;
	if (!s->m.has_file) {
		if (!s->vdso || s->m.start != s->vdso)
			return i;
		__builtin_memset(&s->m.key, 0, sizeof(s->m.key));
		s->m.key.size = 1;
		o->off = 0;
	}
	f = bpf_map_lookup_elem(&files, &s->m.key);
	if (s->m.has_file && (!f || f->state & FILE_ASK))
		ask_file(s);
	if (!f || f->exe == EXE_NONE) {
		o->has_file *= 2;
		return i;
	}
	o->has_file = 1;
	o->exe = f->exe;
	o->dir = f->dir;
	o->pages = f->pages;
	return i;
}

/* Append the frame at st.pc; then move to its caller. */
__weak __noinline int step(void)
{
	struct scratch *s = scratch();
	const struct unwind_rule *r;
	const union element *e;
	struct memo *m;
	enum stop_reason why = STOP_NO_ROW;
	__u64 pc, off;
	int i = -1, rule;

	if (!s)
		return STOP_INTERNAL;
	pc = s->st.pc;
	for (int k = 0; k < MEMO; k++) {
		if (pc >= s->memo[k].start && pc < s->memo[k].end)
			i = k;
	}
	if (i < 0)
		i = resolve(pc);
	if (i < 0 && s->guess)	/* no frame pointer, then */
		return s->guess;
	if (i < 0)	/* in exec the old registers meet the new memory */
		return s->st.depth || !s->rec.n_kernel ? STOP_NO_MAPPING :
							 STOP_NO_USER;
	s->guess = 0;
	m = &s->memo[i & (MEMO - 1)];
	off = pc - m->start + m->off;
	if (!m->has_file) {
		push(s, FRAME_ANON_WORD(pc));
		s->rec.flags |= REC_HAS_ANON;
		why = STOP_ANON;
		goto by_frame_pointer;
	}
	if (m->has_file == 2) {
		push(s, FRAME_FILE_WORD(off));
		push(s, s->m.key.ino);
		push(s, s->m.key.size);
		push(s, s->m.key.ctime);
		push(s, s->m.key.ctime_ns | ((__u64)s->m.key.dev << 32));
		push(s, s->m.key.generation | ((__u64)s->m.key.magic << 32));
		/* the key is that of the last resolve(): forget this mapping,
		 * so that its next frame looks again */
		m->start = m->end = 0;
		why = STOP_NO_FILE;
		goto by_frame_pointer;
	}
	push(s, FRAME_WORD(FRAME_NATIVE, m->exe, off));
	if (!m->pages) {
		why = STOP_NO_TABLE;
		goto by_frame_pointer;
	}
	rule = table_rule(m->dir, m->pages, off);
	if (rule == RULE_NONE)
		goto by_frame_pointer;
	e = element_at((__u32)rule >> 1);
	if (rule < 0 || !e)
		return STOP_INTERNAL;
	r = rule & 1 ? &e->rule[1] : &e->rule[0];
	if (r->cfa == CFA_SIGNAL)
		uncalled(s);
	return unwind_rule_step(&s->st, r);
by_frame_pointer:
	if (why != STOP_ANON &&
	    is_sigreturn(s->st.pc + !s->st.exact, s->st.exact)) {
		if (why != STOP_NO_FILE)
			uncalled(s);
		return unwind_signal(&s->st);
	}
	s->rec.flags |= REC_FRAME_POINTER;
	s->guess = why;
	return unwind_fp_step(&s->st, why);
}

/* --- registers ------------------------------------------------------------ */

#ifdef __TARGET_ARCH_arm64
#define REGS_IN_USER(r)		(((r)->pstate & 0xf) == 0)
#define REGS_COMPAT(r)		((r)->pstate & 0x10)

static __always_inline void take_regs(struct unwind_state *st, const regs_t *r)
{
	st->pc = r->pc;
	st->sp = r->sp;
	st->fp = r->regs[29];
	st->regs[0] = r->regs[19];
	st->regs[1] = r->regs[20];
	st->regs[2] = r->regs[21];
	st->regs[3] = r->regs[22];
	st->regs[4] = r->regs[23];
	st->regs[5] = r->regs[30];
}
#else
#define REGS_IN_USER(r)		(((r)->cs & 3) == 3)
#define USER32_CS		0x23	/* arch/x86/include/asm/segment.h */
#define REGS_COMPAT(r)		((r)->cs == USER32_CS)

static __always_inline void take_regs(struct unwind_state *st, const regs_t *r)
{
	st->pc = r->rip;
	st->sp = r->rsp;
	st->fp = r->rbp;
	st->regs[0] = r->rbx;
	st->regs[1] = r->r12;
	st->regs[2] = r->r13;
	st->regs[3] = r->r14;
	st->regs[4] = r->r15;
	st->regs[5] = r->rax;
	st->regs[6] = r->rdx;
	st->regs[7] = r->rcx;
	st->regs[8] = r->rsi;
	st->regs[9] = r->rdi;
	st->regs[10] = r->r8;
	st->regs[11] = r->r9;
	st->regs[12] = r->r10;
	st->regs[13] = r->r11;
}
#endif

/*
 * A system call's pc is behind its instruction, which may be the last one that
 * a row is for: sigreturn() and exit() do not return.  Not so that of a fault
 * or an interrupt.
 */
static __always_inline void into_syscall(regs_t *r, __u64 at)
{
#ifdef __TARGET_ARCH_arm64
	if (KLOAD(pt_regs___kernel, at, syscallno) >= 0)
		r->pc--;
#else
	if ((__s64)r->orig_rax >= 0)
		r->rip--;
#endif
}

/* User registers of a task that is in the kernel: where it entered. */
static __always_inline int entry_regs(regs_t *ret, __u64 task)
{
	__u64 at;

	if (bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_task_pt_regs))
		at = (__u64)bpf_task_pt_regs(bpf_get_current_task_btf());
	else	/* task_pt_regs(): at the upper end of the kernel stack */
		at = (__u64)KLOAD(task_struct, task, stack) + thread_size -
		     bpf_core_type_size(struct pt_regs___kernel);
	if (!bpf_rdonly_cast &&
	    bpf_probe_read_kernel(ret, sizeof(*ret), (void *)at))
		return -1;
	for (__u32 i = 0; bpf_rdonly_cast && i < sizeof(*ret) / 8; i++)
		((__u64 *)ret)[i] = LOAD(at + i * 8);
	into_syscall(ret, at);
	return 0;
}

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

static __always_inline __u32 unwind_user(struct scratch *s)
{
	__u32 stop = STOP_NOT;

	for (int i = 0; i < FRAMES_MAX; i++) {
		/* room for the longest frame and the mark behind it */
		if (s->n >= REC_WORDS - FRAME_MORE_MAX - 2)
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
	__u32 words = s->n & (REC_WORDS - 1), zero = 0;
	__u32 len = sizeof(struct trace_rec) + words * 8;
	struct counts *c = bpf_map_lookup_elem(&counts, &zero);
	__u64 flags = BPF_RB_NO_WAKEUP;

	s->rec.n_user = words - s->rec.n_kernel;
	s->rec.len = len;
	if (bpf_ringbuf_query(&ring, BPF_RB_AVAIL_DATA) > ring_wake_bytes)
		flags = BPF_RB_FORCE_WAKEUP;
	s->rec.run_ns = bpf_ktime_get_ns() - t0;
	if (!c)
		return;
	c->n[BPF_TAKEN]++;
	c->n[BPF_RUN_NS] += s->rec.run_ns;
	c->n[BPF_FRAMES] += s->st.depth;
	if (s->rec.stop < STOP__MAX)
		c->n[BPF_STOP + s->rec.stop]++;
	c->n[bpf_ringbuf_output(&ring, &s->rec, len, flags) ? BPF_RING_FULL :
	     BPF_SENT]++;
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
	s->guess = 0;
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
		s->rec.stop = unwind_user(s);
	}
	if (may_ask(s->rec.cgroup_id | 1ULL << 63, s->now))
		ask_cgroup();
	send(s, s->now);
	return 0;
}

/* --- for loaderd itself ---------------------------------------------------- */

/*
 * Which file is mapped at args[0] of the caller?  By test_run, in the caller's
 * own context: so loaderd learns, from the kernel, what a descriptor is.
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
	return 1;
}

/* Every executable mapping of a file, of every process that is sampled and of
 * who reads this (loaderd, which checks its own), at start (5.12+). */
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
	    t->tgid != bpf_get_current_pid_tgid() >> 32)
		return 0;
	n.tgid = t->tgid;
	n.start_ns = t->start_boottime;
	n.start = v->vm_start;
	n.end = v->vm_end;
	file_key_of((__u64)v->vm_file, &n.key);
	bpf_seq_write(ctx->meta->seq, &n, sizeof(n));
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
