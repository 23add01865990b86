// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls - which system calls processes make under a seccomp filter, and which
 * filter that is
 *
 * The kernel comes here after its filters have let a call pass.
 */
#include "bpf/kern.h"

#include <linux/ptrace.h>
#include <bpf/bpf_tracing.h>

#include "tests/live/calls.h"

char LICENSE[] SEC("license") = "GPL";

/* What bpf/kern.h does not have. */
struct sock_fprog_kern {
	__u16 len;
	void *filter;
} __attribute__((preserve_access_index));

struct bpf_prog {
	struct sock_fprog_kern *orig_prog;
} __attribute__((preserve_access_index));

struct seccomp_filter {
	struct bpf_prog *prog;
} __attribute__((preserve_access_index));

struct seccomp___calls {
	struct { int counter; } filter_count;
	struct seccomp_filter *filter;
} __attribute__((preserve_access_index));

struct task_struct___calls {
	struct seccomp___calls seccomp;
	struct task_struct___calls *group_leader;
	__u64 start_boottime;
	char comm[CALLS_COMM];
} __attribute__((preserve_access_index));

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1 << 17);
	__type(key, struct calls_call);
	__type(value, __u8);
} seen SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 8 << 20);
} out SEC(".maps");

__u8 watched[CALLS_NR];	/* 1 + number of the argument that is asked for */
__u32 depth_before;	/* filters that everybody has */
__u64 dropped;

/* False: it is there already. */
static __always_inline int is_new(const struct calls_call *c)
{
	__u8 one = 1;

	return bpf_map_update_elem(&seen, c, &one, BPF_NOEXIST) == 0;
}

static __always_inline void tell_filter(const struct calls_call *c,
					struct task_struct___calls *task)
{
	struct calls_filter *f = bpf_ringbuf_reserve(&out, sizeof(*f), 0);
	void *insns;

	if (!f) {
		__sync_fetch_and_add(&dropped, 1);
		return;
	}
	f->tgid = c->tgid;
	f->depth = c->depth;
	f->start_ns = c->start_ns;
	f->zero = 0;
	f->n = BPF_CORE_READ(task, seccomp.filter, prog, orig_prog, len);
	insns = BPF_CORE_READ(task, seccomp.filter, prog, orig_prog, filter);
	BPF_CORE_READ_INTO(&f->comm, task, group_leader, comm);
	if (f->n > CALLS_INSNS ||
	    bpf_probe_read_kernel(f->insn, f->n * sizeof(f->insn[0]), insns))
		f->n = 0;
	bpf_ringbuf_submit(f, 0);
}

#ifdef __TARGET_ARCH_arm64
typedef struct user_pt_regs call_regs;
#else
typedef struct pt_regs call_regs;
#endif

/* which: as in watched. */
static __always_inline __u32 argument(const void *at, __u32 which)
{
	call_regs regs;

	if (!which || bpf_probe_read_kernel(&regs, sizeof(regs), at))
		return 0;
	switch (which) {
	case 1:
		return PT_REGS_PARM1_SYSCALL(&regs);
	case 2:
		return PT_REGS_PARM2_SYSCALL(&regs);
	case 3:
		return PT_REGS_PARM3_SYSCALL(&regs);
	case 4:
		return PT_REGS_PARM4_SYSCALL(&regs);
	default:
		return PT_REGS_PARM5_SYSCALL(&regs);
	}
}

SEC("raw_tp/sys_enter")
int called(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct___calls *task = (void *)bpf_get_current_task();
	struct calls_call c = {
		.tgid = bpf_get_current_pid_tgid() >> 32,
		.depth = BPF_CORE_READ(task, seccomp.filter_count.counter),
		.nr = CALLS_NR,
		.start_ns = BPF_CORE_READ(task, group_leader, start_boottime),
	};

	if (c.depth <= depth_before)
		return 0;
	if (is_new(&c))
		tell_filter(&c, task);
	c.nr = ctx->args[1];
	if (c.nr >= CALLS_NR)
		return 0;
	c.arg = argument((const void *)ctx->args[0], watched[c.nr]);
	if (is_new(&c) && bpf_ringbuf_output(&out, &c, sizeof(c), 0))
		__sync_fetch_and_add(&dropped, 1);
	return 0;
}
