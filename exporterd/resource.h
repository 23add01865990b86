/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource - what is said of the host in every resource
 *
 * host.name, host.arch and os.type of the kernel; OTEL_RESOURCE_ATTRIBUTES
 * wins over them, OTEL_SERVICE_NAME over both.
 */
#ifndef EXPORTERD_RESOURCE_H
#define EXPORTERD_RESOURCE_H

#include "exporterd/pairs.h"

/* Returns 0 or -ENOMEM; pairs_fini() in any case. */
int resource_load(struct pairs *p);

#endif /* EXPORTERD_RESOURCE_H */
