// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/job_queue.h"

#include <stdlib.h>
#include <string.h>

bool job_queue_add(struct job_queue *q, const struct job *job)
{
	if (!q->v)
		q->v = calloc(JOBS_MAX, sizeof(*q->v));
	if (!q->v || q->n == JOBS_MAX)
		return false;
	q->v[q->n++] = *job;
	return true;
}

void job_queue_remove(struct job_queue *q, size_t i)
{
	memmove(&q->v[i], &q->v[i + 1], (q->n - i - 1) * sizeof(*q->v));
	q->n--;
}

bool job_queue_take(struct job_queue *q,
		    bool (*wanted)(void *ctx, const struct job *job), void *ctx,
		    struct job *ret)
{
	size_t next = 0;

	if (q->n == 0)
		return false;
	for (size_t i = 0; i < q->n; i++) {
		if (wanted(ctx, &q->v[i])) {
			next = i;
			break;
		}
	}
	*ret = q->v[next];
	job_queue_remove(q, next);
	return true;
}
