// SPDX-License-Identifier: Apache-2.0
#include "cli/convert/folded_read.h"

#include <string.h>

#include "profile/formats/folded.h"
#include "tests/unit/cli_batch.h"
#include "tests/unit/harness.h"

static struct folded_mistake m;

/* A copy of exact size, so that a byte read too much is seen. */
static int read_exact(struct folded_tree *t, unsigned int side,
		      const char *s, size_t len)
{
	char *copy = malloc(len ? len : 1);
	int r;

	memcpy(copy, s, len);
	m = (struct folded_mistake){ 0, NULL };
	r = folded_read(t, side, copy, len, &m);
	free(copy);
	return r;
}

static int judge(const char *s, size_t len)
{
	struct folded_tree t;
	int r;

	CHECK_EQ(folded_init(&t), 0);
	r = read_exact(&t, 0, s, len);
	folded_fini(&t);
	return r;
}

/* Both texts as two-number stacks. */
static char *both(const char *a, const char *b)
{
	struct buffer out = { 0 };
	struct folded_tree t;

	CHECK_EQ(folded_init(&t), 0);
	CHECK_EQ(read_exact(&t, 0, a, strlen(a)), 0);
	CHECK_EQ(read_exact(&t, 1, b, strlen(b)), 0);
	CHECK_EQ(folded_sort(&t), 0);
	CHECK_EQ(folded_encode_pairs(&t, &out), 0);
	folded_fini(&t);
	buffer_add(&out, "", 1);
	CHECK(!out.failed);
	return (char *)out.data;
}

static void check_both(const char *a, const char *b, const char *want)
{
	char *got = both(a, b);

	if (strcmp(got, want))
		printf("# got:\n%s", got);
	CHECK(!strcmp(got, want));
	free(got);
}

TEST(folded_read_merges_two_files)
{
	check_both("app;main;f 3\napp;main;f 4\napp;main 1\n",
		   "app;main;g 2\napp;main;f 5\n",
		   "app;main 1 0\napp;main;f 7 5\napp;main;g 0 2\n");
}

TEST(folded_read_takes_what_others_write)
{
	/* names with blanks and digits, a process's number, a module, java */
	check_both("java-?/123;start thread;Lorg/x::<init>_[j] 12\r\n\r\n",
		   "java-?/123;start thread;a 1 \t 7",
		   "java-?/123;start thread;Lorg/x::<init>_[j] 12 0\n"
		   "java-?/123;start thread;a 1 0 7\n");
	/* a frame without a name */
	check_both("a;;b 1\n", ";a 1\n;a 0\n", ";a 0 1\na;;b 1 0\n");
	check_both("a 9007199254740992\n", "a 1\n",
		   "a 9007199254740992 1\n");
}

TEST(folded_read_shows_no_control_characters)
{
	check_both("a\tb;\xc2\x9b" "31m;\xff;\xc3\xa9 1\n", "x 1\n",
		   "a?b;??31m;\xef\xbf\xbd;\xc3\xa9 1 0\nx 0 1\n");
}

TEST(folded_read_takes_marks_numbers_and_large_counts)
{
	check_both("\xef\xbb\xbf" "a;b 1\n", "a;b 9223372036854775807\n",
		   "a;b 1 9223372036854775807\n");
	/* not all lines have two numbers: names end in one */
	check_both("a;trailing 42 7\nb 1\n", "a;trailing 42 7\n",
		   "a;trailing 42 7 7\nb 1 0\n");
	check_both("a 1\nb; 2 3\n", "a 1\n", "a 1 1\nb; 2 3 0\n");
}

TEST(folded_read_says_which_line_and_why)
{
	static const struct {
		const char *text, *what;
		uint32_t line;
	} bad[] = {
		{ "", "no samples", 1 },
		{ "\n\n", "no samples", 2 },
		{ "a;b 0\n", "no samples", 1 },
		{ "a;b 1\na;b\n", "no whole number", 2 },
		{ "a;b 1.5\n", "not whole", 1 },
		{ "a;b 3.\n", "not whole", 1 },
		{ "a;b 1.5.2\n", "no blank before", 1 },
		{ "a;b x1.5\n", "no blank before", 1 },
		{ "a;b -1\n", "no blank before", 1 },
		{ "a;b1\n", "no blank before", 1 },
		{ "a;b 1 \n", "no whole number", 1 },
		{ "a 1\n\n\n 17\n", "no stack before", 4 },
		{ "17\n", "no stack before", 1 },
		{ "a 9223372036854775808\n", "more than 2^63 - 1", 1 },
		{ "a 99999999999999999999999999\n", "more than 2^63 - 1", 1 },
		{ "a 9223372036854775807\nb 1\n", "up to here", 2 },
		{ "a;b 1 2\n\r\nc 3 4\r\n", "two numbers", 1 },
		{ "a 1\na\x1b[31m 1\n", "control character", 2 },
		{ "a 1\na\rb 1\n", "control character", 2 },
		{ "\x1f\x8b\x08", "gzip", 1 },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(judge(bad[i].text, strlen(bad[i].text)), 1);
		if (m.line != bad[i].line || !strstr(m.what, bad[i].what))
			printf("# %s:%u: %s\n", bad[i].text, m.line, m.what);
		CHECK_EQ(m.line, bad[i].line);
		CHECK(strstr(m.what, bad[i].what));
	}
	CHECK_EQ(judge("a\0b 1\n", 6), 1);
}

/* n bytes of "a" or "a;a;...", then a count */
static int judge_long(size_t n, char between)
{
	char *s = malloc(n + 2);
	int r;

	for (size_t i = 0; i < n; i++)
		s[i] = i % 2 ? between : 'a';
	memcpy(s + n, " 1", 2);
	r = judge(s, n + 2);
	free(s);
	return r;
}

TEST(folded_read_has_limits)
{
	CHECK_EQ(judge_long(FOLDED_LINE_MAX - 2, 'a'), 0);
	CHECK_EQ(judge_long(FOLDED_LINE_MAX - 1, 'a'), 1);
	CHECK(strstr(m.what, "1 MiB"));
	CHECK_EQ(judge_long(2 * FOLDED_DEPTH_MAX - 1, ';'), 0);
	CHECK_EQ(judge_long(2 * FOLDED_DEPTH_MAX + 1, ';'), 1);
	CHECK(strstr(m.what, "4,096"));
}

TEST(folded_read_reads_what_we_write)
{
	struct buffer out = { 0 }, twice = { 0 };
	struct folded_tree t;
	struct batch b;
	void *mem = sample_batch(&b);

	CHECK_EQ(folded_encode(&b, NULL, &out), 0);
	CHECK_EQ(folded_init(&t), 0);
	CHECK_EQ(read_exact(&t, 0, (char *)out.data, out.len), 0);
	CHECK_EQ(t.samples[0], 7);
	CHECK_EQ(folded_sort(&t), 0);
	CHECK_EQ(folded_encode_pairs(&t, &twice), 0);
	/* the same, in the same order, with " 0" at each line's end */
	for (size_t i = 0, k = 0; i < out.len; i++, k++) {
		if (out.data[i] == '\n') {
			CHECK(!memcmp(twice.data + k, " 0\n", 3));
			k += 2;
			continue;
		}
		CHECK_EQ(twice.data[k], out.data[i]);
	}
	folded_fini(&t);
	free(out.data);
	free(twice.data);
	free(mem);
}

/* The lines of names, taken as they are or cut off. */
TEST(folded_read_knows_lines)
{
	static const struct { const char *in, *functions, *lines; bool has; } v[] = {
		{ "a;f (x.c:1) 1\na;f (x.c:2) 2\n", "a;f 3 0\n",
		  "a;f (x.c:1) 1 0\na;f (x.c:2) 2 0\n", true },
		{ "a;f (x.c:12)_[i] 1\n", "a;f_[i] 1 0\n",
		  "a;f (x.c:12)_[i] 1 0\n", true },
		{ "a;f(int) (x y.c:12)_[k] 1\n", "a;f(int)_[k] 1 0\n",
		  "a;f(int) (x y.c:12)_[k] 1 0\n", true },
		/* no lines */
		{ "a;f (x.c:) 1\n", "a;f (x.c:) 1 0\n", "a;f (x.c:) 1 0\n", false },
		{ "a;f (:1) 1\n", "a;f (:1) 1 0\n", "a;f (:1) 1 0\n", false },
		{ "a;f(x.c:1) 1\n", "a;f(x.c:1) 1 0\n", "a;f(x.c:1) 1 0\n", false },
		{ "a; (x.c:1) 1\n", "a; (x.c:1) 1 0\n", "a; (x.c:1) 1 0\n", false },
		{ "a;(x:1) 1\n", "a;(x:1) 1 0\n", "a;(x:1) 1 0\n", false },
		{ "a;_[i];:1);) 1\n", "a;_[i];:1);) 1 0\n", "a;_[i];:1);) 1 0\n",
		  false },
	};

	for (size_t i = 0; i < 2 * sizeof(v) / sizeof(v[0]); i++) {
		const char *want = i % 2 ? v[i / 2].functions : v[i / 2].lines;
		struct buffer out = { 0 };
		struct folded_tree t;

		CHECK_EQ(folded_init(&t), 0);
		t.functions = i % 2;
		CHECK_EQ(read_exact(&t, 0, v[i / 2].in, strlen(v[i / 2].in)), 0);
		CHECK_EQ(t.lines[0], v[i / 2].has);
		CHECK_EQ(folded_sort(&t), 0);
		CHECK_EQ(folded_encode_pairs(&t, &out), 0);
		if (out.len != strlen(want) || memcmp(out.data, want, out.len))
			printf("# %.*s, want %s", (int)out.len, out.data, want);
		CHECK(out.len == strlen(want) &&
		      !memcmp(out.data, want, out.len));
		free(out.data);
		folded_fini(&t);
	}
}

static const char sample[] = "app;main;f 3\napp;main;f_[k] 40\r\n\n"
			     "other;\xc3\xa9 t 5;g 6\napp 7";

TEST(folded_read_survives_every_truncation)
{
	for (size_t n = 0; n < sizeof(sample) - 1; n++) {
		int r = judge(sample, n);

		CHECK(r == 0 || (r == 1 && m.line >= 1 && m.line <= 5));
	}
	CHECK_EQ(judge(sample, sizeof(sample) - 1), 0);
}

TEST(folded_read_survives_every_flipped_bit)
{
	char copy[sizeof(sample)];

	for (size_t bit = 0; bit < 8 * (sizeof(sample) - 1); bit++) {
		int r;

		memcpy(copy, sample, sizeof(copy));
		copy[bit / 8] ^= (char)(1 << bit % 8);
		r = judge(copy, sizeof(copy) - 1);
		CHECK(r == 0 || (r == 1 && m.line >= 1 && m.line <= 6));
	}
}

TEST(folded_read_keeps_many_apart)
{
	enum { N = 20000 };
	struct buffer text = { 0 };
	struct folded_tree t;
	uint32_t depth = 0, i = 0, n = 0;
	char line[64];

	for (int k = 0; k < N; k++) {
		snprintf(line, sizeof(line), "p;f%d;g%d 1\n", k % 150, k);
		buffer_add(&text, line, strlen(line));
	}
	CHECK_EQ(folded_init(&t), 0);
	CHECK_EQ(read_exact(&t, 0, (char *)text.data, text.len), 0);
	CHECK_EQ(t.names_set.n, 1 + 150 + N);
	CHECK_EQ(t.nodes_set.n, 1 + 150 + N);
	CHECK_EQ(folded_sort(&t), 0);
	while ((i = folded_next(&t, i, &depth))) {
		CHECK(depth >= 1 && depth <= 3);
		n++;
	}
	CHECK_EQ(n, t.nodes_set.n);
	CHECK_EQ(depth, 0);
	folded_fini(&t);
	free(text.data);
}
