// SPDX-License-Identifier: Apache-2.0
#include "cli/front/progress.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "common/clock.h"

/* Samples a second since the oldest point. */
static uint64_t progress_rate(struct progress *p, uint64_t ns, uint64_t taken)
{
	uint64_t dt, n;

	if (p->n == 0)		/* zero at the start */
		p->n++;
	if (p->n == PROGRESS_POINTS)
		memmove(p->point, p->point + 1,
			--p->n * sizeof(p->point[0]));
	p->point[p->n].ns = ns;
	p->point[p->n++].taken = taken;
	dt = ns - p->point[0].ns;
	/* a restarted hub may report less for a while */
	if (taken > p->point[0].taken)
		n = taken - p->point[0].taken;
	else
		n = 0;
	if (dt)
		return (uint64_t)((double)n * NSEC_PER_SEC / (double)dt + 0.5);
	return 0;
}

void progress_line(struct progress *p, const struct status *st,
		   uint64_t elapsed_ns, uint64_t total_ns, char *out,
		   size_t size)
{
	char total[40] = "";
	struct account a;

	account_sum(st, &a);
	if (total_ns)
		snprintf(total, sizeof(total), "of %.6g ",
			 (double)total_ns / NSEC_PER_SEC);
	snprintf(out, size, "%" PRIu64 " %ss   %" PRIu64 " samples (%" PRIu64
		 " a second), %" PRIu64 " lost", (uint64_t)(elapsed_ns / NSEC_PER_SEC),
		 total, a.taken, progress_rate(p, elapsed_ns, a.taken), a.lost);
}
