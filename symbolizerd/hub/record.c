// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/record.h"

#include <string.h>

static bool kernel_ok(const uint64_t *w, size_t n)
{
	if (n > KERNEL_MAX)
		return false;
	for (size_t i = 0; i < n; i++) {
		if (FRAME_KIND(w[i]) != FRAME_KERNEL)
			return false;
	}
	return true;
}

static bool user_ok(const uint64_t *w, size_t n)
{
	size_t frames = 0;

	for (size_t i = 0; i < n; i += frame_words(w[i])) {
		if (n - i < frame_words(w[i]))
			return false;
		switch (FRAME_KIND(w[i])) {
		case FRAME_NATIVE:
			if (FRAME_NUMBER(w[i]) == EXE_NONE)
				return false;
			break;
		case FRAME_FILE:
		case FRAME_ANON:
			break;
		case FRAME_CUT:		/* the last one, and no place in it */
			return i + 1 == n && frames <= FRAMES_MAX;
		default:
			return false;
		}
		if (++frames > FRAMES_MAX)
			return false;
	}
	return true;
}

static bool sample_ok(const struct trace_rec *rec, size_t len)
{
	size_t words;

	if (len < sizeof(*rec) || rec->version != REC_VERSION)
		return false;
	words = (len - sizeof(*rec)) / 8;
	return rec->len == len && len % 8 == 0 && rec->stop != STOP_NOT &&
	       rec->stop < STOP__MAX && rec->exe <= EXE_MAX &&
	       (size_t)rec->n_kernel + rec->n_user == words &&
	       kernel_ok((const uint64_t *)rec->words, rec->n_kernel) &&
	       user_ok((const uint64_t *)rec->words + rec->n_kernel,
		       rec->n_user);
}

static bool ksym_ok(const struct ksym_rec *k, size_t len)
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
	if (rec->kind == REC_SAMPLE)
		return sample_ok(data, len) ? RECORD_SAMPLE :
					      RECORD_BAD_SAMPLE;
	if (rec->kind == REC_KSYM && ksym_ok(data, len))
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
		shape.native = FRAME_KIND(rec->words[i]) != FRAME_ANON;
	return shape;
}
