/* SPDX-License-Identifier: Apache-2.0 */
/*
 * otlp - a batch as an OTLP ExportProfilesServiceRequest (proto 1.10 wire)
 *
 * Used by exporterd for the network and by `trifold record` for .otlp files.
 */
#ifndef EXPORTERD_OTLP_H
#define EXPORTERD_OTLP_H

#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"

/* Attributes of the host's side that go into every resource. */
struct otlp_resource {
	const char *const *pairs;	/* key, value, key, value ...; NULL ends */
};

/*
 * Encode.  extra may be NULL.  Returns 0 and malloc'ed bytes; -ENOMEM; or
 * -ENODATA for a batch without samples (an empty request must not be sent).
 */
int otlp_encode(const struct batch *b, const struct otlp_resource *extra,
		uint8_t **ret, size_t *len);

#endif /* EXPORTERD_OTLP_H */
