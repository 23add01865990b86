/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration that exporterd makes of its options and environment.  Each
 * test is a process of its own: variables set here do not stay.
 */
#ifndef TESTS_EXPORTER_ENV_H
#define TESTS_EXPORTER_ENV_H

#include "exporterd/config.h"
#include "tests/unit/harness.h"
#include "tests/unit/pairs_get.h"

#define VAR	"OTEL_EXPORTER_OTLP_"

static inline int load_with(struct exporter_config *c, const char *const *more)
{
	const char *argv[24] = {
		"exporterd", "--hub", "/run/hub", "--hub-uid", "7" };
	int n = 5;

	for (; more && *more; more++)
		argv[n++] = *more;
	return exporter_config_load(c, n, (char **)argv);
}
#define LOAD(c, ...)	load_with(c, (const char *const []){ __VA_ARGS__, NULL })

static inline int load(struct exporter_config *c)
{
	return load_with(c, NULL);
}

static inline void set(const char *name, const char *value)
{
	char full[128];

	snprintf(full, sizeof(full), VAR "%s", name);
	setenv(full, value, 1);
}

#endif /* TESTS_EXPORTER_ENV_H */
