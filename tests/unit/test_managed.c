// SPDX-License-Identifier: Apache-2.0
/* Functions of interpreters: names taken out of records, numbers given, forgotten. */
#include "symbolizerd/knowledge/managed.h"
#include "ipc/runtimes.h"
#include "bpf/hotspot.h"
#include "bpf/python_lines.h"
#include "tests/unit/managed_record.h"

#include <stdlib.h>

#define A		0x7f0000001000ULL	/* code objects */
#define B		0x7f0000002000ULL
#define COOKIE		0x2bcdef
#define SECOND		1000000000ULL
#define NAME_LEN	100

static struct managed m;
static uint64_t now = SECOND;

/* What was made is a good record, and then is one word for each frame. */
static void translate(void)
{
	CHECK_EQ(record_check(&made_record, made_record.rec.len), RECORD_SAMPLE);
	managed_translate(&m, &made_record.rec, now);
	CHECK_EQ(made_record.rec.len,
		 sizeof(made_record.rec) + 8u * (made_record.rec.n_kernel + made_record.rec.n_user));
}

/* Our number of a frame alone, with names or without. */
static uint32_t number_of(uint32_t tgid, uint64_t function, uint32_t cookie,
			  const char *name)
{
	made_begin(tgid);
	if (name)
		made_names(name, "f.py", 7);
	made_frame(function, cookie, 0);
	translate();
	CHECK_EQ(made_record.rec.n_user, 1);
	CHECK_EQ(FRAME_KIND(made_record.words[0]), FRAME_MANAGED);
	CHECK_EQ(FRAME_MORE(made_record.words[0]), 0);
	return FRAME_NUMBER(made_record.words[0]);
}

static void begin(void)
{
	managed_init(&m, 42);
}

static void end(void)
{
	managed_fini(&m);
	CHECK(!m.functions.v && !m.functions.bytes.total && !m.frames.bytes.total);
}

/* --- methods ----------------------------------------------------------------------- */

/* A frame of Java's with these names. */
static const struct managed_function *method(const char *class, const char *name,
					     const char *signature)
{
	made_begin(1);
	made_text(TEXT_CLASS, FORM_MUTF8, 0, class, strlen(class));
	made_text(TEXT_NAME, FORM_MUTF8, 0, name, strlen(name));
	if (signature)
		made_text(TEXT_SIGNATURE, FORM_MUTF8, 0, signature, strlen(signature));
	made_text(TEXT_FILE, FORM_MUTF8, 0, "C.java", 6);
	made_text(TEXT_LINES, LINES_JAVA, 0, "\xff\x00\x28\x21", 5);
	made_word(MANAGED_WORD(RUNTIME_HOTSPOT, COOKIE, 4));
	made_word(A);
	translate();
	CHECK_EQ(OUR_RUNTIME(made_record.words[0]), RUNTIME_HOTSPOT);
	return managed_find(&m, FRAME_NUMBER(made_record.words[0]));
}

TEST(managed_methods_of_classes)
{
	const struct managed_function *f;

	begin();
	f = method("a/b/C", "run", "(I[Ljava/lang/String;)V");
	CHECK(f);
	CHECK_STR(f->name, "a.b.C.run");
	CHECK_STR(f->full, "a.b.C.run(int, java.lang.String[])");
	CHECK_STR(f->file, "C.java");
	CHECK_EQ(f->line, 20);
	CHECK_EQ(managed_line(f, 4), 21);
	CHECK_EQ(f->n_lines, 5);
	/* methods that differ in their parameters alone are others */
	CHECK(method("a/b/C", "run", "()V") != f);
	CHECK_STR(method("D", "<init>", NULL)->full, "");
	/* modified UTF-8: an e with an accent, a euro; a byte that goes with nothing */
	CHECK_STR(method("D", "\xc3\xa9\xe2\x82\xac\x80", NULL)->name, "D.\xc3\xa9\xe2\x82\xac?");
	end();
}

TEST(managed_code_of_the_runtime)
{
	uint32_t number[4];

	begin();
	for (uint64_t i = 0; i < 4; i++) {
		made_begin(7);
		made_word(MANAGED_WORD(RUNTIME_HOTSPOT, 0u, MANAGED_AT_MAX));
		made_word(i);
		translate();
		number[i] = FRAME_NUMBER(made_record.words[0]);
	}
	CHECK_EQ(number[0], MANAGED_UNKNOWN);
	CHECK_STR(managed_find(&m, number[1])->name, "[JVM stub]");
	CHECK_STR(managed_find(&m, number[3])->name, "[JVM interpreter]");
	/* one for all processes; no other runtime has such, and there are no more */
	CHECK_EQ(number_of(8, 1, 0, NULL), MANAGED_UNKNOWN);
	made_begin(9);
	made_word(MANAGED_WORD(RUNTIME_HOTSPOT, 0u, MANAGED_AT_MAX));
	made_word(RUNTIME_OWN);
	made_word(MANAGED_WORD(RUNTIME_HOTSPOT, 0u, MANAGED_AT_MAX));
	made_word(1);
	translate();
	CHECK_EQ(FRAME_NUMBER(made_record.words[0]), MANAGED_UNKNOWN);
	CHECK_EQ(FRAME_NUMBER(made_record.words[1]), number[1]);
	end();
}

/* --- records ----------------------------------------------------------------------- */

TEST(managed_names_are_taken_out)
{
	const struct managed_function *f;
	uint64_t native = FRAME_WORD(FRAME_NATIVE, 5, 6), file = FRAME_FILE_WORD(9);

	begin();
	made_begin(1);
	made_word(FRAME_WORD(FRAME_KERNEL, 1, 2));
	made_word(native);
	made_names("inner", "a.py", 10);
	made_frame(A, COOKIE, 30);
	made_frame(B, COOKIE, 40);		/* its names came before, or never */
	made_names("outer", NULL, 11);
	made_frame(B + 64, 1, MANAGED_AT_MAX);
	made_word(file);
	for (int i = 0; i < KEY_WORDS; i++)
		made_word(100 + i);
	translate();
	CHECK_EQ(made_record.rec.n_kernel, 1);
	CHECK_EQ(made_record.rec.n_user, 1 + 3 + 1 + KEY_WORDS);
	CHECK_EQ(made_record.words[0], FRAME_WORD(FRAME_KERNEL, 1, 2));
	CHECK_EQ(made_record.words[1], native);
	CHECK_EQ(FRAME_KIND(made_record.words[2]), FRAME_MANAGED);
	CHECK_EQ(OUR_RUNTIME(made_record.words[2]), RUNTIME_PYTHON);
	CHECK_EQ(OUR_AT(made_record.words[2]), 30);
	f = managed_find(&m, FRAME_NUMBER(made_record.words[2]));
	CHECK(f);
	CHECK_STR(f->name, "inner");
	CHECK_STR(f->file, "a.py");
	CHECK_EQ(f->line, 10);
	CHECK_EQ(FRAME_NUMBER(made_record.words[3]), MANAGED_UNKNOWN);
	CHECK_EQ(OUR_RUNTIME(made_record.words[3]), RUNTIME_PYTHON);
	CHECK_EQ(OUR_AT(made_record.words[3]), 40);
	f = managed_find(&m, FRAME_NUMBER(made_record.words[4]));
	CHECK(f);
	CHECK_STR(f->name, "outer");
	CHECK_STR(f->file, "");
	CHECK_EQ(OUR_AT(made_record.words[4]), MANAGED_AT_MAX);
	CHECK_EQ(made_record.words[5], file);
	for (int i = 0; i < KEY_WORDS; i++)
		CHECK_EQ(made_record.words[6 + i], 100 + i);
	CHECK(!managed_find(&m, MANAGED_UNKNOWN) && !managed_find(&m, 3));
	end();
}

TEST(managed_loops_are_shown_or_not)
{
	const uint64_t loop = FRAME_WORD(FRAME_LOOP, 5, 6);

	begin();
	for (int shown = 0; shown <= 1; shown++) {
		m.show_loops = shown;
		made_begin(1);
		made_names("inner", "a.py", 10);
		made_frame(A, COOKIE, 30);
		made_word(loop);
		made_word(FRAME_WORD(FRAME_NATIVE, 7, 8));
		CHECK(managed_has(&made_record.rec));
		translate();
		CHECK_EQ(made_record.rec.n_user, 2 + shown);
		if (shown)
			CHECK_EQ(made_record.words[1], FRAME_WORD(FRAME_NATIVE, 5, 6));
		CHECK_EQ(made_record.words[1 + shown], FRAME_WORD(FRAME_NATIVE, 7, 8));
	}
	/* nothing is there in its place */
	m.show_loops = 0;
	made_begin(1);
	made_word(loop);
	translate();
	CHECK_EQ(made_record.rec.n_user, 1);
	CHECK_EQ(made_record.words[0], FRAME_WORD(FRAME_NATIVE, 5, 6));
	end();
}

TEST(managed_names_belong_to_the_next_frame_only)
{
	begin();
	made_begin(1);
	made_names("lost", "a.py", 1);
	made_word(FRAME_WORD(FRAME_NATIVE, 5, 6));
	made_frame(A, COOKIE, 0);
	translate();
	CHECK_EQ(made_record.rec.n_user, 2);
	CHECK_EQ(FRAME_NUMBER(made_record.words[1]), MANAGED_UNKNOWN);
	end();
}

TEST(managed_same_function_has_one_number)
{
	uint32_t f, g;

	begin();
	f = number_of(1, A, COOKIE, "f");
	CHECK(f != MANAGED_UNKNOWN);
	CHECK_EQ(number_of(1, A, COOKIE, NULL), f);
	/* another process, where it is elsewhere */
	CHECK_EQ(number_of(2, A, COOKIE, NULL), MANAGED_UNKNOWN);
	CHECK_EQ(number_of(2, B, COOKIE + 1, "f"), f);
	CHECK_EQ(number_of(2, B, COOKIE + 1, NULL), f);
	/* another function, by its name, then by its line */
	g = number_of(1, B, COOKIE, "g");
	CHECK(g != MANAGED_UNKNOWN && g != f);
	made_begin(1);
	made_names("f", "f.py", 8);
	made_frame(B, 1, 0);
	translate();
	CHECK(FRAME_NUMBER(made_record.words[0]) != f && FRAME_NUMBER(made_record.words[0]) != g);
	made_begin(1);
	made_names("f", "g.py", 7);
	made_frame(B, 2, 0);
	translate();
	CHECK(FRAME_NUMBER(made_record.words[0]) != f);
	CHECK_EQ(m.functions.n, 4);
	end();
}

TEST(managed_address_used_again_is_another_frame)
{
	uint32_t f, g;

	begin();
	f = number_of(1, A, COOKIE, "f");
	CHECK_EQ(number_of(1, A, COOKIE ^ 1, NULL), MANAGED_UNKNOWN);
	CHECK_EQ(number_of(1, A, COOKIE ^ 1 << 21, NULL), MANAGED_UNKNOWN);
	g = number_of(1, A, COOKIE ^ 1, "g");
	CHECK(g != f);
	CHECK_EQ(number_of(1, A, COOKIE, NULL), f);
	/* after exec, and in another process with the same number */
	for (int i = 0; i < 3; i++) {
		made_begin(1);
		made_frame(A, COOKIE, 0);
		if (i == 1)
			made_record.rec.process.exec_id++;
		if (i == 2)
			made_record.rec.process.start_ns++;
		translate();
		CHECK_EQ(FRAME_NUMBER(made_record.words[0]), i ? MANAGED_UNKNOWN : f);
	}
	/* what is said last holds */
	CHECK_EQ(number_of(1, A, COOKIE, "g"), g);
	CHECK_EQ(number_of(1, A, COOKIE, NULL), g);
	end();
}

/* A frame of n words, which has a name if it is given. */
static uint32_t number_of_words(const uint64_t *words, uint32_t n, const char *name)
{
	made_begin(1);
	if (name)
		made_names(name, "f", 1);
	made_word(MANAGED_WORD_WITH(RUNTIME_PYTHON, COOKIE, 0, n));
	for (uint32_t i = 0; i < n; i++)
		made_word(words[i]);
	translate();
	CHECK_EQ(made_record.rec.n_user, 1);
	CHECK_EQ(FRAME_KIND(made_record.words[0]), FRAME_MANAGED);
	return FRAME_NUMBER(made_record.words[0]);
}

TEST(managed_all_words_stand_for_the_function)
{
	static const uint64_t same[] = { A, 1, 2 }, last[] = { A, 1, 3 }, second[] = { A, 2, 2 };
	uint32_t three, two, one;

	begin();
	three = number_of_words(same, 3, "three");
	two = number_of_words(same, 2, "two");
	one = number_of_words(same, 1, "one");
	CHECK(three && two && one && three != two && two != one && three != one);
	CHECK_EQ(number_of_words(same, 3, NULL), three);
	CHECK_EQ(number_of_words(same, 2, NULL), two);
	CHECK_EQ(number_of_words(same, 1, NULL), one);
	CHECK_EQ(number_of_words(last, 3, NULL), MANAGED_UNKNOWN);
	CHECK_EQ(number_of_words(second, 3, NULL), MANAGED_UNKNOWN);
	CHECK_EQ(number_of_words(second, 2, NULL), MANAGED_UNKNOWN);
	end();
}

/* --- text --------------------------------------------------------------------------- */

static void expect_name(uint32_t form, const void *bytes, size_t len, const char *want)
{
	begin();
	made_begin(1);
	made_text(TEXT_NAME, form, 1, bytes, len);
	made_frame(A, COOKIE, 0);
	translate();
	CHECK_STR(managed_find(&m, FRAME_NUMBER(made_record.words[0]))->name, want);
	end();
}

TEST(managed_text_of_each_form)
{
	static const uint16_t two[] = { 'a', 0xe9, 0x20ac, 0xffff, 0xd800, 0xd83d,
					0xde00, 0xdfff, 1 };
	static const uint32_t four[] = { 'b', 0xe9, 0x20ac, 0x1f600, 0x10ffff, 0x110000,
					 0xd800, 0xffffffff, 0x7f };
	char longest[TEXT_BYTES], want[2 * TEXT_BYTES + 1];

	expect_name(0, "abc", 3, "abc");
	expect_name(0, "a\xe9\x1f\x7f\n", 5, "a????");	/* it said ASCII */
	expect_name(1, "a\xe9\xff\x1f", 4, "a\xc3\xa9\xc3\xbf?");
	expect_name(2, two, sizeof(two), "a\xc3\xa9\xe2\x82\xac\xef\xbf\xbf?\xf0\x9f\x98\x80??");
	expect_name(4, four, sizeof(four),
		    "b\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\xf4\x8f\xbf\xbf????");
	/* to the first NUL; none at all */
	expect_name(0, "ab\0cd", 5, "ab");
	expect_name(0, "\0ab", 3, "");
	memset(longest, 0xe9, sizeof(longest));
	for (size_t i = 0; i < sizeof(longest); i++)
		memcpy(want + 2 * i, "\xc3\xa9", 3);
	expect_name(1, longest, sizeof(longest), want);
}

TEST(managed_file_cut_in_front_says_so)
{
	begin();
	for (uint32_t cut = 0; cut < 2; cut++) {
		made_begin(1);
		made_text(TEXT_NAME, 0, 1, "f", 1);
		made_text(TEXT_FILE, 0, cut, "b/c.py", 6);
		made_frame(A, cut, 0);
		translate();
		CHECK_STR(managed_find(&m, FRAME_NUMBER(made_record.words[0]))->file,
			  cut ? "...b/c.py" : "b/c.py");
	}
	end();
}

/* Pairs of bytes and lines, in two pieces; one that is out of its order is left. */
TEST(managed_lines)
{
	const struct managed_function *f;
	uint8_t pairs[TEXT_BYTES], more[] = { 2, 100 };

	for (size_t i = 0; i < sizeof(pairs); i += 2)
		pairs[i] = 2, pairs[i + 1] = 1;
	begin();
	made_begin(1);
	made_text(TEXT_NAME, 0, 10, "f", 1);
	made_text(TEXT_LINES, LINES_PAIRS, 0, pairs, sizeof(pairs));
	made_text(TEXT_LINES, LINES_PAIRS, 2 * TEXT_BYTES, pairs, sizeof(pairs));
	made_text(TEXT_LINES, LINES_PAIRS, TEXT_BYTES, more, sizeof(more));
	made_frame(A, COOKIE, 5);
	translate();
	f = managed_find(&m, FRAME_NUMBER(made_record.words[0]));
	CHECK(f);
	CHECK_EQ(f->form, LINES_PAIRS);
	CHECK_EQ(f->n_lines, TEXT_BYTES + 8);
	CHECK_EQ(managed_line(f, 0), 10);
	CHECK_EQ(managed_line(f, OUR_AT(made_record.words[0])), 12);
	CHECK_EQ(managed_line(f, 119), 69);
	CHECK_EQ(managed_line(f, 121), 70);
	CHECK_EQ(managed_line(f, 122), 170);
	CHECK_EQ(managed_line(f, MANAGED_AT_START), 10);
	/* without a table: no line */
	number_of(1, B, COOKIE, "g");
	CHECK_EQ(managed_line(managed_find(&m, FRAME_NUMBER(made_record.words[0])), 0), 0);
	end();
}

/* --- forgetting and room --------------------------------------------------------------- */

TEST(managed_frames_are_kept_while_they_are_used)
{
	struct traces t;
	uint32_t f;

	traces_init(&t, 1);
	begin();
	f = number_of(1, A, COOKIE, "f");
	number_of(1, B, COOKIE, "g");
	now += MANAGED_KEPT_NS - 1;
	managed_sweep(&m, &t, now);
	CHECK_EQ(number_of(1, A, COOKIE, NULL), f);
	now += 1;
	managed_sweep(&m, &t, now);
	CHECK_EQ(number_of(1, B, COOKIE, NULL), MANAGED_UNKNOWN);
	CHECK_EQ(number_of(1, A, COOKIE, NULL), f);
	CHECK_EQ(owner_cache_used(&m.frames), 1);
	number_of(1, B, COOKIE, "h");
	CHECK_EQ(owner_cache_used(&m.frames), 2);
	CHECK_EQ(m.frames.n, 2);
	end();
	traces_fini(&t);
}

/* A new function of a user, with all that a name may have. */
static uint32_t fill_one(uint32_t user, uint32_t n)
{
	char name[NAME_LEN + 1];
	uint8_t lines[TEXT_BYTES] = { 1, 1 };

	snprintf(name, sizeof(name), "%0*u", NAME_LEN, n);
	made_begin(user);
	made_owner(user);
	made_names(name, name, n);
	for (int i = 0; i < TEXT_LINES_MAX; i++)
		made_text(TEXT_LINES, LINES_PAIRS, i * TEXT_BYTES, lines, sizeof(lines));
	made_frame(A + 16 * n, COOKIE, 0);
	translate();
	return FRAME_NUMBER(made_record.words[0]);
}

/* Another record of it, without names. */
static uint32_t fill_again(uint32_t user, uint32_t n)
{
	made_begin(user);
	made_frame(A + 16 * n, COOKIE, 0);
	translate();
	return FRAME_NUMBER(made_record.words[0]);
}

/* Functions from *n on, until one had to go for the last. */
static void fill_all(uint32_t user, uint32_t *n)
{
	uint64_t lost = m.functions.lost;

	while (m.functions.lost == lost) {
		CHECK(fill_one(user, *n) != MANAGED_UNKNOWN);
		++*n;
		CHECK(*n < 1000000);
	}
	CHECK(m.functions.bytes.total <= MANAGED_NAMES_BYTES);
	CHECK(m.functions.bytes.total > MANAGED_NAMES_BYTES - 2 * 4096);
}

TEST(managed_without_room_who_has_most_loses_what_was_not_used)
{
	struct traces t;
	uint32_t n = 1, small, other;

	traces_init(&t, 1);
	begin();
	small = fill_one(2, 0);
	fill_all(1, &n);
	CHECK(n > 4000);
	/* he gets new ones all the same, and loses his own for that, the oldest first */
	CHECK(!managed_find(&m, fill_again(1, 1)));
	CHECK(managed_find(&m, fill_again(1, 2)));
	CHECK(managed_find(&m, fill_one(1, n++)));
	CHECK(managed_find(&m, fill_again(1, 2)));
	CHECK(!managed_find(&m, fill_again(1, 3)));
	/* nobody else's */
	CHECK_EQ(fill_again(2, 0), small);
	CHECK(managed_find(&m, small));
	other = fill_one(3, n + 1);
	CHECK(managed_find(&m, other));
	for (uint32_t i = 0; i < 1000; i++)
		CHECK(managed_find(&m, fill_one(3, n + 3 + i)));
	CHECK(m.gone >= 1000);
	CHECK(managed_find(&m, small) && managed_find(&m, other));
	/* numbers that lost their name rest while somebody has them */
	managed_sweep(&m, &t, now);
	CHECK_EQ(m.gone, 0);
	CHECK(m.functions.unused.n >= 1000);
	CHECK(managed_find(&m, small) && managed_find(&m, other));
	end();
	traces_fini(&t);
}

TEST(managed_number_without_a_name_rests_while_a_trace_has_it)
{
	uint32_t n = 1, in_trace;
	struct traces t;
	int first;

	traces_init(&t, 1);
	begin();
	in_trace = fill_one(1, 0);
	CHECK(traces_add(&t, &made_record.rec, 0, 1, &first) != TRACE_NONE);
	fill_all(1, &n);
	CHECK(!managed_find(&m, in_trace));
	managed_sweep(&m, &t, now);
	for (uint32_t i = 0; i < 100; i++)
		CHECK(fill_one(2, n + 2 + i) != in_trace);
	CHECK(!managed_find(&m, in_trace) && m.gone);
	traces_clear(&t);
	managed_sweep(&m, &t, now);
	CHECK_EQ(m.gone, 0);
	end();
	traces_fini(&t);
}

TEST(managed_frames_without_room_who_has_most_loses)
{
	uint32_t n = 0;

	begin();
	/* the same names each time */
	do {
		made_begin(1);
		made_owner(1);
		made_names("f", "f.py", 1);
		made_frame(A + 16 * n++, COOKIE, 0);
		translate();
	} while (!m.frames.lost);
	CHECK(m.frames.bytes.total <= MANAGED_FRAMES_BYTES && n > 50000);
	CHECK(!fill_again(1, 0) && fill_again(1, 1));
	CHECK(fill_one(2, n));
	CHECK(fill_again(2, n) && fill_again(1, n - 1));
	/* what was used again stays longer */
	CHECK(fill_again(1, 1) && !fill_again(1, 2) && fill_again(1, 3));
	CHECK(m.frames.bytes.total <= MANAGED_FRAMES_BYTES);
	end();
}

TEST(managed_functions_stay_while_a_trace_has_them)
{
	uint32_t n = 1, in_trace, in_frame;
	struct traces t;
	int first;

	traces_init(&t, 1);
	begin();
	in_trace = fill_one(1, 0);
	CHECK(traces_add(&t, &made_record.rec, 0, 1, &first) != TRACE_NONE);
	while (m.functions.bytes.total < MANAGED_NAMES_BYTES / 4 * 3)
		CHECK(fill_one(1, n++));
	now += MANAGED_KEPT_NS;
	in_frame = fill_one(1, n);
	managed_sweep(&m, &t, now);
	CHECK_EQ(owner_cache_used(&m.frames), 1);
	CHECK_EQ(owner_cache_used(&m.functions), 2);
	CHECK_EQ(managed_find(&m, in_trace)->line, 0);
	CHECK_EQ(managed_find(&m, in_frame)->line, n);
	CHECK(!managed_find(&m, in_trace + 1));
	/* with few of them nothing is to be gained */
	traces_clear(&t);
	managed_sweep(&m, &t, now);
	CHECK(managed_find(&m, in_trace));
	while (m.functions.bytes.total < MANAGED_NAMES_BYTES / 4 * 3)
		CHECK(fill_one(1, ++n));
	managed_sweep(&m, &t, now);
	CHECK(!managed_find(&m, in_trace));
	CHECK(managed_find(&m, in_frame));
	end();
	traces_fini(&t);
}

/* --- hostile ----------------------------------------------------------------------------- */

TEST(managed_survives_every_bit_flip)
{
	static struct managed_record good;
	size_t len;

	begin();
	made_begin(1);
	made_word(FRAME_WORD(FRAME_KERNEL, 1, 2));
	made_text(TEXT_NAME, 2, 1, "n\0a\0m\0e", 8);
	made_text(TEXT_FILE, 0, 3, "file.py", 7);
	made_text(TEXT_LINES, LINES_LOCATIONS, 0, "\x80\x01\xf0\x00\xd8\x40", 6);
	made_frame(A, COOKIE, 2);
	made_word(FRAME_WORD(FRAME_NATIVE, 3, 4));
	good = made_record;
	len = made_record.rec.len;
	for (size_t bit = 0; bit < 8 * len; bit++) {
		const uint64_t *w;
		size_t i, n;

		made_record = good;
		((uint8_t *)&made_record)[bit / 8] ^= 1 << bit % 8;
		if (record_check(&made_record, len) != RECORD_SAMPLE)
			continue;
		managed_translate(&m, &made_record.rec, now);
		w = made_record.words + made_record.rec.n_kernel;
		n = made_record.rec.n_user;
		CHECK(made_record.rec.len <= len);
		for (i = 0; i < n; i += frame_words(w[i])) {
			const struct managed_function *f = managed_find(&m, FRAME_NUMBER(w[i]));

			CHECK(FRAME_KIND(w[i]) != FRAME_TEXT);
			if (FRAME_KIND(w[i]) == FRAME_MANAGED && f)
				managed_line(f, OUR_AT(w[i]));
		}
		CHECK_EQ(i, n);
	}
	end();
}
