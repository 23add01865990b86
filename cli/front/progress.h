/* SPDX-License-Identifier: Apache-2.0 */
/*
 * progress - one line that says how a recording goes
 */
#ifndef CLI_FRONT_PROGRESS_H
#define CLI_FRONT_PROGRESS_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/counters.h"

#define PROGRESS_POINTS	6	/* the rate is that of the time between them */

struct progress {
	struct {
		uint64_t ns, taken;
	} point[PROGRESS_POINTS];	/* the latest ones, oldest first */
	uint32_t n;
};

/*
 * "12 of 30 s   456 samples (38 a second), 0 lost"; nanoseconds since the
 * start, and in all, or 0 if that is open.  To be called about once a second.
 */
void progress_line(struct progress *p, const struct status *st,
		   uint64_t elapsed_ns, uint64_t total_ns, char *out,
		   size_t size);

#endif /* CLI_FRONT_PROGRESS_H */
