// SPDX-License-Identifier: GPL-2.0-only
/*
 * stops - the sampler's own unwinder, run where a thread leaves its CPU
 *
 * A thread that stops for its tracer is switched out with exactly the registers
 * that the tracer then sees, so what is noted here can be held against a
 * debugger's backtrace.  All but the entry point is bpf/sampler.bpf.c itself.
 */
#include "bpf/sampler.bpf.c"

#include "tests/live/stops.h"

/* The last stop of each thread; the oldest make room. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, THREADS_MAX);
	__type(key, __u32);
	__type(value, struct stop);
} stops SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stop);
} note_map SEC(".maps");

__u32 tracee;		/* process to look at */

/* As unwind_user(), with a note of each frame.  pc is a debugger's: after a
 * call, and after a system call. */
static __always_inline __u32 unwind_noted(struct scratch *s, struct stop *note,
					  int in_syscall)
{
	__u32 reason;

	for (int i = 0; i < FRAMES_MAX; i++) {
		struct stop_frame *f = &note->frame[i];
		__u32 at = s->n & (REC_WORDS - 1);

		if (s->n >= REC_WORDS - KEY_WORDS - 2)
			break;
		f->pc = s->st.pc + (i ? !s->st.exact : in_syscall);
		f->sp = s->st.sp;
		reason = step();
		if (reason == STOP_RUNTIME)
			reason = managed(reason);
		f->word = s->words[at];
		note->n = i + (s->n > at);
		if (reason != STOP_NOT)
			return reason;
	}
	return STOP_CUT;
}

SEC("tp_btf/sched_switch")
int stopped(void *ctx)
{
	__u32 zero = 0, tid = bpf_get_current_pid_tgid();
	struct stop *note = bpf_map_lookup_elem(&note_map, &zero);
	__u64 task = (__u64)bpf_get_current_task();
	struct scratch *s = scratch();
	regs_t regs;

	(void)ctx;
	if (!s || !note || !tracee ||
	    bpf_get_current_pid_tgid() >> 32 != tracee)
		return 0;
	begin_sample(s, task);
	s->n = s->rec.n_kernel = 0;
	if (!s->mm || entry_regs(&regs, task) || !REGS_IN_USER(&regs))
		return 0;
	take_regs(&s->st, &regs);
	note->n = 0;
	note->reason = unwind_noted(s, note, (__s64)regs.orig_rax >= 0);
	note->flags = s->rec.flags;
	bpf_map_update_elem(&stops, &tid, note, BPF_ANY);
	return 0;
}
