// SPDX-License-Identifier: Apache-2.0
/* A file of which several runtimes say something, by a table of our own. */
#include "symbolizerd/runtimes/runtimes.h"

#include <stdio.h>

#include "symbolizerd/runtimes/table.h"
#include "tests/unit/harness.h"

/* What each says, by its number. */
static struct said {
	bool found, unknown, fact, span;
	uint32_t asked, texts;
} says[RUNTIME__MAX];

static bool find(const struct elf_file *f, struct runtime_found *ret)
{
	struct said *s = &says[ret->runtime];

	(void)f;
	s->asked++;
	CHECK(!ret->id[0] && !ret->unknown && !ret->n_facts && !ret->n_spans);
	snprintf(ret->id, sizeof(ret->id), "%u", ret->runtime);
	ret->unknown = s->unknown;
	if (s->fact)
		runtime_add_fact(ret, ret->runtime, 0, 0);
	if (s->span)
		runtime_add_span(ret, 1, 2, RULE_LOOP);
	return s->found;
}

static int row(cfi_row_fn fn, void *ctx, uint64_t at, int32_t text)
{
	return fn(ctx, at, at + 1, &(struct unwind_rule){ .cfa = CFA_RUNTIME, .aux = text });
}

/* Two that are none: at the place of a fact, and a rule. */
static int texts(const struct elf_file *f, cfi_row_fn fn, void *ctx)
{
	(void)f;
	if (row(fn, ctx, RUNTIME_FACTS - 1, 7) || row(fn, ctx, RUNTIME_FACTS, 8))
		return -1;
	return fn(ctx, 100, 101, &(struct unwind_rule){ .cfa = CFA_SP });
}

static const struct runtime_ops finds = { .find = find }, has_texts = { .find = find, .texts = texts };

const struct runtime_ops *const runtimes_table[RUNTIME__MAX] = {
	[1] = &finds, [2] = &finds, [3] = &has_texts,
};

static struct elf_file file;
static struct runtime_found found;

static uint32_t ask(void)
{
	runtimes_find(&file, &found);
	CHECK_EQ(found.id[0], found.runtime ? '0' + found.runtime : 0);
	return found.runtime;
}

static void begin(void)
{
	for (uint32_t i = 0; i < RUNTIME__MAX; i++)
		says[i] = (struct said){ 0 };
	file = (struct elf_file){ .fd = -1 };
}

TEST(the_first_that_finds_a_file_has_it)
{
	begin();
	CHECK_EQ(ask(), RUNTIME_NONE);
	says[3].found = true;
	CHECK_EQ(ask(), 3);
	says[2].found = true;
	CHECK_EQ(ask(), 2);
	/* what is not found has said nothing */
	says[1].fact = true;
	CHECK_EQ(ask(), 2);
	CHECK_EQ(found.n_facts, 0);
}

TEST(one_that_speaks_to_the_sampler_goes_before)
{
	begin();
	says[1].found = says[2].found = says[3].found = true;
	says[2].fact = true;
	says[3].span = true;
	CHECK_EQ(ask(), 2);
	CHECK_EQ(found.n_facts, 1);
	CHECK_EQ(found.n_spans, 0);
	says[2].fact = false;
	CHECK_EQ(ask(), 3);
	CHECK_EQ(found.n_spans, 1);
	/* not with a version that it does not know */
	says[3].unknown = true;
	CHECK_EQ(ask(), 1);
	says[1].found = says[2].found = false;
	CHECK_EQ(ask(), 3);
	CHECK(found.unknown && !found.n_facts && !found.n_spans);
}

static uint32_t n_rows, texts_of[2];

static int on_row(void *ctx, uint64_t start, uint64_t end, const struct unwind_rule *rule)
{
	(void)ctx;
	(void)end;
	CHECK_EQ(rule->cfa, CFA_RUNTIME);
	n_rows++;
	if (n_rows <= 2) {
		texts_of[n_rows - 1] = RUNTIME_TEXT(rule);
		CHECK_EQ(start, n_rows == 1 ? 0 : RUNTIME_FACTS);
	}
	return 0;
}

TEST(a_text_is_no_fact_and_no_rule)
{
	begin();
	says[3].found = says[3].fact = true;
	n_rows = 0;
	CHECK_EQ(runtimes_rows(&file, on_row, NULL), 0);
	CHECK_EQ(n_rows, 2);
	CHECK_EQ(texts_of[1], 8);
	/* none of a version that is not known */
	says[3].unknown = true;
	n_rows = 0;
	CHECK_EQ(runtimes_rows(&file, on_row, NULL), 0);
	CHECK_EQ(n_rows, 0);
}

TEST(each_is_asked_once_a_file)
{
	begin();
	says[2].found = true;
	ask();
	file.found = &found;
	CHECK_EQ(runtimes_rows(&file, on_row, NULL), 0);
	for (uint32_t i = 1; i < RUNTIME__MAX && i <= 3; i++)
		CHECK_EQ(says[i].asked, 1);
}
