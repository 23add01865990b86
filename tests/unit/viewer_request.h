/* SPDX-License-Identifier: Apache-2.0 */
/*
 * viewer_request - requests for the viewer, well formed and not
 */
#ifndef TESTS_UNIT_VIEWER_REQUEST_H
#define TESTS_UNIT_VIEWER_REQUEST_H

#include "common/protobuf.h"
#include "profile/formats/otlp.h"
#include "tests/unit/cli_batch.h"
#include "viewer/server/decode.h"

/* What exporterd sends of a batch; the bytes are to be freed. */
static inline uint8_t *request_of(const struct batch *b, size_t *len)
{
	uint8_t *data;

	CHECK_EQ(otlp_encode(b, NULL, &data, len), 0);
	return data;
}

static inline uint8_t *sample_request(size_t *len)
{
	struct batch b;
	void *data = sample_batch(&b);
	uint8_t *r = request_of(&b, len);

	free(data);
	return r;
}

/* --- by hand: fields of profile/formats/otlp.proto ---------------------------------- */

static inline void put_text(struct buffer *w, unsigned int field, const char *s)
{
	pb_bytes(w, field, s, strlen(s));
}

/* A KeyValueAndUnit of the attribute table, key by its number. */
static inline void put_attr(struct buffer *w, uint32_t key, const char *text,
			    uint64_t number)
{
	size_t at = pb_begin(w, 6);

	pb_uint(w, 1, key);
	if (text)
		pb_any_text(w, 2, text, strlen(text));
	else
		pb_any_int(w, 2, number);
	pb_end(w, at);
}

/* Strings 1 to 10, attributes 1 to 7, functions 1 and 2, locations 1 and 2,
 * stack 1: leaf "inner" of "jvm", below it "outer" of "native". */
static inline void put_dictionary(struct buffer *w)
{
	static const char *const strings[] = {
		"", "inner", "outer", "profile.frame.type", "process.pid",
		"thread.name", "thread.id", "nanoseconds", "count", "/opt/x",
		"trifold.stack.end",
	};
	size_t d = pb_begin(w, 2), at, line;

	for (size_t i = 0; i < sizeof(strings) / sizeof(strings[0]); i++)
		put_text(w, 5, strings[i]);
	put_attr(w, 0, "", 0);
	put_attr(w, 3, "jvm", 0);
	put_attr(w, 3, "native", 0);
	put_attr(w, 4, NULL, 77);
	put_attr(w, 5, "main-thread", 0);
	put_attr(w, 6, NULL, 77);
	put_attr(w, 10, "no_row", 0);
	put_attr(w, 10, "no_such_reason", 0);
	for (uint32_t i = 0; i < 3; i++) {
		at = pb_begin(w, 3);
		pb_uint(w, 1, i);
		pb_end(w, at);
	}
	pb_end(w, pb_begin(w, 1));
	at = pb_begin(w, 1);
	pb_uint(w, 4, 9);
	pb_end(w, at);
	for (uint32_t i = 0; i < 3; i++) {
		at = pb_begin(w, 2);
		if (i) {
			pb_uint(w, 1, i == 2);
			line = pb_begin(w, 3);
			pb_uint(w, 1, i);
			pb_uint(w, 2, 10 * i);
			pb_end(w, line);
			pb_packed(w, 4, &i, 1);
		}
		pb_end(w, at);
	}
	pb_end(w, pb_begin(w, 7));
	at = pb_begin(w, 7);
	pb_packed(w, 1, (uint32_t[]){ 1, 2 }, 2);
	pb_end(w, at);
	pb_end(w, d);
}

struct sample_spec {
	uint32_t stack;
	uint32_t attrs[3], n_attrs;
	uint32_t values[4], n_values;
	uint64_t times[4];
	uint32_t n_times;
};

/* One profile: unit is a string's number, period in ns. */
static inline void put_profile_of(struct buffer *w, const struct sample_spec *v,
				  size_t n, uint32_t unit, uint64_t period,
				  uint64_t time, uint64_t duration)
{
	size_t rp = pb_begin(w, 1), sp, p, at, times;

	sp = pb_begin(w, 2);
	p = pb_begin(w, 2);
	at = pb_begin(w, 1);
	pb_uint(w, 2, unit);
	pb_end(w, at);
	for (size_t i = 0; i < n; i++) {
		at = pb_begin(w, 2);
		pb_uint(w, 1, v[i].stack);
		pb_packed(w, 2, v[i].attrs, v[i].n_attrs);
		pb_packed(w, 4, v[i].values, v[i].n_values);
		times = pb_begin(w, 5);
		buffer_add(w, v[i].times, v[i].n_times * sizeof(uint64_t));
		pb_end(w, times);
		pb_end(w, at);
	}
	pb_fixed64(w, 3, time);
	pb_uint(w, 4, duration);
	pb_uint(w, 6, period);
	pb_end(w, p);
	pb_end(w, sp);
	pb_end(w, rp);
}

#endif /* TESTS_UNIT_VIEWER_REQUEST_H */
