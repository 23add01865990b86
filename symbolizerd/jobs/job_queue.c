// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_queue.h"

#include <stdlib.h>
#include <string.h>

static size_t job_queue_of(const struct job_queue *q, uint32_t owner)
{
	size_t n = 0;

	for (size_t i = 0; i < q->n; i++)
		if (q->v[i].owner == owner)
			n++;
	return n;
}

void job_queue_charge(struct job_queue *q, uint32_t owner, uint64_t ns)
{
	owners_add(&q->used, owner, (int64_t)ns);
}

void job_queue_again(struct job_queue *q, const struct job *job)
{
	uint64_t used = owners_have(&q->used, job->owner);

	if (used < q->floor && !job_queue_of(q, job->owner))
		job_queue_charge(q, job->owner, q->floor - used);
	q->v[q->n++] = *job;
}

bool job_queue_add(struct job_queue *q, const struct job *job)
{
	if (!q->v)
		q->v = calloc(JOBS_MAX + WORKER_SLOTS, sizeof(*q->v));
	if (!q->v || q->n >= JOBS_MAX ||
	    (!job->process && job_queue_of(q, job->owner) >= JOBS_MAX - q->n))
		return false;
	job_queue_again(q, job);
	return true;
}

bool job_queue_displace(struct job_queue *q, uint32_t owner, struct job *ret)
{
	size_t most = JOBS_OWED, last = q->n;

	for (size_t i = 0; q->share && i < q->n; i++) {
		uint32_t o = q->v[i].owner;

		if (o == owner || q->v[i].process || !user_share_used_up(q->share, o))
			continue;
		if (last < q->n && q->v[last].owner == o) {
			last = i;
		} else if (job_queue_of(q, o) > most) {
			most = job_queue_of(q, o);
			last = i;
		}
	}
	if (last == q->n)
		return false;
	*ret = q->v[last];
	job_queue_remove(q, last);
	return true;
}

uint64_t job_queue_put_all_off(struct job_queue *q)
{
	uint64_t n = 0;

	for (size_t i = 0; i < q->n; i++) {
		if (!q->v[i].put_off)
			n++;
		q->v[i].put_off = true;
	}
	return n;
}

void job_queue_remove(struct job_queue *q, size_t i)
{
	memmove(&q->v[i], &q->v[i + 1], (q->n - i - 1) * sizeof(*q->v));
	q->n--;
}

/* --- questions to loaderd --------------------------------------------------- */

static bool job_asks(const struct job *job)
{
	return job->process && job->process->kind == JOB_PROCESS && !job->process->given;
}

static bool job_asks_allow(const struct job_asks *a, uint32_t owner, uint64_t now_ns)
{
	uint32_t used = 0, own = 0;

	for (uint32_t i = 0; i < JOB_ASKS && i < a->n; i++) {
		if (now_ns - a->v[i].ns >= JOB_ASKS_NS)
			continue;
		used++;
		if (a->v[i].owner == owner)
			own++;
	}
	return own < JOB_ASKS - used;
}

void job_queue_asked(struct job_queue *q, uint32_t owner, uint64_t now_ns)
{
	struct job_asks *a = &q->asks;

	a->v[a->n % JOB_ASKS].ns = now_ns;
	a->v[a->n % JOB_ASKS].owner = owner;
	a->n++;
}

static void job_queue_put_off(struct job *job, uint64_t *counter)
{
	if (!job->put_off)
		++*counter;
	job->put_off = true;
}

/* May it begin now?  If not, it is counted once. */
static bool job_queue_may(struct job_queue *q, struct job *job, uint64_t now_ns)
{
	if (q->share && !user_share_left(q->share, job->owner, 0, now_ns)) {
		job_queue_put_off(job, q->put_off);
		return false;
	}
	if (job_asks(job) && !job_asks_allow(&q->asks, job->owner, now_ns)) {
		job_queue_put_off(job, &q->asks.put_off);
		return false;
	}
	return true;
}

/* --- which goes next --------------------------------------------------------- */

bool job_queue_take(struct job_queue *q, bool slow,
		    bool (*wanted)(void *ctx, const struct job *job), void *ctx,
		    uint64_t now_ns, struct job *ret)
{
	uint64_t least = UINT64_MAX;
	size_t next = q->n;

	for (size_t i = 0; i < q->n; i++) {
		struct job *job = &q->v[i];
		uint64_t used = owners_have(&q->used, job->owner);

		if (job->slow != slow || !job_queue_may(q, job, now_ns))
			continue;
		if (used < least || (job->owner == q->v[next].owner &&
				     !wanted(ctx, &q->v[next]) &&
				     wanted(ctx, job))) {
			least = used;
			next = i;
		}
	}
	if (next == q->n)
		return false;
	if (q->floor < least)
		q->floor = least;
	*ret = q->v[next];
	job_queue_remove(q, next);
	return true;
}

void job_queue_fini(struct job_queue *q)
{
	free(q->v);
	owners_fini(&q->used);
	*q = (struct job_queue){ .used.seed = q->used.seed };
}
