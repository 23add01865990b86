// SPDX-License-Identifier: Apache-2.0
#include "cli/status/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/config/config.h"
#include "cli/status/running.h"
#include "ipc/counters.h"

/* Silent: `trifold check-config` reports mistakes. */
static void doctor_debuginfod_mistake(const char *path, uint32_t line, bool warning,
				      const char *text)
{
	(void)path;
	(void)line;
	(void)warning;
	(void)text;
}

/* The number of words, separated by blanks. */
static unsigned int doctor_debuginfod_words(const char *s)
{
	unsigned int n = 0;

	while (s && *(s += strspn(s, " \t"))) {
		s += strcspn(s, " \t");
		n++;
	}
	return n;
}

static void doctor_debuginfod_config(struct doctor_debuginfod *d, const struct config *c)
{
	const char *urls = c->value[KEY_DEBUGINFOD_URLS].text;
	struct stat st;

	if (urls && !strcmp(urls, "environment"))
		urls = getenv("DEBUGINFOD_URLS");
	d->servers = doctor_debuginfod_words(urls);
	d->file_mib = config_number(c, KEY_DEBUGINFOD_SIZE);
	d->cache_mib = config_number(c, KEY_DEBUGINFOD_CACHE_SIZE);
	snprintf(d->cache, sizeof(d->cache), "%s", c->value[KEY_DEBUGINFOD_CACHE].text);
	if (stat(d->cache, &st) || !S_ISDIR(st.st_mode))
		d->cache_mib = 0;
}

static void doctor_debuginfod_export(struct doctor_export *e, const struct status *st)
{
	const struct receiver *r = st->exporter.receivers;

	*e = (struct doctor_export){ 0 };
	while (e->receivers < RECEIVERS_MAX && r->url[0]) {
		e->receivers++;
		e->delivered += r->delivered;
		e->refused += r->rejected + r->gave_up + r->queue_full;
		r++;
	}
}

void doctor_ask_running(struct doctor_host *h)
{
	struct doctor_debuginfod *d = &h->debuginfod;
	static struct config c;
	static struct status st;

	d->config = config_load(&c, NULL, NULL, doctor_debuginfod_mistake);
	if (!d->config) {
		doctor_debuginfod_config(d, &c);
		h->export.receivers = c.n_more;
		if (*c.value[KEY_ENDPOINT].text)
			h->export.receivers++;
	}
	config_fini(&c);
	d->counted = h->running && !running_status(&st, false, NULL) && st.exporter_up;
	if (d->counted)
		doctor_debuginfod_export(&h->export, &st);
	d->requests = st.exporter.debuginfod_requests;
	d->found = st.exporter.debuginfod_found;
	d->not_found = st.exporter.debuginfod_not_found;
	d->failed = st.exporter.debuginfod_failed;
	d->cached = st.exporter.debuginfod_cached;
}
