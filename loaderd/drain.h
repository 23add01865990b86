/* SPDX-License-Identifier: Apache-2.0 */
/*
 * drain - records from the BPF ring to symbolizerd, many in a datagram
 *
 * Copies each record, with kernel addresses replaced by symbol numbers: no raw
 * kernel address goes further.  While the socket is full, records stay in the
 * BPF ring.  What waits in the buffer here is counted as if it were still in the
 * BPF ring, until it is sent.
 */
#ifndef LOADERD_DRAIN_H
#define LOADERD_DRAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/message_loader.h"
#include "loaderd/ksyms.h"

struct drain {			/* zero-initialised except the first three */
	struct ksyms *ksyms;
	struct loader_stats *stats;
	int fd;			/* a socket, borrowed; -1: no hub is connected */
	bool full;		/* it takes nothing now: do not drain */
	uint32_t samples;	/* in buf */
	size_t len;		/* of buf: whole records */
	_Alignas(8) uint8_t buf[SAMPLES_BYTES];
};

/* Send to fd from now on (-1: drop and count).  What was not sent yet is counted as
 * no_hub; symbols are defined anew. */
void drain_to(struct drain *d, int fd);

/* One record of len bytes, as the BPF ring delivers it (ring_buffer_sample_fn);
 * ctx: the struct drain, which must not be full.  The record is taken in any
 * case.  0, or -EAGAIN: there is no room for another. */
int drain_record(void *ctx, void *data, size_t len);

/* Send what is in the buffer.  0, or -EAGAIN: the socket is full. */
int drain_flush(struct drain *d);

#endif /* LOADERD_DRAIN_H */
