// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/html.h"
#include "tests/unit/cli_batch.h"

static const struct profile_info info = { .host = "host" };

/* A function `name` of a file, at a line, that begins at `begin`. */
static uint32_t at_line(struct batch_builder *b, const char *name,
			const char *file, uint32_t begin, uint32_t line)
{
	struct batch_function fn = {
		.name = str(b, name), .file = str(b, file), .start_line = begin,
	};
	struct batch_frame f = {
		.kind = BATCH_FRAME_NATIVE, .address = line, .line = line,
	};

	f.function = batch_function(b, &fn);
	return batch_frame(b, &f);
}

static void *lines_finish(struct batch_builder *b, struct batch *ret)
{
	void *data;
	size_t len;

	CHECK_EQ(batch_builder_finish(b, 0, 1000000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

static bool has(const struct buffer *out, const char *text)
{
	return memmem(out->data, out->len, text, strlen(text));
}

/* The page of a batch has these parts, each once. */
static void check_parts(const struct batch *b, const char *const *parts)
{
	struct buffer out = { 0 };

	CHECK_EQ(html_encode(b, &info, &out), 0);
	for (; *parts; parts++) {
		if (has(&out, *parts))
			continue;
		printf("# missing: %s\n", *parts);
		CHECK(false);
	}
	free(out.data);
}

/* n events of a stack, from `ms` on. */
static void events(struct batch_builder *b, uint32_t process, uint32_t n,
		   uint32_t leaf, uint32_t caller, uint64_t ms)
{
	uint32_t stack[] = { leaf, caller };

	for (uint32_t i = 0; i < n; i++)
		event(b, process, 7, "app", 0, stack, 2, (ms + i) * 1000000);
}

TEST(html_lines_are_of_each_row)
{
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t p = process(bb, 7, "app", "app");
	uint32_t a = at_line(bb, "main", "m.c", 10, 21);
	uint32_t c = at_line(bb, "main", "m.c", 10, 23);
	uint32_t d = at_line(bb, "main", "m.c", 10, 20);
	uint32_t e = at_line(bb, "main", "m.c", 10, 22);
	uint32_t f11 = at_line(bb, "f", "m.c", 100, 111);
	uint32_t f12 = at_line(bb, "f", "m.c", 100, 112);
	uint32_t g = frame(bb, BATCH_FRAME_NATIVE, "g", 0, 1);
	struct batch b;
	void *mem;

	events(bb, p, 2, f11, c, 0);
	events(bb, p, 3, f12, a, 5);
	events(bb, p, 2, g, d, 20);
	events(bb, p, 1, g, e, 22);
	mem = lines_finish(bb, &b);
	/* rows: app main f g; the times of f's line 112 come first, those of its
	 * line 111, which ran before, behind */
	check_parts(&b, (const char *const[]){
		"\"own\":[12],\"own_more\":[2,11,2]",
		"\"from\":[11,10],\"from_more\":[2,13,2,1,12,1]",
		"\"times\":[5,0,1,0,1,0,0,0,1,0,20,0,1,0,1,0]",
		"\"lines\":[1,0,10,2,0,100]", NULL });
	free(mem);
}

/* What shares a name may be of several files: its label has the first. */
TEST(html_lines_are_of_one_file)
{
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t p = process(bb, 7, "app", "app");
	uint32_t top = frame(bb, BATCH_FRAME_NATIVE, "top", 0, 1);
	uint32_t a = at_line(bb, "init", "a.c", 1, 5);
	uint32_t c = at_line(bb, "init", "b.c", 1, 7);
	struct batch b;
	void *mem;

	events(bb, p, 2, a, top, 0);
	events(bb, p, 1, c, top, 10);
	mem = lines_finish(bb, &b);
	/* 1 - 1 is where it begins, 0 - 1 not known */
	check_parts(&b, (const char *const[]){
		"\"files\":[\"a.c\"],", "\"own\":[4],\"own_more\":[2,-1,1]",
		"\"from\":[],\"from_more\":[]", NULL });
	free(mem);
}

static size_t lines_page_size(const struct batch *b, enum html_with with)
{
	struct buffer out = { 0 };
	size_t len;

	CHECK_EQ(html_data(b, &info, &(struct tree_how){ 0 }, NULL, with, &out),
		 0);
	len = out.len;
	free(out.data);
	return len;
}

/* A sample in each of 300,000 lines, two in each of 500, 5,000 in one: the page has
 * those that have most. */
TEST(html_bounds_how_many_lines_a_function_has)
{
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t p = process(bb, 7, "app", "app");
	uint32_t top = frame(bb, BATCH_FRAME_NATIVE, "top", 0, 1);
	struct buffer out = { 0 };
	struct batch b;
	void *mem;

	for (uint32_t i = 1; i <= 300000; i++)
		events(bb, p, i == 77 ? 5000 : i <= 500 ? 2 : 1,
		       at_line(bb, "f", "big.c", 1, i), top, i / 1000);
	mem = lines_finish(bb, &b);
	CHECK(lines_page_size(&b, HTML_COUNTS) < 16384);
	CHECK_EQ(html_encode(&b, &info, &out), 0);
	/* 499 lines are kept; the others are line 0 */
	CHECK(has(&out, "\"own\":[76],\"own_more\":"
			"[2,-1,299500,0,0,2,0,1,2,0,2,2,"));
	free(out.data);
	free(mem);
}

/* Calls of itself from a hundred lines, 1,000 deep: without bound each sample would
 * have a thousand lines of its own. */
TEST(html_bounds_lines_of_recursion)
{
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t p = process(bb, 7, "app", "app"), lines[100], stack[1000];
	uint64_t state = 1;
	struct batch b;
	size_t rows, all;
	void *mem;

	for (uint32_t i = 0; i < 100; i++)
		lines[i] = at_line(bb, "f", "deep.c", 1, 1 + i);
	for (uint32_t i = 0; i < 1000; i++) {
		for (uint32_t k = 0; k < 1000; k++) {
			state = state * 6364136223846793005ULL + 1;
			stack[k] = lines[(state >> 33) % 100];
		}
		event(bb, p, 7, "app", 0, stack, 1000, i);
	}
	mem = lines_finish(bb, &b);
	all = lines_page_size(&b, HTML_COUNTS);
	/* 1,000 rows, whose label is 1; at most 2,524 other lines of 12 bytes, and
	 * of each row a rest of as many */
	rows = 1000 * strlen("1,0,0,");
	CHECK(all > rows);
	CHECK(all < rows + 1000 * 3 + (1000 + 500 + TREE_LINES_SPARE) * 12 + 2000);
	free(mem);
}

TEST(html_lines_hold_no_markup)
{
	struct batch_builder *bb = batch_builder_new(20);
	uint32_t p = process(bb, 7, "app", "app");
	uint32_t top = at_line(bb, EVIL, EVIL, 1, 3);
	uint32_t a = at_line(bb, "f", "</script><script>", 1, UINT32_MAX);
	struct buffer out = { 0 };
	struct batch b;
	void *mem;

	events(bb, p, 1, a, top, 0);
	mem = lines_finish(bb, &b);
	CHECK_EQ(html_data(&b, &info, &(struct tree_how){ 0 }, NULL,
			   HTML_COUNTS, &out), 0);
	CHECK(!memchr(out.data, '<', out.len));
	CHECK(has(&out, "\"own\":[4294967294]"));
	free(out.data);
	free(mem);
}

/* Merged from the leaves, rows have none. */
TEST(html_reversed_has_no_lines)
{
	struct buffer out = { 0 };
	struct batch b;
	void *mem = inlined_batch(&b);

	CHECK_EQ(html_data(&b, &info, &(struct tree_how){ .reversed = true },
			   NULL, HTML_COUNTS, &out), 0);
	CHECK(!has(&out, "\"own\""));
	out.len = 0;
	CHECK_EQ(html_data(&b, &info, &(struct tree_how){ 0 }, NULL,
			   HTML_COUNTS, &out), 0);
	/* app root outer middle inner: lines 1, 10, 20 and 30 */
	CHECK(has(&out, "\"own\":[0],\"own_more\":[]"));
	CHECK(has(&out, "\"from\":[0,0,0],\"from_more\":[]"));
	free(out.data);
	free(mem);
}
