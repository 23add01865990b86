// SPDX-License-Identifier: Apache-2.0
#include "cli/front/make_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/record/recorder_link.h"
#include "common/log.h"

_Static_assert(NUMBERS_MAX == FILTER_MAX, "as many --pid as loaderd takes");

static void make_loader(struct plan_words *w, const struct options *o,
			const struct target *t)
{
	plan_words_add(w, PROGRAM_LOADER, "--frequency=%u", o->frequency);
	for (uint32_t i = 0; i < t->pids.n; i++)
		plan_words_add(w, PROGRAM_LOADER, "--filter-pid=%u",
			       t->pids.v[i]);
	if (t->kind == TARGET_CGROUP)
		plan_words_add(w, PROGRAM_LOADER, "--filter-cgroup=%" PRIu64,
			       t->cgroup);
	if (!o->config)
		return;
	plan_words_add(w, PROGRAM_LOADER, "--table-budget=%u", o->table_budget);
	plan_words_add(w, PROGRAM_LOADER, "--idle=%u", o->table_idle);
}

static bool make_plan_hidden(const char *var, char *const *by)
{
	size_t len = strcspn(var, "=") + 1;

	for (; *by; by++) {
		if (!strncmp(var, *by, len))
			return true;
	}
	return false;
}

/* Of our environment what exporterd may see, unless the configuration says
 * another value; then that. */
static void make_exporter(struct plan_words *w, const struct options *o)
{
	static char *none[] = { NULL };
	char *const *more = o->config ? o->config->env : none;

	if (o->endpoint)
		plan_words_add(w, PROGRAM_EXPORTER, "--endpoint=%s",
			       o->endpoint);
	for (char **e = environ; e && *e; e++) {
		if (plan_allows(PROGRAM_EXPORTER, *e) &&
		    !make_plan_hidden(*e, more))
			plan_words_add(w, PROGRAM_EXPORTER, "%s", *e);
	}
	for (; *more; more++)
		plan_words_add(w, PROGRAM_EXPORTER, "%s", *more);
}

static uint32_t make_flags(const struct options *o, const struct target *t,
			   const struct live_page *page)
{
	return (page->on ? PLAN_PAGE : 0u) | (o->output ? PLAN_RECORD : 0u) |
	       (o->rest[0] ? PLAN_COMMAND : 0u) |
	       (t->kind == TARGET_COMMAND ? PLAN_BELOW : 0u) |
	       (o->verbose ? PLAN_VERBOSE : 0u) |
	       (o->config ? PLAN_RELOAD : 0u);
}

int make_plan(struct plan_words *w, const struct options *o,
	      const struct target *target, const struct live_page *page,
	      bool network)
{
	plan_words_init(w);
	w->plan.flags = make_flags(o, target, page);
	w->plan.duration_ms = o->duration_ms;
	plan_words_add(w, PROGRAM_HUB, "--interval=%u", o->interval);
	if (!network)
		plan_words_add(w, PROGRAM_EXPORTER, "--no-network");
	make_exporter(w, o);
	make_loader(w, o, target);
	if (page->on)
		plan_words_add(w, PROGRAM_VIEWER, "%s", page->viewer_env);
	if (page->on && o->config) {
		plan_words_add(w, PROGRAM_VIEWER, "--memory=%u", o->page_memory);
		plan_words_add(w, PROGRAM_VIEWER, "--keep=%u", o->page_keep);
		if (o->page_otlp)
			plan_words_add(w, PROGRAM_VIEWER, "--otlp");
	}
	if (o->output)
		recorder_link_plan(w, o, target->what);
	if (w->full)
		log_err("the command line, the configuration and the OTEL_* "
			"variables are too long together: more than %d words, "
			"or %d KiB", PLAN_WORDS_MAX, PLAN_BYTES_MAX / 1024);
	return w->full ? -E2BIG : 0;
}
