/* SPDX-License-Identifier: Apache-2.0 */
/* request - from a batch to the body of a request */
#ifndef EXPORTERD_REQUEST_H
#define EXPORTERD_REQUEST_H

#include <stdbool.h>

#include "exporterd/otlp.h"
#include "exporterd/queue.h"
#include "ipc/batch.h"

/* Before compression.  OTLP lets a receiver refuse more than 64 MiB; the
 * OpenTelemetry collector refuses more than 20 MiB, devfiler 16 MiB. */
#define REQUEST_MAX	(16u << 20)

/*
 * Encode b, compress it if gzip, and put the result into *it (body, len,
 * raw_len, profiles).  Returns 0; -ENOMEM; -ENODATA without samples; -E2BIG
 * when it would be over REQUEST_MAX (raw_len is set).
 */
int request_make(const struct batch *b, const struct otlp_resource *extra,
		 bool gzip, struct item *it);

#endif /* EXPORTERD_REQUEST_H */
