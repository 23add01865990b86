/* SPDX-License-Identifier: Apache-2.0 */
/* trace_consumer - the other end of the trace ring (trace_ring.h) */
#ifndef IPC_TRACE_CONSUMER_H
#define IPC_TRACE_CONSUMER_H

#include <stddef.h>
#include <stdint.h>

struct trace_ring_page;

struct trace_consumer {
	const struct trace_ring_page *head;
	const uint8_t *data;
	struct trace_ring_page *tail;
	size_t size;
	uint64_t pos;
};

/* Check seals and sizes and map.  The descriptors stay the caller's.
 * 0, -errno, or -EPROTO when they are not what they should be. */
int trace_consumer_init(struct trace_consumer *c, int data_fd, int pos_fd,
			size_t bytes);
void trace_consumer_fini(struct trace_consumer *c);

/*
 * The next record: its length in *len, borrowed until trace_consumer_next().
 * NULL when there is none.  A malformed ring (the producer is root, but still)
 * sets *len to SIZE_MAX and returns NULL: drop the connection.
 */
const void *trace_consumer_peek(struct trace_consumer *c, size_t *len);
void trace_consumer_next(struct trace_consumer *c, size_t len);

#endif /* IPC_TRACE_CONSUMER_H */
