/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cut - the part of a batch that a recording wants
 */
#ifndef PROFILE_CUT_H
#define PROFILE_CUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/container.h"
#include "common/number.h"
#include "ipc/batch.h"

struct cut {
	uint64_t start_ns, end_ns;	/* CLOCK_REALTIME: [start, end) */
	struct number_list pids;	/* only these processes; .n 0: all.  A process
					 * that began after .start_ns is another one
					 * with a reused number */
	uint32_t thin;		/* one of 2^thin samples, chosen by a hash of
				 * its time; each then stands for 2^thin */
	char container[CONTAINER_ID_MAX + 1];	/* only containers whose ID begins
						 * with this; "": all */
	char unit[BATCH_UNIT_MAX + 1];	/* only this service (cgroup_service()), in that
					 * container or, if there is none given, in none;
					 * "": all */
};

/*
 * The part of an opened batch that c selects, as a batch of its own with a time span
 * within that of c and only what its samples need.  *ret is malloc'ed, *events the number
 * of its events; or NULL and 0: none.  0; -ENOMEM.
 */
int cut_batch(const struct cut *c, const struct batch *b, void **ret,
	      size_t *len, uint64_t *events);

/* Would that be all of it? */
bool cut_takes_all(const struct cut *c, const struct batch *b);

#endif /* PROFILE_CUT_H */
