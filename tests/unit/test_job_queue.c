// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/job_queue.h"
#include "tests/unit/harness.h"

#include <stdlib.h>

static uint32_t wanted_exe;

static bool wanted(void *ctx, const struct job *job)
{
	(void)ctx;
	return job->exe == wanted_exe;
}

TEST(job_queue_gives_the_wanted_then_the_oldest)
{
	struct job_queue q = { 0 };
	struct job job = { 0 };

	wanted_exe = 30;
	CHECK(!job_queue_take(&q, wanted, NULL, &job));
	for (uint32_t i = 1; i <= 4; i++) {
		job = (struct job){ .number = i, .exe = i * 10, .fd = -1 };
		CHECK(job_queue_add(&q, &job));
	}
	CHECK(job_queue_take(&q, wanted, NULL, &job));
	CHECK_EQ(job.number, 3);
	CHECK(job_queue_take(&q, wanted, NULL, &job));
	CHECK_EQ(job.number, 1);
	CHECK(job_queue_take(&q, wanted, NULL, &job));
	CHECK_EQ(job.number, 2);
	CHECK(job_queue_take(&q, wanted, NULL, &job));
	CHECK_EQ(job.number, 4);
	CHECK(!job_queue_take(&q, wanted, NULL, &job));
	free(q.v);
}

TEST(job_queue_is_bounded)
{
	struct job_queue q = { 0 };
	struct job job = { .fd = -1 };

	for (int i = 0; i < JOBS_MAX; i++)
		CHECK(job_queue_add(&q, &job));
	CHECK(!job_queue_add(&q, &job));
	CHECK_EQ(q.n, JOBS_MAX);
	free(q.v);
}
