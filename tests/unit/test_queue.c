// SPDX-License-Identifier: Apache-2.0
#include "exporterd/queue.h"

#include "tests/unit/harness.h"

static struct item *item(uint64_t id, size_t len)
{
	struct body *b = calloc(1, sizeof(*b));
	struct item *it;

	CHECK(b);
	b->refs = 1;
	b->len = len;
	it = item_new(b, id, 10 * id, 1);
	body_put(b);
	CHECK(it);
	CHECK_EQ(b->refs, 1);
	return it;
}

/* Ids of a list, as a number: 1, 2, 3 is 123. */
static uint64_t take(struct item *list)
{
	uint64_t ids = 0;

	while (list) {
		struct item *next = list->next;

		ids = ids * 10 + list->id;
		item_free(list);
		list = next;
	}
	return ids;
}

static uint64_t take_all(struct queue *q)
{
	uint64_t ids = 0;

	for (struct item *it; (it = queue_pop(q));)
		ids = ids * 10 + take(it);
	return ids;
}

TEST(queue_is_first_in_first_out)
{
	struct queue q;

	queue_init(&q, 8, 1000);
	CHECK(!queue_pop(&q));
	for (uint64_t i = 1; i <= 5; i++)
		CHECK(!queue_push(&q, item(i, 100)));
	CHECK_EQ(q.n, 5);
	CHECK_EQ(q.bytes, 500);
	CHECK_EQ(q.samples, 150);
	CHECK_EQ(take_all(&q), 12345);
	CHECK_EQ(q.n, 0);
	CHECK_EQ(q.bytes, 0);
	CHECK_EQ(q.samples, 0);
	CHECK(!queue_push(&q, item(6, 100)));
	CHECK_EQ(take_all(&q), 6);
}

TEST(queue_drops_the_oldest_beyond_its_number)
{
	struct queue q;

	queue_init(&q, 3, 1000);
	for (uint64_t i = 1; i <= 3; i++)
		CHECK(!queue_push(&q, item(i, 1)));
	CHECK_EQ(take(queue_push(&q, item(4, 1))), 1);
	CHECK_EQ(take(queue_push(&q, item(5, 1))), 2);
	CHECK_EQ(take_all(&q), 345);
}

TEST(queue_drops_the_oldest_beyond_its_bytes)
{
	struct queue q;

	queue_init(&q, 100, 1000);
	for (uint64_t i = 1; i <= 4; i++)
		CHECK(!queue_push(&q, item(i, 250)));
	CHECK_EQ(take(queue_push(&q, item(5, 400))), 12);
	CHECK_EQ(q.bytes, 900);
	CHECK(!queue_push(&q, item(6, 100)));
	CHECK_EQ(take(queue_push(&q, item(7, 1000))), 3456);
	CHECK_EQ(take_all(&q), 7);
}

TEST(queue_refuses_what_can_never_fit)
{
	struct queue q;

	queue_init(&q, 100, 1000);
	CHECK(!queue_push(&q, item(1, 500)));
	CHECK_EQ(take(queue_push(&q, item(2, 1001))), 2);
	CHECK_EQ(take_all(&q), 1);
}
