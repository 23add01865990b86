/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * regs - the user registers that a sample starts from
 */
#ifndef BPF_REGS_BPF_H
#define BPF_REGS_BPF_H

#include "kern.h"
#include "state.bpf.h"

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
	st->regs[6] = r->regs[0];
	st->regs[7] = r->regs[13];
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
 * After a system call, pc is behind its instruction, which may be the last one of a row:
 * sigreturn() and exit() do not return.  After a fault or an interrupt it is not.
 */
static __always_inline void step_into_syscall(regs_t *r, __u64 at)
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
	step_into_syscall(ret, at);
	return 0;
}

#endif /* BPF_REGS_BPF_H */
