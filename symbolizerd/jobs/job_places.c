// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_places.h"

bool job_places_free(const struct job_slot v[WORKER_SLOTS])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (v[i].state != SLOT_FREE && v[i].state != SLOT_STUCK)
			n++;
	}
	return n < WORKERS;
}

bool job_places_may_hang(const struct job_slot v[WORKER_SLOTS], uint32_t owner)
{
	unsigned int own = 0, left = JOB_STUCK_PLACES;

	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (v[i].state == SLOT_FREE || !v[i].memory)
			continue;
		left--;
		if (v[i].job.owner == owner)
			own++;
	}
	if (owner == 0)
		return left > 0;
	return left > 0 && own < left - 1;
}

bool job_places_slow(const struct job_slot v[WORKER_SLOTS])
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if ((v[i].state == SLOT_MEMORY && v[i].job.slow) ||
		    (v[i].state == SLOT_BUSY && v[i].slow))
			return true;
	}
	return false;
}

unsigned int job_places_stuck(const struct job_slot v[WORKER_SLOTS])
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (v[i].state == SLOT_STUCK)
			n++;
	}
	return n;
}

bool job_places_idle(const struct job_slot v[WORKER_SLOTS])
{
	for (unsigned int i = 0; i < WORKER_SLOTS; i++) {
		if (v[i].state != SLOT_FREE && v[i].state != SLOT_STUCK)
			return false;
	}
	return true;
}
