/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_ring - records from loaderd to symbolizerd
 *
 * Single producer, single consumer.  The data lies in a memfd that the
 * consumer can only map read-only (F_SEAL_FUTURE_WRITE); its first page holds
 * the producer's position.  The consumer's position lies in a memfd of its
 * own, which the producer treats as hostile.  Positions only grow; the place
 * in the data area is position modulo its size (a power of two).  A record
 * (any bytes whose first u32 is its length, a multiple of 8, and whose next
 * byte, its kind, is not 0) never wraps: what is left at the end is filled by a
 * pad record of kind 0.  Full means that the record is not written.
 */
#ifndef IPC_TRACE_RING_H
#define IPC_TRACE_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/trace_map.h"

#define TRACE_RING_BYTES	(1u << 20)

struct trace_producer {
	int data_fd, pos_fd;	/* to be passed on; owned */
	struct trace_ring_page *head;		/* ours, first page of data */
	uint8_t *data;
	const struct trace_ring_page *tail;	/* theirs */
	size_t size;		/* of the data area */
	uint64_t pos;		/* ours; never read back */
	uint64_t last_tail;	/* largest position they ever claimed */
};

/* bytes: a power of two, 2 * TRACE_REC_MAX to TRACE_RING_BYTES_MAX.  0 or
 * -errno; then _fini() is allowed but not needed. */
int trace_producer_init(struct trace_producer *p, size_t bytes);
void trace_producer_fini(struct trace_producer *p);

/*
 * Room for one record of len bytes (a multiple of 8, at least 8 and at most
 * TRACE_REC_MAX), contiguous; NULL when full.  Fill it, its first u32 with
 * len, then trace_producer_commit(); or forget it.
 */
void *trace_producer_reserve(struct trace_producer *p, size_t len);
void trace_producer_commit(struct trace_producer *p, size_t len);

#endif /* IPC_TRACE_RING_H */
