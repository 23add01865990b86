// SPDX-License-Identifier: Apache-2.0
#include "loaderd/requests.h"
#include "symbolizerd/jobs/job_queue.h"
#include "tests/unit/harness.h"

static uint32_t wanted_exe;

static bool wanted(void *ctx, const struct job *job)
{
	(void)ctx;
	return job->exe == wanted_exe;
}

static bool put(struct job_queue *q, uint32_t number, uint32_t owner)
{
	struct job job = { .number = number, .exe = number * 10,
			   .owner = owner, .fd = -1 };

	return job_queue_add(q, &job);
}

/* The number of the next one, which takes so long; 0: none. */
static uint32_t take(struct job_queue *q, uint64_t ns)
{
	struct job job;

	if (!job_queue_take(q, false, wanted, NULL, 0, &job))
		return 0;
	job_queue_charge(q, job.owner, ns);
	return job.number;
}

TEST(job_queue_gives_the_wanted_then_the_oldest)
{
	struct job_queue q = { 0 };

	wanted_exe = 30;
	CHECK_EQ(take(&q, 1), 0);
	for (uint32_t i = 1; i <= 4; i++)
		CHECK(put(&q, i, 7));
	CHECK_EQ(take(&q, 1), 3);
	CHECK_EQ(take(&q, 1), 1);
	CHECK_EQ(take(&q, 1), 2);
	CHECK_EQ(take(&q, 1), 4);
	CHECK_EQ(take(&q, 1), 0);
	job_queue_fini(&q);
}

TEST(job_queue_is_bounded)
{
	struct job_queue q = { 0 };
	struct job back = { .number = 1, .fd = -1 };
	uint32_t owner = 0;

	for (uint32_t i = 0; i < JOBS_MAX; i++) {
		while (!put(&q, 1 + i, owner))
			owner++;
	}
	CHECK(!put(&q, 1, owner + 1));
	CHECK_EQ(q.n, JOBS_MAX);
	for (uint32_t i = 0; i < WORKER_SLOTS; i++)
		job_queue_again(&q, &back);
	CHECK_EQ(q.n, JOBS_MAX + WORKER_SLOTS);
	job_queue_fini(&q);
}

/* Who has as many as are free gets no more: others find places, always. */
TEST(job_queue_keeps_places_for_others)
{
	struct job_queue q = { 0 };
	struct job job = { .process = (void *)&q, .fd = -1 };
	uint32_t n = 0;

	while (put(&q, 1, 1000))
		n++;
	CHECK_EQ(n, JOBS_MAX / 2);
	for (n = 0; put(&q, 1, 1001); )
		n++;
	CHECK_EQ(n, JOBS_MAX / 4);
	CHECK(put(&q, 1, 0));
	CHECK(!put(&q, 1, 1000));
	q.n = 0;
	for (n = 0; job_queue_add(&q, &job); )	/* processes have no owner */
		n++;
	CHECK_EQ(n, JOBS_MAX);
	job_queue_fini(&q);
}

/* A user's files take a second each, root's a hundredth: root waits for one of
 * them at a time, however many there are. */
TEST(job_queue_is_fair_by_time)
{
	struct job_queue q = { 0 };
	uint32_t slow = 0, job;

	for (uint32_t i = 1; i <= 100; i++)
		CHECK(put(&q, i, 1000));
	for (uint32_t i = 0; i < 10; i++)
		CHECK(take(&q, 1000) <= 100);
	for (uint32_t i = 201; i <= 250; i++)
		CHECK(put(&q, i, 0));
	for (uint32_t i = 0; i < 50; i += job > 200) {
		job = take(&q, 0);
		slow += job <= 100;
		job_queue_charge(&q, job > 200 ? 0 : 1000, job > 200 ? 10 : 1000);
	}
	CHECK(slow <= 2);
	job_queue_fini(&q);
}

/* Nobody is served first for hours because he was away. */
TEST(job_queue_lets_nobody_save_time_up)
{
	struct job_queue q = { 0 };
	uint32_t n = 0;

	CHECK(put(&q, 1, 0));
	for (uint32_t i = 0; i < 1000; i++) {
		CHECK(put(&q, 2, 0));
		take(&q, 1000);
	}
	for (uint32_t i = 0; i < 100; i++)
		CHECK(put(&q, 100, 1000));
	for (uint32_t i = 0; i < 50; i++)
		CHECK(put(&q, 200, 0));
	for (uint32_t i = 0; i < 20; i++)
		n += take(&q, 1000) == 200;
	CHECK(n >= 8 && n <= 11);
	job_queue_fini(&q);
}

TEST(job_queue_has_two_lanes)
{
	struct job_queue q = { 0 };
	struct job job = { .number = 1, .fd = -1, .slow = true };

	CHECK(put(&q, 2, 0));
	job_queue_again(&q, &job);
	CHECK(job_queue_take(&q, true, wanted, NULL, 0, &job));
	CHECK_EQ(job.number, 1);
	CHECK(!job_queue_take(&q, true, wanted, NULL, 0, &job));
	CHECK_EQ(take(&q, 1), 2);
	CHECK_EQ(q.n, 0);
	job_queue_fini(&q);
}

/* Whose part of the CPU time is used up waits, and others go on. */
TEST(job_queue_keeps_to_the_parts_of_owners)
{
	struct user_share share;
	uint64_t put_off = 0;
	struct job_queue q = { .share = &share, .put_off = &put_off };
	struct job job;

	user_share_init(&share, 2, 1);
	share.spare_ns = 0;
	user_share_use(&share, 7, 1);
	user_share_use(&share, 8, 1);
	for (uint32_t i = 1; i <= 4; i++)
		CHECK(put(&q, i, i <= 2 ? 7 : 8));
	share.v[1].left_ns = 10;
	CHECK(job_queue_take(&q, false, wanted, NULL, 1, &job));
	CHECK_EQ(job.owner, 8);
	CHECK(job_queue_take(&q, false, wanted, NULL, 1, &job));
	CHECK_EQ(job.owner, 8);
	CHECK(!job_queue_take(&q, false, wanted, NULL, 1, &job));
	CHECK_EQ(put_off, 2);
	/* each is counted once; and 10 ms bring some to both */
	CHECK(job_queue_take(&q, false, wanted, NULL, 10000001, &job));
	CHECK_EQ(job.owner, 7);
	job_queue_fini(&q);
}

/* Who waits for CPU time gives places to others, and keeps a few. */
TEST(job_queue_has_places_beside_those_who_owe)
{
	struct user_share share;
	struct job_queue q = { .share = &share };
	uint32_t number = 1, owner = 100;
	struct job job;

	user_share_init(&share, 2, 1);
	while (owner < 132) {
		user_share_use(&share, owner, 1);
		while (put(&q, number, owner))
			number++;
		owner++;
	}
	CHECK(!put(&q, number, 1000));
	for (uint32_t n = q.n; n; n = q.n) {
		CHECK(q.v[q.n - 1].owner != 1000);
		if (!job_queue_displace(&q, 1000, &job))
			break;
		CHECK_EQ(q.n, n - 1);
		CHECK(job.owner >= 100 && job.owner != 1000);
	}
	CHECK_EQ(q.v[0].owner, 100);
	CHECK(q.n <= 32 * JOBS_OWED && JOBS_MAX - q.n >= 128);
	CHECK_EQ(q.v[JOBS_OWED - 1].owner, 100);
	CHECK(q.v[JOBS_OWED].owner != 100);
	/* not for himself, and not of who owes nothing */
	while (put(&q, number, 1000))
		number++;
	CHECK(!job_queue_displace(&q, 100, &job));
	job_queue_fini(&q);
}

/* loaderd opens so many processes' memory in a second, and not all for one user. */
TEST(job_queue_keeps_questions_for_others)
{
	static const uint32_t owners[] = { 1000, 1001, 1002, 1003, 1004, 0 };
	static const uint32_t want[] = { 8, 4, 2, 1, 1, 0 };
	struct job_process p = { .kind = JOB_PROCESS };
	struct job_queue q = { 0 };
	struct job job;

	CHECK_EQ(JOB_ASKS, MEMS_A_SECOND);
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t n = 0;

		for (int k = 0; k < 20; k++) {
			job = (struct job){ .process = &p, .owner = owners[i], .fd = -1 };
			CHECK(job_queue_add(&q, &job));
		}
		while (job_queue_take(&q, false, wanted, NULL, 5, &job)) {
			CHECK_EQ(job.owner, owners[i]);
			job_queue_asked(&q, job.owner, 5);
			n++;
		}
		CHECK_EQ(n, want[i]);
	}
	CHECK_EQ(q.asks.put_off, q.n);
	/* who brings what is to be read asks for nothing */
	p.given = true;
	CHECK(job_queue_take(&q, false, wanted, NULL, 5, &job));
	p.given = false;
	CHECK(!job_queue_take(&q, false, wanted, NULL, JOB_ASKS_NS + 4, &job));
	for (uint32_t n = 0; n < JOB_ASKS; n++) {
		CHECK(job_queue_take(&q, false, wanted, NULL, JOB_ASKS_NS + 5, &job));
		job_queue_asked(&q, job.owner, JOB_ASKS_NS + 5);
	}
	CHECK(!job_queue_take(&q, false, wanted, NULL, JOB_ASKS_NS + 5, &job));
	job_queue_fini(&q);
}
