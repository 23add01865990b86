// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/restart.h"

uint64_t restart_backoff(uint64_t *backoff, uint64_t lived_ns)
{
	uint64_t next = *backoff * 2;

	if (*backoff == 0 || lived_ns >= BACKOFF_RESET_NS)
		next = BACKOFF_FIRST_NS;
	if (next > BACKOFF_MAX_NS)
		next = BACKOFF_MAX_NS;
	return *backoff = next;
}
