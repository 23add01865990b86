/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A test is a function; TEST() names and registers it.  Output is TAP, so
 * prove(1), meson and plain eyes can read it.  A failed CHECK names its
 * expression and both values, then ends that test program.
 */
#ifndef TESTS_HARNESS_H
#define TESTS_HARNESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct test_case {
	const char *name;
	void (*fn)(void);
	struct test_case *next;
};

/* exit with this from a test that cannot run here, after saying why */
#define TEST_SKIP 77

extern struct test_case *test_list;
extern struct test_case **test_tail;

#define TEST(id)							\
	static void id(void);						\
	static struct test_case case_##id = { .name = #id, .fn = id };	\
	__attribute__((__constructor__)) static void reg_##id(void)	\
	{								\
		*test_tail = &case_##id;				\
		test_tail = &case_##id.next;				\
	}								\
	static void id(void)

#define CHECK(cond)							\
	do {								\
		if (!(cond)) {						\
			printf("# %s:%d: %s\n", __FILE__, __LINE__,	\
			       #cond);					\
			exit(1);					\
		}							\
	} while (0)

#define CHECK_EQ(got, want)						\
	do {								\
		uintmax_t g_ = (uintmax_t)(got);			\
		uintmax_t w_ = (uintmax_t)(want);			\
									\
		if (g_ != w_) {						\
			printf("# %s:%d: %s is %ju, want %ju\n",	\
			       __FILE__, __LINE__, #got, g_, w_);	\
			exit(1);					\
		}							\
	} while (0)

/* NULL is no string that can be wanted. */
#define CHECK_STR(got, want)						\
	do {								\
		const char *g_s = (got);				\
									\
		if (!g_s || strcmp(g_s, (want)) != 0)			\
			printf("# got \"%s\"\n", g_s ? g_s : "NULL");	\
		CHECK(g_s && strcmp(g_s, (want)) == 0);			\
	} while (0)

#endif /* TESTS_HARNESS_H */
