/* SPDX-License-Identifier: Apache-2.0 */
/* log_limit - limits lines about what an outside process can cause */
#ifndef COMMON_LOG_LIMIT_H
#define COMMON_LOG_LIMIT_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/log.h"

struct log_limit {
	uint64_t last_ns;	/* of the last line; 0: there was none */
};

/* True at most once a second for each state, which the caller zero-initialises. */
static inline bool log_limited(struct log_limit *limit)
{
	uint64_t now = now_ns();

	if (limit->last_ns && now - limit->last_ns < NSEC_PER_SEC)
		return false;
	limit->last_ns = now;
	return true;
}

#endif /* COMMON_LOG_LIMIT_H */
