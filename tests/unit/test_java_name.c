// SPDX-License-Identifier: Apache-2.0
/* Methods' names, from what HotSpot has of them. */
#include "symbolizerd/runtimes/hotspot/reading_name.h"
#include "tests/unit/harness.h"

#include <string.h>

static char name[TEXT_NAME_MAX], full[TEXT_FULL_MAX];

static const char *full_of(const char *descriptor)
{
	java_name(name, full, "a/B", "f", descriptor);
	CHECK_STR(name, "a.B.f");
	return full;
}

TEST(java_names)
{
	CHECK_STR(full_of("()V"), "a.B.f()");
	CHECK_STR(full_of("(BCDFIJSZ)V"),
		  "a.B.f(byte, char, double, float, int, long, short, boolean)");
	CHECK_STR(full_of("([[Ljava/util/Map$Entry;[I)Lx/Y;"),
		  "a.B.f(java.util.Map$Entry[][], int[])");
}

TEST(java_names_that_are_cut_or_none)
{
	CHECK_STR(full_of(""), "");
	CHECK_STR(full_of("I)V"), "");
	CHECK_STR(full_of("("), "a.B.f(...)");
	CHECK_STR(full_of("(I"), "a.B.f(int, ...)");
	CHECK_STR(full_of("(ILjava/lang/St"), "a.B.f(int, ...)");
	CHECK_STR(full_of("(I[["), "a.B.f(int, ...)");
	CHECK_STR(full_of("(IQ)V"), "a.B.f(int, ...)");
	CHECK_STR(full_of("(La)V"), "a.B.f(...)");
}

TEST(java_names_of_hidden_classes)
{
	java_name(name, full, "a/B$$Lambda$14+0x0000000800c03000", "accept", "()V");
	CHECK_STR(name, "a.B$$Lambda.accept");
	CHECK_STR(full, "a.B$$Lambda.accept()");
	java_name(name, full, "a/B$$Lambda/0x00007f0004001000", "accept", "");
	CHECK_STR(name, "a.B$$Lambda.accept");
	java_name(name, full, "a/0y+1/", "f", "");
	CHECK_STR(name, "a.0y+1..f");
}

/* As long as a record lets them be, and longer: an end, and nothing after it. */
TEST(java_names_that_are_long)
{
	static char class[4000], descriptor[4000];

	for (size_t n = 0; n < sizeof(class) - 1; n += 7) {
		memset(class, 'c', n);
		class[n] = '\0';
		memset(descriptor, 'Z', n);
		descriptor[n] = '\0';
		descriptor[0] = '(';
		java_name(name, full, class, class, descriptor);
		CHECK(strlen(name) < TEXT_NAME_MAX && strlen(full) < TEXT_FULL_MAX);
		if (n <= 366)
			CHECK_EQ(strlen(name), 2 * n + 1);
	}
}
