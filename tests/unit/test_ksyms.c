// SPDX-License-Identifier: Apache-2.0
/*
 * loaderd's symbols: what an address becomes, when the kernel is asked, and
 * when a number is defined.
 */
#include "bpf/frame.h"
#include "loaderd/ksyms.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/harness.h"

static struct ksym_range ranges[KSYM_RANGES];
static struct ksyms k = { .range = ranges };
static struct ksym_rec last;
static bool fresh;		/* `last` was not looked at yet */

static void start(void)
{
	k.n = 0;
	fake_asked = 0;
	fresh = false;
}

/* The definition that the last word brought, or NULL. */
static const struct ksym_rec *defined(void)
{
	if (!fresh)
		return NULL;
	fresh = false;
	CHECK_EQ(last.len, sizeof(last));
	CHECK_EQ(last.kind, REC_KSYM);
	return &last;
}

static uint64_t word_of(uint64_t addr)
{
	uint64_t word;

	CHECK(!fresh);
	fresh = ksyms_word(&k, addr, &word, &last);
	CHECK_EQ(FRAME_KIND(word), FRAME_KERNEL);
	CHECK_EQ(FRAME_MORE(word), 0);
	return word;
}

TEST(ksyms_define_a_symbol_once_and_find_all_of_it)
{
	const struct ksym_rec *def;
	char name[64];

	start();
	for (unsigned int i = 0; i < SYMBOLS; i += 7) {
		uint64_t at = fake_start(i), size = fake_size(i);
		uint64_t word = word_of(at + size / 2);

		def = defined();
		CHECK(def != NULL);
		fake_name(i, name, sizeof(name));
		CHECK_STR(def->name, name);
		CHECK_EQ(def->number, FRAME_NUMBER(word));
		CHECK(def->number != KSYM_NONE);
		CHECK_EQ(FRAME_PLACE(word), size / 2);
		fake_asked = 0;
		CHECK_EQ(word_of(at), FRAME_WORD(FRAME_KERNEL, def->number, 0));
		CHECK_EQ(FRAME_PLACE(word_of(at + size - 1)), size - 1);
		CHECK_EQ(fake_asked, 0);
		CHECK(!defined());
	}
}

TEST(ksyms_say_nothing_of_what_has_no_name)
{
	static const uint64_t none[] = {
		0, 1, 665, KERNEL_TEXT - 1, ~0ULL, ~0ULL - 1,
		0xffff888012345678ULL,
	};

	start();
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		CHECK_EQ(word_of(none[i]), FRAME_WORD(FRAME_KERNEL, 0, 0));
	CHECK_EQ(word_of(fake_start(SYMBOLS)), FRAME_WORD(FRAME_KERNEL, 0, 0));
	CHECK(!defined());
}

TEST(ksyms_believe_no_answer_of_another_form)
{
	static const char *const odd[] = {
		"", "+", "+0x1/0x2", "sym", "sym+", "sym+0x5", "sym+0x5/",
		"sym+0x11/0x10", "sym+0x1/0x0", "sym+0x5/0x100000000",
		"sym+0xffffffffffffff00/0xfff",
	};

	start();
	for (size_t i = 0; i < sizeof(odd) / sizeof(*odd); i++) {
		fake_answer = odd[i];
		CHECK_EQ(word_of(KERNEL_TEXT + i),
			 FRAME_WORD(FRAME_KERNEL, KSYM_NONE, 0));
		CHECK(!defined());
	}
	fake_answer = "sym+0x10/0x10";	/* its last byte */
	CHECK_EQ(FRAME_PLACE(word_of(KERNEL_TEXT + 100)), 15);
	CHECK_STR(defined()->name, "sym");
	fake_answer = NULL;
}

TEST(ksyms_define_again_after_they_forgot)
{
	uint64_t a, b;

	start();
	a = word_of(fake_start(3));
	CHECK_STR(defined()->name, "sym3_0 [mod]");
	k.n = 0;
	fake_life++;		/* another module lies there now */
	b = word_of(fake_start(3));
	CHECK_STR(defined()->name, "sym3_1 [mod]");
	CHECK(FRAME_NUMBER(a) != FRAME_NUMBER(b));
	fake_life = 0;
}

/* The kernel puts the next BPF program where the last one was. */
TEST(ksyms_ask_again_for_bpf_programs)
{
	static const char *const names[] = { "bpf_prog_1_a", "bpf_prog_2_b", "bpf_trampoline_7" };
	const uint64_t at = KERNEL_TEXT - 0x1000;
	char answer[64];

	start();
	word_of(fake_start(5));
	CHECK(defined() != NULL);
	for (size_t i = 0; i < 3; i++) {
		uint64_t word;

		snprintf(answer, sizeof(answer), "%s+0x11/0x40", names[i]);
		fake_answer = answer;
		word = word_of(at);
		CHECK_STR(defined()->name, names[i]);
		fake_asked = 0;
		CHECK_EQ(word_of(at - 1), word - 1);
		CHECK(!defined() && !fake_asked);	/* within a drain it is the same */
		ksyms_doubt(&k, false);
		CHECK_EQ(k.n, 2);
		/* it is gone, and these are its last samples */
		fake_answer = "0xffffffff80fff000";
		CHECK_EQ(word_of(at), word);
		CHECK(!defined());
	}
	fake_asked = 0;
	word_of(fake_start(5));
	CHECK(!fake_asked);
	fake_answer = NULL;
}

/* A new one lies over several that are gone, or within one. */
TEST(ksyms_of_bpf_programs_stay_apart)
{
	static const struct {
		uint64_t addr;
		const char *answer;
		uint32_t n;
	} steps[] = {
		{ 0x100, "bpf_prog_1+0x1/0x40", 1 }, { 0x140, "bpf_prog_2+0x1/0x40", 2 },
		{ 0x200, "bpf_prog_3+0x1/0x40", 3 }, { 0x150, "bpf_prog_4+0x31/0x80", 2 },
		{ 0x140, "bpf_prog_5+0x1/0x10", 2 }, { 0x1f0, "bpf_prog_6+0x1/0x80", 2 },
	};

	start();
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		fake_answer = steps[i].answer;
		word_of(KERNEL_TEXT - 0x1000 + steps[i].addr);
		CHECK(defined() != NULL);
		CHECK_EQ(k.n, steps[i].n);
		for (uint32_t j = 1; j < k.n; j++)
			CHECK(k.range[j - 1].start + k.range[j - 1].size <= k.range[j].start);
		ksyms_doubt(&k, false);
	}
	fake_answer = NULL;
}

/* The kernel puts the next module where the last one was. */
TEST(ksyms_ask_again_when_modules_change)
{
	const uint64_t at = KERNEL_TEXT - 0x1000;
	uint64_t core, first, second;

	start();
	core = word_of(fake_start(5));
	CHECK(defined() != NULL);
	fake_answer = "one+0x11/0x40 [first]";
	first = word_of(at);
	CHECK_STR(defined()->name, "one [first]");
	fake_answer = "two+0x21/0x80 [second]";
	ksyms_doubt(&k, false);
	CHECK_EQ(word_of(at), first);		/* nobody said that it has changed */
	CHECK(!defined());
	/* it is gone, and these are its last samples */
	ksyms_doubt(&k, true);
	fake_answer = "0xffffffff80fff000";
	CHECK_EQ(word_of(at), first);
	CHECK(!defined());
	/* not asked for since, the next one is there */
	ksyms_doubt(&k, false);
	fake_answer = "two+0x21/0x80 [second]";
	second = word_of(at);
	CHECK_STR(defined()->name, "two [second]");
	CHECK_EQ(FRAME_PLACE(second), 0x20);
	fake_asked = 0;
	CHECK_EQ(word_of(at - 1), second - 1);
	CHECK(!defined() && !fake_asked);
	CHECK_EQ(k.n, 2);
	/* what stayed has its name still, by another number */
	fake_answer = NULL;
	CHECK(FRAME_NUMBER(word_of(fake_start(5))) != FRAME_NUMBER(core));
	CHECK(defined() != NULL);
}

TEST(ksyms_never_give_more_numbers_than_records_have)
{
	start();
	k.last = 2 * KSYM_RANGES - 1;
	CHECK_EQ(FRAME_NUMBER(word_of(fake_start(1))), 2 * KSYM_RANGES);
	CHECK(defined() != NULL);
	CHECK_EQ(FRAME_NUMBER(word_of(fake_start(2))), 1);
	CHECK(2 * KSYM_RANGES <= FRAME_NUMBER_MASK);
}
