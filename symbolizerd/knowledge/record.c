// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/record.h"

#include <string.h>

/* What a frame of a kind may look like; kinds without a row do not exist. */
static const struct frame_shape {
	bool known;
	bool user;		/* in the user's part; else in the kernel's */
	bool numbered;		/* its number is not 0 */
	bool last;		/* the end of the stack, not counted as a frame */
	bool text;		/* not counted as a frame */
	bool mark;		/* likewise; of the frame after it */
	uint8_t least, most;	/* words after the first */
} frame_shapes[FRAME_MORE_MAX + 1] = {
	[FRAME_KERNEL] = { .known = true },
	[FRAME_NATIVE] = { .known = true, .user = true, .numbered = true },
	[FRAME_FILE] = { .known = true, .user = true, .least = KEY_WORDS,
			 .most = KEY_WORDS },
	[FRAME_ANON] = { .known = true, .user = true },
	[FRAME_CUT] = { .known = true, .user = true, .last = true },
	[FRAME_MANAGED] = { .known = true, .user = true, .numbered = true, .least = 1,
			    .most = MANAGED_WORDS_MAX },
	[FRAME_TEXT] = { .known = true, .user = true, .numbered = true,
			 .text = true, .least = 1, .most = FRAME_MORE_MAX },
	[FRAME_LOOP] = { .known = true, .user = true, .numbered = true },
	[FRAME_GUESS] = { .known = true, .user = true, .numbered = true, .mark = true },
};

/* The texts, and what their form is below; those without a row do not exist. */
static const struct text_shape {
	uint32_t least, below;	/* of enum text_form, or of LINES_FORMS */
	uint64_t place;		/* below this */
} text_shapes[TEXT_WHICH(~0u) + 1] = {
	[TEXT_NAME] = { 0, FORM__MAX, 1ULL << 32 },
	[TEXT_FILE] = { 0, FORM__MAX, 1ULL << 32 },
	[TEXT_CLASS] = { 0, FORM__MAX, 1ULL << 32 },
	[TEXT_SIGNATURE] = { 0, FORM__MAX, 1ULL << 32 },
	[TEXT_LINES] = { 1, LINES_FORMS, TEXT_LINES_MAX * TEXT_BYTES },
};

/* A known kind and form; the bytes of a name may say anything. */
static bool record_text_ok(uint64_t w)
{
	const struct text_shape *s = &text_shapes[TEXT_WHICH(FRAME_NUMBER(w))];
	uint32_t form = TEXT_FORM(FRAME_NUMBER(w));

	return form >= s->least && form < s->below && FRAME_PLACE(w) < s->place;
}

/* Before a guessed caller: why the stack would end there. */
static bool record_guess_ok(uint64_t w)
{
	return FRAME_PLACE(w) == 0 && FRAME_NUMBER(w) > STOP_CUT &&
	       FRAME_NUMBER(w) < STOP_GUESSED;
}

/* Of what may stand in one part.  *guesses: marks of guessed callers, each between two
 * frames. */
static bool record_words_ok(const uint64_t *w, size_t n, bool user, uint32_t *guesses)
{
	size_t frames = 0, max = user ? FRAMES_MAX : KERNEL_MAX;
	bool mark = true;	/* the word before is one, or there is none */

	*guesses = 0;
	for (size_t i = 0; i < n; i += frame_words(w[i])) {
		const struct frame_shape *s = &frame_shapes[FRAME_KIND(w[i])];

		if (!s->known || s->user != user ||
		    (s->text && !record_text_ok(w[i])) ||
		    FRAME_MORE(w[i]) < s->least || FRAME_MORE(w[i]) > s->most ||
		    (s->mark && (mark || !record_guess_ok(w[i]))) ||
		    n - i < frame_words(w[i]) ||
		    (s->numbered && FRAME_NUMBER(w[i]) == EXE_NONE))
			return false;
		mark = s->mark;
		if (mark)
			++*guesses;
		else if (!s->last && !s->text)
			frames++;
		if (frames > max || (s->last && i + 1 != n))
			return false;
	}
	return !*guesses || !mark;
}

static bool record_sample_ok(const struct trace_rec *rec, size_t len)
{
	uint32_t none, guesses;
	size_t words;

	if (len < sizeof(*rec) || rec->version != REC_VERSION)
		return false;
	words = (len - sizeof(*rec)) / 8;
	return rec->len == len && len % 8 == 0 && rec->stop != STOP_NOT &&
	       rec->stop < STOP__MAX && rec->exe <= EXE_MAX &&
	       (size_t)rec->n_kernel + rec->n_user == words &&
	       record_words_ok((const uint64_t *)rec->words, rec->n_kernel,
			       false, &none) &&
	       record_words_ok((const uint64_t *)rec->words + rec->n_kernel,
			       rec->n_user, true, &guesses) &&
	       guesses <= GUESSES_MAX && !guesses == (rec->stop != STOP_GUESSED);
}

static bool record_ksym_ok(const struct ksym_rec *k, size_t len)
{
	return len == sizeof(*k) && k->len == len &&
	       k->number <= FRAME_NUMBER_MASK && k->name[0] != '\0' &&
	       memchr(k->name, '\0', sizeof(k->name)) != NULL;
}

enum record_verdict record_check(const void *data, size_t len)
{
	const struct trace_rec *rec = data;

	/* len and kind are at the same place in every record */
	if (len < 8)
		return RECORD_BAD;
	if (rec->kind == REC_SAMPLE && record_sample_ok(data, len))
		return RECORD_SAMPLE;
	if (rec->kind == REC_SAMPLE)
		return RECORD_BAD_SAMPLE;
	if (rec->kind == REC_KSYM && record_ksym_ok(data, len))
		return RECORD_KSYM;
	return RECORD_BAD;
}

struct record_shape record_shape(const struct trace_rec *rec)
{
	struct record_shape shape = {
		.user = rec->n_user > 0 || rec->stop != STOP_NO_USER,
	};
	size_t end = (size_t)rec->n_kernel + rec->n_user;

	shape.native = shape.user && !(rec->flags & REC_HAS_ANON) &&
		       rec->stop != STOP_ANON && rec->stop != STOP_NO_MAPPING;
	for (size_t i = rec->n_kernel; shape.native && i < end;
	     i += frame_words(rec->words[i]))
		shape.native = FRAME_KIND(rec->words[i]) != FRAME_ANON &&
			       FRAME_KIND(rec->words[i]) != FRAME_MANAGED;
	return shape;
}
