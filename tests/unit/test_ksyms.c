// SPDX-License-Identifier: Apache-2.0
/*
 * loaderd's symbols: what an address becomes, when the kernel is asked, and
 * when a number is defined.
 */
#include "bpf/frame.h"
#include "ipc/trace_consumer.h"
#include "loaderd/ksyms.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/harness.h"

#define SIZE	TRACE_RING_BYTES

static struct ksyms k;
static struct trace_producer to;
static struct trace_consumer from;

static void start(void)
{
	CHECK_EQ(trace_producer_init(&to, SIZE), 0);
	CHECK_EQ(trace_consumer_init(&from, to.data_fd, to.pos_fd, SIZE), 0);
	ksyms_forget(&k);
	fake_asked = 0;
}

static void end(void)
{
	trace_consumer_fini(&from);
	trace_producer_fini(&to);
}

/* The next definition in the ring, or NULL. */
static const struct ksym_rec *defined(void)
{
	static struct ksym_rec copy;
	size_t len;
	const void *p = trace_consumer_peek(&from, &len);

	if (!p)
		return NULL;
	CHECK_EQ(len, sizeof(copy));
	memcpy(&copy, p, len);
	trace_consumer_next(&from, len);
	CHECK_EQ(copy.len, sizeof(copy));
	CHECK_EQ(copy.kind, REC_KSYM);
	return &copy;
}

static uint64_t word_of(uint64_t addr)
{
	uint64_t word;

	CHECK(ksyms_word(&k, &to, addr, &word));
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
	end();
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
	end();
}

TEST(ksyms_define_again_after_they_forgot)
{
	uint64_t a, b;

	start();
	a = word_of(fake_start(3));
	CHECK_STR(defined()->name, "sym3_0 [mod]");
	ksyms_refresh(&k, 1000 * 1000000000ULL);
	fake_life++;		/* another module lies there now */
	b = word_of(fake_start(3));
	CHECK_STR(defined()->name, "sym3_1 [mod]");
	CHECK(FRAME_NUMBER(a) != FRAME_NUMBER(b));
	/* not before five minutes are over */
	ksyms_refresh(&k, 1299 * 1000000000ULL);
	CHECK_EQ(word_of(fake_start(3)), b);
	ksyms_refresh(&k, 1300 * 1000000000ULL);
	CHECK(word_of(fake_start(3)) != b);
	fake_life = 0;
	end();
}

TEST(ksyms_keep_no_symbol_that_could_not_be_defined)
{
	uint64_t word;
	size_t len;

	start();
	while (trace_producer_reserve(&to, 1024)) {
		uint32_t head[2] = { 1024, 1 };

		memcpy(trace_producer_reserve(&to, 1024), head, sizeof(head));
		trace_producer_commit(&to, 1024);
	}
	CHECK(!ksyms_word(&k, &to, KERNEL_TEXT, &word));
	CHECK_EQ(word, FRAME_WORD(FRAME_KERNEL, 0, 0));
	while (trace_consumer_peek(&from, &len))
		trace_consumer_next(&from, len);
	word_of(KERNEL_TEXT);
	CHECK(defined() != NULL);
	end();
}

TEST(ksyms_never_give_more_numbers_than_records_have)
{
	start();
	k.last = 2 * KSYM_RANGES - 1;
	CHECK_EQ(FRAME_NUMBER(word_of(fake_start(1))), 2 * KSYM_RANGES);
	CHECK_EQ(FRAME_NUMBER(word_of(fake_start(2))), 1);
	CHECK(2 * KSYM_RANGES <= FRAME_NUMBER_MASK);
	end();
}
