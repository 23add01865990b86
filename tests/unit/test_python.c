// SPDX-License-Identifier: Apache-2.0
/* A made-up CPython: found, of which version, its loop's rows marked, and broken in
 * every way. */
#include "tests/unit/python_image.h"

#include "bpf/runtime.h"
#include "symbolizerd/runtimes/python/find.h"
#include "symbolizerd/unwind/table.h"
#include "tests/unit/runtime_image.h"

static struct python_image image;

static bool find(struct python_file *ret)
{
	struct elf_file f;
	int fd = image_file(&image.im);
	bool found;

	CHECK_EQ(elf_file_open(&f, fd), JOB_OK);
	found = python_find_in(&f, ret);
	elf_file_close(&f);
	close(fd);
	return found;
}

/* --- found ------------------------------------------------------------------------ */

TEST(python_of_each_version)
{
	char want[8];

	for (uint32_t minor = 6; minor <= 15; minor++) {
		struct python_file p;

		py_make(&image, minor, true, false);
		CHECK(find(&p));
		CHECK_EQ(p.minor, minor);
		CHECK_EQ(p.layout, minor);
		CHECK_EQ(p.root, image.root);
		CHECK_EQ(p.thread_at, minor == 6 ? 0 : PY_THREAD_AT);
		CHECK_EQ(p.n_loops, 2);
		CHECK_EQ(p.loop[0].start, py_func(&image, PY_LOOP));
		CHECK_EQ(p.loop[0].end, py_func(&image, PY_COLD));
		CHECK_EQ(p.loop[1].start, py_func(&image, PY_COLD));
		CHECK_EQ(p.loop[1].end, py_func(&image, PY_AFTER));
		snprintf(want, sizeof(want), "3.%u", minor);
		CHECK_STR(image_detect(&image.im, RUNTIME_PYTHON, false), want);
	}
}

TEST(python_without_symtab_has_one_loop)
{
	struct python_file p;

	py_make(&image, 9, false, false);
	CHECK(find(&p));
	CHECK_EQ(p.n_loops, 1);
}

/* An extension, or a program that uses libpython. */
TEST(python_used_is_no_python)
{
	struct python_file p;

	py_make(&image, 11, false, true);
	CHECK(!find(&p));
	CHECK_STR(image_detect(&image.im, RUNTIME_NONE, false), "");
	py_make(&image, 11, false, false);
	CHECK(find(&p));
	/* the loop is not its own */
	for (size_t i = 0; i < image.im.n; i++) {
		if (!memcmp(image.im.b + i, "_PyEval_EvalFrameDefault", 24))
			image.im.b[i] = 'x';
	}
	CHECK(!find(&p));
}

/* The words that the image says of itself. */
static uint64_t *said(void)
{
	return (uint64_t *)(image.im.b + image.root_at);
}

TEST(python_without_a_gil)
{
	for (uint32_t minor = 13; minor <= 15; minor++) {
		struct python_file p;
		char want[8];

		py_make(&image, minor, true, false);
		said()[2] = 1;	/* only that: all else is as with one */
		CHECK(find(&p));
		CHECK(p.free_threaded && !p.layout);
		py_offsets(said(), minor | PYTHON_FREE_THREADED);
		CHECK(find(&p));
		CHECK_EQ(p.layout, minor | PYTHON_FREE_THREADED);
		snprintf(want, sizeof(want), "3.%ut", minor);
		CHECK_STR(image_detect(&image.im, RUNTIME_PYTHON, false), want);
	}
}

/* 3.13 and later say where all is: a word that differs is another layout. */
static uint32_t fields_of(uint32_t layout)
{
	uint32_t fields = 0;

	py_make(&image, layout % PYTHON_FREE_THREADED, true, false);
	py_offsets(said(), layout);
	for (int i = 0; i < PY_OFFSETS; i++) {
		struct python_file p;

		said()[i] ^= 1ULL << 16;
		CHECK(find(&p));
		CHECK_EQ(p.minor, layout % PYTHON_FREE_THREADED);
		fields += !p.layout;
		said()[i] ^= 1ULL << 16;
	}
	return fields;
}

TEST(python_that_says_otherwise_has_no_layout)
{
	/* cookie, version; no GIL, so another layout; fields */
	CHECK_EQ(fields_of(13), 2 + 1 + 20);
	CHECK_EQ(fields_of(14), 2 + 1 + 22);
	CHECK_EQ(fields_of(15), 2 + 1 + 23);
	/* whoever says that it has no GIL says so by any number */
	CHECK_EQ(fields_of(13 | PYTHON_FREE_THREADED), 2 + 20);
	CHECK_EQ(fields_of(14 | PYTHON_FREE_THREADED), 2 + 22);
	CHECK_EQ(fields_of(15 | PYTHON_FREE_THREADED), 2 + 23);
}

TEST(python_of_an_unknown_version)
{
	struct python_file p;
	void *table;

	py_make(&image, 16, true, false);
	CHECK(find(&p));
	CHECK_EQ(p.minor, 16);
	CHECK_EQ(p.layout, 0);
	CHECK_STR(image_detect(&image.im, RUNTIME_PYTHON, true), "3.16");
	/* no mark, so the loop is as any function */
	table = image_table(&image.im);
	CHECK_EQ(table_lookup(table, 0)->cfa, CFA_NONE);
	CHECK_EQ(table_lookup(table, py_func(&image, PY_LOOP) - PY_TEXT)->by_fp, 0);
	free(table);
}

/* --- its table --------------------------------------------------------------------- */

static void check_rules(const void *table, bool cold)
{
	for (int i = 0; i < PY_FUNCS; i++) {
		bool loop = i == PY_LOOP || (cold && i == PY_COLD);

		for (int k = 0; k < PY_SIZE; k++) {
			const struct unwind_rule *r =
				table_lookup(table, py_func(&image, i) - PY_TEXT + k);

			CHECK_EQ(r->cfa, CFA_SP);
			CHECK_EQ(r->cfa_off, k < PY_ROW ? 8 : 16);
			CHECK_EQ(r->saved, k < PY_ROW ? 0 : 1 << SAVED_FP);
			CHECK_EQ(r->by_fp, loop ? RULE_LOOP : 0);
		}
	}
}

TEST(python_rows_of_the_loop_are_marked)
{
	for (uint32_t minor = 6; minor <= 15; minor++) {
		const struct unwind_rule *r;
		void *table;

		py_make(&image, minor, true, false);
		table = image_table(&image.im);
		r = table_lookup(table, 0);
		CHECK_EQ(r->cfa, CFA_RUNTIME);
		CHECK_EQ(RUNTIME_VERSION(r), minor);
		CHECK_EQ(RUNTIME_ROOT(r), image.root - PY_TEXT);
		CHECK_EQ(PYTHON_THREAD_AT(r), minor == 6 ? 0 : PY_THREAD_AT);
		CHECK_EQ(table_lookup(table, 1)->cfa, CFA_NONE);
		check_rules(table, true);
		free(table);
	}
}

TEST(python_rows_of_others_are_not)
{
	void *table;

	py_make(&image, 9, false, false);
	table = image_table(&image.im);
	check_rules(table, false);
	free(table);
}

/* --- hostile ------------------------------------------------------------------------ */

TEST(python_truncated)
{
	for (uint32_t minor = 6; minor <= 13; minor += 7) {
		py_make(&image, minor, true, false);
		image_survive_truncated(&image.im);
	}
}

TEST(python_flipped)
{
	for (uint32_t minor = 6; minor <= 13; minor += 7) {
		py_make(&image, minor, true, false);
		image_survive_flipped(&image.im, NULL);
	}
}

/* Symbols with any address and any size. */
TEST(python_symbols_of_absurd_values)
{
	static const uint64_t odd[] = { 1, 0x500000, 0x7fffffff, 0xffffffff, UINT64_MAX,
					1ULL << 63, UINT64_MAX - 63 };

	py_make(&image, 11, true, false);
	for (size_t at = 0; at + sizeof(Elf64_Sym) <= image.im.n; at += 8) {
		uint64_t *w = (uint64_t *)(image.im.b + at), keep = *w;

		if (keep < PY_TEXT || keep > PY_DATA + 65536)
			continue;
		for (size_t i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
			uint64_t size = w[1];

			w[0] = odd[i];
			image_survive(image.im.b, image.im.n);
			w[1] = odd[i];
			image_survive(image.im.b, image.im.n);
			w[0] = keep;
			image_survive(image.im.b, image.im.n);
			w[1] = size;
		}
	}
}
