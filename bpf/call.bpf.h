/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * call - what code says where no table does
 *
 * Return addresses: they are told from other words by the call before them and by the
 * function that it goes to.
 * Signal trampolines: musl's (1.2.3, src/signal/x86_64/restore.s and aarch64/restore.s)
 * have no CFI; nothing calls them, but returning there counts as a call.
 * Starts of threads and fibers: glibc's clone() and clone3() (2.36,
 * sysdeps/unix/sysv/linux/, x86_64 and aarch64) end their FDE before the system call,
 * since it is wrong in the child; the code to which a fiber of boost.context returns
 * (1.81, make_x86_64_sysv_elf_gas.S; PHP has a copy) has no FDE.
 * PLTs: System V AMD64 ABI 5.2 and 13.3 (IBT), binutils' bfd/elfxx-x86.c and elf64-x86-64.c.
 * Encodings: Intel SDM 2A, CALL (e8 rel32; ff /2), HLT, JMP (ff /4), MOV, SYSCALL, TEST, XOR; Arm
 * ARM (DDI 0487), BL, BLR, BLRA*, CBZ, MOVZ, SVC.
 */
#ifndef BPF_CALL_BPF_H
#define BPF_CALL_BPF_H

#include <linux/types.h>

#include <bpf/bpf_helpers.h>

#define CALL_REACH	16384	/* longer functions are not recognised */
#define CALL_ANYWHERE	(CALL_REACH + 1)	/* through a register or memory */
#define CALL_ELSEWHERE	(CALL_REACH + 2)	/* not to just below pc */
#define CALL_UNREAD	(CALL_REACH + 3)	/* the code cannot be read */
#define CALL_NONE	(CALL_REACH + 4)	/* no call stands there */

#ifdef __TARGET_ARCH_arm64
#define SIGRETURN_BACK	8	/* bytes from its first instruction to its end */

/* Length of mov x8, #139; svc #0, if it is there. */
static __always_inline int sigreturn_code(const __u8 *b)
{
	return (b[0] == 0x68 && b[1] == 0x11 && b[2] == 0x80 && b[3] == 0xd2 &&
		b[4] == 1 && !b[5] && !b[6] && b[7] == 0xd4) * 8;
}

/* Is b + SIGRETURN_BACK in its second instruction, or just after that? */
static __always_inline int sigreturn_inside(const __u8 *b)
{
	return sigreturn_code(b) || sigreturn_code(b + 1) ||
	       sigreturn_code(b + 4);
}

/* mov x8, #220 or #435; svc #0; cbz x0 */
static __always_inline int clone_code(const __u32 *w)
{
	return (w[0] == 0xd2801b88 || w[0] == 0xd2803668) && w[1] == 0xd4000001 &&
	       (w[2] & 0xff00001f) == 0xb4000000;
}

/* Is this where a thread goes on that clone() has just made?  In the kernel, pc is in
 * the svc.  There x0 is 0 in the new thread and not in its parent. */
static __always_inline int is_thread_start(__u64 pc)
{
	__u32 w[4];

	if (bpf_probe_read_user(w, sizeof(w), (void *)((pc & ~3ULL) - 8)))
		return 0;
	return pc & 3 ? clone_code(w + 1) : clone_code(w);
}

/* On arm64 such code cannot be told from other code: the stack ends as without a row. */
static __always_inline int is_fiber_end(__u64 at)
{
	(void)at;
	return 0;
}

__weak __noinline __u32 call_distance(__u64 ra, __u64 pc)
{
	__u32 code[1 + SIGRETURN_BACK / 4], w;
	__u64 d;

	if (bpf_probe_read_user(code, sizeof(code), (void *)(ra - 4)))
		return CALL_UNREAD;
	w = code[0];
	if (sigreturn_code((__u8 *)&code[1]))
		return CALL_ANYWHERE;
	if ((w & 0xfc000000) == 0x94000000) {
		d = pc - (ra - 4 + (__s64)((__s32)(w << 6) >> 4));
		return d < CALL_REACH ? d : CALL_ELSEWHERE;
	}
	return (w & 0xfffffc1f) == 0xd63f0000 ||
	       (w & 0xfefff800) == 0xd63f0800 ? CALL_ANYWHERE : CALL_NONE;
}

static __always_inline __u32 call_bound_distance(__u64 ra, __u64 pc)
{
	return call_distance(ra, pc);
}
#else
#define SIGRETURN_BACK	9

/* Length of mov $15, %rax or %eax; syscall, if it is there. */
static __always_inline int sigreturn_code(const __u8 *b)
{
	if (b[0] == 0xb8)
		return (b[1] == 15 && !b[2] && !b[3] && !b[4] &&
			b[5] == 0x0f && b[6] == 0x05) * 7;
	return (b[0] == 0x48 && b[1] == 0xc7 && b[2] == 0xc0 && b[3] == 15 &&
		!b[4] && !b[5] && !b[6] && b[7] == 0x0f && b[8] == 0x05) * 9;
}

/* Is b + SIGRETURN_BACK in its second instruction, or just after that? */
static __always_inline int sigreturn_inside(const __u8 *b)
{
	return sigreturn_code(b) == 9 || sigreturn_code(b + 1) == 9 ||
	       sigreturn_code(b + 2) || sigreturn_code(b + 3) == 7 ||
	       sigreturn_code(b + 4) == 7;
}

/* mov $56 or $435, %eax; syscall; test %rax, %rax */
#define CLONE_SYSCALL	5	/* where its system call is */
#define CLONE_BYTES	10

static __always_inline int clone_code(const __u8 *b)
{
	return b[0] == 0xb8 && ((b[1] == 56 && !b[2]) || (b[1] == 0xb3 && b[2] == 1)) &&
	       !b[3] && !b[4] && b[5] == 0x0f && b[6] == 0x05 && b[7] == 0x48 &&
	       b[8] == 0x85 && b[9] == 0xc0;
}

/* Is this where a thread goes on that clone() has just made?  In the kernel, pc is in
 * the syscall.  There rax is 0 in the new thread and not in its parent. */
static __always_inline int is_thread_start(__u64 pc)
{
	__u8 b[CLONE_BYTES + 1];

	if (bpf_probe_read_user(b, sizeof(b), (void *)(pc - CLONE_SYSCALL - 2)))
		return 0;
	return clone_code(b) || clone_code(b + 1);
}

/* What a fiber's function returns to: [endbr64;] xor %rdi, %rdi; call; hlt. */
static __always_inline int is_fiber_end(__u64 at)
{
	__u8 b[13];

	if (bpf_probe_read_user(b, sizeof(b), (void *)at))
		return 0;
	if (b[0] == 0xf3 && b[1] == 0x0f && b[2] == 0x1e && b[3] == 0xfa)
		return b[4] == 0x48 && b[5] == 0x31 && b[6] == 0xff && b[7] == 0xe8 &&
		       b[12] == 0xf4;
	return b[0] == 0x48 && b[1] == 0x31 && b[2] == 0xff && b[3] == 0xe8 &&
	       b[8] == 0xf4;
}

/* Bytes of the displacement that a ModRM byte asks for. */
static __always_inline __u8 call_displacement(__u8 mod, __u8 rm)
{
	if (mod == 1)
		return 1;
	return mod == 2 || (!mod && rm == 5) ? 4 : 0;
}

/* ff /2 whose ModRM byte is m and is followed by this number of bytes */
static __always_inline int call_indirect(__u8 op, __u8 m, __u8 following)
{
	__u8 mod = m >> 6, sib = (m & 7) == 4, n;

	if (op != 0xff || (m & 0x38) != 0x10)
		return 0;
	n = call_displacement(mod, m & 7);
	return following == n + (mod != 3 && sib);
}

/* The distance from the start of the function that the call before ra goes to, up to
 * pc, in bytes, if it is below CALL_REACH; else CALL_*.  Global: the verifier checks it
 * once and not at each call. */
__weak __noinline __u32 call_distance(__u64 ra, __u64 pc)
{
	__u8 b[8 + SIGRETURN_BACK];
	__u64 d;

	if (bpf_probe_read_user(b, sizeof(b), (void *)(ra - 8)))
		return CALL_UNREAD;
	if (sigreturn_code(b + 8))
		return CALL_ANYWHERE;
	if (b[3] == 0xe8) {
		__s32 rel = (__u32)b[4] | (__u32)b[5] << 8 |
			    (__u32)b[6] << 16 | (__u32)b[7] << 24;

		d = pc - (ra + (__s64)rel);
		return d < CALL_REACH ? d : CALL_ELSEWHERE;
	}
	return call_indirect(b[6], b[7], 0) || call_indirect(b[5], b[6], 1) ||
	       call_indirect(b[4], b[5], 2) || call_indirect(b[2], b[3], 4) ||
	       call_indirect(b[1], b[2], 5) ? CALL_ANYWHERE : CALL_NONE;
}

/* Where an entry of a PLT at `at` jumps to: [endbr64;] [bnd] jmp *x(%rip).  0: it is none. */
static __always_inline __u64 call_behind_plt(__u64 at)
{
	__u8 b[11];
	__u64 to = 0;
	__u32 rel;

	if (bpf_probe_read_user(b, sizeof(b), (void *)at))
		return 0;
	if (b[0] == 0xff && b[1] == 0x25)
		at += 6;
	else if (b[0] == 0xf2 && b[1] == 0xff && b[2] == 0x25)
		at += 7;
	else if (b[0] != 0xf3 || b[1] != 0x0f || b[2] != 0x1e || b[3] != 0xfa)
		return 0;
	else if (b[4] == 0xff && b[5] == 0x25)
		at += 10;
	else if (b[4] == 0xf2 && b[5] == 0xff && b[6] == 0x25)
		at += 11;
	else
		return 0;
	if (bpf_probe_read_user(&rel, sizeof(rel), (void *)(at - 4)) ||
	    bpf_probe_read_user(&to, sizeof(to), (void *)(at + (__s64)(__s32)rel)))
		return 0;
	return to;
}

/* As call_distance(), but a direct call into a PLT counts as one of the bound function. */
static __always_inline __u32 call_bound_distance(__u64 ra, __u64 pc)
{
	__u32 d = call_distance(ra, pc), rel;
	__u64 to;

	if (d != CALL_ELSEWHERE ||
	    bpf_probe_read_user(&rel, sizeof(rel), (void *)(ra - 4)))
		return d;
	to = call_behind_plt(ra + (__s64)(__s32)rel);
	return to && pc - to < CALL_REACH ? pc - to : d;
}
#endif

/* Is the code at `at` such a trampoline?  inside: or does it end there, or at its
 * second instruction? */
static __always_inline int is_sigreturn(__u64 at, int inside)
{
	__u8 b[2 * SIGRETURN_BACK];

	if (bpf_probe_read_user(b, sizeof(b), (void *)(at - SIGRETURN_BACK)))
		return 0;
	return sigreturn_code(b + SIGRETURN_BACK) ||
	       (inside && sigreturn_inside(b));
}

#endif /* BPF_CALL_BPF_H */
