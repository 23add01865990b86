// SPDX-License-Identifier: Apache-2.0
#include "cli/diff/rows.h"

#include <string.h>

#include "cli/diff/html.h"

#include "tests/unit/harness.h"

static struct folded_tree t;
static uint32_t n;

static struct diff_row *compare(const char *a, const char *b, bool by_total)
{
	struct folded_mistake m;
	struct diff_row *rows;

	CHECK_EQ(folded_init(&t), 0);
	CHECK_EQ(folded_read(&t, 0, a, strlen(a), &m), 0);
	CHECK_EQ(folded_read(&t, 1, b, strlen(b), &m), 0);
	CHECK_EQ(folded_sort(&t), 0);
	rows = diff_rows(&t, by_total, &n);
	CHECK(rows);
	return rows;
}

static void check_row(const struct diff_row *r, const char *name,
		      uint64_t self_a, uint64_t self_b, uint64_t total_a,
		      uint64_t total_b)
{
	const char *got = (char *)t.text.data + t.names[r->name].at;

	if (strcmp(got, name))
		printf("# %s, want %s\n", got, name);
	CHECK(!strcmp(got, name));
	CHECK_EQ(r->self[0], self_a);
	CHECK_EQ(r->self[1], self_b);
	CHECK_EQ(r->total[0], total_a);
	CHECK_EQ(r->total[1], total_b);
}

/* Ten times as long a recording with the same shares differs in nothing. */
TEST(diff_compares_shares)
{
	struct diff_row *rows = compare("a;b 1\na;c 3\n", "a;b 10\na;c 30\n",
					false);

	CHECK_EQ(n, 3);
	for (uint32_t i = 0; i < n; i++)
		CHECK(diff_points(&t, rows[i].self) == 0 &&
		      diff_points(&t, rows[i].total) == 0);
	/* then by name */
	check_row(&rows[0], "a", 0, 0, 4, 40);
	check_row(&rows[1], "b", 1, 10, 1, 10);
	check_row(&rows[2], "c", 3, 30, 3, 30);
	CHECK(diff_share(&t, rows[1].self, 1) == 25);
	free(rows);
	folded_fini(&t);
}

TEST(diff_puts_first_what_differs_most)
{
	struct diff_row *rows;

	/* of 10 and of 100: grown 10 % -> 60 %, x 60 % -> 35 %, y 30 % -> 5 % */
	rows = compare("p;grown 1\np;x 6\np;y 3\n",
		       "p;grown 60\np;x 35\np;y 5\n", false);
	check_row(&rows[0], "grown", 1, 60, 1, 60);
	CHECK(diff_points(&t, rows[0].self) == 50);
	check_row(&rows[1], "x", 6, 35, 6, 35);
	check_row(&rows[2], "y", 3, 5, 3, 5);
	CHECK(diff_points(&t, rows[2].self) == -25);
	check_row(&rows[3], "p", 0, 0, 10, 100);
	free(rows);
	folded_fini(&t);
}

TEST(diff_orders_by_total)
{
	struct diff_row *rows;

	rows = compare("p;f;a 10\nq 30\n", "p;f;a 10\np;f;b 9\nq 1\n", true);
	check_row(&rows[0], "q", 30, 1, 30, 1);
	check_row(&rows[1], "f", 0, 0, 10, 19);
	check_row(&rows[2], "p", 0, 0, 10, 19);
	check_row(&rows[3], "b", 0, 9, 0, 9);
	check_row(&rows[4], "a", 10, 10, 10, 10);
	free(rows);
	folded_fini(&t);
}

/* A function that calls itself has each sample once. */
TEST(diff_counts_recursion_once)
{
	struct diff_row *rows;

	rows = compare("p;f;g;f;f 3\np;f 2\np;g;f 5\n",
		       "p;f;f;f;f 1\nf;p 1\np;p 8\n", true);
	CHECK_EQ(n, 3);
	for (uint32_t i = 0; i < n; i++) {
		const char *name = (char *)t.text.data +
				   t.names[rows[i].name].at;

		if (!strcmp(name, "f"))
			check_row(&rows[i], "f", 10, 1, 10, 2);
		else if (!strcmp(name, "g"))
			check_row(&rows[i], "g", 0, 0, 8, 0);
		else
			check_row(&rows[i], "p", 0, 9, 10, 10);
	}
	free(rows);
	folded_fini(&t);
}

/* Strings are the names; labels are name, module (none) and kind (2: native, 0: a process); rows are
 * label, how far they go up, and both numbers. */
TEST(diff_tells_the_page_names_labels_and_rows)
{
	static const char *const files[] = { "x", "y" };
	struct buffer out = { 0 };
	struct diff_row *rows = compare("p;f;g 3\np;h 2\nf;p 4\n", "p;f 1\n", false);

	CHECK_EQ(diff_encode_html(&t, files, &out), 0);
	buffer_add(&out, "", 1);
	CHECK(strstr((char *)out.data, "\"strings\":[\"p\",\"f\",\"g\",\"h\",\"\"],\n"
		     "\"labels\":[0,4,2,1,4,2,2,4,2,3,4,2,0,4,0,1,4,0],\n"
		     "\"rows\":["
		     "5,0,0,0,0,0,0,4,"
		     "4,2,0,0,1,0,1,0,2,0,0,3,3,2,0,2]"));
	free(out.data);
	free(rows);
	folded_fini(&t);
}

/* The sums hold however a tree looks. */
TEST(diff_adds_up)
{
	struct buffer text = { 0 };
	struct diff_row *rows;
	uint32_t seed = 1;
	uint64_t self = 0;

	for (int i = 0; i < 3000; i++) {
		char line[200] = "root";

		for (uint32_t k = 0; k < 1 + i % 9u; k++) {
			seed = seed * 1664525 + 1013904223;
			sprintf(line + strlen(line), ";f%u", (seed >> 20) % 13);
		}
		sprintf(line + strlen(line), " %d\n", i % 5);
		buffer_add(&text, line, strlen(line));
	}
	buffer_add(&text, "", 1);
	rows = compare((char *)text.data, "root;f1 1\n", false);
	CHECK_EQ(n, 14);
	for (uint32_t i = 0; i < n; i++) {
		self += rows[i].self[0];
		CHECK(rows[i].total[0] >= rows[i].self[0]);
		CHECK(rows[i].total[0] <= t.samples[0]);
	}
	CHECK_EQ(self, t.samples[0]);
	free(rows);
	folded_fini(&t);
	free(text.data);
}
