// SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0
/*
 * sampler - one program for each sample: which task runs, and with which stack
 *
 * perf_event -> header, kernel stack, user registers -> one call of step() for each native
 * frame, of managed() for those of runtimes -> one bpf_ringbuf_output().  These are *global* functions (not
 * static, numbers as arguments, state in a per-CPU map entry): the verifier checks each
 * once, by itself, so the loop around them may run FRAMES_MAX times on every kernel from
 * 5.10 on.
 */
#include "filter.bpf.h"
#include "list.bpf.h"
#include "regs.bpf.h"
#include "requests.bpf.h"
#include "state.bpf.h"
#include "walk.bpf.h"

char LICENSE[] SEC("license") = "GPL";

/* --- the sample ----------------------------------------------------------- */

/* The process has the name of its main thread, which may have no sample as long as it
 * waits. */
static __always_inline void name_leader(struct trace_rec *r, __u64 leader)
{
	__u64 *word = (__u64 *)r->leader, at = leader + OFFSET(task_struct, comm);

	word[0] = word[1] = 0;
	if (r->tid == r->process.tgid)
		return;
	if (!bpf_rdonly_cast) {
		bpf_probe_read_kernel(word, COMM_LEN, (void *)at);
		return;
	}
	word[0] = LOAD(at);
	word[1] = LOAD(at + 8);
}

/* The current process; it began when its main thread did.  Returns the thread's number. */
static __always_inline __u32 identify_process(struct process_id *p, __u64 task, __u64 leader)
{
	__u64 id = bpf_get_current_pid_tgid();

	p->start_ns = KLOAD(task_struct, leader, start_boottime);
	p->tgid = id >> 32;
	p->exec_id = KLOAD(task_struct, task, self_exec_id);
	return (__u32)id;
}

static __always_inline void describe_process(struct scratch *s, __u64 task)
{
	struct trace_rec *r = &s->rec;
	__u64 leader = (__u64)KLOAD(task_struct, task, group_leader), file;
	struct file_entry *f;

	r->kind = REC_SAMPLE;
	r->version = REC_VERSION;
	r->flags = 0;
	r->time_ns = s->now;
	r->tid = identify_process(&r->process, task, leader);
	r->uid = (__u32)bpf_get_current_uid_gid();
	r->cgroup_id = bpf_get_current_cgroup_id();
	r->exe = EXE_NONE;
	r->cpu = bpf_get_smp_processor_id();
	bpf_get_current_comm(r->comm, sizeof(r->comm));
	name_leader(r, leader);
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

/*
 * The process decides what a step reads, and one may cost 30 us (docs/SECURITY.md, "What
 * one sample can cost"): so a sample has a time, too, looked at once in so many steps, and
 * not before the first so many: a virtual CPU may stand still for longer meanwhile.
 */
#define SAMPLE_STEPS	8

static __always_inline __u32 unwind_user(struct scratch *s)
{
	__u32 stop = STOP_NOT;

	for (int i = 0; i < FRAMES_MAX; i++) {
		/* room for the longest frame and two marks after it */
		if (s->n > REC_WORDS_MAX - FRAME_WORDS_MAX - 2)
			break;
		if (i >= SAMPLE_SURE && i % SAMPLE_STEPS == 0 &&
		    bpf_ktime_get_ns() - s->now > SAMPLE_NS + i * SAMPLE_FRAME_NS)
			break;
		stop = step();
		if (stop != STOP_NOT)
			stop = managed(stop);
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
static __always_inline void begin_sample(struct scratch *s, __u64 task)
{
	s->now = bpf_ktime_get_ns();
	s->mm = KLOAD(task_struct, task, flags) & PF_KTHREAD ? 0 :
		(__u64)KLOAD(task_struct, task, mm);
	s->vdso = s->mm ? (__u64)KLOAD(mm_struct___ctx, s->mm, context.vdso) : 0;
	describe_process(s, task);
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
	s->fresh = s->met = s->ended = 0;
	s->inside = s->part = s->reads = 0;
	s->loop_word = s->passed = 0;
	s->space_known = s->space_lost = 0;
	s->space.owners = 0;
	s->st.depth = 0;
	s->st.exact = EXACT;
	s->st.window_len = 0;
	s->st.turns = 0;
}

SEC("perf_event")
int walk(struct bpf_perf_event_data *ctx)
{
	struct scratch *s = scratch();
	__u64 task = (__u64)bpf_get_current_task();
	long len = 0;

	if (!s || !(bpf_get_current_pid_tgid() & 0xffffffff))
		return 0;	/* idle */
	if (filter.kind != FILTER_ALL && !current_passes_filter())
		return 0;
	begin_sample(s, task);
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
		s->rec.stop = settle_guesses(s, unwind_user(s));
	}
	if (may_ask(s->rec.cgroup_id | 1ULL << 63, s->now)) {
		note_asked(s->rec.cgroup_id | 1ULL << 63, s->now);
		ask_cgroup();
	}
	send(s, s->now);
	return 0;
}

struct {
	__uint(type, BPF_MAP_TYPE_PROG_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__array(values, int(struct bpf_perf_event_data *));
} programs SEC(".maps") = { .values = { &walk } };

/*
 * What perf events run: an event keeps its program for good, and loaderd may not open
 * others later.  So loaderd exchanges walk() behind it.  No function is called here: Linux
 * before 6.0 refuses that beside a tail call on arm64.
 */
SEC("perf_event")
int sample(struct bpf_perf_event_data *ctx)
{
	bpf_tail_call(ctx, &programs, 0);
	return 0;
}

/* --- a program begins -------------------------------------------------------- */

#define BEGUN		64	/* a power of two */
#define BEGUN_SHIFT	8	/* jiffies: 0.26 s to 2.6 s */

/*
 * Files of programs that began a moment ago and were known, by the key of their mm's
 * exe_file: on an overlay that is not the file that is mapped.  Without this each exec
 * reads the mappings of a new process and a large hash, all of it cold.  CPUs share it
 * without a lock, and what is here may have been dropped from `files`: a program that is
 * wrongly taken for known is asked for at its first sample, as any other file.
 */
static struct begun {
	struct file_key key;	/* near_key_of(), else 0 */
	__u64 when;
} __attribute__((aligned(64))) begun[BEGUN];

static __always_inline int same_begun(const struct begun *a, const struct begun *b)
{
	return a->key.ino == b->key.ino && a->key.size == b->key.size &&
	       a->key.ctime == b->key.ctime && a->key.ctime_ns == b->key.ctime_ns &&
	       a->key.dev == b->key.dev && a->when == b->when;
}

/* Ask for the file of the program that begins.  True: it is known. */
static __always_inline int ask_program(struct scratch *s, __u64 task, __u64 mm)
{
	if (!vma_lookup(mm, KLOAD(mm_struct, mm, start_code), &s->m, s->vma) ||
	    !s->m.exec || !s->m.has_file)
		return 0;
	if (bpf_map_lookup_elem(&files, &s->m.key))
		return 1;
	s->now = bpf_ktime_get_ns();
	identify_process(&s->rec.process, task, (__u64)KLOAD(task_struct, task, group_leader));
	s->rec.uid = (__u32)bpf_get_current_uid_gid();
	s->files_asked = 0;
	ask_file(s, 1);
	return 0;
}

/*
 * If the file of a program that begins is not known yet, ask for it now: so its table is
 * there before most first samples, and the file of a short process is opened before its end.
 * A sample that interrupts this may overwrite the request: loaderd checks it.
 */
SEC("raw_tp/sched_process_exec")
int executed(struct bpf_raw_tracepoint_args *ctx)
{
	__u64 task = (__u64)bpf_get_current_task();
	__u64 mm = (__u64)KLOAD(task_struct, task, mm), file;
	struct begun now = {}, *was;
	struct scratch *s;

	if (!mm || (filter.kind != FILTER_ALL && !current_passes_filter()))
		return 0;
	file = (__u64)KLOAD(mm_struct, mm, exe_file);
	if (!file)
		return 0;
	near_key_of(file, &now.key);
	now.when = bpf_jiffies64() >> BEGUN_SHIFT;
	was = &begun[(now.key.ino ^ now.key.dev) & (BEGUN - 1)];
	if (same_begun(was, &now))
		return 0;
	s = scratch();
	if (s && ask_program(s, task, mm))
		*was = now;
	return 0;
}

/* --- for loaderd itself ---------------------------------------------------- */

/*
 * The key of the file that is mapped at args[0] of the caller, into `identity`.  Run by
 * test_run in the caller's own context: so loaderd learns from the kernel which file a
 * descriptor has.  0: no file; 1: a file; 2: a file with a path of the host's.
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

/*
 * A module was loaded or unloaded: addresses may have other names now.  Attached to both
 * tracepoints; code of a new module runs after its tracepoint.
 */
SEC("raw_tp")
int modules_changed(struct bpf_raw_tracepoint_args *ctx)
{
	modules = 1;
	return 0;
}

/*
 * "name+offset/size [module]" of symbol_addr, for the reader of this iterator over a map
 * of one element: without kallsyms or CAP_SYSLOG, and correct for modules and BPF
 * programs.  bpf_seq_printf() has %pB from 5.9 on, bpf_snprintf() from 5.13.
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
