// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_times.h"

#include <string.h>

#include "common/log.h"

/* Microseconds since the file came. */
static unsigned long long job_times_us(const struct job_times *t, uint64_t ns)
{
	return ns > t->came_ns ? (ns - t->came_ns) / 1000 : 0;
}

void job_times_log(const struct job_times *t, const struct executable *e)
{
	const char *path = e->path ? e->path : "";
	char shown[256];

	log_debug("table: came %llu, job %llu, forked %llu, asked %llu, told %llu, done %llu, "
		  "installed %llu: %s", (unsigned long long)t->came_ns / 1000,
		  job_times_us(t, t->started_ns), job_times_us(t, t->forked_ns),
		  job_times_us(t, t->asked_ns), job_times_us(t, t->told_ns),
		  job_times_us(t, t->done_ns), job_times_us(t, t->installed_ns),
		  log_quote(path, strlen(path), shown, sizeof(shown)));
}
