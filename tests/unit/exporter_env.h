/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration that exporterd makes of its options and environment.  Each
 * test is a process of its own: variables set here do not stay, and c is of the
 * last load.
 */
#ifndef TESTS_EXPORTER_ENV_H
#define TESTS_EXPORTER_ENV_H

#include "exporterd/config.h"
#include "tests/unit/harness.h"
#include "tests/unit/pairs_get.h"

#define VAR	"OTEL_EXPORTER_OTLP_"

static struct exporter_config c;

static inline int load_with(const char *const *more)
{
	const char *argv[24] = {
		"exporterd", "--hub", "/run/hub", "--hub-uid", "7" };
	int n = 5;

	for (; more && *more; more++)
		argv[n++] = *more;
	exporter_config_fini(&c);
	return exporter_config_load(&c, n, (char **)argv);
}
#define LOAD(...)	load_with((const char *const []){ __VA_ARGS__, NULL })

static inline int load(void)
{
	return load_with(NULL);
}

/* Where the sanitizer looks for what exporter_config_fini() leaves. */
static void __attribute__((destructor)) unload(void)
{
	exporter_config_fini(&c);
}

static inline void set(const char *name, const char *value)
{
	char full[128];

	snprintf(full, sizeof(full), VAR "%s", name);
	setenv(full, value, 1);
}

#endif /* TESTS_EXPORTER_ENV_H */
