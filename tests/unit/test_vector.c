// SPDX-License-Identifier: Apache-2.0
#include "common/vector.h"

#define WRAP_REALLOC
#include "tests/unit/harness.h"
#include "tests/unit/malloc_fails.h"

struct pair {
	uint64_t a;
	uint8_t b;
};

TEST(vector_keeps_its_elements)
{
	VECTOR(struct pair) list = { 0 };

	for (uint32_t i = 0; i < 5000; i++)
		CHECK(vector_push(&list, ((struct pair){ i * 3, (uint8_t)i })));
	CHECK_EQ(list.n, 5000);
	CHECK(list.cap >= list.n);
	for (uint32_t i = 0; i < list.n; i++) {
		CHECK_EQ(list.v[i].a, i * 3);
		CHECK_EQ(list.v[i].b, (uint8_t)i);
	}
	free(list.v);
}

TEST(vector_is_unchanged_when_memory_is_short)
{
	for (long n = 0; n < 8; n++) {
		VECTOR(uint32_t) list = { 0 };
		uint32_t failed = 0;

		fail_at = n;
		for (uint32_t i = 0; i < 2000; i++) {
			uint32_t cap = list.cap, *v = list.v;

			if (vector_push(&list, i))
				continue;
			failed++;
			CHECK_EQ(list.cap, cap);
			CHECK(list.v == v);
			CHECK_EQ(list.n, i);
			CHECK(vector_push(&list, i));
		}
		CHECK_EQ(failed, 1);
		CHECK_EQ(list.n, 2000);
		for (uint32_t i = 0; i < list.n; i++)
			CHECK_EQ(list.v[i], i);
		free(list.v);
	}
	fail_at = -1;
}

TEST(array_reserve_takes_many_at_once)
{
	uint16_t *v = NULL;
	uint32_t cap = 0;

	CHECK(array_reserve(&v, &cap, 1000));
	CHECK(cap >= 1000);
	memset(v, 0xff, cap * sizeof(*v));
	CHECK(array_reserve(&v, &cap, 0));
	CHECK(!array_reserve(&v, &cap, 1ULL << 32));
	CHECK(cap >= 1000 && v[999] == 0xffff);
	free(v);
}
