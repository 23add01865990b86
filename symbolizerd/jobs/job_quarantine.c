// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_quarantine.h"

bool job_quarantine_has(const struct job_quarantine *q, uint32_t tgid, uint64_t start_ns)
{
	uint32_t n = q->n < JOBS_QUARANTINE ? q->n : JOBS_QUARANTINE;

	while (n-- > 0) {
		if (q->v[n].tgid == tgid && q->v[n].start_ns == start_ns)
			return true;
	}
	return false;
}

void job_quarantine_add(struct job_quarantine *q, uint32_t tgid, uint64_t start_ns)
{
	uint32_t i = q->n++ % JOBS_QUARANTINE;

	q->v[i].tgid = tgid;
	q->v[i].start_ns = start_ns;
}
