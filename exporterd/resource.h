/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource - attributes of the host in every resource
 *
 * By the semantic conventions (1.44.0, resource/host.md, os.md, telemetry.md):
 * host.name and host.arch of uname(2); host.id of the machine-id(5); os.type,
 * os.name, os.version and os.description of os-release(5) and uname(2);
 * telemetry.distro.name and .version.  What cannot be found is left out.
 * OTEL_RESOURCE_ATTRIBUTES overrides them, OTEL_SERVICE_NAME overrides both.
 * TRIFOLD_RESOURCE_ONLY leaves out what is found and not named in it, not what is
 * configured.
 *
 * telemetry.sdk.* is not set: trifold is no SDK, and the conventions have no value
 * for its language.
 */
#ifndef EXPORTERD_RESOURCE_H
#define EXPORTERD_RESOURCE_H

#include <stdbool.h>
#include <stddef.h>

#include "common/pairs.h"
#include "profile/formats/otlp.h"

#define RESOURCE_ONLY_MAX	32	/* keys */
#define RESOURCE_PRESET_VARIABLE	"TRIFOLD_RESOURCE_PRESET"
#define RESOURCE_PER_VARIABLE		"TRIFOLD_RESOURCE_PER"
#define RESOURCE_ONLY_VARIABLE		"TRIFOLD_RESOURCE_ONLY"

/* What a resource is of, and its attributes: struct otlp_how. */
struct resource {
	struct pairs pairs;	/* of the host, and those that were configured */
	enum otlp_per per;
	char *host_name;	/* that was found, wanted or not; NULL: none was */
	char *only;		/* keys as text, cut into pieces; NULL: all */
	const char *keys[RESOURCE_ONLY_MAX + 1];
};

/* What it says in every request, whatever its receiver gets of names; borrowed from r. */
static inline struct otlp_how resource_how(const struct resource *r)
{
	struct otlp_how how = {
		.pairs = (const char *const *)r->pairs.v,
		.per = r->per,
		.host_name = r->host_name,
	};

	if (r->only)
		how.only = r->keys;
	return how;
}

/* Files are read below root; "": those of the system.  Call before exporter_confine().
 * Returns 0, -ENOMEM, or -EINVAL after a line in the log; resource_fini() in any case. */
int resource_load(struct resource *r, const char *root);
void resource_fini(struct resource *r);

/*
 * The value of a key in the text of an os-release(5) file: that of the last
 * assignment, without quotes and the backslashes in them.  False when there is
 * none, it is empty, or it does not fit.
 */
bool os_release_value(const char *text, const char *key, char *out,
		      size_t size);

#endif /* EXPORTERD_RESOURCE_H */
