// SPDX-License-Identifier: Apache-2.0
/* Which code a visit for lines answers with. */
#include "symbolizerd/worker/lines_job.h"
#include "tests/unit/dwarf_sample.h"

#include <string.h>

static struct line_codes_build b;

/* A program of this source, with `here` in it. */
static void large_make(struct dwarf_sample *s, void (*source)(FILE *f))
{
	char text[512];
	FILE *f;

	CHECK(dwarf_sample_make(s, "cc -O1 -g"));
	snprintf(text, sizeof(text), "%s/sample.c", s->dir);
	f = fopen(text, "w");
	CHECK(f);
	source(f);
	CHECK_EQ(fclose(f), 0);
	snprintf(text, sizeof(text), "cd %s && cc -O1 -g -fno-toplevel-reorder -nostdlib -static "
		 "-o sample sample.c", s->dir);
	CHECK(dwarf_sample_run(text));
	dwarf_sample_find(s);
}

/* A visit to it: what is left. */
static uint32_t large_ask(const struct dwarf_sample *s, const uint64_t *offsets, uint32_t n)
{
	struct conn none = { .fd = -1 };
	int fd = open(s->path, O_RDONLY | O_CLOEXEC);

	CHECK(fd >= 0);
	line_codes_begin(&b, n);
	CHECK_EQ(lines_job(&none, fd, offsets, n, &b), JOB_OK);
	close(fd);
	return b.hdr.left;
}

/* The code with an offset. */
static struct line_code large_code(uint64_t off)
{
	for (uint32_t i = 0; i < b.hdr.codes; i++) {
		if (off >= b.codes[i].offset && off - b.codes[i].offset < b.codes[i].len)
			return b.codes[i];
	}
	return (struct line_code){ 0 };
}

static bool large_same(const struct line_code *x, const struct line_code *y)
{
	return x->offset == y->offset && x->len == y->len;
}

#define PLACES		8
#define LARGE_ROWS	6000	/* of some 10 bytes each */

static void large_function(FILE *f)
{
	fprintf(f, "volatile int sink; void large(void) {\n__asm__(\".globl here\\nhere: nop\");\n");
	for (int i = 0; i < LARGE_ROWS; i++)
		fprintf(f, "sink = %d;\n", i);
	fprintf(f, "}\nvoid _start(void) { for (;;) large(); }\n");
}

/* Pieces of one function never share code, in whichever visits they come: the hub would
 * forget one for the other, again and again. */
TEST(a_large_function_is_always_cut_alike)
{
	struct line_code codes[PLACES];
	uint64_t places[PLACES];
	struct dwarf_sample s;

	large_make(&s, large_function);
	for (uint32_t i = 0; i < PLACES; i++) {
		places[i] = s.offset + i * 6500;
		CHECK_EQ(large_ask(&s, &places[i], 1), 0);
		CHECK_EQ(b.hdr.codes, 1);
		codes[i] = large_code(places[i]);
		CHECK(codes[i].len && codes[i].segments > 1);
		for (uint32_t k = 0; k < i; k++)
			CHECK(large_same(&codes[i], &codes[k]) ||
			      codes[i].offset + codes[i].len <= codes[k].offset ||
			      codes[k].offset + codes[k].len <= codes[i].offset);
	}
	/* all at once */
	CHECK_EQ(large_ask(&s, places, PLACES), 0);
	CHECK(b.hdr.codes > 4);
	for (uint32_t i = 0; i < PLACES; i++) {
		struct line_code c = large_code(places[i]);

		CHECK(large_same(&c, &codes[i]));
	}
	dwarf_sample_remove(&s);
}

#define MANY		400
#define MANY_BYTES	64	/* from one function to the next */
#define MANY_NAME	3800	/* so that the first of three has room, where the answer ends */

/* Each with two inlined calls, and long names. */
static void many_functions(FILE *f)
{
	static char name[MANY_NAME + 1];

	memset(name, 'n', MANY_NAME);
	fprintf(f, "volatile int sink;\n"
		"#define I static inline __attribute__((always_inline)) void\n");
	for (int i = 0; i < MANY; i++)
		fprintf(f, "I a%d%s(void) { sink = 1; }\nI b%d%s(void) { sink = 2; }\n"
			"__attribute__((aligned(%d))) void f%d%s(void) {\n%s sink = 3;\n"
			"a%d%s();\nb%d%s(); }\n", i, name, i, name, MANY_BYTES, i, name,
			i ? "" : "__asm__(\".globl here\\nhere: nop\");", i, name, i, name);
	fprintf(f, "void _start(void) { for (;;) ; }\n");
}

/* What has no room as a whole is left for the next visit, not cut. */
TEST(what_has_no_room_is_left_for_the_next_visit)
{
	uint32_t done = 0, visits = 0, left;
	uint64_t places[MANY];
	struct dwarf_sample s;

	large_make(&s, many_functions);
	for (uint32_t i = 0; i < MANY; i++)
		places[i] = s.offset - s.here % MANY_BYTES + i * MANY_BYTES;
	for (; done < MANY; visits++) {
		left = large_ask(&s, places + done, MANY - done);
		printf("# %u codes, %u left\n", (unsigned int)b.hdr.codes, (unsigned int)left);
		/* with both calls */
		for (uint32_t i = 0; i < b.hdr.codes; i++)
			CHECK(b.codes[i].segments >= 3);
		CHECK(b.hdr.codes && b.hdr.codes + left == MANY - done);
		done += b.hdr.codes;
	}
	CHECK(visits > 1);
	dwarf_sample_remove(&s);
}
