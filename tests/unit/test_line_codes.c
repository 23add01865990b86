// SPDX-License-Identifier: Apache-2.0
/* Pieces of code with their lines: built, read, bounded, and damaged. */
#include "symbolizerd/symbols/line_codes.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define OFFSETS	4

static struct line_codes_build b;

/* What was built; to be freed. */
static void *end(size_t *len)
{
	struct iovec parts[LINE_CODES_PARTS];
	char *data, *at;

	line_codes_end(&b, parts);
	*len = 0;
	for (int i = 0; i < LINE_CODES_PARTS; i++)
		*len += parts[i].iov_len;
	data = at = malloc(*len);
	CHECK(data);
	for (int i = 0; i < LINE_CODES_PARTS; i++)
		at = mempcpy(at, parts[i].iov_base, parts[i].iov_len);
	return data;
}

static const struct symbol_place inner = { "in", "a.h", 3, 4, "_Z2inv", 0 };
static const struct symbol_place outer = { "out", "a.c", 10, 12, NULL, 0 };

/* Of [0x100, 0x120): nothing, out, in in out, out, the same; and one byte without anything. */
static void *sample(size_t *len)
{
	const struct symbol_place both[] = { inner, outer };

	line_codes_begin(&b, OFFSETS);
	CHECK(line_codes_add(&b, 0x100, 0x20));
	CHECK(line_codes_add_segment(&b, 0, NULL, 0));
	CHECK(line_codes_add_segment(&b, 4, &outer, 1));
	CHECK(line_codes_add_segment(&b, 8, both, 2));
	CHECK(line_codes_add_segment(&b, 12, &outer, 1));
	CHECK(line_codes_add_segment(&b, 16, &outer, 1));
	CHECK(line_codes_add(&b, 0x200, 1));
	CHECK(line_codes_add_segment(&b, 0, NULL, 0));
	return end(len);
}

TEST(what_is_built_is_read)
{
	struct symbol_place p;
	struct line_codes x;
	size_t len;
	void *data = sample(&len);

	CHECK_EQ(line_codes_open(data, len, OFFSETS, &x), 0);
	CHECK(x.hdr.codes == 2 && x.hdr.segments == 5 && x.hdr.ats == 2 && x.hdr.functions == 2);
	CHECK(x.codes[0].offset == 0x100 && x.codes[0].len == 0x20 && x.codes[0].segments == 4);
	CHECK_EQ(x.segments[line_codes_segment(x.segments, 4, 3)].at, LINE_NONE);
	CHECK_EQ(x.segments[line_codes_segment(x.segments, 4, 4)].at, 0);
	CHECK_EQ(x.segments[line_codes_segment(x.segments, 4, 11)].at, 1);
	CHECK_EQ(x.segments[line_codes_segment(x.segments, 4, 31)].at, 0);
	CHECK(x.ats[1].outer == 0 && x.ats[1].line == 4 && x.ats[0].outer == LINE_NONE);
	p = line_codes_function(&x, x.ats[1].function);
	CHECK_STR(p.name, "in");
	CHECK_STR(p.file, "a.h");
	CHECK_STR(p.system, "_Z2inv");
	CHECK_EQ(p.first_line, 3);
	p = line_codes_function(&x, x.ats[0].function);
	CHECK_STR(p.name, "out");
	CHECK(!p.system);
	CHECK(line_codes_has(&b, 0x100) && line_codes_has(&b, 0x11f) && line_codes_has(&b, 0x200));
	CHECK(!line_codes_has(&b, 0xff) && !line_codes_has(&b, 0x120));
	free(data);
}

/* A code that finds no room is not there, and those before it are whole. */
TEST(room_is_bounded)
{
	static char name[4097];
	struct symbol_place deep[SYMBOL_DEPTH_MAX];
	static char names[SYMBOL_DEPTH_MAX][4097];
	struct line_codes x;
	uint32_t added = 0;
	size_t len;
	void *data;

	line_codes_begin(&b, LINE_CODES_MAX);
	memset(name, 'n', sizeof(name) - 1);
	for (uint32_t i = 0; i < LINE_CODES_MAX; i++) {
		bool room = line_codes_add(&b, i * 0x100ULL, 0x80);

		CHECK(room);
		for (uint32_t k = 0; room && k < SYMBOL_DEPTH_MAX; k++) {
			memcpy(names[k], name, sizeof(name));
			snprintf(names[k], 20, "%u.%u", (unsigned int)i, (unsigned int)k);
			names[k][strlen(names[k])] = 'n';
			deep[k] = (struct symbol_place){ .name = names[k], .file = "" };
		}
		if (!line_codes_add_segment(&b, 0, deep, SYMBOL_DEPTH_MAX))
			break;
		added++;
		/* the strings are others now */
		memset(b.last_function, 0, sizeof(b.last_function));
	}
	CHECK(added >= LINE_CODES_STRINGS / sizeof(name) / SYMBOL_DEPTH_MAX - 1);
	CHECK(added < LINE_CODES_MAX && b.hdr.codes == added && b.full);
	data = end(&len);
	CHECK_EQ(line_codes_open(data, len, LINE_CODES_MAX, &x), 0);
	CHECK_EQ(x.hdr.codes, added);
	free(data);
	line_codes_begin(&b, 1);
	CHECK(!line_codes_add(&b, 0, LINE_CODE_BYTES + 1) && !line_codes_add(&b, 0, 0));
	CHECK(line_codes_add(&b, 0, LINE_CODE_BYTES));
	for (uint32_t i = 0; i < LINE_CODE_SEGMENTS; i++) {
		struct symbol_place p = { .name = "f", .file = "", .line = i };

		CHECK(line_codes_add_segment(&b, i, &p, 1));
	}
	CHECK(!line_codes_add_segment(&b, 5000, &inner, 1));
	CHECK(!b.hdr.codes && !b.full);		/* an empty answer has no more */
	for (uint32_t i = 0; i < LINE_CODES_MAX; i++) {
		CHECK(line_codes_add(&b, i, 1));
		CHECK(line_codes_add_segment(&b, 0, &inner, 1));
	}
	CHECK(!line_codes_add(&b, LINE_CODES_MAX, 1) && b.full);
}

TEST(all_at_the_most_is_an_answer)
{
	struct line_codes x;
	size_t len;
	void *data;

	line_codes_begin(&b, LINE_CODES_MAX);
	for (uint32_t i = 0; i < LINE_CODES_MAX; i++) {
		CHECK(line_codes_add(&b, i * 0x10000ULL, LINE_CODE_BYTES));
		for (uint32_t k = 0; k < LINE_CODES_SEGMENTS / LINE_CODES_MAX; k++) {
			struct symbol_place p = { .name = "f", .file = "", .line = k };

			CHECK(line_codes_add_segment(&b, k, &p, 1));
		}
	}
	data = end(&len);
	CHECK(len <= LINE_CODES_BYTES_MAX);
	CHECK_EQ(line_codes_open(data, len, LINE_CODES_MAX, &x), 0);
	CHECK(x.hdr.segments == LINE_CODES_SEGMENTS && x.hdr.ats == LINE_CODES_SEGMENTS);
	free(data);
}

TEST(what_was_not_reached_is_said)
{
	struct line_codes x;
	size_t len;
	void *data;

	line_codes_begin(&b, 4);
	line_codes_stop(&b, 1);
	data = end(&len);
	CHECK_EQ(line_codes_open(data, len, 3, &x), -EPROTO);
	CHECK_EQ(line_codes_open(data, len, 4, &x), 0);
	CHECK_EQ(x.hdr.left, 3);
	free(data);
}

/* What passes is read without leaving it. */
static void touch(const struct line_codes *x)
{
	const struct line_segment *segments = x->segments;
	const struct line_at *ats = x->ats;
	uint32_t depth;

	for (uint32_t i = 0; i < x->hdr.codes; i++) {
		const struct line_code *c = &x->codes[i];

		CHECK(c->len && c->len <= LINE_CODE_BYTES);
		for (uint32_t off = 0; off < c->len; off++) {
			uint32_t k = line_codes_segment(segments, c->segments, off);
			uint32_t at = segments[k].at;

			CHECK(k < c->segments);
			for (depth = 0; at != LINE_NONE; at = ats[at].outer) {
				struct symbol_place p = line_codes_function(x, ats[at].function);

				CHECK(strlen(p.name) + strlen(p.file) < x->hdr.string_bytes * 2);
				depth++;
			}
			CHECK(depth <= SYMBOL_DEPTH_MAX);
		}
		segments += c->segments;
		ats += c->ats;
	}
}

TEST(each_end_is_checked)
{
	struct line_codes x;
	size_t len;
	char *data = sample(&len);

	for (size_t n = 0; n < len; n++) {
		char *copy = malloc(n ? n : 1);

		memcpy(copy, data, n);
		CHECK_EQ(line_codes_open(copy, n, OFFSETS, &x), -EPROTO);
		free(copy);
	}
	data = realloc(data, len + 1);
	CHECK(data);
	data[len] = '\0';
	CHECK_EQ(line_codes_open(data, len + 1, OFFSETS, &x), -EPROTO);
	free(data);
}

TEST(each_flipped_bit_is_refused_or_harmless)
{
	struct line_codes x;
	size_t len, refused = 0;
	uint8_t *data = sample(&len);

	for (size_t bit = 0; bit < len * 8; bit++) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		if (line_codes_open(data, len, OFFSETS, &x))
			refused++;
		else
			touch(&x);
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	printf("# %zu of %zu refused\n", refused, len * 8);
	CHECK(refused > len * 3);
	free(data);
}

/* One lie each. */
TEST(lies_are_refused)
{
	struct line_codes x;
	struct line_codes_hdr *hdr;
	struct line_code *code;
	struct line_segment *segment;
	struct line_at *at;
	struct line_name *name;
	size_t len;

	for (int i = 0; i < 18; i++) {
		void *data = sample(&len);

		hdr = data;
		code = (void *)(hdr + 1);
		at = (void *)(code + hdr->codes);
		name = (void *)(at + hdr->ats);
		segment = (void *)(name + hdr->functions);
		switch (i) {
		case 0: hdr->magic++; break;
		case 1: hdr->left = OFFSETS; break;
		case 2: hdr->codes = UINT32_MAX; break;
		case 3: hdr->pad = 1; break;
		case 4: hdr->string_bytes = 0; break;
		case 5: code->len = 0; break;
		case 6: code->len = LINE_CODE_BYTES + 1; break;
		case 7: code->offset = UINT64_MAX - 4; break;
		case 8: code->segments = 0; break;
		case 9: code->segments++; break;		/* the other one's */
		case 10: code->ats--; break;
		case 11: segment[0].begin = 1; break;
		case 12: segment[2].begin = segment[1].begin; break;
		case 13: segment[3].begin = 0x20; break;
		case 14: segment[1].at = code->ats; break;
		case 15: at[1].outer = 1; break;		/* in itself */
		case 16: at[0].function = hdr->functions; break;
		case 17: name[1].file = hdr->string_bytes; break;
		}
		CHECK_EQ(line_codes_open(data, len, OFFSETS, &x), -EPROTO);
		free(data);
	}
}

/* n functions, each with one string of so many bytes: as its name, file, or name in the file. */
static int open_strings(uint32_t n, uint32_t len, int which)
{
	struct line_codes_hdr hdr = {
		.magic = LINE_CODES_MAGIC, .functions = n, .string_bytes = len + 2,
	};
	size_t bytes = sizeof(hdr) + n * sizeof(struct line_name) + hdr.string_bytes;
	char *data = calloc(1, bytes), *p;
	struct line_codes x;
	int r;

	CHECK(data);
	p = mempcpy(data, &hdr, sizeof(hdr));
	for (uint32_t i = 0; i < n; i++) {
		struct line_name name = { 0 };

		*(uint32_t *[]){ &name.name, &name.file, &name.system }[which] = 1;
		p = mempcpy(p, &name, sizeof(name));
	}
	memset(p + 1, 'n', len);
	r = line_codes_open(data, bytes, 1, &x);
	free(data);
	return r;
}

/* What a worker says costs the hub no more than an honest answer. */
TEST(strings_are_bounded_also_where_functions_share_them)
{
	uint32_t n = LINE_CODES_NAMES / LINE_STRING_MAX;

	for (int which = 0; which < 3; which++) {
		CHECK_EQ(open_strings(1, LINE_STRING_MAX, which), 0);
		CHECK_EQ(open_strings(1, LINE_STRING_MAX + 1, which), -EPROTO);
		CHECK_EQ(open_strings(n, LINE_STRING_MAX, which), 0);
		CHECK_EQ(open_strings(n + 1, LINE_STRING_MAX, which), -EPROTO);
	}
	CHECK_EQ(open_strings(LINE_CODES_FUNCTIONS, LINE_CODES_STRINGS - 2, 0), -EPROTO);
}

/* An honest one stops before it, and what it has added is whole. */
TEST(an_answer_that_is_built_keeps_to_that_bound)
{
	static char file[LINE_STRING_MAX + 2];
	struct symbol_place deep[SYMBOL_DEPTH_MAX];
	uint32_t added = 0, line = 0;
	struct line_codes x;
	size_t len;
	void *data;

	memset(file, 'f', LINE_STRING_MAX);
	line_codes_begin(&b, LINE_CODES_MAX);
	for (; line_codes_add(&b, added * 0x100ULL, 0x80); added++) {
		for (uint32_t k = 0; k < SYMBOL_DEPTH_MAX; k++)
			deep[k] = (struct symbol_place){ "f", file, ++line, 1, NULL, 0 };
		if (!line_codes_add_segment(&b, 0, deep, SYMBOL_DEPTH_MAX))
			break;
	}
	CHECK_EQ(added, LINE_CODES_NAMES / (LINE_STRING_MAX + 1) / SYMBOL_DEPTH_MAX);
	CHECK(b.full && b.hdr.codes == added);
	/* what is less has room */
	CHECK(line_codes_add(&b, 0x100000, 1) && line_codes_add_segment(&b, 0, &inner, 1));
	data = end(&len);
	CHECK_EQ(line_codes_open(data, len, LINE_CODES_MAX, &x), 0);
	CHECK_EQ(x.hdr.codes, added + 1);
	free(data);
	/* nor is there a string that is too long */
	file[LINE_STRING_MAX] = 'f';
	line_codes_begin(&b, 1);
	CHECK(line_codes_add(&b, 0, 1) && !line_codes_add_segment(&b, 0, deep, 1) && !b.full);
}

/* Calls within calls: 64, and not one more. */
TEST(what_is_too_deep_is_refused)
{
	for (uint32_t n = SYMBOL_DEPTH_MAX; n <= SYMBOL_DEPTH_MAX + 1; n++) {
		struct line_codes_hdr hdr = {
			LINE_CODES_MAGIC, 0, 1, n, 1, 1, 1, 0,
		};
		struct line_code code = { 0, 1, 1, (uint16_t)n };
		struct line_name name = { 0 };
		struct line_segment segment = { 0, (uint16_t)(n - 1) };
		struct line_at at = { .outer = LINE_NONE };
		char *data = calloc(1, 8192), *p = data;
		struct line_codes x;

		CHECK(data);
		p = mempcpy(p, &hdr, sizeof(hdr));
		p = mempcpy(p, &code, sizeof(code));
		for (uint32_t i = 0; i < n; i++) {
			p = mempcpy(p, &at, sizeof(at));
			at.outer = (uint16_t)i;
		}
		p = mempcpy(p, &name, sizeof(name));
		p = mempcpy(p, &segment, sizeof(segment));
		p++;		/* of the strings */
		CHECK_EQ(line_codes_open(data, (size_t)(p - data), 1, &x),
			 n > SYMBOL_DEPTH_MAX ? -EPROTO : 0);
		free(data);
	}
}
