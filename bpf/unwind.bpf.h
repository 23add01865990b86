/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * unwind - from a frame to its caller, by rule or by frame pointer
 *
 * Pure functions of (state, rule) that read memory only through bpf_probe_read_user();
 * compiled for the kernel and for the host, where tests supply the memory.  On any
 * outcome but STOP_NOT the state is unchanged.  Everything read here was written by the
 * profiled process.
 */
#ifndef BPF_UNWIND_BPF_H
#define BPF_UNWIND_BPF_H

#include "call.bpf.h"
#include "frame.h"
#include "stop.h"
#include "table.h"

#define WINDOW		128	/* words of stack fetched at once */
#define WINDOW_MIN	8	/* below a CFA: return address, saved registers */
#define EXACT		1	/* first frame, or interrupted by a signal */
#define EXACT_PC	2	/* interrupted, but not all registers are known */
#define FP_REACH	(1ULL << 20)	/* bytes of a frame, at most */

enum unwind_found {
	FOUND_BY_RULE = 0,
	FOUND_BY_FP,		/* the callee keeps frame pointers */
	FOUND_BY_CALL,		/* the callee has no frame: unwind_frameless() */
};

struct unwind_state {
	__u64 pc;		/* where to look: return address minus one */
	__u64 sp;
	__u64 fp;
	__u64 regs[REGS_MAX];	/* from SAVED_REGS on only while EXACT */
	__u64 window[WINDOW];	/* stack from window_at on, window_len bytes */
	__u64 window_at;
	__u32 window_len;	/* 0 at the start of a sample */
	__u64 entry;		/* if fp is 0: sp when the process began */
	__u64 turned;		/* a CFA at which the walk turned down */
	__u32 turns;		/* how often it did */
	__u32 depth;		/* frames that were left */
	__u32 exact;		/* EXACT, EXACT_PC, or 0: pc is after a call */
	__u32 found;		/* enum unwind_found, of this frame, if not exact */
};

#ifdef __TARGET_ARCH_arm64
/* include/uapi/asm/sigcontext.h: siginfo 128, ucontext up to uc_mcontext 176,
 * fault_address 8, then regs[31] sp pc */
#define SIG_REGS	(128 + 176 + 8)
#define SIG_FP		29
#define SIG_SP		31
#define SIG_PC		32
#define SIG_REG(i)	((i) < SAVED_REGS ? 19 + (i) : (i) == SAVED_REGS ? 30 :	\
			 (i) == SAVED_REGS + 1 ? 0 : 13)
#define REGS_N		(SAVED_REGS + 3)
#define REG_RESULT	(SAVED_REGS + 1)	/* of a system call: x0 */
#define RA_MASK		0x0000ffffffffffffULL	/* without a PAC */
#else
/* include/uapi/asm/ucontext.h, sigcontext.h: gregs after 40 bytes, in the
 * order r8-r15 di si bp bx dx ax cx sp ip; sp points at the ucontext */
#define SIG_REGS	40
#define SIG_FP		10
#define SIG_SP		15
#define SIG_PC		16
/* rbx r12..r15; rax rdx rcx rsi rdi r8..r11 */
#define SIG_REG(i)	((i) == 0 ? 11 : (i) < 5 ? 3 + (i) :		\
			 (i) == 5 ? 13 : (i) == 6 ? 12 : (i) == 7 ? 14 :	\
			 (i) == 8 ? 9 : (i) == 9 ? 8 : (i) - 10)
#define REGS_N		14
#define REG_RESULT	SAVED_REGS	/* of a system call: rax */
#define RA_MASK		(~0ULL)
#endif

/*
 * One bpf_probe_read_user() takes more time than the rest of a step (73 of 104 ns,
 * docs/BENCHMARKS.md), whatever its length.  So the stack is read in windows: from just
 * below a CFA upwards, where the next frames lie.
 */
static __always_inline void unwind_window(struct unwind_state *st, __u64 at)
{
	__u64 off = at - st->window_at;

	if (off < st->window_len && st->window_len - off >= 8 * WINDOW_MIN)
		return;
	st->window_at = at;
	st->window_len = sizeof(st->window);
	if (!bpf_probe_read_user(st->window, sizeof(st->window), (void *)at))
		return;
	/* near the upper end of the stack */
	st->window_len = 8 * WINDOW_MIN;
	if (bpf_probe_read_user(st->window, 8 * WINDOW_MIN, (void *)at))
		st->window_len = 0;
}

/* Read a word of the target, from the window if it is there.  It must be aligned, as
 * stacks are: bytes of two words make no word (frames.bpf.h says what may leave). */
static __always_inline int unwind_word(const struct unwind_state *st,
				       __u64 *dst, __u64 addr)
{
	__u64 off = addr - st->window_at;

	if (addr & 7) {
		*dst = 0;
		return -1;
	}
	if (off < st->window_len && !(off & 7)) {
		*dst = st->window[(off >> 3) & (WINDOW - 1)];
		return 0;
	}
	return bpf_probe_read_user(dst, sizeof(*dst), (void *)addr);
}

/* Take all registers from the signal frame at sp. */
static __always_inline enum stop_reason unwind_signal(struct unwind_state *st)
{
	__u64 at = st->sp + SIG_REGS, pc, sp, fp;

	if (unwind_word(st, &pc, at + 8 * SIG_PC) ||
	    unwind_word(st, &sp, at + 8 * SIG_SP) ||
	    unwind_word(st, &fp, at + 8 * SIG_FP))
		return STOP_READ;
	for (int i = 0; i < REGS_N; i++)
		unwind_word(st, &st->regs[i], at + 8 * SIG_REG(i));
	st->pc = pc;
	st->sp = sp;
	st->fp = fp;
	st->exact = EXACT;
	st->depth++;
	return STOP_NOT;
}

/* The canonical frame address; 0: unknown. */
static __always_inline __u64 unwind_cfa(const struct unwind_state *st,
					const struct unwind_rule *r)
{
	__u64 cfa = st->sp, reg = st->regs[r->cfa_reg & (REGS_MAX - 1)];

	switch (r->cfa) {
	case CFA_SP:
		return st->sp + r->cfa_off;
	case CFA_FP:
		return st->fp + r->cfa_off;
	case CFA_REG:
		return reg + r->cfa_off;
	case CFA_PLT:
		return st->sp + 8 + ((st->pc & 15) >= 11 ? 8 : 0);
	case CFA_SP_DEREF:
		cfa = st->sp;
		break;
	case CFA_FP_DEREF:
		cfa = st->fp;
		break;
	case CFA_REG_DEREF:
		cfa = reg;
		break;
	default:
		return 0;
	}
	if (unwind_word(st, &reg, cfa + r->cfa_off))
		return 0;
	return reg + r->aux;
}

/*
 * A caller's frame further down is on another stack.  Is this turn part of a circle?  The
 * CFA is compared with that of a former turn, the first, second, fourth and so on (Brent's
 * way): of a circle one comes again.
 */
static __always_inline int unwind_turns_again(const struct unwind_state *st, __u64 cfa)
{
	return st->turns && cfa == st->turned;
}

static __always_inline void unwind_turn(struct unwind_state *st, __u64 cfa)
{
	st->turns++;
	if (!(st->turns & (st->turns - 1)))
		st->turned = cfa;
}

/* Move st to its caller by a rule other than NONE. */
static __always_inline enum stop_reason
unwind_rule_step(struct unwind_state *st, const struct unwind_rule *r)
{
	__u64 cfa, ra, fp = st->fp;
	int down;

	if (r->cfa == CFA_END)
		return STOP_COMPLETE;
	if (r->cfa == CFA_SIGNAL)
		return unwind_signal(st);
	if (r->cfa >= CFA_UNSUPPORTED)
		return STOP_UNSUPPORTED;
	if (st->exact != EXACT && (r->ra_reg >= SAVED_REGS || r->cfa_reg >= SAVED_REGS))
		return STOP_UNSUPPORTED;
	cfa = unwind_cfa(st, r);
	/* equal to sp where the return address is in a register, or was just popped */
	down = cfa <= st->sp && !(cfa == st->sp && (r->ra == RA_REG || st->exact));
	if (down && !cfa)
		return STOP_READ;
	if (down && (!(r->saved & RULE_ELSEWHERE) || unwind_turns_again(st, cfa)))
		return STOP_NO_PROGRESS;
	unwind_window(st, cfa - 8 * WINDOW_MIN);
	ra = st->regs[r->ra_reg & (REGS_MAX - 1)];
	if (r->ra == RA_CFA && unwind_word(st, &ra, cfa + r->ra_off))
		return STOP_READ;
	if ((r->saved & (1 << SAVED_FP)) &&
	    unwind_word(st, &fp, r->fp_off +
			(r->by_fp & (1 << SAVED_FP) ? st->fp : cfa)))
		return STOP_READ;
	for (int i = 0; i < SAVED_REGS; i++) {
		if (r->saved & (1 << i))
			unwind_word(st, &st->regs[i], 8 * r->reg_off[i] +
				    (r->by_fp & (1 << i) ? st->fp : cfa));
	}
	ra &= RA_MASK;
	if (!ra)
		return st->depth ? STOP_COMPLETE : STOP_READ;
	if (down)
		unwind_turn(st, cfa);
	st->exact = r->saved & RULE_INJECTED ? EXACT_PC : 0;
	st->found = FOUND_BY_RULE;
	st->pc = ra - !st->exact;
	st->sp = cfa;
	st->fp = fp;
	st->depth++;
	return STOP_NOT;
}

/* True before the first call: exec clears all registers (ELF_PLAT_INIT, start_thread()),
 * and the entry of ld.so has no CFI. */
static __always_inline int unwind_registers_are_zero(const struct unwind_state *st)
{
	__u64 any = 0;

	for (int i = 0; i < SAVED_REGS; i++)
		any |= st->regs[i];
	return !any;
}

/* The return address of an exact frame whose function has no frame yet, any more, or at
 * all; 0: unknown.  The caller's sp goes to *sp. */
static __always_inline __u64 unwind_frameless_ra(const struct unwind_state *st,
						 __u64 *sp)
{
	__u64 top = 0, ra = 0;

	if (unwind_word(st, &top, st->sp) ||
	    (top == st->fp && unwind_word(st, &ra, st->sp + 8)))
		return 0;
#ifdef __TARGET_ARCH_arm64
	*sp = st->sp;
	/* the frame may be half pushed; else it is in lr */
	return top == st->fp ? 0 : st->regs[SAVED_REGS] & RA_MASK;
#else
	*sp = st->sp + (top == st->fp ? 16 : 8);	/* fp was just pushed */
	return top == st->fp ? ra : top;
#endif
}

/*
 * Move st to the caller of such a function, if this is one: then the call before that
 * return address goes to it, and the call before the frame's return address to another;
 * of two targets below pc the nearer one counts.  Else 0, and st is unchanged.
 */
static __always_inline int unwind_frameless(struct unwind_state *st)
{
	__u64 sp = 0, ra = unwind_frameless_ra(st, &sp), framed = 0;
	__u32 d;

	if (ra < 4096)
		return 0;
	d = call_bound_distance(ra, st->pc);
	if (d > CALL_ANYWHERE ||
	    (st->fp >= st->sp && st->fp - st->sp <= FP_REACH &&
	     !unwind_word(st, &framed, st->fp + 8) &&
	     call_bound_distance(framed & RA_MASK, st->pc) <= d))
		return 0;
	st->pc = ra - 1;
	st->sp = sp;
	st->exact = 0;
	st->found = FOUND_BY_CALL;
	st->depth++;
	return 1;
}

/*
 * A call through a bad pointer: nothing is mapped at pc, which a signal has interrupted.
 * If the call before the return address may go anywhere, it was that one.
 */
static __always_inline int unwind_bad_call(struct unwind_state *st)
{
	__u64 sp = 0, ra = 0;

	if (!st->exact || !st->depth)
		return 0;
#ifdef __TARGET_ARCH_arm64
	sp = st->sp;
	ra = st->regs[SAVED_REGS] & RA_MASK;
#else
	sp = st->sp + 8;
	if (unwind_word(st, &ra, st->sp))
		return 0;
#endif
	if (ra < 4096 || call_distance(ra, st->pc) != CALL_ANYWHERE)
		return 0;
	st->pc = ra - 1;
	st->sp = sp;
	st->exact = 0;
	st->found = FOUND_BY_CALL;
	st->depth++;
	return 1;
}

/* Does the code of this frame, which has no row, show that nothing called it? */
static __always_inline int unwind_is_first_by_code(const struct unwind_state *st)
{
	if (st->exact)
		return st->exact == EXACT && !st->regs[REG_RESULT] &&
		       is_thread_start(st->pc);
	return is_fiber_end(st->pc + 1);
}

/* Is this the frame in which the process began?  Then argc is at its sp or, in glibc's
 * _start for x86-64, after two words: the first is the address of the second, so neither
 * is a return address. */
static __always_inline int unwind_at_entry(const struct unwind_state *st)
{
	__u64 word = 0;

	return st->sp == st->entry ||
	       (st->sp + 16 == st->entry && !unwind_word(st, &word, st->sp) &&
		word == st->sp + 8);
}

/*
 * Frame pointers lead no further: fp is zero, or points to zeroes.  Is this the outermost
 * frame?  By the ABI (System V AMD64 3.4.1, AAPCS64 6.4.6) it is, but most code keeps
 * other values in that register, which often are zero.  So there must be another sign: a
 * chain of frame pointers led here; or a rule led to a place without a row, like the
 * assembler in which threads begin, which clears fp and calls through a register; or the
 * process began in this frame.
 */
static __always_inline int unwind_is_outermost(const struct unwind_state *st,
					       enum stop_reason why)
{
	if (st->exact)
		return !st->fp && unwind_registers_are_zero(st);
	if (st->found == FOUND_BY_FP || (!st->fp && unwind_at_entry(st)))
		return 1;
	return st->found == FOUND_BY_RULE && why == STOP_NO_ROW &&
	       call_distance(st->pc + 1, 0) != CALL_ELSEWHERE;
}

/*
 * Move st to its caller by frame pointer where nothing better is known: fp is
 * aligned, above sp and near, and the chain grows, or a call is there.
 */
static __always_inline enum stop_reason
unwind_fp_step(struct unwind_state *st, enum stop_reason why)
{
	__u64 pair[2];

	if (st->exact && unwind_frameless(st))
		return STOP_NOT;
	if (!st->fp && unwind_is_outermost(st, why))
		return STOP_COMPLETE;
	if (st->fp < st->sp || (st->fp & 7) || st->fp - st->sp > FP_REACH)
		return why;
	unwind_window(st, st->fp);
	if (unwind_word(st, &pair[0], st->fp) ||
	    unwind_word(st, &pair[1], st->fp + 8))
		return why;
	pair[1] &= RA_MASK;
	if (!pair[0] && !pair[1])
		return unwind_is_outermost(st, why) ? STOP_COMPLETE : why;
	if (pair[1] < 4096)
		return why;
	/* the caller uses its frame pointer for something else, or these words are no
	 * such pair and point to the stack, which may be executable */
	if (((pair[0] && pair[0] <= st->fp) || pair[1] - st->sp < FP_REACH) &&
	    call_distance(pair[1], st->pc) > CALL_ELSEWHERE)
		return why;
	st->sp = st->fp + 16;
	st->fp = pair[0];
	st->pc = pair[1] - 1;
	st->exact = 0;
	st->found = FOUND_BY_FP;
	st->depth++;
	return STOP_NOT;
}

#endif /* BPF_UNWIND_BPF_H */
