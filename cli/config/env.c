// SPDX-License-Identifier: Apache-2.0
#include "cli/config/env.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXPORTERS_MAX	8	/* ENDPOINTS_MAX of exporterd/endpoint.h */

extern char **environ;

static int env_add(struct config *c, size_t *n, const char *name,
		   const char *text)
{
	if (*n == CONFIG_ENV_MAX ||
	    asprintf(&c->env[*n], "%s=%s", name, text) < 0) {
		c->env[*n] = NULL;
		return -ENOMEM;
	}
	++*n;
	return 0;
}

static bool env_is_set(unsigned int number)
{
	char start[32];
	int len = snprintf(start, sizeof(start), "TRIFOLD_EXPORTER_%u_", number);

	for (char **e = environ; *e; e++) {
		if (!strncmp(*e, start, (size_t)len))
			return true;
	}
	return false;
}

const struct config_more *config_env_number(struct config *c)
{
	unsigned int i = 0;

	for (unsigned int n = 2; n <= EXPORTERS_MAX && i < c->n_more; n++) {
		if (!env_is_set(n))
			c->more[i++].number = n;
	}
	if (i < c->n_more)
		return &c->more[i];
	return NULL;
}

static int env_add_more(struct config *c, size_t *n,
			const struct config_more *m)
{
	char name[64];
	int r = 0;

	for (int i = KEY_ENDPOINT; i <= KEY_EXPORT_PLACEHOLDERS && !r; i++) {
		if (m->value[i].source != FROM_FILE || !m->number)
			continue;
		snprintf(name, sizeof(name), "TRIFOLD_EXPORTER_%u_%s",
			 m->number, config_keys[i].variable);
		r = env_add(c, n, name, m->value[i].text);
	}
	return r;
}

int config_env_make(struct config *c)
{
	size_t n = 0;
	int r = 0;

	for (int i = 0; i < KEY__COUNT; i++) {
		struct config_value *v = &c->value[i];
		const char *set;
		char name[64];

		config_key_variable(&config_keys[i], false, name);
		if (*name)
			set = getenv(name);
		else
			set = NULL;
		/* other signals use it, also where the variable of profiles
		 * overrides it */
		if (!*name || v->source != FROM_FILE || (set && *set))
			continue;
		if (!r)
			r = env_add(c, &n, name, v->text);
	}
	for (unsigned int i = 0; i < c->n_more && !r; i++)
		r = env_add_more(c, &n, &c->more[i]);
	return r;
}

bool config_env_network(const struct config *c)
{
	/* as endpoint_named() of exporterd */
	for (char more[] = "TRIFOLD_EXPORTER_2_ENDPOINT"; more[17] <= '8';
	     more[17]++) {
		const char *s = getenv(more);

		if (s && *s)
			return true;
	}
	return *c->value[KEY_ENDPOINT].text || c->n_more;
}

bool config_env_debuginfod(const struct config *c)
{
	const char *s;

	if (c)
		s = c->value[KEY_DEBUGINFOD_URLS].text;
	else
		s = getenv(config_keys[KEY_DEBUGINFOD_URLS].variable);
	return s && *s;
}

bool config_env_export(const struct config *c)
{
	const char *metrics = getenv("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");

	return config_env_network(c) || (metrics && *metrics);
}
