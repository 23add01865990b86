// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/record.h"
#include "bpf/runtime.h"
#include "tests/unit/harness.h"

#include <string.h>

#define HEADER	(sizeof(struct trace_rec) / 8)

/* places of the words in a good record */
enum { NAME = 10, FILE_NAME = 12, TABLE = 15, MANAGED = 17, CUT = 19 };

#define TEXT(which, form, place, more)					\
	FRAME_WITH_MORE(FRAME_WORD(FRAME_TEXT, TEXT_NUMBER(which, form), place), more)

union good {
	struct trace_rec rec;
	uint64_t all[HEADER + 24];
};

static size_t good_record(union good *g)
{
	uint64_t words[] = {
		FRAME_WORD(FRAME_KERNEL, 1, 2), FRAME_WORD(FRAME_KERNEL, 3, 4),
		FRAME_WORD(FRAME_NATIVE, 5, 6), FRAME_FILE_WORD(7),
		1, 2, 3, 4, 5,			/* a key */
		FRAME_WORD(FRAME_ANON, 0, 8),
		TEXT(TEXT_NAME, 0, 7, 1), 1, TEXT(TEXT_FILE, 4, 8, 2), 1, 2,
		TEXT(TEXT_LINES, 1, 0, 1), 1,
		MANAGED_WORD(RUNTIME_PYTHON, 0x2bcdefu, 5), 1,
		FRAME_WORD(FRAME_CUT, 0, 0),
	};

	memset(g, 0, sizeof(*g));
	g->rec = (struct trace_rec){
		.len = sizeof(g->rec) + sizeof(words), .kind = REC_SAMPLE,
		.stop = STOP_CUT, .version = REC_VERSION,
		.n_kernel = 2, .n_user = sizeof(words) / 8 - 2,
	};
	memcpy(g->all + HEADER, words, sizeof(words));
	return g->rec.len;
}

TEST(record_accepts_all_kinds_of_frames)
{
	union good g;

	CHECK_EQ(record_check(&g, good_record(&g)), RECORD_SAMPLE);
	CHECK(record_shape(&g.rec).user);
	CHECK(!record_shape(&g.rec).native);	/* FRAME_ANON */
}

/* Names are no frames, and where interpreters are in between, not all is native. */
TEST(record_with_managed_frames_is_not_native)
{
	union good g;

	good_record(&g);
	g.rec.words[9] = FRAME_WORD(FRAME_NATIVE, 5, 6);	/* was FRAME_ANON */
	CHECK_EQ(record_check(&g, g.rec.len), RECORD_SAMPLE);
	CHECK(!record_shape(&g.rec).native);
	g.rec.words[MANAGED] = FRAME_WORD(FRAME_NATIVE, 5, 6);
	g.rec.words[MANAGED + 1] = FRAME_WORD(FRAME_NATIVE, 5, 6);
	CHECK_EQ(record_check(&g, g.rec.len), RECORD_SAMPLE);
	CHECK(record_shape(&g.rec).native);
}

TEST(record_managed_word_has_room_for_all_its_parts)
{
	uint64_t w = MANAGED_WORD(63, MANAGED_COOKIE(~0u), MANAGED_AT_MAX);

	CHECK_EQ(FRAME_KIND(w), FRAME_MANAGED);
	CHECK_EQ(FRAME_MORE(w), 1);
	CHECK_EQ(MANAGED_RUNTIME(w), 63);
	CHECK_EQ(MANAGED_COOKIE_OF(w), 0x3fffff);
	CHECK_EQ(MANAGED_AT(w), MANAGED_AT_MAX);
	w = MANAGED_WORD_WITH(2, 0x123456u, 0x789abcd, 3);
	CHECK_EQ(FRAME_MORE(w), 3);
	CHECK_EQ(MANAGED_RUNTIME(w), 2);
	CHECK_EQ(MANAGED_COOKIE_OF(w), 0x123456);
	CHECK_EQ(MANAGED_AT(w), 0x789abcd);
	for (unsigned int bit = 0; bit < 28; bit++) {
		CHECK_EQ(MANAGED_AT(MANAGED_WORD(0, 0u, 1ULL << bit)), 1u << bit);
		if (bit < 22)
			CHECK_EQ(MANAGED_COOKIE_OF(MANAGED_WORD(0, 1u << bit, 0)), 1u << bit);
		if (bit < 6)
			CHECK_EQ(MANAGED_RUNTIME(MANAGED_WORD(1u << bit, 0u, 0)), 1u << bit);
	}
}

/* One to three words stand for a function. */
TEST(record_managed_frames_have_one_to_three_words)
{
	for (uint32_t n = 0; n <= FRAME_MORE_MAX; n++) {
		uint64_t words[1 + FRAME_MORE_MAX] = {
			MANAGED_WORD_WITH(RUNTIME_PYTHON, 1u, 5, n),
		};
		union {
			struct trace_rec rec;
			uint64_t all[HEADER + 1 + FRAME_MORE_MAX];
		} r;

		memset(&r, 0, sizeof(r));
		r.rec = (struct trace_rec){
			.len = (uint32_t)(sizeof(r.rec) + 8 * (1 + n)), .kind = REC_SAMPLE,
			.stop = STOP_COMPLETE, .version = REC_VERSION,
			.n_user = (uint16_t)(1 + n),
		};
		memcpy(r.all + HEADER, words, 8 * (1 + n));
		CHECK_EQ(record_check(&r, r.rec.len),
			 n >= 1 && n <= 3 ? RECORD_SAMPLE : RECORD_BAD_SAMPLE);
	}
}

TEST(record_word_has_room_for_all_its_parts)
{
	uint64_t w = FRAME_WITH_MORE(FRAME_WORD(15, FRAME_NUMBER_MASK,
						FRAME_PLACE_MASK), 15);

	CHECK_EQ(w, UINT64_MAX);
	CHECK_EQ(frame_words(w), 1 + FRAME_MORE_MAX);
	w = FRAME_WITH_MORE(FRAME_WORD(FRAME_NATIVE, 5, 6), 3);
	CHECK_EQ(FRAME_KIND(w), FRAME_NATIVE);
	CHECK_EQ(FRAME_MORE(w), 3);
	CHECK_EQ(FRAME_NUMBER(w), 5);
	CHECK_EQ(FRAME_PLACE(w), 6);
	w = FRAME_ANON_WORD(~0ULL);
	CHECK_EQ(FRAME_KIND(w), FRAME_ANON);
	CHECK_EQ(frame_words(w), 1);
	CHECK_EQ(FRAME_ADDR(w), 0xffffffffffffffULL);
}

TEST(record_rejects_every_truncation)
{
	union good g;
	size_t len = good_record(&g);

	for (size_t n = 0; n < len; n++) {
		/* an exact heap copy, so that ASan sees one byte too far */
		void *copy = malloc(n ? n : 1);

		CHECK(copy != NULL);
		memcpy(copy, &g, n);
		CHECK(record_check(copy, n) != RECORD_SAMPLE);
		free(copy);
	}
}

/* Whatever passes must be safe to walk: frames end where the words do. */
static void walk(const struct trace_rec *rec)
{
	size_t end = (size_t)rec->n_kernel + rec->n_user, i = rec->n_kernel;

	while (i < end)
		i += frame_words(rec->words[i]);
	CHECK_EQ(i, end);
}

TEST(record_survives_every_bit_flip)
{
	union good g;
	size_t len = good_record(&g);
	unsigned int good = 0;

	for (size_t bit = 0; bit < len * 8; bit++) {
		uint8_t *copy = malloc(len);

		CHECK(copy != NULL);
		memcpy(copy, &g, len);
		copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (record_check(copy, len) == RECORD_SAMPLE) {
			walk((const struct trace_rec *)(const void *)copy);
			good++;
		}
		free(copy);
	}
	CHECK(good > 0);
}

static enum record_verdict changed(void (*change)(union good *g))
{
	union good g;
	size_t len = good_record(&g);

	change(&g);
	return record_check(&g, len);
}

static void guess_without_stop(union good *g)
{
	g->rec.words[9] = FRAME_GUESS_WORD(STOP_NO_ROW);	/* was FRAME_ANON */
}

static void version(union good *g)
{
	g->rec.version++;
}

static void no_stop(union good *g)
{
	g->rec.stop = STOP_NOT;
}

static void wrong_stop(union good *g)
{
	g->rec.stop = STOP__MAX;
}

static void big_exe(union good *g)
{
	g->rec.exe = EXE_MAX + 1;
}

static void user_in_kernel(union good *g)
{
	g->rec.words[1] = FRAME_WORD(FRAME_NATIVE, 2, 2);
}

static void kernel_in_user(union good *g)
{
	g->rec.words[2] = FRAME_WORD(FRAME_KERNEL, 2, 2);
}

static void exe_none(union good *g)
{
	g->rec.words[2] = FRAME_WORD(FRAME_NATIVE, EXE_NONE, 2);
}

static void key_cut(union good *g)
{
	g->rec.words[CUT] = FRAME_FILE_WORD(1);
}

static void cut_in_the_middle(union good *g)
{
	g->rec.words[2] = FRAME_WORD(FRAME_CUT, 0, 0);
}

/* lengths that lie */
static void native_with_more(union good *g)
{
	g->rec.words[2] = FRAME_WITH_MORE(g->rec.words[2], 1);
}

static void kernel_with_more(union good *g)
{
	g->rec.words[0] = FRAME_WITH_MORE(g->rec.words[0], 1);
}

static void key_without_words(union good *g)
{
	g->rec.words[3] = FRAME_WORD(FRAME_FILE, 0, 7);
}

static void key_with_a_word_less(union good *g)
{
	g->rec.words[3] = FRAME_WITH_MORE(FRAME_WORD(FRAME_FILE, 0, 7),
					  KEY_WORDS - 1);
}

static void key_with_all_that_fits(union good *g)
{
	g->rec.words[3] = FRAME_WITH_MORE(FRAME_WORD(FRAME_FILE, 0, 7),
					  FRAME_MORE_MAX);
}

static void cut_with_more(union good *g)
{
	g->rec.words[CUT] = FRAME_WITH_MORE(g->rec.words[CUT], 3);
}

static void unknown_kind(union good *g)
{
	g->rec.words[2] = FRAME_WORD(FRAME__KINDS, 2, 2);
}

/* of managed frames and their names */
static void managed_alone(union good *g)
{
	g->rec.words[MANAGED] ^= FRAME_WITH_MORE(0, 1);
	g->rec.words[MANAGED + 1] = FRAME_WORD(FRAME_NATIVE, 5, 6);
}

/* its words end behind the record */
static void managed_with_more(union good *g)
{
	g->rec.words[MANAGED] ^= FRAME_WITH_MORE(0, 1 ^ 3);
}

static void managed_of_no_runtime(union good *g)
{
	g->rec.words[MANAGED] = MANAGED_WORD(0, 0xffu, 5);
}

static void managed_in_kernel(union good *g)
{
	g->rec.words[0] = MANAGED_WORD(RUNTIME_PYTHON, 1u, 1);
}

static void managed_cut(union good *g)
{
	g->rec.words[CUT] = MANAGED_WORD(RUNTIME_PYTHON, 1u, 1);
}

static void text_in_kernel(union good *g)
{
	g->rec.words[0] = TEXT(TEXT_NAME, 0, 0, 1);
}

static void text_cut(union good *g)
{
	g->rec.words[MANAGED] = TEXT(TEXT_NAME, 0, 0, 3);
}

static void text_without_bytes(union good *g)
{
	g->rec.words[NAME] = TEXT(TEXT_NAME, 0, 7, 0);
	g->rec.words[NAME + 1] = FRAME_WORD(FRAME_NATIVE, 5, 6);
}

static void text_of_no_name(union good *g)
{
	g->rec.words[NAME] = TEXT(0, 1, 7, 1);
}

static void text_of_another_name(union good *g)
{
	g->rec.words[NAME] = TEXT(TEXT_SIGNATURE + 1, 1, 7, 1);
}

static void text_of_no_form(union good *g)
{
	g->rec.words[NAME] = TEXT(TEXT_NAME, FORM__MAX, 7, 1);
}

static void text_of_a_large_form(union good *g)
{
	g->rec.words[FILE_NAME] = TEXT(TEXT_FILE, 0xffff, 7, 2);
}

static void text_of_a_large_line(union good *g)
{
	g->rec.words[NAME] = TEXT(TEXT_NAME, 0, 1ULL << 32, 1);
}

static void lines_of_no_form(union good *g)
{
	g->rec.words[TABLE] = TEXT(TEXT_LINES, 0, 0, 1);
}

static void lines_of_another_form(union good *g)
{
	g->rec.words[TABLE] = TEXT(TEXT_LINES, LINES_FORMS, 0, 1);
}

static void lines_too_far(union good *g)
{
	g->rec.words[TABLE] = TEXT(TEXT_LINES, 1, TEXT_LINES_MAX * TEXT_BYTES, 1);
}

static void counts(union good *g)
{
	g->rec.n_user++;
}

TEST(record_rejects_nonsense)
{
	void (*const bad[])(union good *g) = {
		version, no_stop, wrong_stop, big_exe, user_in_kernel,
		kernel_in_user, exe_none, key_cut, cut_in_the_middle, counts,
		native_with_more, kernel_with_more, key_without_words,
		key_with_a_word_less, key_with_all_that_fits, cut_with_more,
		unknown_kind, managed_alone, managed_with_more, managed_of_no_runtime,
		managed_in_kernel, managed_cut, text_in_kernel, text_cut,
		text_without_bytes, text_of_no_name, text_of_another_name,
		text_of_no_form, text_of_a_large_form,
		text_of_a_large_line, lines_of_no_form, lines_of_another_form,
		lines_too_far, guess_without_stop,
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		printf("# change %zu\n", i);
		CHECK_EQ(changed(bad[i]), RECORD_BAD_SAMPLE);
	}
}

#define GUESSED(n)	FRAME_WORD(FRAME_NATIVE, 2, n), FRAME_GUESS_WORD(STOP_NO_ROW)

static enum record_verdict guessed(const uint64_t *w, size_t n, uint8_t stop)
{
	union good g;

	memset(&g, 0, sizeof(g));
	g.rec = (struct trace_rec){
		.len = (uint32_t)(sizeof(g.rec) + 8 * n), .kind = REC_SAMPLE, .stop = stop,
		.version = REC_VERSION, .n_user = (uint16_t)n,
	};
	memcpy(g.all + HEADER, w, 8 * n);
	return record_check(&g, g.rec.len);
}

TEST(record_has_guesses_between_frames)
{
	const uint64_t w[] = {
		GUESSED(1), GUESSED(2), GUESSED(3), GUESSED(4), GUESSED(5), GUESSED(6),
		GUESSED(7), GUESSED(8), GUESSED(9), FRAME_WORD(FRAME_NATIVE, 2, 10),
	};
	uint64_t bad[][4] = {
		{ w[1], w[0], w[1], w[0] }, { w[0], w[1], w[1], w[0] }, { w[0], w[1], w[0], w[1] },
		{ w[0], FRAME_GUESS_WORD(STOP_CUT), w[0], w[0] },
		{ w[0], FRAME_GUESS_WORD(STOP_GUESSED), w[0], w[0] },
		{ w[0], w[1] | 1, w[0], w[0] }, { w[0], FRAME_WITH_MORE(w[1], 1), w[0], w[0] },
		{ w[0], FRAME_WITH_MORE(w[1], 15), w[0], w[0] },
	};

	CHECK_EQ(GUESSES_MAX, 8);
	CHECK_EQ(guessed(w, 3, STOP_GUESSED), RECORD_SAMPLE);
	CHECK_EQ(guessed(w + 2, 17, STOP_GUESSED), RECORD_SAMPLE);
	CHECK_EQ(guessed(w, 19, STOP_GUESSED), RECORD_BAD_SAMPLE);	/* one too many */
	CHECK_EQ(guessed(w, 3, STOP_COMPLETE), RECORD_BAD_SAMPLE);
	CHECK_EQ(guessed(w, 3, STOP_NO_ROW), RECORD_BAD_SAMPLE);
	CHECK_EQ(guessed(w, 1, STOP_GUESSED), RECORD_BAD_SAMPLE);	/* none */
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		printf("# bad guess %zu\n", i);
		CHECK_EQ(guessed(bad[i], 4, STOP_GUESSED), RECORD_BAD_SAMPLE);
	}
}

TEST(record_rejects_too_many_frames)
{
	size_t n = FRAMES_MAX + 1, len = sizeof(struct trace_rec) + n * 8;
	struct trace_rec *rec = calloc(1, len);

	CHECK(rec != NULL);
	*rec = (struct trace_rec){
		.len = (uint32_t)len, .kind = REC_SAMPLE, .stop = STOP_CUT,
		.version = REC_VERSION, .n_user = (uint16_t)n,
	};
	for (size_t i = 0; i < n; i++)
		rec->words[i] = FRAME_WORD(FRAME_NATIVE, 2, i);
	CHECK_EQ(record_check(rec, len), RECORD_BAD_SAMPLE);
	rec->words[n - 1] = FRAME_WORD(FRAME_CUT, 0, 0);
	CHECK_EQ(record_check(rec, len), RECORD_SAMPLE);
	free(rec);
}

TEST(record_does_not_count_names_as_frames)
{
	size_t n = FRAMES_MAX + 3, len = sizeof(struct trace_rec) + n * 8;
	struct trace_rec *rec = calloc(1, len);

	CHECK(rec != NULL);
	*rec = (struct trace_rec){
		.len = (uint32_t)len, .kind = REC_SAMPLE, .stop = STOP_COMPLETE,
		.version = REC_VERSION, .n_user = (uint16_t)n,
	};
	for (size_t i = 0; i < n; i++)
		rec->words[i] = FRAME_WORD(FRAME_NATIVE, 2, i);
	rec->words[n - 4] = TEXT(TEXT_NAME, 0, 1, 1);
	rec->words[n - 2] = MANAGED_WORD(RUNTIME_PYTHON, 1u, 1);
	CHECK_EQ(record_check(rec, len), RECORD_SAMPLE);
	free(rec);
}

TEST(record_judges_kernel_symbols)
{
	struct ksym_rec k = {
		.len = sizeof(k), .kind = REC_KSYM, .number = 1, .name = "x",
	};

	CHECK_EQ(record_check(&k, sizeof(k)), RECORD_KSYM);
	CHECK_EQ(record_check(&k, sizeof(k) - 8), RECORD_BAD);
	k.number = FRAME_NUMBER_MASK + 1;
	CHECK_EQ(record_check(&k, sizeof(k)), RECORD_BAD);
	k.number = 1;
	memset(k.name, 'x', sizeof(k.name));
	CHECK_EQ(record_check(&k, sizeof(k)), RECORD_BAD);
	k.kind = 9;
	CHECK_EQ(record_check(&k, sizeof(k)), RECORD_BAD);
}

TEST(record_shape_of_a_kernel_thread)
{
	struct trace_rec rec = { .stop = STOP_NO_USER };

	CHECK(!record_shape(&rec).user);
	CHECK(!record_shape(&rec).native);
	rec.stop = STOP_NO_MAPPING;
	CHECK(record_shape(&rec).user);
	CHECK(!record_shape(&rec).native);
	rec.stop = STOP_READ;
	CHECK(record_shape(&rec).native);
}
