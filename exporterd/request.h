/* SPDX-License-Identifier: Apache-2.0 */
/*
 * request - from a batch to the bodies of a request, one for each compression
 *
 * Each item holds a reference to its batch (queue.h), so that a part of it can be
 * encoded when a receiver finds the request too large.
 */
#ifndef EXPORTERD_REQUEST_H
#define EXPORTERD_REQUEST_H

#include "exporterd/body.h"
#include "exporterd/endpoint.h"
#include "exporterd/queue.h"
#include "exporterd/resource.h"
#include "ipc/batch.h"
#include "profile/formats/otlp.h"

/* Larger requests of more than one sample are split.  Before compression: OTLP lets
 * a receiver refuse more than 64 MiB; the OpenTelemetry collector refuses more than
 * 20 MiB (confighttp of 0.159), devfiler more than 16 MiB. */
#define REQUEST_MAX	(8u << 20)

struct request {
	uint8_t *raw;
	size_t len;
	struct otlp_made made;
	uint64_t samples;	/* events */
	uint64_t span_ns;	/* of the batch */
	struct body *bodies[COMPRESSION__KINDS];	/* of request_body() */
};

/* How requests to this endpoint are encoded; valid as long as both are. */
struct otlp_how request_how(const struct resource *r, const struct endpoint *e);

/* Are requests to both encoded the same way, but for compression? */
static inline bool request_same_how(const struct endpoint *a, const struct endpoint *b)
{
	return a->bare == b->bare && a->guesses == b->guesses &&
	       a->nameless == b->nameless;
}

/* Encode a part of b.  Returns 0; -ENOMEM; -ENODATA without samples; samples
 * is set in any case.  request_fini() in any case. */
int request_init(struct request *q, const struct batch *b,
		 struct otlp_range range, const struct otlp_how *extra);
void request_fini(struct request *q);

/* The body with this compression, made at the first call; the reference is the
 * request's.  NULL when memory is short. */
struct body *request_body(struct request *q, enum compression c);

/* An item of the request, which encodes this range of this batch (NULL: it is not
 * kept).  NULL when memory is short. */
struct item *request_item(struct request *q, uint64_t id, enum compression c,
			  struct kept_batch *batch, struct otlp_range range);

/*
 * Make two items of one that a receiver finds too large: the first half of its
 * events and the rest, with the same compression.  `it` is not changed.  Returns 0,
 * or without making anything: -ENODATA for a single event; -ENOENT when its
 * batch is no longer kept; -ENOMEM or another -errno; -EPROTO.
 */
int request_halve(const struct item *it, const struct otlp_how *extra,
		  struct item *ret[2]);

#endif /* EXPORTERD_REQUEST_H */
