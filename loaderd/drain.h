/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain - records from the BPF ring to the trace ring
 *
 * Copies each record, with kernel addresses replaced by symbol numbers: no raw
 * kernel address goes further.  What cannot go on is counted.
 */
#ifndef LOADERD_DRAIN_H
#define LOADERD_DRAIN_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/counters_loader.h"
#include "ipc/trace_ring.h"
#include "loaderd/ksyms.h"

struct drain {			/* zero-initialised but for both of these: */
	struct ksyms *ksyms;
	struct loader_stats *stats;
	struct trace_producer *to;	/* NULL: no hub is connected */
	uint64_t written;	/* records since the consumer was last woken */
};

/* From now on write here (NULL: drop and count); symbols are defined anew. */
void drain_to(struct drain *d, struct trace_producer *to);

/* One record of len bytes, as the BPF ring delivers it (ring_buffer_sample_fn);
 * ctx: the struct drain.  Returns 0. */
int drain_record(void *ctx, void *data, size_t len);

#endif /* LOADERD_DRAIN_H */
