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
	struct number_list pids;		/* only these processes; .n 0: all.  One
					 * that began later than .start_ns has
					 * only the number of one of them */
	uint32_t thin;		/* one of 2^thin samples, chosen by a hash of
				 * its time: its weight is 2^thin then */
	char container[CONTAINER_ID_MAX + 1];	/* only those whose ID begins
						 * so; "": all */
	char unit[BATCH_UNIT_MAX + 1];	/* only those of this service of
					 * systemd, without ".service"; "": all */
};

/*
 * Of an opened batch what c names, as a batch of its own that spans no more
 * than c does and holds nothing that its samples do not need.  *ret is
 * malloc'ed, and *events how many there are; or NULL and 0: none.  0; -ENOMEM.
 */
int cut_batch(const struct cut *c, const struct batch *b, void **ret,
	      size_t *len, uint64_t *events);

/* Would that be all of it? */
bool cut_takes_all(const struct cut *c, const struct batch *b);

#endif /* PROFILE_CUT_H */
