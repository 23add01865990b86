// SPDX-License-Identifier: Apache-2.0
/* Names of a process's frames: what a worker makes, and what the hub refuses. */
#include "symbolizerd/symbols/frame_names.h"
#include "tests/unit/harness.h"

#include <errno.h>

#define FRAMES	512

static struct frame_names_build b;

static void end(uint32_t n, struct frame_names *x, void **data, size_t *len)
{
	struct iovec parts[3];

	frame_names_end(&b, parts);
	*len = 0;
	*data = malloc(FRAME_NAMES_BYTES_MAX);
	for (int i = 0; i < 3; i++) {
		memcpy((char *)*data + *len, parts[i].iov_base,
		       parts[i].iov_len);
		*len += parts[i].iov_len;
	}
	*data = realloc(*data, *len);
	CHECK_EQ(frame_names_open(*data, *len, n, x), 0);
}

/* Of four frames the first is unknown, the third has something inlined. */
static void sample(void **data, size_t *len, struct frame_names *x)
{
	frame_names_begin(&b, 4);
	CHECK(frame_names_add(&b, 1, &(struct symbol_place){
		"main", "a.py", 1, 7, NULL, 0 }));
	CHECK(frame_names_add(&b, 2, &(struct symbol_place){
		"inlined", "", 0, 0, NULL, 0 }));
	CHECK(frame_names_add(&b, 2, &(struct symbol_place){
		"outer", "b.py", 30, 31, NULL, 0 }));
	end(4, x, data, len);
}

TEST(names_come_back_and_gaps_are_empty)
{
	static const struct {
		uint32_t frame;
		struct symbol_place place;
	} want[] = {
		{ 0, { "", "", 0, 0, NULL, 0 } },
		{ 1, { "main", "a.py", 1, 7, NULL, 0 } },
		{ 2, { "inlined", "", 0, 0, NULL, 0 } },
		{ 2, { "outer", "b.py", 30, 31, NULL, 0 } },
		{ 3, { "", "", 0, 0, NULL, 0 } },
	};
	struct frame_names x;
	void *data;
	size_t len;

	sample(&data, &len, &x);
	CHECK_EQ(x.n, 5);
	for (uint32_t i = 0; i < 5; i++) {
		struct symbol_place p = frame_names_place(&x, i);

		CHECK_EQ(x.v[i].frame, want[i].frame);
		CHECK_STR(p.name, want[i].place.name);
		CHECK_STR(p.file, want[i].place.file);
		CHECK_EQ(p.first_line, want[i].place.first_line);
		CHECK_EQ(p.line, want[i].place.line);
	}
	free(data);
}

TEST(frames_are_added_in_order_and_within_bounds)
{
	const struct symbol_place p = { "f", "", 0, 0, NULL, 0 };
	struct frame_names x;
	void *data;
	size_t len;

	frame_names_begin(&b, 3);
	CHECK(frame_names_add(&b, 1, &p));
	CHECK(!frame_names_add(&b, 0, &p));
	CHECK(!frame_names_add(&b, 3, &p));
	for (int i = 1; i < SYMBOL_DEPTH_MAX; i++)
		CHECK(frame_names_add(&b, 1, &p));
	CHECK(!frame_names_add(&b, 1, &p));
	CHECK(frame_names_add(&b, 2, &p));
	end(3, &x, &data, &len);
	CHECK_EQ(x.n, SYMBOL_DEPTH_MAX + 2);
	free(data);
}

/* What does not fit is left out; the answer stays whole. */
TEST(an_answer_never_exceeds_its_bound)
{
	static char name[100000];
	struct frame_names x;
	uint32_t added = 0;
	void *data;
	size_t len;

	memset(name, 'x', sizeof(name) - 1);
	frame_names_begin(&b, FRAMES);
	for (uint32_t i = 0; i < FRAMES; i++) {
		name[0] = (char)('a' + i % 26);	/* no two in turn are the same */
		added += frame_names_add(&b, i, &(struct symbol_place){
			name, "", 0, 0, NULL, 0 });
	}
	CHECK_EQ(added, 5);
	end(FRAMES, &x, &data, &len);
	CHECK(len <= FRAME_NAMES_BYTES_MAX);
	name[0] = 'e';
	CHECK_STR(frame_names_place(&x, 4).name, name);
	CHECK_STR(frame_names_place(&x, 5).name, "");
	free(data);
}

TEST(frames_that_were_not_looked_at_are_told)
{
	struct frame_names x;
	void *data;
	size_t len;

	frame_names_begin(&b, 4);
	frame_names_stop(&b, 1);
	end(4, &x, &data, &len);
	CHECK_EQ(x.left, 3);
	CHECK_EQ(frame_names_open(data, len, 3, &x), -EPROTO);
	((struct frame_names_hdr *)data)->left = 4;	/* not one */
	CHECK_EQ(frame_names_open(data, len, 4, &x), -EPROTO);
	free(data);
}

TEST(the_same_strings_are_there_once)
{
	const struct symbol_place p = { "name", "file", 1, 2, "system", 0 };
	struct frame_names x;
	void *data;
	size_t len;

	frame_names_begin(&b, FRAMES);
	for (uint32_t i = 0; i < FRAMES; i++)
		CHECK(frame_names_add(&b, i, &p));
	CHECK_EQ(b.hdr.string_bytes, 1 + 5 + 5 + 7);
	end(FRAMES, &x, &data, &len);
	for (uint32_t i = 0; i < FRAMES; i++) {
		CHECK_STR(frame_names_place(&x, i).name, "name");
		CHECK_STR(frame_names_place(&x, i).file, "file");
		CHECK_STR(frame_names_place(&x, i).system, "system");
	}
	free(data);
}

TEST(another_number_of_frames_is_refused)
{
	struct frame_names x;
	void *data;
	size_t len;

	sample(&data, &len, &x);
	for (uint32_t n = 0; n < 10; n++)
		CHECK_EQ(frame_names_open(data, len, n, &x),
			 n == 4 ? 0 : -EPROTO);
	free(data);
}

static void touch(const struct frame_names *x)
{
	size_t sum = 0;

	for (uint32_t i = 0; i < x->n; i++) {
		struct symbol_place p = frame_names_place(x, i);

		sum += strlen(p.name) + strlen(p.file) + (p.system ? strlen(p.system) : 0);
	}
	CHECK(sum < 1000);
}

TEST(every_truncation_is_refused)
{
	struct frame_names x;
	void *data, *copy;
	size_t len;

	sample(&data, &len, &x);
	for (size_t n = 0; n < len; n++) {
		copy = malloc(n ? n : 1);
		memcpy(copy, data, n);
		CHECK_EQ(frame_names_open(copy, n, 4, &x), -EPROTO);
		free(copy);
	}
	copy = calloc(1, len + 1);
	memcpy(copy, data, len);
	CHECK_EQ(frame_names_open(copy, len + 1, 4, &x), -EPROTO);
	free(copy);
	free(data);
}

TEST(every_flipped_bit_is_refused_or_harmless)
{
	struct frame_names x;
	uint8_t *bytes;
	void *data;
	size_t len;

	sample(&data, &len, &x);
	bytes = data;
	for (size_t bit = 0; bit < len * 8; bit++) {
		bytes[bit / 8] ^= 1u << bit % 8;
		if (!frame_names_open(data, len, 4, &x))
			touch(&x);
		bytes[bit / 8] ^= 1u << bit % 8;
	}
	free(data);
}

/* More places than a batch can say of one frame. */
TEST(too_deep_a_frame_is_refused)
{
	size_t len = sizeof(struct frame_names_hdr) + 1 +
		     (SYMBOL_DEPTH_MAX + 1) * sizeof(struct frame_name);
	struct frame_names_hdr *hdr = calloc(1, len);
	struct frame_names x;

	*hdr = (struct frame_names_hdr){
		FRAME_NAMES_MAGIC, SYMBOL_DEPTH_MAX + 1, 1, 0,
	};
	CHECK_EQ(frame_names_open(hdr, len, 1, &x), -EPROTO);
	hdr->n--;
	len -= sizeof(struct frame_name);
	CHECK_EQ(frame_names_open(hdr, len, 1, &x), 0);
	free(hdr);
}

/* Two places of the only frame, the first as if of one before it: its number
 * and one is 0, which is how many were named by then. */
TEST(a_frame_before_the_first_is_refused)
{
	struct {
		struct frame_names_hdr hdr;
		struct frame_name v[2];
		char empty;
	} data = {
		{ FRAME_NAMES_MAGIC, 2, 1, 0 }, { { .frame = 0 } }, '\0',
	};
	size_t len = offsetof(typeof(data), empty) + 1;
	struct frame_names x;

	CHECK_EQ(frame_names_open(&data, len, 1, &x), 0);
	data.v[0].frame = UINT32_MAX;
	CHECK_EQ(frame_names_open(&data, len, 1, &x), -EPROTO);
}
