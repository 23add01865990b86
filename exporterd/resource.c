// SPDX-License-Identifier: Apache-2.0
#include "exporterd/resource.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "common/log.h"

static const char *env(const char *name)
{
	const char *s = getenv(name);

	return s && *s ? s : NULL;
}

static int set(struct pairs *p, const char *key, const char *value)
{
	return pairs_set(p, key, strdup(value), strcmp);
}

static int of_kernel(struct pairs *p)
{
	struct utsname u;
	int r;

	if (uname(&u) < 0)
		return 0;
	r = set(p, "host.name", u.nodename);
	if (r == 0)
		r = set(p, "host.arch",
			strcmp(u.machine, "x86_64") == 0 ? "amd64" :
			strcmp(u.machine, "aarch64") == 0 ? "arm64" :
			u.machine);
	if (r == 0)
		r = set(p, "os.type", "linux");
	return r;
}

/* Any mistake voids the whole variable (specification, resource SDK). */
static int of_variable(struct pairs *p)
{
	static const char which[] = "OTEL_RESOURCE_ATTRIBUTES";
	char *copy, *rest, *key, *value;
	const char *s = env(which);
	struct pairs got = { 0 };
	bool bad = false;
	int r = 0;

	if (!s)
		return 0;
	copy = rest = strdup(s);
	if (!copy)
		return -ENOMEM;
	while (r == 0 && pairs_next(&rest, &key, &value, &bad)) {
		bad = !percent_decode(key) || !*key;
		if (bad)
			break;
		r = set(&got, key, value);
	}
	if (bad)
		log_err("%s: write key=value,key=value, special characters as %%XX; ignored",
			which);
	for (size_t i = 0; i < got.n && r == 0 && !bad; i++)
		r = set(p, got.v[2 * i], got.v[2 * i + 1]);
	pairs_fini(&got);
	free(copy);
	return r;
}

int resource_load(struct pairs *p)
{
	const char *name = env("OTEL_SERVICE_NAME");
	int r = of_kernel(p);

	if (r == 0)
		r = of_variable(p);
	if (r == 0 && name)
		r = set(p, "service.name", name);
	return r;
}
