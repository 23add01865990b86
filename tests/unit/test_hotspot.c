// SPDX-License-Identifier: Apache-2.0
/* A made-up libjvm.so: found, of which release, refused where its tables differ from
 * the sampler's layout, and broken in every way. */
#include "tests/unit/hotspot_image.h"

#include "bpf/hotspot.h"
#include "bpf/runtime.h"
#include "symbolizerd/elf/elf_symbols.h"
#include "symbolizerd/runtimes/hotspot/find.h"
#include "symbolizerd/runtimes/hotspot/texts.h"
#include "symbolizerd/unwind/table.h"
#include "tests/unit/runtime_image.h"

static struct hotspot_image image;

static bool find(struct hotspot_file *ret)
{
	struct elf_file f;
	int fd = image_file(&image.im);
	bool found;

	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	found = hotspot_find_in(&f, ret);
	elf_file_close(&f);
	close(fd);
	return found;
}

/* Of one that is odd: is it found, and has it a layout? */
static void check_odd(enum hs_release r, struct hs_odd odd, bool found, bool known)
{
	struct hotspot_file h;

	hs_make(&image, r, &odd);
	CHECK_EQ(find(&h), found);
	CHECK_EQ(h.layout != 0, known);
}

/* --- found ------------------------------------------------------------------------ */

TEST(hotspot_of_each_release)
{
	for (int i = 0; i < 4 * HS_RELEASES; i++) {
		struct hs_odd odd = { .by_code = i % 2, .arm64 = i / 2 % 2 };
		enum hs_release r = i / 4;
		struct hotspot_file h;
		char want[8];

		hs_make(&image, r, &odd);
		CHECK(find(&h));
		CHECK_EQ(h.feature, hs_feature[r]);
		CHECK_EQ(h.layout, hs_layout[r]);
		CHECK_EQ(h.root, HS_ROOT);
		snprintf(want, sizeof(want), "%u", hs_feature[r]);
		CHECK_STR(image_detect(&image.im, RUNTIME_HOTSPOT, false), want);
	}
}

TEST(hotspot_row_says_where_the_heaps_are)
{
	for (int r = 0; r < HS_RELEASES; r++) {
		const struct unwind_rule *rule;
		void *table;

		hs_make(&image, r, &(struct hs_odd){ .by_code = true });
		table = image_table(&image.im);
		rule = table_lookup(table, 0);
		CHECK_EQ(rule->cfa, CFA_RUNTIME);
		CHECK_EQ(RUNTIME_VERSION(rule), hs_layout[r]);
		CHECK_EQ(RUNTIME_ROOT(rule), HS_ROOT - HS_TEXT);
		CHECK_EQ(table_lookup(table, 1)->cfa, CFA_NONE);
		free(table);
	}
}

/* The kind that the table gives for the text at a place of the file; 0: none. */
static uint32_t kind_at(const void *table, uint64_t off)
{
	const struct unwind_rule *rule = table_lookup(table, off);

	return rule && rule->cfa == CFA_RUNTIME ? RUNTIME_TEXT(rule) : 0;
}

/* How often the text is in the strings; how often the table says so is added. */
static uint32_t text_count(const void *table, const char *text, uint32_t kind,
			   uint32_t *said)
{
	uint32_t n = 0;

	for (uint64_t i = 1; i < image.n_strings; i++) {
		if (strcmp(image.strings + i, text))
			continue;
		*said += kind_at(table, image.strings_at + i) == kind;
		n++;
	}
	return n;
}

TEST(hotspot_rows_say_where_the_names_of_kinds_are)
{
	static const uint32_t kinds[HS_TEXTS] = { HOTSPOT_COMPILED, HOTSPOT_WRAPPER,
		HOTSPOT_INTERPRETER, HOTSPOT_BARE, HOTSPOT_BARE, HOTSPOT_BARE };

	for (int r = 0; r < HS_RELEASES; r++) {
		uint32_t n = 0, said = 0;
		void *table;

		hs_make(&image, r, &(struct hs_odd){ .by_code = true });
		table = image_table(&image.im);
		for (int i = 0; i < HS_TEXTS; i++)
			n += text_count(table, hs_texts[i], kinds[i], &said);
		/* the end of another text, too */
		CHECK(n > HS_TEXTS + 1 && said == n);
		CHECK_EQ(kind_at(table, image.strings_at), 0);
		free(table);
	}
}

/* A file that is full of them does not get as many rows. */
TEST(hotspot_names_of_kinds_are_counted)
{
	uint32_t n, said = 0;
	void *table;

	hs_make(&image, HS_8, &(struct hs_odd){ .by_code = true, .texts = 90 });
	table = image_table(&image.im);
	n = text_count(table, hs_texts[0], HOTSPOT_COMPILED, &said);
	/* what lies right behind the last one is not told from it */
	CHECK(n > 90 && said >= TEXTS_EACH && said <= TEXTS_EACH + 1);
	free(table);
}

/* A debugger's library, say, names the tables, too. */
TEST(hotspot_used_is_no_hotspot)
{
	check_odd(HS_17, (struct hs_odd){ .undefined = true }, false, false);
	CHECK_STR(image_detect(&image.im, RUNTIME_NONE, false), "");
}

TEST(hotspot_without_a_hash_table_is_found_too)
{
	check_odd(HS_17, (struct hs_odd){ .no_hash = true }, true, true);
}

/* What most files pay: no table of symbols is read. */
TEST(names_are_turned_away_by_the_hash_table)
{
	static const char *const others[] = { "gHotSpotVMStruct", "main", "", "_PyRuntime" };
	struct elf_file f;
	int fd, away = 0;

	hs_make(&image, HS_17, &(struct hs_odd){ 0 });
	fd = image_file(&image.im);
	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	CHECK(elf_symbols_may_have(&f, "gHotSpotVMStructs"));
	for (int i = 0; i < 4; i++)
		away += !elf_symbols_may_have(&f, others[i]);
	CHECK_EQ(away, 4);
	elf_file_close(&f);
	close(fd);
}

/* --- refused ------------------------------------------------------------------------ */

/* Rows that say nothing of what the sampler goes by: of 8 the growable array, and
 * _relocation_size; until 21 _data_offset, for _code_end stands for it. */
static int idle_rows(enum hs_release r)
{
	return r == HS_8 ? 2 : r < HS_25_OLD ? 1 : 0;
}

/* The layout uses each other number, wherever it is. */
TEST(hotspot_that_says_otherwise_has_no_layout)
{
	for (int i = 0; i < 4 * HS_RELEASES; i++) {
		struct hs_odd odd = { .by_code = i % 2, .arm64 = i / 2 % 2 };
		int lies, said;

		hs_make(&image, i / 4, &odd);
		said = image.n_said;
		for (odd.lie = 1, lies = 0; odd.lie <= said; odd.lie++) {
			struct hotspot_file h;

			hs_make(&image, i / 4, &odd);
			CHECK(find(&h));
			lies += !h.layout;
		}
		CHECK_EQ(lies, said - idle_rows(i / 4));
	}
}

TEST(hotspot_that_says_less_has_no_layout)
{
	for (int r = 0; r < HS_RELEASES; r++) {
		struct hs_odd odd = { 0 };
		int less, said;

		hs_make(&image, r, &odd);
		said = image.n_said;
		for (odd.missing = 1, less = 0; odd.missing <= said; odd.missing++) {
			struct hotspot_file h;

			hs_make(&image, r, &odd);
			CHECK(find(&h));
			less += !h.layout;
		}
		CHECK_EQ(less, said - idle_rows(r));
	}
}

/* 25's tables under another number. */
TEST(hotspot_of_another_release_has_no_layout)
{
	static const uint32_t others[] = { 9, 17, 24, 28, 31, 32, 57, 255 };
	void *table;
	char want[8];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		check_odd(HS_25, (struct hs_odd){ .feature = others[i] }, true, false);
		snprintf(want, sizeof(want), "%u", others[i]);
		CHECK_STR(image_detect(&image.im, RUNTIME_HOTSPOT, true), want);
		table = image_table(&image.im);
		CHECK(!table_lookup(table, 0));
		free(table);
	}
	/* no number that there is */
	check_odd(HS_25, (struct hs_odd){ .feature = 256 }, true, false);
	CHECK_STR(image_detect(&image.im, RUNTIME_HOTSPOT, true), "");
}

TEST(hotspot_with_code_of_another_machine_has_no_layout)
{
	struct hotspot_file h;

	for (int arm64 = 0; arm64 < 2; arm64++) {
		hs_make(&image, HS_17, &(struct hs_odd){ .by_code = true, .arm64 = arm64 });
		image_ehdr(&image.im)->e_machine = arm64 ? EM_X86_64 : EM_AARCH64;
		CHECK(find(&h));
		CHECK_EQ(h.layout, 0);
	}
}

TEST(hotspot_tables_without_an_end)
{
	for (int r = 0; r < HS_RELEASES; r++)
		check_odd(r, (struct hs_odd){ .no_end = true }, true, false);
}

/* --- hostile ------------------------------------------------------------------------ */

TEST(hotspot_truncated)
{
	for (int arm64 = 0; arm64 < 2; arm64++) {
		hs_make(&image, HS_21, &(struct hs_odd){ .by_code = true, .arm64 = arm64 });
		image_survive_truncated(&image.im);
	}
}

TEST(hotspot_flipped)
{
	static struct elf_image x86;

	hs_make(&image, HS_25, &(struct hs_odd){ .by_code = true });
	x86 = image.im;
	image_survive_flipped(&image.im, NULL);
	hs_make(&image, HS_25, &(struct hs_odd){ .by_code = true, .arm64 = true });
	image_survive_flipped(&image.im, &x86);
}

/* Addresses and sizes that are none, in every word that is one. */
TEST(hotspot_words_of_absurd_values)
{
	static const uint64_t odd[] = { 0, 1, HS_TEXT, 0x7fffffff, 0xffffffff, UINT64_MAX,
					1ULL << 63, UINT64_MAX - 47 };

	hs_make(&image, HS_17, &(struct hs_odd){ .by_code = true });
	for (size_t at = 0; at + 8 <= image.im.n; at += 8) {
		uint64_t *w = (uint64_t *)(image.im.b + at), keep = *w;

		for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			*w = odd[i];
			image_survive(image.im.b, image.im.n);
		}
		*w = keep;
	}
}
