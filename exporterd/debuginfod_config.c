// SPDX-License-Identifier: Apache-2.0
#include "exporterd/debuginfod_config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/number.h"
#include "exporterd/endpoint.h"

/* 0 or an exit status; ours: it is not a list that was made for others. */
static int debuginfod_config_add(struct debuginfod_config *c, const char *word, bool ours)
{
	char *asked = endpoint_url(word, "/buildid");	/* can it be a base? */

	free(asked);
	if (!asked || c->n == DEBUGINFOD_SERVERS_MAX) {
		const char *why = asked ? "too many servers" :
			"not a URL of the form http://HOST:PORT or https://HOST:PORT";

		if (ours)
			log_err(DEBUGINFOD_VARIABLE ": %s", why);
		else
			log_warn("a word of DEBUGINFOD_URLS is left out: %s", why);
		return ours ? ENDPOINT_USAGE : 0;
	}
	c->urls[c->n] = strdup(word);
	if (!c->urls[c->n]) {
		log_err("out of memory");
		return 1;
	}
	c->n++;
	return 0;
}

static int debuginfod_config_urls(struct debuginfod_config *c, const char *list, bool ours)
{
	char *copy = strdup(list), *save;
	int r = copy ? 0 : 1;

	for (char *word = r ? NULL : strtok_r(copy, " \t\n", &save); word && !r;
	     word = strtok_r(NULL, " \t\n", &save))
		r = debuginfod_config_add(c, word, ours);
	free(copy);
	return r;
}

static int debuginfod_config_number(const char *name, unsigned int min, unsigned int max,
				    unsigned int *ret)
{
	const char *s = getenv(name);
	uint64_t v;

	if (!s || !*s)
		return 0;
	if (!number_parse(s, min, max, &v)) {
		log_err("%s: write a number, %u to %u", name, min, max);
		return ENDPOINT_USAGE;
	}
	*ret = (unsigned int)v;
	return 0;
}

/* 0 or an exit status. */
static int debuginfod_config_cache(struct debuginfod_config *c)
{
	const char *path = getenv(DEBUGINFOD_CACHE_VARIABLE);
	unsigned int mib = DEBUGINFOD_CACHE_MIB;
	int r = debuginfod_config_number(DEBUGINFOD_CACHE_SIZE_VARIABLE, 0,
					 DEBUGINFOD_CACHE_MIB_MAX, &mib);

	c->cache_asked = path && *path;
	if (r == 0 && c->cache_asked && (*path != '/' || !path[1])) {
		log_err(DEBUGINFOD_CACHE_VARIABLE ": name a directory by its full path");
		r = ENDPOINT_USAGE;
	}
	if (r || !mib)
		return r;
	c->cache_bytes = (uint64_t)mib << 20;
	c->cache = strdup(c->cache_asked ? path : DEBUGINFOD_CACHE);
	return c->cache ? 0 : 1;
}

int debuginfod_config_load(struct debuginfod_config *c)
{
	const char *list = getenv(DEBUGINFOD_VARIABLE);
	unsigned int mib = DEBUGINFOD_MIB;
	bool ours;
	int r;

	*c = (struct debuginfod_config){ .timeout_s = DEBUGINFOD_TIMEOUT_S };
	r = debuginfod_config_number(DEBUGINFOD_SIZE_VARIABLE, 1, DEBUGINFOD_MIB_MAX, &mib);
	if (r == 0)
		r = debuginfod_config_number(DEBUGINFOD_TIMEOUT_VARIABLE, 1,
					     DEBUGINFOD_TIMEOUT_MAX_S, &c->timeout_s);
	c->max_bytes = (uint64_t)mib << 20;
	if (r || !list || !*list)
		return r;
	ours = strcmp(list, "environment") != 0;
	if (!ours)
		list = getenv("DEBUGINFOD_URLS");
	r = list ? debuginfod_config_urls(c, list, ours) : 0;
	if (!r && c->n)
		r = debuginfod_config_cache(c);
	else if (!r)
		log_warn("no debuginfod server is named: DEBUGINFOD_URLS has none");
	return r;
}

void debuginfod_config_fini(struct debuginfod_config *c)
{
	while (c->n)
		free(c->urls[--c->n]);
	free(c->cache);
}
