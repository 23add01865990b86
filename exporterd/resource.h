/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource - attributes of the host in every resource
 *
 * By the semantic conventions (1.44.0, resource/host.md, os.md, telemetry.md):
 * host.name and host.arch of uname(2); host.id of the machine-id(5); os.type,
 * os.name, os.version and os.description of os-release(5) and uname(2);
 * telemetry.distro.name and .version.  What cannot be found is left out.
 * OTEL_RESOURCE_ATTRIBUTES overrides them, OTEL_SERVICE_NAME overrides both.
 *
 * telemetry.sdk.* is not set: trifold is no SDK, and the conventions have no value
 * for its language.
 */
#ifndef EXPORTERD_RESOURCE_H
#define EXPORTERD_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/pairs.h"

/* Files are read below root; "": those of the system.  Call before exporter_confine().
 * Returns 0 or -ENOMEM; pairs_fini() in any case. */
int resource_load(struct pairs *p, const char *root);

/*
 * The value of a key in the text of an os-release(5) file: that of the last
 * assignment, without quotes and the backslashes in them.  False when there is
 * none, it is empty, or it does not fit.
 */
bool os_release_value(const char *text, const char *key, char *out,
		      size_t size);

#endif /* EXPORTERD_RESOURCE_H */
