// SPDX-License-Identifier: Apache-2.0
/*
 * From the loop of Perl to its subs, on the host: for each version that the sampler knows,
 * contexts, subs and packages in memory made up by its layout.  Whether the layouts are
 * Perl's: tests/runtimes/perl/live/.
 */
#include "tests/unit/bpf_host.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <string.h>

#include "bpf/perl_read.bpf.h"

#include "tests/runtimes/perl/unit/perl_memory.h"

#define BASE	0x7f0000001000ULL
#define SIZE	131072
#define SP	0x7ffc00000000ULL	/* of the innermost loop */

static char memory[SIZE];
static size_t readable = SIZE;		/* bytes of it */
static int reads;

/* native stack: only struct jmpenv.je_prev is read */
static struct { __u64 at, prev; } env[4];

long bpf_probe_read_user(void *dst, __u32 size, const void *src)
{
	__u64 addr = (__u64)(uintptr_t)src, off = addr - BASE;

	reads++;
	for (int i = 0; i < 4; i++) {
		if (addr == env[i].at && size == 8) {
			memcpy(dst, &env[i].prev, 8);
			return 0;
		}
	}
	if (off > readable || readable - off < size) {
		memset(dst, 0, size);
		return -EFAULT;
	}
	memcpy(dst, memory + off, size);
	return 0;
}

/* --- what is found ----------------------------------------------------------------- */

static struct perl_state state;

static void begin(__u32 version)
{
	memset(env, 0, sizeof(env));
	readable = SIZE;
	pl_begin(version, memory, BASE, SIZE);
}

static void walk(void)
{
	const struct perl_layout *l = perl_layout(pl.version);

	memset(&state, 0xaa, sizeof(state));
	memset(&state, 0, PERL_STATE_BEGIN);
	state.version = pl.version;
	if (pl.version & PERL_THREADED)
		perl_begin(&state, pl.interp);
	else	/* its variables are no interpreter's: anywhere */
		perl_begin_global(&state, pl.interp + l->curcop, pl.interp + l->curcop + 16,
				  pl.interp + l->top_env);
}

static const char *text_at(__u64 at, __u32 bytes)
{
	static char text[64];

	if (bytes > sizeof(text) - 1)
		bytes = sizeof(text) - 1;
	bpf_probe_read_user(text, bytes, (void *)at);
	text[bytes] = '\0';
	return text;
}

static void add_name(char *to, const struct perl_frame *f)
{
	struct perl_text t;
	__u64 name, package;

	if (f->kind != PERL_SUB) {
		strcat(to, f->kind == PERL_EVAL ? "(eval)" : "main");
		return;
	}
	perl_sub_name(&state, f, &name, &package);
	if (perl_read_hek(&state, package, &t)) {
		strcat(to, text_at(t.at, t.bytes));
		strcat(to, "::");
	}
	strcat(to, perl_read_hek(&state, name, &t) ? text_at(t.at, t.bytes) : "?");
}

/* Frames of one loop as "name@line ", and how it ended. */
static const char *loop_at(__u64 sp)
{
	static char text[1024];
	enum perl_found found;

	text[0] = '\0';
	perl_enter_loop(&state, sp);
	do {
		struct perl_frame f = { 0 };

		found = perl_next(&state, &f);
		if (found == PERL_FRAME || found == PERL_LAST) {
			CHECK(strlen(text) < 900);
			add_name(text, &f);
			sprintf(text + strlen(text), "@%u ", f.line);
		}
	} while (found == PERL_NOTHING || found == PERL_FRAME);
	if (found == PERL_BROKEN) {
		strcat(text, "broken");
		state.si = 0;
	}
	return text;
}

static const char *loop(void)
{
	return loop_at(SP);
}

/* --- chains ------------------------------------------------------------------------ */

TEST(perl_program_without_subs)
{
	EACH_PERL(v) {
		begin(v);
		pl_runs(pl_cop("/a/x.pl", 7));
		walk();
		CHECK_STR(loop(), "main@7 ");
		CHECK_EQ(state.si, 0);
		CHECK_STR(loop(), "");
	}
}

/* A frame's line is where it is: the inner ones' statement of the call. */
TEST(perl_subs_and_their_lines)
{
	EACH_PERL(v) {
		begin(v);
		pl_call(pl_sub("outer", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_context(2, pl_cop("/a/x.pl", 99), 0);	/* blocks say nothing */
		pl_context(4, pl_cop("/a/x.pl", 98), 0);
		pl_context(PERL_CX_SUBST, 0x1234, 0x5678);
		pl_call(pl_sub("inner", 20), pl_cop("/a/x.pl", 12), PL_BACK);
		pl_context(8, pl_cop("/a/x.pl", 97), 0);
		pl_runs(pl_cop("/a/x.pl", 25));
		walk();
		CHECK_STR(loop(), "main::inner@25 main::outer@12 main@3 ");
	}
}

/* It has not come to its first statement. */
TEST(perl_sub_that_was_called_just_now)
{
	EACH_PERL(v) {
		__u64 cop, cv;

		begin(v);
		cop = pl_cop("/a/x.pl", 3);
		cv = pl_sub("f", 10);
		pl_call(cv, cop, PL_BACK);
		pl_runs(cop);
		walk();
		CHECK_STR(loop(), "main::f@10 main@3 ");
		/* a recursive one may be at that statement */
		pl_put32(pl_get(cv) + 96, 2);
		walk();
		CHECK_STR(loop(), "main::f@3 main@3 ");
	}
}

TEST(perl_context_that_is_half_made)
{
	EACH_PERL(v) {
		__u64 cx;

		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_call(pl_cop("/a/x.pl", 4), 0, 0);
		pl_runs(pl_cop("/a/x.pl", 12));
		walk();
		CHECK_STR(loop(), "main::f@12 main@3 ");
		/* only the innermost one may be */
		cx = pl_call(pl_sub("g", 20), pl_cop("/a/x.pl", 13), PL_BACK);
		walk();
		CHECK_STR(loop(), "main::g@12 broken");
		pl_put(cx + 72, 0);
		walk();
		CHECK_STR(loop(), "broken");
	}
}

TEST(perl_evals)
{
	EACH_PERL(v) {
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_context(PERL_CX_EVAL | 0x40, pl_cop("/a/x.pl", 12), PL_BACK);
		pl_context(PERL_CX_EVAL | PERL_CX_REAL, pl_cop("/a/x.pl", 13), PL_BACK);
		pl_runs(pl_cop("(eval 1)", 1));
		walk();
		CHECK_STR(loop(), "(eval)@1 (eval)@13 main::f@12 main@3 ");
		/* try { } is no frame, as for caller() */
		pl_context(PERL_CX_EVAL | PERL_CX_TRY, pl_cop("/a/x.pl", 14), PL_BACK);
		walk();
		CHECK_STR(loop(), "(eval)@1 (eval)@13 main::f@12 main@3 ");
	}
}

/* --- what C has called ------------------------------------------------------------- */

TEST(perl_sub_called_by_c)
{
	EACH_PERL(v) {
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_call(pl_sub("callback", 20), pl_cop("/a/x.pl", 12), 0);
		pl_call(pl_sub("inner", 30), pl_cop("/a/x.pl", 22), PL_BACK);
		pl_runs(pl_cop("/a/x.pl", 33));
		walk();
		CHECK_STR(loop(), "main::inner@33 main::callback@22 ");
		CHECK_STR(loop(), "main::f@12 main@3 ");
		CHECK_STR(loop(), "");
	}
}

/* With G_EVAL: signal handlers, DESTROY, BEGIN. */
TEST(perl_sub_called_by_c_in_an_eval)
{
	EACH_PERL(v) {
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_stack(4);
		pl_context(PERL_CX_EVAL | 0x40, pl_cop("/a/x.pl", 12), 0);
		pl_call(pl_sub("handler", 20), pl_cop("/a/x.pl", 12), 0);
		pl_runs(pl_cop("/a/x.pl", 22));
		walk();
		CHECK_STR(loop(), "main::handler@22 (eval)@12 ");
		CHECK_STR(loop(), "main::f@12 main@3 ");
	}
}

TEST(perl_eval_called_by_c)
{
	EACH_PERL(v) {
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_context(PERL_CX_EVAL | PERL_CX_REAL, pl_cop("/a/x.pl", 12), 0);
		pl_runs(pl_cop("(eval 1)", 1));
		walk();
		CHECK_STR(loop(), "(eval)@1 ");
		CHECK_STR(loop(), "main::f@12 main@3 ");
	}
}

/* The method is C: nothing runs in its stack. */
TEST(perl_stack_in_which_nothing_runs)
{
	EACH_PERL(v) {
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_stack(2);
		pl_runs(pl_cop("/a/x.pl", 12));
		walk();
		CHECK_STR(loop(), "main::f@12 main@3 ");
		/* likewise where C is called in an eval */
		pl_context(PERL_CX_EVAL | 0x40, pl_cop("/a/x.pl", 12), 0);
		walk();
		CHECK_STR(loop(), "(eval)@12 main::f@12 main@3 ");
	}
}

TEST(perl_sorts)
{
	EACH_PERL(v) {
		/* by a sub */
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_stack(3);
		pl_call(pl_sub("by", 20), pl_cop("/a/x.pl", 12), 0);
		pl_runs(pl_cop("/a/x.pl", 22));
		walk();
		CHECK_STR(loop(), "main::by@22 ");
		CHECK_STR(loop(), "main::f@12 main@3 ");
		/* by a block, which is no frame, and whose last op is a call */
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_stack(3);
		pl_context(PERL_CX_NULL, pl_cop("/a/x.pl", 12), 0);
		pl_call(pl_sub("by", 20), pl_cop("/a/x.pl", 13), 0);
		pl_runs(pl_cop("/a/x.pl", 22));
		walk();
		CHECK_STR(loop(), "main::by@22 ");
		CHECK_STR(loop(), "main::f@13 main@3 ");
	}
}

TEST(perl_code_in_a_regular_expression)
{
	EACH_PERL(v) {
		begin(v);
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_context(PERL_CX_SUB | PERL_CX_FAKE, pl_cop("/a/x.pl", 11), 0);
		pl_call(pl_sub("g", 20), pl_cop("/a/x.pl", 12), 0);
		pl_runs(pl_cop("/a/x.pl", 22));
		walk();
		CHECK_STR(loop(), "main::g@22 main::f@12 main@3 ");
	}
}

TEST(perl_format)
{
	EACH_PERL(v) {
		__u64 cx;

		begin(v);
		cx = pl_context(PERL_CX_FORMAT, pl_cop("/a/x.pl", 12), PL_BACK);
		pl_put(cx + 72, pl_sub_of(PERL_SV_FORMAT, pl_glob("STDOUT", pl.stash, 0), 0, 0, 0));
		pl_runs(pl_cop("/a/x.pl", 22));
		walk();
		CHECK_STR(loop(), "main::STDOUT@22 main@12 ");
	}
}

/* An eval in a sub that C has called runs in a loop of its own, which goes on after the
 * eval, until the sub returns. */
TEST(perl_loop_of_docatch)
{
	EACH_PERL(v) {
		begin(v);
		pl.env = SP + 48;
		pl_call(pl_sub("f", 10), pl_cop("/a/x.pl", 3), PL_BACK);
		pl_stack(2);
		pl_call(pl_sub("FETCH", 20), pl_cop("/a/x.pl", 12), 0);
		pl_context(PERL_CX_EVAL | 0x40, pl_cop("/a/x.pl", 22), PL_BACK);
		pl_call(pl_sub("g", 30), pl_cop("/a/x.pl", 23), PL_BACK);
		pl_runs(pl_cop("/a/x.pl", 33));
		env[0] = (typeof(env[0])){ SP + 48, SP + 0x1000 };
		env[1] = (typeof(env[0])){ SP + 0x1000, 0 };
		walk();
		CHECK_STR(loop_at(SP), "main::g@33 (eval)@23 ");
		CHECK_STR(loop_at(SP + 0x200), "main::FETCH@22 ");
		CHECK_STR(loop_at(SP + 0xff0), "main::f@12 main@3 ");
		/* the eval is over */
		pl_put32(pl.si + 32, 0);
		pl_runs(pl_cop("/a/x.pl", 25));
		walk();
		CHECK_STR(loop_at(SP), "");
		CHECK_STR(loop_at(SP + 0x200), "main::FETCH@25 ");
		CHECK_STR(loop_at(SP + 0xff0), "main::f@12 main@3 ");
	}
}

TEST(perl_environments_in_a_ring_or_downwards)
{
	begin(36);
	pl.env = SP - 64;
	pl_runs(pl_cop("/a/x.pl", 7));
	env[0] = (typeof(env[0])){ SP - 64, SP - 64 };
	walk();
	reads = 0;
	CHECK_STR(loop(), "main@7 ");
	CHECK(reads < 8);
	env[0].prev = SP - 128;
	env[1] = (typeof(env[0])){ SP - 128, SP - 64 };
	walk();
	CHECK_STR(loop(), "main@7 ");
}

/* --- names ------------------------------------------------------------------------- */

static void expect_sub(__u64 cv, const char *want)
{
	pl_put32(pl.si + 32, UINT32_MAX);
	pl_call(cv, pl_cop("/a/x.pl", 3), PL_BACK);
	pl_runs(pl_cop("/a/x.pl", 12));
	walk();
	CHECK_STR(loop(), want);
}

TEST(perl_names_of_subs)
{
	EACH_PERL(v) {
		__u64 other, glob;

		begin(v);
		other = pl_stash("A::B", 2);
		expect_sub(pl_sub_of(PERL_SV_CODE, pl_hek("f", 0), other, PERL_CV_NAMED, 0),
			   "A::B::f@12 main@3 ");
		expect_sub(pl_sub_of(PERL_SV_CODE, pl_hek("f", 0), other,
				     PERL_CV_NAMED | PERL_CV_LEXICAL, 0), "f@12 main@3 ");
		expect_sub(pl_sub_of(PERL_SV_CODE, pl_glob("__ANON__", other, 0), 0, 0x80, 0),
			   "A::B::__ANON__@12 main@3 ");
		glob = pl_glob("first", pl.stash, 0);
		expect_sub(pl_sub_of(PERL_SV_CODE, pl_glob("second", other, glob), 0, 0, 0),
			   "main::first@12 main@3 ");
		/* names that are none */
		expect_sub(pl_sub_of(PERL_SV_CODE, 0, other, 0, 0), "?@12 main@3 ");
		expect_sub(pl_sub_of(PERL_SV_CODE, 0, other, PERL_CV_NAMED, 0),
			   "A::B::?@12 main@3 ");
		expect_sub(pl_sub_of(PERL_SV_CODE, pl_hek("f", 0), 0, PERL_CV_NAMED, 0),
			   "f@12 main@3 ");
	}
}

TEST(perl_values_of_other_types_have_no_names)
{
	EACH_PERL(v) {
		begin(v);
		for (__u32 type = 0; type < 256; type++) {
			__u64 glob = pl_glob("g", pl.stash, 0), cv, stash;
			size_t n = pl.n;

			if (type != PERL_SV_GLOB) {
				pl_put32(glob + 12, type | PERL_SV_GP);
				expect_sub(pl_sub_of(PERL_SV_CODE, glob, 0, 0, 0), "?@12 main@3 ");
			}
			stash = pl_stash("S", 0);
			if (type != PERL_SV_HASH) {
				pl_put32(stash + 12, type | PERL_SV_AUX);
				expect_sub(pl_sub_of(PERL_SV_CODE, pl_hek("f", 0), stash,
						     PERL_CV_NAMED, 0), "f@12 main@3 ");
			}
			cv = pl_sub("f", 10);
			if (type != PERL_SV_CODE) {
				pl_put32(cv + 12, type);
				expect_sub(cv, "main@12 ");	/* half made */
			}
			pl.n = n;
		}
	}
}

TEST(perl_name_in_utf8)
{
	struct perl_text t;
	__u64 hek;

	begin(36);
	walk();
	CHECK(perl_read_hek(&state, pl_hek("h\xc3\xa9", 1), &t));
	CHECK_EQ(t.bytes, 3);
	CHECK(t.utf8);
	CHECK(perl_read_hek(&state, pl_hek("h\xe9", 0), &t));
	CHECK(!t.utf8);
	CHECK(!perl_read_hek(&state, pl_hek("", 0), &t));
	/* what has no NUL, or other flags, is none */
	CHECK(!perl_read_hek(&state, pl_hek("f", 0x10), &t));
	hek = pl_hek("f", 0);
	*(char *)pl_at(hek + 9) = 'g';
	CHECK(!perl_read_hek(&state, hek, &t));
	pl_put32(hek + 4, PERL_NAME_MAX + 1);
	CHECK(!perl_read_hek(&state, hek, &t));
	CHECK(!perl_read_hek(&state, 0, &t));
}

TEST(perl_file_of_a_statement)
{
	struct perl_text t;
	__u64 cop;

	begin(36);
	cop = pl_cop("/a/x.pl", 7);
	walk();
	CHECK(perl_file_glob(&state, cop, &t));
	CHECK_STR(text_at(t.at, t.bytes), "/a/x.pl");
	pl_put(cop + 48, pl_glob("other", pl.stash, 0));
	CHECK(!perl_file_glob(&state, cop, &t));
	pl_put(cop + 48, pl_glob("_<", pl.stash, 0));
	CHECK(!perl_file_glob(&state, cop, &t));
	pl_put(cop + 48, pl.stash);
	CHECK(!perl_file_glob(&state, cop, &t));
}

/* Closures and threads share what was compiled. */
TEST(perl_closures_are_one_function)
{
	__u64 cv, clone, cookie, function;
	struct perl_frame f = { 0 };

	begin(36);
	walk();
	cv = pl_sub("f", 10);
	CHECK(perl_read_cv(&state, cv, PERL_CX_SUB, &f));
	cookie = f.cookie;
	function = f.function;
	clone = pl_sv(pl_alloc(112), PERL_SV_CODE, 0);
	memcpy(pl_at(pl_get(clone)), pl_at(pl_get(cv)), 112);
	CHECK(perl_read_cv(&state, clone, PERL_CX_SUB, &f));
	CHECK_EQ(f.cookie, cookie);
	CHECK_EQ(f.function, function);
	/* memory that is used again */
	pl_put(pl_get(clone) + 56, pl_hek("g", 0));
	CHECK(perl_read_cv(&state, clone, PERL_CX_SUB, &f));
	CHECK(f.cookie != cookie);
}

/* --- what is no interpreter -------------------------------------------------------- */

static void expect_nothing(void)
{
	walk();
	CHECK_EQ(state.si, 0);
	CHECK_STR(loop(), "");
}

TEST(perl_interpreter_whose_stack_is_none)
{
	EACH_PERL(v) {
		const struct perl_layout *l = perl_layout(v);
		__u64 av;

		begin(v);
		pl_runs(pl_cop("/a/x.pl", 7));
		av = pl_get(pl.si);
		for (__u32 type = 0; type < 256; type++) {
			pl_put32(av + 12, type);
			if (type != PERL_SV_ARRAY)
				expect_nothing();
		}
		pl_put32(av + 12, PERL_SV_ARRAY);
		if (!(v & PERL_THREADED))
			continue;
		/* it must be the interpreter's */
		pl_put(pl.interp + l->curcop + 8, pl_sv(pl_alloc(32), PERL_SV_ARRAY, 0));
		expect_nothing();
		pl_put(pl.interp + l->curcop + 8, 0);
		expect_nothing();
		pl_runs(pl_cop("/a/x.pl", 7));
		walk();
		CHECK_STR(loop(), "main@7 ");
		pl_put(pl.interp + l->curcop, 0);
		expect_nothing();
		pl_put(pl.interp + l->curcop, BASE + 4);
		expect_nothing();
		pl.interp = 0;
		expect_nothing();
	}
}

/* A statement says whether there are threads. */
TEST(perl_with_threads_or_without_is_no_other)
{
	EACH_PERL(v) {
		begin(v);
		pl_runs(pl_cop("/a/x.pl", 7));
		pl.version ^= PERL_THREADED;
		expect_nothing();
		pl.version = v;
		walk();
		CHECK_STR(loop(), "main@7 ");
	}
}

TEST(perl_stack_with_wrong_numbers)
{
	static const __s32 no_type[] = { -2, 32, INT32_MAX, INT32_MIN };
	static const __s32 no_index[] = { -2, INT32_MIN, 24, 16384, INT32_MAX };

	begin(40);
	pl_runs(pl_cop("/a/x.pl", 7));
	for (int i = 0; i < 4; i++) {
		pl_put32(pl.si + 44, (__u32)no_type[i]);
		expect_nothing();
	}
	pl_put32(pl.si + 44, PERL_SI_MAIN);
	for (int i = 0; i < 5; i++) {
		pl_put32(pl.si + 32, (__u32)no_index[i]);
		expect_nothing();
	}
	pl_put32(pl.si + 36, INT32_MAX);
	pl_put32(pl.si + 32, 16384);
	expect_nothing();
}

/* --- hostile ----------------------------------------------------------------------- */

TEST(perl_stacks_in_a_ring_end)
{
	__u64 outer, inner;
	int loops = 0;

	begin(36);
	outer = pl_stack(2);
	pl_context(PERL_CX_NULL, 0, 0);
	inner = pl_stack(2);
	pl_context(PERL_CX_NULL, 0, 0);
	pl_put(outer + 16, inner);
	pl_runs(pl_cop("/a/x.pl", 7));
	walk();
	while (state.si && loops < 100000) {
		loop();
		loops++;
	}
	CHECK(loops < 100000);
	/* in which nothing runs: one loop goes round */
	pl_put32(outer + 32, UINT32_MAX);
	pl_put32(inner + 32, UINT32_MAX);
	walk();
	CHECK_STR(loop(), "broken");
	CHECK(state.walked <= PERL_WALK_MAX + 1);
}

/* Memory ends anywhere. */
TEST(perl_memory_that_cannot_be_read)
{
	begin(40 | PERL_THREADED);
	pl_call(pl_sub("outer", 10), pl_cop("/a/x.pl", 3), PL_BACK);
	pl_stack(3);
	pl_call(pl_sub_of(PERL_SV_CODE, pl_glob("g", pl_stash("P", 1), 0), 0, 0, 0),
		pl_cop("/a/x.pl", 12), 0);
	pl_runs(pl_cop("/a/x.pl", 22));
	for (readable = 0; readable < pl.n; readable += 8) {
		walk();
		for (int i = 0; i < 3 && state.si; i++)
			loop();
	}
	readable = SIZE;
	walk();
	CHECK_STR(loop(), "P::g@22 ");
	CHECK_STR(loop(), "main::outer@12 main@3 ");
}

static void flip_and_walk(__u64 bit)
{
	memory[bit / 8] ^= (char)(1 << bit % 8);
	walk();
	for (int i = 0; i < 3 && state.si; i++)
		loop();
	memory[bit / 8] ^= (char)(1 << bit % 8);
}

TEST(perl_each_bit_flipped)
{
	size_t n;

	begin(36);
	pl_call(pl_sub("outer", 10), pl_cop("/a/x.pl", 3), PL_BACK);
	pl_stack(3);
	pl_call(pl_sub_of(PERL_SV_CODE, pl_glob("g", pl_stash("P", 1), 0), 0, 0, 0),
		pl_cop("/a/x.pl", 12), 0);
	pl_runs(pl_cop("/a/x.pl", 22));
	n = pl.n;
	for (__u64 bit = 0; bit < 8 * n; bit++)
		flip_and_walk(bit);
	walk();
	CHECK_STR(loop(), "P::g@22 ");
}

/* One context costs a bounded number of reads, whatever it holds. */
TEST(perl_reads_for_one_context)
{
	unsigned int x = 7;

	for (int round = 0; round < 3000; round++) {
		begin(32);
		for (size_t i = 0; i + 8 <= SIZE; i += 8) {
			__u64 v = BASE + (x = x * 1664525 + 1013904223) % SIZE / 8 * 8;

			if (x & 3 << 20)
				memcpy(memory + i, &v, 8);
			else
				memory[i] = (char)(x >> 24);
			i += x >> 22 & 0xff8;
		}
		memset(&state, 0, PERL_STATE_BEGIN);
		state.version = 32;
		state.si = state.at = BASE;
		state.base = BASE + 64;
		state.ix = 3;
		state.type = 2;
		for (int i = 0; i < 64 && state.si; i++) {
			struct perl_frame f = { 0 };
			enum perl_found found;

			reads = 0;
			found = perl_next(&state, &f);
			if (found == PERL_FRAME || found == PERL_LAST)
				add_name((char[512]){ "" }, &f);
			CHECK(reads <= 24);
			if (found == PERL_BROKEN)
				break;
		}
	}
}
