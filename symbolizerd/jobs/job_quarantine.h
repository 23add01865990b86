/* SPDX-License-Identifier: Apache-2.0 */
/* job_quarantine - processes whose worker died, was killed, or answered nonsense */
#ifndef SYMBOLIZERD_JOBS_JOB_QUARANTINE_H
#define SYMBOLIZERD_JOBS_JOB_QUARANTINE_H

#include <stdbool.h>
#include <stdint.h>

#define JOBS_QUARANTINE	64	/* processes; the oldest is tried again */

struct job_quarantine {
	struct {
		uint64_t start_ns;
		uint32_t tgid;
	} v[JOBS_QUARANTINE];
	uint32_t n;		/* processes, until now */
};

bool job_quarantine_has(const struct job_quarantine *q, uint32_t tgid, uint64_t start_ns);
void job_quarantine_add(struct job_quarantine *q, uint32_t tgid, uint64_t start_ns);

#endif /* SYMBOLIZERD_JOBS_JOB_QUARANTINE_H */
