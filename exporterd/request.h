/* SPDX-License-Identifier: Apache-2.0 */
/* request - from a batch to the bodies of a request, one for each compression */
#ifndef EXPORTERD_REQUEST_H
#define EXPORTERD_REQUEST_H

#include "exporterd/body.h"
#include "exporterd/otlp.h"
#include "ipc/batch.h"

/* Before compression.  OTLP lets a receiver refuse more than 64 MiB; the
 * OpenTelemetry collector refuses more than 20 MiB, devfiler 16 MiB. */
#define REQUEST_MAX	(16u << 20)

struct request {
	uint8_t *raw;
	size_t len;
	uint32_t profiles;
	uint64_t samples;	/* events */
	struct body *bodies[COMPRESSION__KINDS];	/* those asked for */
};

/* Encode b.  Returns 0; -ENOMEM; -ENODATA without samples; -E2BIG when it is
 * over REQUEST_MAX (len is set).  request_fini() in any case. */
int request_init(struct request *q, const struct batch *b,
		 const struct otlp_resource *extra);
void request_fini(struct request *q);

/* Made at the first call, the request's reference; NULL when memory is
 * short. */
struct body *request_body(struct request *q, enum compression c);

#endif /* EXPORTERD_REQUEST_H */
