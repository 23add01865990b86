// SPDX-License-Identifier: Apache-2.0
/*
 * What the walk does with what a runtime says: the whole sampler on the host, with two
 * runtimes that are made up.  They have the numbers of rows of runtimes.def, whose own code is
 * not there.
 */
#include <linux/types.h>

#define BPF_RUNTIMES_GEN_H	/* instead of it */
#define FIRST		2u
#define SECOND		3u
#define RUNTIMES_WALKS	(1ULL << FIRST | 1ULL << SECOND)
#define RUNTIMES_MEMORY	(1ULL << SECOND)
#define RUNTIMES_BESIDE	(1ULL << FIRST)
#define RUNTIMES_PASSES	(1ULL << FIRST)
#define RUNTIMES_ENDS	(1ULL << FIRST)
static int runtime_enter(__u32 runtime, __u32 part, __u64 at);
static int runtime_step(__u32 runtime);
static int runtime_owns(__u32 runtime, __u64 pc);

#include "bpf/host.h"

#include "bpf/python_read.bpf.h"
#include "tests/unit/sampler_machine.h"

#define LOOP		(PYTHON + 0x10010)
#define CALLED		(PROGRAM + 0x100)
#define CODE		(UNKNOWN + 0x100)	/* memory of no file */
#define CODE_FP		(SP + 64)

/* --- runtimes that do as they are told ---------------------------------------------------- */

static struct entering {
	__u32 runtime, part;
	__u64 at;
} entered[16];
static struct says {
	int enter;
	__u32 inside;
	int step;		/* at the last frame */
	__u32 frames, a_step;
} says[8];			/* in turn */
static __u32 n_entered, n_said;
static const struct says *now_says;
static __u32 given, reads, reads_in_vain;
static int owns;

static int runtime_enter(__u32 runtime, __u32 part, __u64 at)
{
	struct scratch *s = scratch();

	CHECK(n_entered < 16 && n_said < 8);
	entered[n_entered++] = (struct entering){ runtime, part, at };
	now_says = &says[n_said++];
	given = 0;
	s->reads += reads_in_vain;
	if (part == PART_JIT && now_says->enter != ENTER_NOT && now_says->frames)
		note_anon(s);
	if (now_says->enter >= ENTER_MOVED) {
		s->inside = now_says->inside;
		s->st.pc = CALLED;
		s->st.sp += 32;
		s->st.exact = 0;
		s->st.depth++;
	}
	return now_says->enter;
}

static int runtime_step(__u32 runtime)
{
	struct scratch *s = scratch();

	CHECK(now_says);
	s->reads += reads;
	for (__u32 i = 0; i < now_says->a_step && given < now_says->frames; i++)
		push_managed(s, runtime, 0u, 7, 1000 + given++);
	return given < now_says->frames ? STEP_MORE : now_says->step;
}

static int runtime_owns(__u32 runtime, __u64 pc)
{
	CHECK_EQ(runtime, SECOND);
	CHECK_EQ(pc, CODE);
	return owns;
}

/* --- the process --------------------------------------------------------------------------- */

/* The loop is called by PROGRAM, which is called by nobody. */
static void begin(__u32 runtime)
{
	begin_machine();
	memset(says, 0, sizeof(says));
	n_entered = n_said = reads = reads_in_vain = 0;
	owns = OWNS_NOT;
	entries[1].runtime = (__u8)runtime;
	slab[0][RULE_OF_LOOP / 2].rule[RULE_OF_LOOP & 1] = (struct unwind_rule){
		.cfa = CFA_SP, .cfa_off = 16, .ra_off = -8, .by_fp = RULE_LOOP,
	};
	((struct vm_area_struct *)vmas[2])->vm_file = NULL;
	stack[(SP - STACK) / 8 + 1] = CALLED + 1;
}

static __u32 kind(__u32 i)
{
	return i < n_sent ? FRAME_KIND(sent[i]) : FRAME_NONE;
}

/* The kinds of frames that were sent, a digit each. */
static __u64 kinds(void)
{
	__u64 all = 0;

	for (__u32 i = 0; i < n_sent; i += 1 + FRAME_MORE(sent[i]))
		all = all << 4 | kind(i);
	return all;
}

static void expect_entered(__u32 i, __u32 runtime, __u32 part, __u64 at)
{
	CHECK(i < n_entered);
	CHECK_EQ(entered[i].runtime, runtime);
	CHECK_EQ(entered[i].part, part);
	CHECK_EQ(entered[i].at, at);
}

/* --- a loop -------------------------------------------------------------------------------- */

TEST(frames_come_in_place_of_their_loop)
{
	for (__u32 runtime = FIRST; runtime <= SECOND; runtime++) {
		for (__u32 a_step = 1; a_step <= 3; a_step++) {
			begin(runtime);
			says[0] = (struct says){ ENTER_FRAMES, 0, STEP_DONE, 3, a_step };
			sample_at(LOOP, 0);
			expect_entered(0, runtime, PART_LOOP, LOOP);
			CHECK_EQ(kinds(), 0x66682);
			CHECK_EQ(state.rec.stop, STOP_COMPLETE);
			CHECK_EQ(state.st.depth, 4);
			CHECK_EQ(counted.n[BPF_MANAGED_NONE], 0);
			CHECK_EQ(counted.n[BPF_MANAGED], 3);
		}
	}
}

TEST(a_loop_without_frames_stands)
{
	static const struct says nothing[] = {
		{ ENTER_NOT, 0, 0, 0, 0 }, { ENTER_FRAMES, 0, STEP_DONE, 0, 0 },
		{ ENTER_FRAMES, 0, STEP_BROKEN, 0, 0 },
	};

	for (size_t i = 0; i < sizeof(nothing) / sizeof(*nothing); i++) {
		begin(FIRST);
		says[0] = nothing[i];
		sample_at(LOOP, 0);
		CHECK_EQ(kinds(), 0x22);
		CHECK_EQ(counted.n[BPF_MANAGED_NONE], 1);
	}
}

TEST(frames_that_are_missing_are_counted)
{
	begin(FIRST);
	says[0] = (struct says){ ENTER_FRAMES, 0, STEP_BROKEN, 2, 1 };
	sample_at(LOOP, 0);
	CHECK_EQ(kinds(), 0x6682);
	CHECK_EQ(counted.n[BPF_MANAGED_NONE], 1);
}

/* Of a runtime that the sampler has no code for, a loop is native code. */
TEST(runtimes_without_code_are_native)
{
	for (__u32 runtime = 0; runtime < 256; runtime++) {
		if (runtime == FIRST || runtime == SECOND)
			continue;
		begin(runtime);
		sample_at(LOOP, 0);
		CHECK_EQ(n_entered, 0);
		CHECK_EQ(kinds(), 0x22);
		CHECK_EQ(counted.n[BPF_RUNTIME_UNKNOWN], runtime >= RUNTIME__MAX);
	}
}

/* --- memory of no file ------------------------------------------------------------------- */

/* CODE is called by PROGRAM, by frame pointer. */
static void sample_code(void)
{
	stack[(CODE_FP - STACK) / 8] = 0;
	stack[(CODE_FP - STACK) / 8 + 1] = CALLED + 1;
	sample_at(CODE, CODE_FP);
}

static void begin_code(const struct says *s)
{
	begin(SECOND);
	owns = OWNS_CODE;
	says[0] = *s;
	sample_code();
	CHECK_EQ(n_entered, 1);
	expect_entered(0, SECOND, PART_JIT, CODE);
}

TEST(code_of_nobody_goes_by_frame_pointer)
{
	begin_code(&(struct says){ ENTER_NOT, 0, 0, 0, 0 });
	CHECK_EQ(kinds(), 0x42);
	CHECK(state.rec.flags & REC_FRAME_POINTER && state.rec.flags & REC_HAS_ANON);
	/* nor is a runtime asked that owns none */
	begin(SECOND);
	sample_code();
	CHECK_EQ(n_entered, 0);
	CHECK_EQ(kinds(), 0x42);
}

TEST(code_of_a_runtime_has_frames)
{
	/* the move is the walk's */
	begin_code(&(struct says){ ENTER_FRAMES, 0, STEP_DONE, 2, 1 });
	CHECK_EQ(kinds(), 0x4662);
	CHECK(state.rec.flags & REC_FRAME_POINTER);
	/* or the runtime's, with frames, and without a trace */
	begin_code(&(struct says){ ENTER_MOVED, SECOND, STEP_DONE, 2, 1 });
	CHECK_EQ(kinds(), 0x4662);
	CHECK(!(state.rec.flags & REC_FRAME_POINTER));
	begin_code(&(struct says){ ENTER_MOVED, 0, 0, 0, 0 });
	CHECK_EQ(kinds(), 0x2);
	/* or there is none */
	begin_code(&(struct says){ ENTER_STOP + STOP_READ, SECOND, STEP_DONE, 2, 1 });
	CHECK_EQ(kinds(), 0x466);
	CHECK_EQ(state.rec.stop, STOP_READ);
	begin_code(&(struct says){ ENTER_STOP + STOP_READ, 0, 0, 0, 0 });
	CHECK_EQ(state.rec.stop, STOP_READ);
}

TEST(an_address_space_is_searched_once)
{
	begin(SECOND);
	owns = OWNS_CODE;
	sample_code();
	CHECK(n_entered == 1 && state.space.owners == 1ULL << SECOND);
	owns = OWNS_NOT;	/* it is remembered */
	now += 3600 * 1000000000ULL;
	sample_code();
	CHECK_EQ(n_entered, 2);
	/* until the runtime has lost what it knew */
	bpf_map_delete_elem(&rt0_spaces, &state.rec.process);
	sample_code();
	CHECK_EQ(n_entered, 2);
	CHECK_EQ(state.space.owners, 0);
	/* what has no code yet is asked again, soon */
	owns = OWNS_LATER;
	now += 30 * 1000000000ULL;
	sample_code();
	CHECK(state.space.waits && n_entered == 2);
	owns = OWNS_CODE;
	now += 30 * 1000000000ULL;
	sample_code();
	CHECK_EQ(n_entered, 3);
}

/* --- where no rule led ------------------------------------------------------------------- */

/* In code of no file that a loop of the first runtime calls, and that has a frame. */
TEST(frames_of_a_loop_that_was_passed_over)
{
	begin(FIRST);
	stack[(CODE_FP - STACK) / 8] = CODE_FP + 32;
	stack[(CODE_FP - STACK) / 8 + 1] = PYTHON + 0x10021;
	slab[0][RULE_OF_LOOP / 2].rule[RULE_OF_LOOP & 1].by_fp = 0;
	stack[(CODE_FP - STACK) / 8 + 3] = CALLED + 1;
	says[0] = (struct says){ ENTER_FRAMES, 0, STEP_DONE, 2, 1 };
	sample_at(CODE, CODE_FP);
	expect_entered(0, FIRST, PART_PASSED, SP);
	expect_entered(1, FIRST, PART_PASSED, SP);	/* another one? */
	expect_entered(2, FIRST, PART_ENDS, STOP_COMPLETE);
	CHECK_EQ(n_entered, 3);
	CHECK_EQ(kinds(), 0x46622);
}

/* The loop is called by code of no file, where the stack ends: frames that remain come
 * last, once. */
TEST(frames_come_where_the_stack_ends)
{
	begin(FIRST);
	stack[(SP - STACK) / 8 + 1] = CODE + 1;
	says[0] = (struct says){ ENTER_FRAMES, 0, STEP_DONE, 1, 1 };
	/* PART_JIT: not its code */
	says[2] = (struct says){ ENTER_FRAMES, 0, STEP_DONE, 2, 1 };
	sample_at(LOOP, 8);
	expect_entered(1, FIRST, PART_JIT, CODE);
	expect_entered(2, FIRST, PART_ENDS, STOP_ANON);
	CHECK_EQ(n_entered, 3);
	CHECK_EQ(kinds(), 0x68466);
	CHECK_EQ(state.rec.stop, STOP_ANON);
	/* or none */
	begin(FIRST);
	sample_at(LOOP, 0);
	expect_entered(1, FIRST, PART_ENDS, STOP_COMPLETE);
	CHECK_EQ(n_entered, 2);
}

/* --- bounds ------------------------------------------------------------------------------- */

TEST(what_memory_costs_has_a_bound)
{
	begin(FIRST);
	says[0] = (struct says){ ENTER_FRAMES, 0, STEP_DONE, 100, 1 };
	reads = READS_SAMPLE / 10;
	sample_at(LOOP, 0);
	CHECK_EQ(state.rec.stop, STOP_CUT);
	CHECK_EQ(counted.n[BPF_MANAGED], 11);
	CHECK_EQ(FRAME_KIND(sent[n_sent - 1]), FRAME_CUT);
}

/* Also of a runtime that has no frames. */
TEST(what_is_read_in_vain_has_the_same_bound)
{
	begin(FIRST);
	for (__u32 i = 0; i < 30; i++)
		stack[(SP - STACK) / 8 + 1 + 2 * i] = LOOP + 1;
	reads_in_vain = READS_SAMPLE / 5;
	sample_at(LOOP, 0);
	CHECK_EQ(state.rec.stop, STOP_CUT);
	CHECK_EQ(n_entered, 6);
	CHECK_EQ(FRAME_KIND(sent[n_sent - 1]), FRAME_CUT);
}

/* A step without a frame is a round, of which there are so many. */
TEST(a_runtime_that_never_ends_is_left)
{
	begin(FIRST);
	says[0] = (struct says){ ENTER_FRAMES, 0, STEP_MORE, 1, 1 };
	sample_at(LOOP, 0);
	CHECK_EQ(state.rec.stop, STOP_CUT);
	CHECK_EQ(kinds(), 0x65);
}

/* --- texts -------------------------------------------------------------------------------- */

static void push_at(const char *text, __u64 at, __u32 which, int with_nul)
{
	begin(FIRST);
	memcpy((char *)stack + (at - STACK), text, strlen(text) + 1);
	state.n = 0;
	if (with_nul)
		push_cstring(at, TEXT_NUMBER(which, 0), 5);
	else
		push_string(at, strlen(text), TEXT_NUMBER(which, 0), 5);
}

static void expect_text(const char *text, __u32 which, __u32 place)
{
	__u32 words = (strlen(text) + 7) / 8;
	char padded[TEXT_BYTES + 8] = { 0 };

	memcpy(padded, text, strlen(text));
	CHECK_EQ(state.n, 1 + words);
	CHECK_EQ(state.words[0], FRAME_WITH_MORE(FRAME_WORD(FRAME_TEXT, which, place), (__u64)words));
	CHECK(!memcmp(&state.words[1], padded, 8 * words));
}

TEST(texts_are_cut)
{
	char text[4000];

	for (int with_nul = 0; with_nul < 2; with_nul++) {
		for (size_t n = 1; n < 1500; n += n > 130 ? 61 : 1) {
			for (size_t i = 0; i < n; i++)
				text[i] = (char)('a' + i % 23);
			text[n] = '\0';
			push_at(text, STACK + 3, TEXT_FILE, with_nul);
			expect_text(n > TEXT_BYTES ? text + n - TEXT_BYTES : text, TEXT_FILE,
				    n > TEXT_BYTES ? n - TEXT_BYTES : 0);
			push_at(text, STACK + 3, TEXT_NAME, with_nul);
			text[n > TEXT_BYTES ? TEXT_BYTES : n] = '\0';
			expect_text(text, TEXT_NAME, 5);
		}
	}
	push_at("", STACK, TEXT_NAME, 1);
	CHECK_EQ(state.n, 0);
	push_cstring(8, TEXT_NUMBER(TEXT_NAME, 0), 0);
	CHECK_EQ(state.n, 0);
}
