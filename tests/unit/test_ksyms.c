// SPDX-License-Identifier: Apache-2.0
/*
 * loaderd's symbols: what an address becomes, when the kernel is asked, and
 * when a number is defined.
 */
#include "bpf/frame.h"
#include "loaderd/ksyms.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/harness.h"

static struct ksyms k;
static struct ksym_rec last;
static bool fresh;		/* `last` was not looked at yet */

static void start(void)
{
	ksyms_forget(&k);
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
	ksyms_forget(&k);
	fake_life++;		/* another module lies there now */
	b = word_of(fake_start(3));
	CHECK_STR(defined()->name, "sym3_1 [mod]");
	CHECK(FRAME_NUMBER(a) != FRAME_NUMBER(b));
	fake_life = 0;
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
