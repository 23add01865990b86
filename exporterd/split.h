/* SPDX-License-Identifier: Apache-2.0 */
/*
 * split - two requests of one that a receiver finds too large
 *
 * The batch is gone by then: an encoded request is read back, and each half
 * keeps what its own events need of the dictionary.
 */
#ifndef EXPORTERD_SPLIT_H
#define EXPORTERD_SPLIT_H

#include <stddef.h>
#include <stdint.h>

#include "exporterd/queue.h"

struct split_part {
	uint8_t *data;		/* malloc'ed */
	size_t len;
	uint64_t samples;	/* events */
	uint32_t profiles;
};

/*
 * Split what otlp_encode() has written into the first half of its events and
 * the rest.  Returns 0; -ENODATA when there are less than two; -EPROTO when it
 * is no such request; -ENOMEM.  Nothing is owned after a failure.
 */
int split_request(const uint8_t *data, size_t len, struct split_part ret[2]);

/* The same with an item, which stays as it is; compressed as it was. */
int split_item(const struct item *it, struct item *ret[2]);

#endif /* EXPORTERD_SPLIT_H */
