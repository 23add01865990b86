/* SPDX-License-Identifier: Apache-2.0 */
/* cost - CPU time and memory of the calling process */
#ifndef COMMON_COST_H
#define COMMON_COST_H

#include <stdint.h>
#include <sys/resource.h>

#include "common/clock.h"

struct cost {
	uint64_t cpu_ns;	/* user and system, all threads */
	uint64_t rss_bytes;	/* resident now; 0: not known */
};

static inline uint64_t cost_cpu(const struct rusage *u)
{
	return (uint64_t)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) *
	       NSEC_PER_SEC +
	       (uint64_t)(u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

/* /proc/self/statm (proc_pid_statm(5)), to be read after confinement.  A
 * descriptor, or -1: then only the CPU time is known. */
int cost_open(void);

void cost_read(int statm, struct cost *ret);

#endif /* COMMON_COST_H */
