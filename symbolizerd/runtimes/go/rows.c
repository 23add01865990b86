// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/runtimes/go/rows.h"

#include <string.h>

#include "ipc/message_hub.h"
#include "symbolizerd/runtimes/go/find.h"

#define TEXT_WINDOW	(256u << 10)	/* bytes of code read at once */
#define PROLOGUE	16		/* bytes that matter of one */
#define SWITCH_MAX	1024		/* functions that set SP are short */
#define DELTA_MAX	0x7fffff00
#define ARM_LR		SAVED_REGS	/* in unwind_state.regs (bpf/table.h) */
#define NO_REG		REGS_MAX

enum special {
	PLAIN = 0,
	OUTERMOST,		/* nothing called it */
	HANDLER,		/* called by the kernel: not outermost */
	TRAMPOLINE,		/* what it returns to */
	INJECTED,		/* "called" at any instruction */
	LEAVES,			/* a switch that nothing returns through */
	SWITCHES,		/* one that comes back */
};

/* What the flags of a function do not say (runtime/asm_amd64.s, sys_linux_amd64.s). */
static const struct {
	const char *name;
	enum special special;
} names[] = {
	{ "_rt0_amd64", OUTERMOST }, { "_rt0_amd64_linux", OUTERMOST },
	{ "_rt0_arm64_linux", OUTERMOST },
	{ "runtime.rt0_go", OUTERMOST }, { "runtime.goexit", OUTERMOST },
	{ "runtime.mstart", OUTERMOST },
	{ "runtime.sigtramp", HANDLER }, { "runtime.cgoSigtramp", HANDLER },
	{ "runtime.sigreturn__sigaction", TRAMPOLINE },
	{ "runtime.sigreturn", TRAMPOLINE },	/* before Go 1.20 */
	{ "runtime.asyncPreempt", INJECTED },
	{ "runtime.mcall", LEAVES }, { "runtime.morestack", LEAVES },
	{ "runtime.gogo", LEAVES }, { "gogo", LEAVES },
	{ "runtime.clone", LEAVES },
	{ "runtime.systemstack", SWITCHES },
	{ "runtime.asmcgocall", SWITCHES },
	{ "runtime.cgocallback", SWITCHES },
	/* onto g0 for the vDSO; Go 1.16 has no flags */
	{ "runtime.nanotime1", SWITCHES }, { "runtime.walltime", SWITCHES },
	{ "runtime.walltime1", SWITCHES }, { "time.now", SWITCHES },
	{ "runtime.sigfwd", SWITCHES },
};

struct go_rows_walk {
	const struct pclntab *t;
	go_row_fn fn;
	void *ctx;
	bool arm;
	struct pclntab_window text;
};

/* What is known of one function. */
struct go_frame {
	enum special special;
	uint64_t saved;		/* from here on FP is at cfa + fp_off; 0: never */
	uint64_t set;		/* from here on FP points to its frame; 0: never */
	int32_t fp_off;
	uint64_t away, back;	/* first and last setting of SP; 0: none */
	uint8_t ra_reg;		/* where the return address is popped to */
};

/* --- code -------------------------------------------------------------------- */

static const uint8_t *go_rows_code(struct go_rows_walk *w, uint64_t at, size_t len)
{
	return pclntab_at(w->t, &w->text, at, len, TEXT_WINDOW);
}

/* Length of a `mov` to or from memory at SP + disp of 8 or 32 bits; 0: it is
 * another instruction. */
static size_t go_rows_mov_sp(const uint8_t *p, uint8_t op, int32_t *disp)
{
	if (p[0] != 0x48 || p[1] != op || p[3] != 0x24)
		return 0;
	if (p[2] == 0x6c) {
		*disp = (int8_t)p[4];
		return 5;
	}
	if (p[2] == 0xac) {
		memcpy(disp, p + 4, sizeof(*disp));
		return 8;
	}
	return 0;
}

/*
 * x86-64, where the stack pointer first moved, to delta.  Since Go 1.21: after
 * `push %rbp`, before `mov %rsp,%rbp`.  Earlier: after `sub $delta,%rsp`,
 * before `mov %rbp,N(%rsp)` and `lea N(%rsp),%rbp`.
 */
static void go_rows_x86_prologue(struct go_rows_walk *w, const struct pclntab_walk *at,
				 struct go_frame *fr)
{
	const uint8_t *p = go_rows_code(w, at->start - 1, PROLOGUE + 1);
	int32_t disp;
	size_t len, lea;

	if (!p)
		return;
	if (p[0] == 0x55 && at->value == 8) {
		fr->saved = at->start;
		fr->fp_off = -16;
		if (p[1] == 0x48 && p[2] == 0x89 && p[3] == 0xe5)
			fr->set = at->start + 3;
		return;
	}
	len = go_rows_mov_sp(p + 1, 0x89, &disp);
	if (!len)
		return;
	fr->saved = at->start + len;
	fr->fp_off = disp - at->value - 8;
	lea = go_rows_mov_sp(p + 1 + len, 0x8d, &disp);
	if (lea && disp - at->value - 8 == fr->fp_off)
		fr->set = fr->saved + lea;
}

/* The register of a `pop` of r8 to r15 that ends here: rawVforkSyscall keeps its
 * return address there, out of its child's reach (syscall/asm_linux_amd64.s). */
static uint8_t go_rows_popped(struct go_rows_walk *w, uint64_t end)
{
	static const uint8_t regs[8] = { 10, 11, 12, 13, 1, 2, 3, 4 };
	const uint8_t *p = go_rows_code(w, end - 2, 2);

	if (!p || p[0] != 0x41 || (p[1] & 0xf8) != 0x58)
		return NO_REG;
	return regs[p[1] & 7];
}

/* AArch64: in the next two instructions the frame pointer is saved and set. */
static void go_rows_arm_prologue(const struct pclntab_walk *at, struct go_frame *fr)
{
	fr->saved = at->start + 4;
	fr->set = at->start + 8;
}

/* Instructions of a short function that load SP: mov r/m64, r64 and mov r64,
 * r/m64; AArch64: add Xd, Xn, #0 as `mov sp, Xn`. */
static void go_rows_find_switch(struct go_rows_walk *w, const struct pclntab_func *fn,
				struct go_frame *fr)
{
	size_t len = fn->end - fn->entry, step = w->arm ? 4 : 1;
	const uint8_t *p;

	if (len > SWITCH_MAX)
		return;
	p = go_rows_code(w, fn->entry, len);
	for (size_t i = 0; p && i + 4 <= len; i += step) {
		uint64_t at = fn->entry + i;
		bool hit;
		uint32_t insn;

		memcpy(&insn, p + i, sizeof(insn));
		if (w->arm)
			hit = (insn & 0xfffffc1f) == 0x9100001f;
		else
			hit = ((p[i] & 0xfe) == 0x48 && p[i + 1] == 0x8b &&
			       (p[i + 2] & 0x38) == 0x20) ||
			      ((p[i] & 0xfb) == 0x48 && p[i + 1] == 0x89 &&
			       (p[i + 2] & 0xc7) == 0xc4);
		if (!hit)
			continue;
		if (!fr->away)
			fr->away = at;
		fr->back = at;
	}
}

/* --- rules ------------------------------------------------------------------- */

/* Where SP is delta below its value at the entry. */
static struct unwind_rule go_rows_by_delta(const struct go_rows_walk *w, const struct go_frame *fr,
					   uint64_t at, int32_t delta)
{
	struct unwind_rule r = { .cfa = CFA_SP, .cfa_off = delta + 8, .ra_off = -8 };
	bool in_register = delta < 0;

	if (w->arm) {
		r.cfa_off = delta;
		r.ra_off = -delta;
		in_register = !delta;
	}
	if (in_register) {
		r.ra = RA_REG;
		r.ra_reg = w->arm ? ARM_LR : fr->ra_reg;
		r.ra_off = 0;
	}
	if (delta > 0 && fr->saved && at >= fr->saved) {
		r.saved = 1 << SAVED_FP;
		r.fp_off = w->arm ? -delta - 8 : fr->fp_off;
	}
	return r;
}

/* Where SP says nothing, but FP points to the frame: of this function, or, if it
 * has none, of its caller. */
static struct unwind_rule go_rows_by_fp(const struct go_rows_walk *w, const struct go_frame *fr,
					int32_t delta)
{
	struct unwind_rule r = {
		.cfa = CFA_FP, .cfa_off = 16, .ra_off = -8, .fp_off = -16,
		.saved = 1 << SAVED_FP | RULE_ELSEWHERE,
	};

	if (w->arm && delta > 0) {
		r.cfa_off = delta + 8;
		r.ra_off = -delta;
		r.fp_off = -delta - 8;
	} else if (fr->set) {
		r.cfa_off = -fr->fp_off;
		r.fp_off = fr->fp_off;
	}
	return r;
}

static int go_rows_put(struct go_rows_walk *w, uint64_t start, uint64_t end,
		       const struct unwind_rule *r)
{
	if (start >= end)
		return 0;
	return w->fn(w->ctx, start, end, r);
}

/* [start, end) with one value of pcsp, cut where another rule begins. */
static int go_rows_put_range(struct go_rows_walk *w, const struct go_frame *fr, uint64_t start,
			     uint64_t end, int32_t delta)
{
	static const struct unwind_rule outermost = { .cfa = CFA_END };
	const uint64_t cuts[] = { fr->saved, fr->set, fr->away, fr->back };

	while (start < end) {
		uint64_t to = end;
		struct unwind_rule r = go_rows_by_delta(w, fr, start, delta);
		int ret;

		for (int i = 0; i < 4; i++) {
			if (cuts[i] > start && cuts[i] < to)
				to = cuts[i];
		}
		if (fr->away && start >= fr->away && fr->special == LEAVES)
			r = outermost;
		else if (fr->special >= LEAVES && delta > 0 && fr->set &&
			 start >= fr->set)
			r = go_rows_by_fp(w, fr, delta);
		else if (fr->away && start >= fr->away && start < fr->back)
			r = go_rows_by_fp(w, fr, 0);
		if (fr->special == INJECTED)
			r.saved |= RULE_INJECTED;
		ret = go_rows_put(w, start, to, &r);
		if (ret)
			return ret;
		start = to;
	}
	return 0;
}

/* --- functions --------------------------------------------------------------- */

static enum special go_rows_special_of(const struct pclntab_func *fn)
{
	if (!fn->flags || (fn->flags & (PCLNTAB_TOPFRAME | PCLNTAB_SPWRITE |
					PCLNTAB_ASM))) {
		for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			if (!strcmp(fn->name, names[i].name))
				return names[i].special;
		}
	}
	if (fn->flags & PCLNTAB_TOPFRAME)
		return OUTERMOST;
	if (fn->flags & PCLNTAB_SPWRITE)
		return SWITCHES;
	return PLAIN;
}

static bool go_rows_sound(const struct go_frame *fr, int32_t delta)
{
	return (delta >= 0 || (delta == -8 && fr->ra_reg != NO_REG)) &&
	       delta < DELTA_MAX && delta % 8 == 0;
}

/* By its pcsp table.  What follows the end of the table is padding: it gets the
 * last value, and so needs no row of its own. */
static int go_rows_by_pcsp(struct go_rows_walk *w, const struct pclntab_func *fn,
			   struct go_frame *fr)
{
	struct pclntab_walk sp;
	bool first = true;
	int r = 0;

	pclntab_walk(w->t, fn, fn->pcsp, &sp);
	while (!r && pclntab_step(&sp)) {
		struct pclntab_walk next = sp;
		uint64_t end = fn->end;

		if (pclntab_step(&next))
			end = sp.stop;
		if (sp.value == -8 && !w->arm && sp.start >= fn->entry + 2)
			fr->ra_reg = go_rows_popped(w, sp.start);
		if (!go_rows_sound(fr, sp.value))
			continue;
		if (first && sp.value > 0) {
			first = false;
			if (w->arm)
				go_rows_arm_prologue(&sp, fr);
			else if (sp.start > fn->entry)
				go_rows_x86_prologue(w, &sp, fr);
		}
		r = go_rows_put_range(w, fr, sp.start, end, sp.value);
	}
	return r;
}

static int go_rows_function(struct go_rows_walk *w, const struct pclntab_func *fn)
{
	static const struct unwind_rule outermost = { .cfa = CFA_END };
	static const struct unwind_rule trampoline = { .cfa = CFA_SIGNAL };
	struct go_frame fr = { .special = go_rows_special_of(fn), .ra_reg = NO_REG };

	if (fr.special == OUTERMOST)
		return go_rows_put(w, fn->entry, fn->end, &outermost);
	/* it is looked up by its first address minus one */
	if (fr.special == TRAMPOLINE && !w->arm)
		return go_rows_put(w, fn->entry - 1, fn->end, &trampoline);
	if (!fn->pcsp)		/* C, linked by Go's linker */
		return 0;
	if (fr.special >= LEAVES)
		go_rows_find_switch(w, fn, &fr);
	return go_rows_by_pcsp(w, fn, &fr);
}

bool go_is_trampoline(const struct pclntab_func *fn)
{
	return go_rows_special_of(fn) == TRAMPOLINE;
}

int go_rows(const struct elf_file *f, go_row_fn fn, void *ctx)
{
	struct pclntab t;
	struct go_rows_walk w = {
		.t = &t, .fn = fn, .ctx = ctx,
		.arm = f->ehdr.e_machine == EM_AARCH64,
	};
	int r = go_find(&t, f);

	if (r)
		return r;
	for (uint32_t i = 0; !r && i < t.n; i++) {
		struct pclntab_func one, next;

		if (!pclntab_func(&t, i, &one))
			continue;
		if (pclntab_func(&t, i + 1, &next) &&
		    go_is_trampoline(&next))
			one.end--;
		r = go_rows_function(&w, &one);
	}
	elf_bytes_free(&w.text.b);
	pclntab_close(&t);
	return r;
}
