/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode - makes a batch of an OTLP request, of any sender
 *
 * Source: opentelemetry-proto 1.11.0, profiles.proto.  Requests of other profilers are
 * accepted too: kinds of frames are "kernel", "native" (and "rust"), "go",
 * "abort-marker"; all others, such as interpreters' frames, are BATCH_FRAME_UNKNOWN and
 * keep their functions' names.  Attributes of a sample override those of its profile,
 * which override those of the resource.
 */
#ifndef VIEWER_SERVER_DECODE_H
#define VIEWER_SERVER_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "viewer/server/names.h"

#define DECODE_BODY_MAX		(32u << 20)	/* bytes of a request by HTTP */

/* The limits of one request. */
struct decode_limits {
	size_t body;			/* bytes of the request */
	size_t memory;			/* bytes allocated for its messages */
	uint64_t events;		/* samples, at most UINT32_MAX */
};

/* For a request by HTTP, from an untrusted client. */
#define DECODE_LIMITS	{ DECODE_BODY_MAX, 256u << 20, 1u << 20 }

struct decode_in {
	const void *data;		/* uncompressed */
	size_t len;
	uint64_t oldest_ns, newest_ns;	/* times outside are rejected */
	struct viewer_names *names;	/* read and added to */
	struct decode_limits limits;
};

struct decoded {
	void *data;			/* of a batch, for the caller to free; NULL: it
					 * has no sample */
	size_t len;
	uint64_t events, rejected;	/* samples */
	uint32_t frequency;		/* Hz; 0: unknown */
	char host[65], kernel[65];	/* of the first resource that has them: UTF-8,
					 * cut; "": none */
};

/*
 * In the batch, a resource's comm is the name of the process, and attributes
 * are of threads, without CPUs.  Returns 0; -EPROTO: not a request, or an index in it
 * is out of range; -E2BIG: over a limit; -ENOMEM.
 */
int decode_request(const struct decode_in *in, struct decoded *ret);

#endif /* VIEWER_SERVER_DECODE_H */
