/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode - an OTLP request, from whoever sent it, becomes a batch
 *
 * Source: opentelemetry-proto 1.11.0, profiles.proto.  Of any profiler: kinds
 * of frames are "kernel", "native" (and "rust"), "go", "abort-marker"; all
 * others, such as interpreters' frames, are BATCH_FRAME_UNKNOWN and keep their
 * functions' names.  Attributes count wherever they are: of a sample before
 * those of its profile before those of the resource.
 */
#ifndef VIEWER_SERVER_DECODE_H
#define VIEWER_SERVER_DECODE_H

#include <stddef.h>
#include <stdint.h>

#include "viewer/server/names.h"

#define DECODE_BODY_MAX		(32u << 20)	/* bytes of a request by HTTP */

/* What one request may cost. */
struct decode_limits {
	size_t body;			/* its bytes */
	size_t memory;			/* bytes its messages may ask for */
	uint64_t events;		/* samples in it, at most UINT32_MAX */
};

/* Of a request by HTTP: whoever reaches the port can send it. */
#define DECODE_LIMITS	{ DECODE_BODY_MAX, 256u << 20, 1u << 20 }

struct decode_in {
	const void *data;		/* uncompressed */
	size_t len;
	uint64_t oldest_ns, newest_ns;	/* times outside are rejected */
	struct viewer_names *names;	/* read and added to */
	struct decode_limits limits;
};

struct decoded {
	void *data;			/* of a batch; the receiver's to free;
					 * NULL: no sample in it */
	size_t len;
	uint64_t events, rejected;	/* samples */
	uint32_t frequency;		/* Hz; 0: not said */
	char host[65], kernel[65];	/* of the first resource that says them: UTF-8,
					 * cut; "": none does */
};

/*
 * In the batch a resource's comm is the name of the process, and attributes
 * are of threads, without CPUs.  Returns 0; -EPROTO: no request, or an index
 * in it leads nowhere; -E2BIG: over a limit; -ENOMEM.
 */
int decode_request(const struct decode_in *in, struct decoded *ret);

#endif /* VIEWER_SERVER_DECODE_H */
