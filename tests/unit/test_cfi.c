// SPDX-License-Identifier: Apache-2.0
/* From bytes of CFI to rules: each instruction, each form, each kind of invalid entry. */
#include "tests/unit/harness.h"

#include <elf.h>
#include <errno.h>

#include "ipc/message_hub.h"
#include "symbolizerd/unwind/cfi.h"
#include "tests/unit/cfi_bytes.h"

#define ROWS_MAX	65536
#define START		0x1000
#define LEN		0x100

static struct row {
	uint64_t start, end;
	struct unwind_rule rule;
} rows[ROWS_MAX];
static uint32_t n_rows, bad;

static int on_row(void *ctx, uint64_t start, uint64_t end,
		  const struct unwind_rule *rule)
{
	(void)ctx;
	CHECK(start < end);
	if (n_rows == ROWS_MAX)
		return -E2BIG;
	rows[n_rows++] = (struct row){ start, end, *rule };
	return 0;
}

static uint32_t n_counted;

static int count_row(void *ctx, uint64_t start, uint64_t end,
		     const struct unwind_rule *rule)
{
	(void)ctx, (void)start, (void)end, (void)rule;
	n_counted++;
	return 0;
}

static struct cfi_source source(const struct cfi_bytes *b)
{
	return (struct cfi_source){ .data = b->b, .len = b->n,
				    .vaddr = CFI_VADDR, .machine = EM_X86_64 };
}

static int walk(const struct cfi_source *src)
{
	n_rows = bad = 0;
	return cfi_walk(src, on_row, NULL, &bad);
}

/* The rows of one function with these instructions. */
#define RUN(...)							\
	do {								\
		static const uint8_t ops_[] = { __VA_ARGS__ };		\
		struct cfi_bytes b_ = { .n = 0 };			\
		struct cfi_source s_;					\
									\
		put_fde(&b_, put_cie(&b_), START, LEN, ops_,		\
			sizeof(ops_));					\
		s_ = source(&b_);					\
		CHECK_EQ(walk(&s_), 0);					\
	} while (0)

static void check_row(uint32_t i, uint64_t start, uint64_t end, int cfa,
		      int off)
{
	CHECK(i < n_rows);
	CHECK_EQ(rows[i].start, start);
	CHECK_EQ(rows[i].end, end);
	CHECK_EQ(rows[i].rule.cfa, cfa);
	CHECK_EQ(rows[i].rule.cfa_off, off);
}

TEST(cfi_function_with_frame_pointer)
{
	/* push rbp; mov rbp, rsp; ...; leave; ret */
	RUN(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x50, 0xc6, 0x0c, 7, 8);
	CHECK_EQ(bad, 0);
	CHECK_EQ(n_rows, 4);
	check_row(0, START, START + 1, CFA_SP, 8);
	CHECK_EQ(rows[0].rule.saved, 0);
	CHECK_EQ(rows[0].rule.ra, RA_CFA);
	CHECK_EQ(rows[0].rule.ra_off, -8);
	check_row(1, START + 1, START + 4, CFA_SP, 16);
	CHECK_EQ(rows[1].rule.saved, 1 << SAVED_FP);
	CHECK_EQ(rows[1].rule.fp_off, -16);
	check_row(2, START + 4, START + 0x54, CFA_FP, 16);
	check_row(3, START + 0x54, START + LEN, CFA_SP, 8);
	CHECK_EQ(rows[3].rule.saved, 0);
}

TEST(cfi_advances)
{
	RUN(0x02, 1, 0x0e, 16, 0x03, 2, 0, 0x0e, 24, 0x04, 3, 0, 0, 0, 0x0e, 32,
	    0x1d, 4, 0, 0, 0, 0, 0, 0, 0, 0x0e, 40, 0x40, 0x0e, 48);
	CHECK_EQ(n_rows, 5);
	check_row(1, START + 1, START + 3, CFA_SP, 16);
	check_row(2, START + 3, START + 6, CFA_SP, 24);
	check_row(3, START + 6, START + 10, CFA_SP, 32);
	check_row(4, START + 10, START + LEN, CFA_SP, 48);
}

TEST(cfi_set_loc_is_encoded_as_addresses_are)
{
	struct cfi_bytes b = { .n = 0 };
	size_t cie = put_cie(&b), at = b.n;
	struct cfi_source src;
	uint32_t rel;

	/* its operand is pc-relative, at at + 18 */
	put_fde(&b, cie, START, LEN, "\x01....\x0e\x10", 7);
	CHECK_EQ(b.b[at + 17], 1);
	rel = START + 9 - (CFI_VADDR + at + 18);
	memcpy(b.b + at + 18, &rel, sizeof(rel));
	src = source(&b);
	CHECK_EQ(walk(&src), 0);
	CHECK_EQ(n_rows, 2);
	check_row(0, START, START + 9, CFA_SP, 8);
	check_row(1, START + 9, START + LEN, CFA_SP, 16);

	/* not backwards */
	b.n = 0;
	cie = put_cie(&b);
	at = b.n;
	put_fde(&b, cie, START, LEN, "\x48\x01....\x0e\x10", 8);
	rel = START + 4 - (CFI_VADDR + at + 19);
	memcpy(b.b + at + 19, &rel, sizeof(rel));
	src = source(&b);
	CHECK_EQ(walk(&src), 0);
	CHECK_EQ(bad, 1);
}

TEST(cfi_rows_stay_within_their_function)
{
	RUN(0x03, 0xff, 0, 0x0e, 16, 0x03, 0xff, 0xff, 0x0e, 24);
	CHECK_EQ(n_rows, 2);
	check_row(1, START + 0xff, START + LEN, CFA_SP, 16);
	RUN(0x03, 0, 1, 0x0e, 16);
	CHECK_EQ(n_rows, 1);
	check_row(0, START, START + LEN, CFA_SP, 8);
}

TEST(cfi_remembers_all_of_a_state)
{
	RUN(0x0a, 0x0e, 16, 0x83, 2, 0x41, 0x0a, 0x0e, 24, 0x41, 0x0b, 0x41,
	    0x0b, 0x41);
	CHECK_EQ(n_rows, 4 + 1);
	check_row(0, START, START + 1, CFA_SP, 16);
	CHECK_EQ(rows[0].rule.saved, 1);
	CHECK_EQ(rows[0].rule.reg_off[0], -2);
	check_row(1, START + 1, START + 2, CFA_SP, 24);
	check_row(2, START + 2, START + 3, CFA_SP, 16);
	check_row(3, START + 3, START + 4, CFA_SP, 8);
	CHECK_EQ(rows[3].rule.saved, 0);
	/* sixteen deep, not more; nothing to restore */
	RUN(0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
	    0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x41);
	CHECK_EQ(bad, 0);
	CHECK_EQ(n_rows, 2);
	RUN(0x41, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a,
	    0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a, 0x0a);
	CHECK_EQ(bad, 1);
	RUN(0x0b);
	CHECK_EQ(bad, 1);
	CHECK_EQ(n_rows, 0);
}

TEST(cfi_places_of_registers)
{
	const struct unwind_rule *r = &rows[0].rule;

	/* rbx, r12: offset; r13: extended; r14: extended_sf; r15: negative */
	RUN(0x83, 2, 0x8c, 3, 0x05, 13, 4, 0x11, 14, 5, 0x2f, 15, 6, 0x86, 7);
	CHECK_EQ(r->saved, 0x3f);
	CHECK_EQ(r->reg_off[0], -2);
	CHECK_EQ(r->reg_off[1], -3);
	CHECK_EQ(r->reg_off[2], -4);
	CHECK_EQ(r->reg_off[3], -5);
	CHECK_EQ(r->reg_off[4], 6);
	CHECK_EQ(r->fp_off, -56);
	/* taken back: restore, restore_extended, same_value, undefined */
	RUN(0x83, 2, 0x8c, 3, 0x05, 13, 4, 0x05, 14, 5, 0xc3, 0x06, 12, 0x08, 13,
	    0x07, 14);
	CHECK_EQ(r->saved, 0);
	CHECK_EQ(r->ra_off, -8);
	/* restored to what the CIE says, which is not always nothing */
	RUN(0x07, 16);
	CHECK_EQ(r->cfa, CFA_END);
	RUN(0x07, 16, 0xd0);
	CHECK_EQ(r->cfa, CFA_SP);
	CHECK_EQ(r->ra_off, -8);
	/* values, and registers in registers, are not places */
	RUN(0x14, 3, 2, 0x15, 12, 2, 0x16, 13, 1, 0x30, 0x09, 14, 8);
	CHECK_EQ(bad, 0);
	CHECK_EQ(r->saved, 0);
	/* operands of others are read, and ignored */
	RUN(0x80, 1, 0x05, 0xff, 0x01, 1, 0x10, 1, 2, 0x77, 8, 0x2e, 8, 0x83, 2);
	CHECK_EQ(bad, 0);
	CHECK_EQ(r->saved, 1);
}

TEST(cfi_offsets_that_do_not_fit)
{
	const struct unwind_rule *r = &rows[0].rule;

	/* rbx at -8 * 2^17: more than 16 bits of words; rbp at -8 * 2^30 */
	RUN(0x83, 0x80, 0x80, 0x08);
	CHECK_EQ(r->cfa, CFA_SP);
	CHECK_EQ(r->saved, 0);
	RUN(0x86, 0x80, 0x80, 0x80, 0x80, 0x04);
	CHECK_EQ(r->saved, 0);
	/* return address, CFA out of reach: no rule at all */
	RUN(0x90, 0x80, 0x80, 0x80, 0x80, 0x04);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x0e, 0x80, 0x80, 0x80, 0x80, 0x10);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	/* the factor overflows; so does its negation */
	RUN(0x83, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01);
	CHECK_EQ(bad, 1);
	RUN(0x2f, 3, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x10);
	CHECK_EQ(bad, 1);
}

TEST(cfi_bases)
{
	const struct unwind_rule *r = &rows[0].rule;

	RUN(0x0c, 13, 16);
	CHECK_EQ(r->cfa, CFA_REG);
	CHECK_EQ(r->cfa_reg, 2);
	CHECK_EQ(r->cfa_off, 16);
	RUN(0x12, 6, 0x7e);		/* def_cfa_sf: -2 * -8 */
	CHECK_EQ(r->cfa, CFA_FP);
	CHECK_EQ(r->cfa_off, 16);
	RUN(0x13, 0x7d);		/* def_cfa_offset_sf */
	CHECK_EQ(r->cfa_off, 24);
	RUN(0x0c, 10, 8);		/* r10, while a stack is realigned */
	CHECK_EQ(r->cfa, CFA_REG);
	CHECK_EQ(r->cfa_reg, 12);
	RUN(0x0c, 16, 8);		/* no register */
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	CHECK_EQ(r->cfa_off, 0);
	/* after an expression, a register again */
	RUN(0x0f, 2, 0x77, 8, 0x0c, 6, 16);
	CHECK_EQ(r->cfa, CFA_FP);
}

TEST(cfi_return_address)
{
	const struct unwind_rule *r = &rows[0].rule;

	RUN(0x07, 16);
	CHECK_EQ(r->cfa, CFA_END);
	RUN(0x09, 16, 5);		/* vfork(): in rdi */
	CHECK_EQ(r->ra, RA_REG);
	CHECK_EQ(r->ra_reg, 9);
	CHECK_EQ(r->ra_off, 0);
	RUN(0x09, 16, 1);		/* in rdx */
	CHECK_EQ(r->ra, RA_REG);
	CHECK_EQ(r->ra_reg, 6);
	RUN(0x09, 16, 1, 0x09, 7, 8);	/* longjmp(): and rsp in r8 */
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x14, 7, 0);		/* rsp is the CFA, as ever */
	CHECK_EQ(r->cfa, CFA_SP);
	CHECK_EQ(r->cfa_off, 8);
	/* GHC: CFA rsp, ra at CFA + 16, rbx at CFA + 8, rsp was rsp + 24 */
	RUN(0x0e, 0, 0x11, 16, 0x7e, 0x11, 3, 0x7f, 0x16, 7, 2, 0x77, 24);
	CHECK_EQ(r->cfa, CFA_SP);
	CHECK_EQ(r->cfa_off, 24);
	CHECK_EQ(r->ra_off, -8);
	CHECK_EQ(r->reg_off[0], -2);
	/* by another register, or more than a sum */
	RUN(0x16, 7, 2, 0x76, 24);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x16, 7, 3, 0x77, 24, 0x06);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x09, 16, 6);		/* in FP, which is no number */
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x08, 16);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x10, 16, 2, 0x77, 8);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x90, 3);
	CHECK_EQ(r->ra_off, -24);
}

TEST(cfi_expressions)
{
	const struct unwind_rule *r = &rows[0].rule;

	RUN(0x0f, 3, 0x76, 0x78, 0x06);		/* *(rbp - 8) */
	CHECK_EQ(r->cfa, CFA_FP_DEREF);
	CHECK_EQ(r->cfa_off, -8);
	CHECK_EQ(r->aux, 0);
	RUN(0x0f, 6, 0x77, 0x88, 1, 0x06, 0x23, 8);	/* *(rsp + 136) + 8 */
	CHECK_EQ(r->saved, RULE_ELSEWHERE);
	CHECK_EQ(r->cfa, CFA_SP_DEREF);
	CHECK_EQ(r->cfa_off, 136);
	CHECK_EQ(r->aux, 8);
	RUN(0x0f, 3, 0x7c, 0x10, 0x06);
	CHECK_EQ(r->cfa, CFA_REG_DEREF);
	CHECK_EQ(r->cfa_reg, 1);
	/* realigned stack: saved by rbp, as GCC writes it */
	RUN(0x0f, 3, 0x76, 0x70, 0x06, 0x10, 6, 2, 0x76, 0, 0x10, 3, 2, 0x76,
	    0x68);
	CHECK_EQ(r->saved, 1 << SAVED_FP | 1 | RULE_ELSEWHERE);
	CHECK_EQ(r->by_fp, 1 << SAVED_FP | 1);
	CHECK_EQ(r->fp_off, 0);
	CHECK_EQ(r->reg_off[0], -3);
	/* each its own way */
	RUN(0x10, 6, 2, 0x76, 0, 0x8d, 2);
	CHECK_EQ(r->saved, 1 << SAVED_FP | 4);
	CHECK_EQ(r->by_fp, 1 << SAVED_FP);
	CHECK_EQ(r->reg_off[2], -2);
	RUN(0x0f, 2, 0x76, 0x78);			/* rbp - 8 */
	CHECK_EQ(r->cfa, CFA_FP);
	CHECK_EQ(r->cfa_off, -8);
	/* not supported: two derefs, two values, none, other registers */
	RUN(0x0f, 4, 0x76, 0x78, 0x06, 0x06);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x0f, 4, 0x76, 0x78, 0x76, 0x78);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x0f, 1, 0x96);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x0f, 3, 0x80, 0x78, 0x06);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x0f, 0);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	/* two numbers are no address; a register less a number is one */
	RUN(0x0f, 3, 0x31, 0x32, 0x22);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x0f, 4, 0x31, 0x76, 0, 0x1c);
	CHECK_EQ(r->cfa, CFA_UNSUPPORTED);
	RUN(0x0f, 4, 0x76, 0, 0x31, 0x1c);
	CHECK_EQ(r->cfa, CFA_FP);
	CHECK_EQ(r->cfa_off, -1);
	/* an expression that is longer than the program */
	RUN(0x0f, 0x7f, 0x77, 8, 0x06);
	CHECK_EQ(bad, 1);
}

#define CHECK_SAME(...)							\
	do {								\
		RUN(0x0f, __VA_ARGS__);					\
		CHECK_EQ(rows[0].rule.cfa, CFA_FP_DEREF);		\
		CHECK_EQ(rows[0].rule.cfa_off, 0);			\
		CHECK_EQ(rows[0].rule.aux, 16);				\
	} while (0)

/* *(rbp) + 16, in every way that an assembler or a compiler may say it. */
TEST(cfi_expressions_by_their_value)
{
	CHECK_SAME(5, 0x76, 0, 0x06, 0x23, 16);		/* plus_uconst */
	CHECK_SAME(5, 0x76, 0, 0x06, 0x40, 0x22);	/* lit16, plus: SBCL */
	CHECK_SAME(6, 0x76, 0, 0x06, 0x08, 16, 0x22);	/* const1u */
	CHECK_SAME(6, 0x76, 0, 0x06, 0x10, 16, 0x22);	/* constu */
	CHECK_SAME(6, 0x76, 0, 0x06, 0x11, 16, 0x22);	/* consts */
	CHECK_SAME(6, 0x76, 0, 0x06, 0x09, 0xf0, 0x1c);	/* const1s -16, minus */
	CHECK_SAME(5, 0x40, 0x76, 0, 0x06, 0x22);	/* the number first */
	CHECK_SAME(9, 0x96, 0x76, 1, 0x31, 0x1c, 0x06, 0x23, 16, 0x96);	/* nop */
	CHECK_SAME(7, 0x76, 0, 0x06, 0x23, 8, 0x23, 8);
}

TEST(cfi_plt)
{
	RUN(0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22);
	CHECK_EQ(n_rows, 1);
	CHECK_EQ(rows[0].rule.cfa, CFA_PLT);
	CHECK_EQ(rows[0].rule.aux, 0);
	/* with the push elsewhere: two rows an entry */
	RUN(0x46, 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x35, 0x2a, 0x33, 0x24,
	    0x22);
	CHECK_EQ(n_rows, 2 + 2 * 15);
	check_row(0, START, START + 6, CFA_SP, 8);
	check_row(1, START + 6, START + 16, CFA_SP, 16);
	check_row(2, START + 16, START + 21, CFA_SP, 8);
	check_row(3, START + 21, START + 32, CFA_SP, 16);
	CHECK_EQ(rows[31].rule.aux, 0);
}

TEST(cfi_plt_of_any_size_is_no_bomb)
{
	static const uint8_t ops[] = { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
				       0x35, 0x2a, 0x33, 0x24, 0x22 };
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;

	put_fde(&b, put_cie(&b), START, 0x7fffffff, ops, sizeof(ops));
	src = source(&b);
	CHECK_EQ(walk(&src), 0);
	CHECK_EQ(n_rows, 1);
	CHECK_EQ(rows[0].rule.cfa, CFA_UNSUPPORTED);
}

/* Each within the limit, all together not. */
TEST(cfi_many_plts_are_no_bomb)
{
	static const uint8_t ops[] = { 0x0f, 11, 0x77, 8, 0x80, 0, 0x3f, 0x1a,
				       0x35, 0x2a, 0x33, 0x24, 0x22 };
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;
	size_t cie = put_cie(&b);

	for (int i = 0; i < 10; i++)
		put_fde(&b, cie, START, 1 << 18, ops, sizeof(ops));
	src = source(&b);
	/* four of them in rows, two for each 16 bytes; six in one row each */
	n_counted = 0;
	CHECK_EQ(cfi_walk(&src, count_row, NULL, &bad), 0);
	CHECK_EQ(n_counted, 4 * (1 << 18) / 16 * 2 + 6);
}

/* --- forms of CIEs and FDEs ------------------------------------------------- */

/* A CIE with this version, augmentation and what follows, then an FDE. */
static void forms(uint8_t version, const char *aug, const char *behind,
		  size_t n, const char *fde_aug, size_t fde_n)
{
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;
	size_t at;

	put32(&b, 0);
	put32(&b, 0);
	put8(&b, version);
	put(&b, aug, strlen(aug) + 1);
	put(&b, behind, n);
	put(&b, "\x0c\x07\x08\x90\x01", 5);
	put_end(&b, 0);
	at = b.n;
	put32(&b, 0);
	put32(&b, at + 4);
	if (strchr(aug, 'R')) {
		put32(&b, START - (CFI_VADDR + (uint32_t)b.n));
		put32(&b, LEN);
	} else {
		put64(&b, START);
		put64(&b, LEN);
	}
	put(&b, fde_aug, fde_n);
	put_end(&b, at);
	src = source(&b);
	CHECK_EQ(walk(&src), 0);
}
#define FORMS(version, aug, behind, fde_aug)				\
	forms(version, aug, behind, sizeof(behind) - 1, fde_aug,	\
	      sizeof(fde_aug) - 1)

static void check_one(void)
{
	CHECK_EQ(bad, 0);
	CHECK_EQ(n_rows, 1);
	check_row(0, START, START + LEN, CFA_SP, 8);
}

TEST(cfi_versions_and_augmentations)
{
	FORMS(1, "", "\x01\x78\x10", "");
	check_one();
	FORMS(3, "", "\x01\x78\x90\x00", "");	/* column as ULEB128 */
	check_one();
	FORMS(4, "", "\x08\x00\x01\x78\x10", "");
	check_one();
	FORMS(1, "zR", "\x01\x78\x10\x01\x1b", "\x00");
	check_one();
	FORMS(1, "zRS", "\x01\x78\x10\x01\x1b", "\x00");
	check_one();
	FORMS(1, "zPLR", "\x01\x78\x10\x07\x9b....\x1b\x1b", "\x04lsda");
	check_one();
	FORMS(1, "zPR", "\x01\x78\x10\x0a\x00........\x1b", "\x00");
	check_one();
	FORMS(1, "zPR", "\x01\x78\x10\x02\xff\x1b", "\x00");
	check_one();
	/* aligned: the pointer is at 24, where the section is at a multiple */
	FORMS(1, "zPR", "\x01\x78\x10\x10\x50......" "........\x1b", "\x00");
	check_one();
	FORMS(1, "zRB", "\x01\x78\x10\x01\x1b", "\x00");
	check_one();
	/* an unknown letter: the length of its data is known */
	FORMS(1, "zRX", "\x01\x78\x10\x03\x1b..", "\x00");
	check_one();
}

TEST(cfi_forms_that_are_refused)
{
	FORMS(2, "", "\x01\x78\x10", "");
	CHECK_EQ(bad, 1);
	FORMS(4, "", "\x04\x00\x01\x78\x10", "");	/* 32-bit addresses */
	CHECK_EQ(bad, 1);
	FORMS(4, "", "\x08\x01\x01\x78\x10", "");	/* segments */
	CHECK_EQ(bad, 1);
	FORMS(1, "eh", "........\x01\x78\x10", "");
	CHECK_EQ(bad, 1);
	FORMS(1, "zR", "\x01\x78\x10\x01\x9b", "\x00");	/* indirect */
	CHECK_EQ(bad, 1);
	FORMS(1, "zR", "\x01\x78\x10\x01\x3b", "\x00");	/* data-relative */
	CHECK_EQ(bad, 1);
	FORMS(1, "zR", "\x01\x78\x10\x7f\x1b", "\x00");	/* too long */
	CHECK_EQ(bad, 1);
	FORMS(1, "zR", "\x01\x78\x10\x01\x1b", "\x7f");
	CHECK_EQ(bad, 1);
	CHECK_EQ(n_rows, 0);
}

TEST(cfi_signal_frame)
{
	/* as in glibc's __restore_rt: CFA by the ucontext's rsp */
	FORMS(1, "zRS", "\x01\x78\x10\x01\x1b",
	      "\x00\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01");
	CHECK_EQ(rows[0].rule.cfa, CFA_SIGNAL);
	/* registers elsewhere: not the kernel's */
	FORMS(1, "zRS", "\x01\x78\x10\x01\x1b",
	      "\x00\x0f\x04\x77\xa8\x01\x06\x10\x10\x03\x77\xa8\x01");
	CHECK_EQ(rows[0].rule.cfa, CFA_UNSUPPORTED);
	/* not marked as one */
	FORMS(1, "zR", "\x01\x78\x10\x01\x1b",
	      "\x00\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01");
	CHECK_EQ(rows[0].rule.cfa, CFA_UNSUPPORTED);
}

TEST(cfi_debug_frame)
{
	for (int is64 = 0; is64 < 2; is64++) {
		struct cfi_bytes b = { .n = 0 };
		struct cfi_source src;
		size_t fde;

		if (is64) {
			put32(&b, UINT32_MAX);
			put64(&b, 24);
			put64(&b, UINT64_MAX);
		} else {
			put32(&b, 20);
			put32(&b, UINT32_MAX);
		}
		put(&b, "\x04\x00\x08\x00\x01\x78\x10\x0c\x07\x08\x90\x01\0\0\0\0",
		    16);
		fde = b.n;
		put32(&b, is64 ? UINT32_MAX : 20);
		if (is64) {
			put64(&b, 24);
			put64(&b, 0);
		} else {
			put32(&b, 0);
		}
		put64(&b, START);
		put64(&b, LEN);
		src = source(&b);
		src.debug_frame = true;
		CHECK_EQ(walk(&src), 0);
		check_one();
		/* a CIE pointer out of the section, and into an FDE */
		b.b[fde + (is64 ? 12 : 4)] = 0xff;
		CHECK_EQ(walk(&src), 0);
		CHECK_EQ(bad, 1);
		b.b[fde + (is64 ? 12 : 4)] = fde;
		CHECK_EQ(walk(&src), 0);
		CHECK_EQ(bad, 1);
	}
}

TEST(cfi_functions_that_the_linker_dropped)
{
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;
	size_t cie = put_cie(&b);

	put_fde(&b, cie, 0, LEN, "", 0);
	put_fde(&b, cie, START, 0, "", 0);
	put_fde(&b, cie, START, LEN, "", 0);
	src = source(&b);
	CHECK_EQ(walk(&src), 0);
	check_one();
}

TEST(cfi_goes_on_behind_a_terminator_and_a_broken_function)
{
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;
	size_t cie = put_cie(&b);

	put_fde(&b, cie, START, LEN, "\x3f", 1);
	put32(&b, 0);
	put_fde(&b, cie, START + LEN, LEN, "\x0e\x10", 2);
	src = source(&b);
	CHECK_EQ(walk(&src), 0);
	CHECK_EQ(bad, 1);
	CHECK_EQ(n_rows, 1);
	check_row(0, START + LEN, START + 2 * LEN, CFA_SP, 16);
}

TEST(cfi_search_table_names_the_functions)
{
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;
	size_t cie = put_cie(&b);
	uint32_t fdes[4] = { 0, UINT32_MAX, 0, 2 };

	put_fde(&b, cie, START, LEN, "\x0e\x10", 2);
	fdes[0] = put_fde(&b, cie, START + LEN, LEN, "", 0);
	put(&b, "what is not CFI", 15);
	src = source(&b);
	src.fdes = fdes;
	src.n_fdes = 4;
	CHECK_EQ(walk(&src), 0);
	CHECK_EQ(n_rows, 1);
	check_row(0, START + LEN, START + 2 * LEN, CFA_SP, 8);
}

TEST(cfi_aarch64)
{
	/* stp x29, x30, [sp, #-32]!; mov x29, sp; str x19, [sp, #16] */
	static const uint8_t cie[] = { 1, 'z', 'R', 0, 4, 0x78, 30, 1, 0x1b,
				       0x0c, 31, 0 };
	static const uint8_t ops[] = { 0x2d, 0x41, 0x0e, 32, 0x9d, 4, 0x9e, 3,
				       0x42, 0x93, 2, 0x0d, 29, 0x41, 0xde, 0xdd,
				       0xd3, 0x0c, 31, 0, 0x2c };
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;

	put32(&b, 0);
	put32(&b, 0);
	put(&b, cie, sizeof(cie));
	put_end(&b, 0);
	put_fde(&b, 0, START, LEN, ops, sizeof(ops));
	src = source(&b);
	src.machine = EM_AARCH64;
	CHECK_EQ(walk(&src), 0);
	CHECK_EQ(n_rows, 4);
	check_row(0, START, START + 4, CFA_SP, 0);
	CHECK_EQ(rows[0].rule.ra, RA_REG);
	CHECK_EQ(rows[0].rule.ra_reg, 5);
	check_row(1, START + 4, START + 12, CFA_SP, 32);
	CHECK_EQ(rows[1].rule.ra, RA_CFA);
	CHECK_EQ(rows[1].rule.ra_off, -24);
	CHECK_EQ(rows[1].rule.fp_off, -32);
	check_row(2, START + 12, START + 16, CFA_FP, 32);
	CHECK_EQ(rows[2].rule.saved, 1 << SAVED_FP | 1);
	CHECK_EQ(rows[2].rule.reg_off[0], -2);
	check_row(3, START + 16, START + LEN, CFA_SP, 0);
	CHECK_EQ(rows[3].rule.ra, RA_REG);
	CHECK_EQ(rows[3].rule.saved, 0);
}

/* --- hostile bytes ---------------------------------------------------------- */

static void sample(struct cfi_bytes *b)
{
	static const uint8_t ops[] = {
		0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x0a, 0x02, 8, 0x0f, 3,
		0x76, 0x78, 0x06, 0x10, 6, 2, 0x76, 0, 0x03, 4, 0, 0x0b, 0x2e, 8,
		0x05, 13, 4, 0x16, 12, 1, 0x30, 0x0c, 7, 8,
	};
	size_t cie = put_cie(b);

	put_fde(b, cie, START, LEN, ops, sizeof(ops));
	put_fde(b, cie, START + LEN, LEN, ops, sizeof(ops));
	put32(b, 0);
}

static void walk_copy(const struct cfi_bytes *b, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct cfi_source src = source(b);

	memcpy(copy, b->b, len);
	src.data = copy;
	src.len = len;
	for (int i = 0; i < 4; i++) {
		src.debug_frame = i & 1;
		src.machine = i & 2 ? EM_X86_64 : EM_AARCH64;
		walk(&src);
	}
	free(copy);
}

TEST(cfi_any_truncation)
{
	struct cfi_bytes b = { .n = 0 };

	sample(&b);
	for (size_t len = 0; len <= b.n; len++)
		walk_copy(&b, len);
	CHECK(n_rows == 0);		/* the last was .debug_frame */
}

TEST(cfi_any_flipped_bit)
{
	struct cfi_bytes b = { .n = 0 };

	sample(&b);
	for (size_t bit = 0; bit < 8 * b.n; bit++) {
		b.b[bit / 8] ^= 1 << bit % 8;
		walk_copy(&b, b.n);
		b.b[bit / 8] ^= 1 << bit % 8;
	}
}

TEST(cfi_any_instruction_with_any_operands)
{
	struct cfi_bytes b = { .n = 0 };
	size_t fde = 0;
	uint64_t x = 88172645463325252ULL;

	fde = put_fde(&b, put_cie(&b), START, LEN, &x, sizeof(x));
	for (int i = 0; i < 100000; i++) {
		x ^= x << 13, x ^= x >> 7, x ^= x << 17;
		memcpy(b.b + fde + 17, &x, sizeof(x));
		b.b[fde + 17] = i;
		walk_copy(&b, b.n);
	}
}

TEST(cfi_one_function_named_a_million_times)
{
	static uint32_t fdes[1000000];
	static uint8_t ops[8192];
	struct cfi_bytes b = { .n = 0 };
	struct cfi_source src;
	size_t cie = put_cie(&b);

	/* each byte another row */
	memset(ops, 0x41, sizeof(ops));
	fdes[0] = put_fde(&b, cie, START, sizeof(ops), ops, sizeof(ops));
	for (size_t i = 1; i < 1000000; i++)
		fdes[i] = fdes[0];
	src = source(&b);
	src.fdes = fdes;
	src.n_fdes = 1000000;
	CHECK_EQ(walk(&src), 0);
	CHECK(n_rows <= CFI_WORK * b.n);
	CHECK(bad == 0);
}
