// SPDX-License-Identifier: Apache-2.0
#include "cli/front/make_plan.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/env.h"
#include "cli/record/recorder_link.h"
#include "common/log.h"

_Static_assert(NUMBERS_MAX == FILTER_MAX, "as many --pid as loaderd takes");

static void make_loader(struct plan *p, const struct options *o,
			const struct target *t)
{
	plan_add(p, PROGRAM_LOADER, "--frequency=%u", o->frequency);
	for (uint32_t i = 0; i < t->pids.n; i++)
		plan_add(p, PROGRAM_LOADER, "--filter-pid=%u",
			       t->pids.v[i]);
	if (t->kind == TARGET_CGROUP)
		plan_add(p, PROGRAM_LOADER, "--filter-cgroup=%" PRIu64,
			       t->cgroup);
	if (!o->config)
		return;
	plan_add(p, PROGRAM_LOADER, "--table-budget=%u", o->table_budget);
	plan_add(p, PROGRAM_LOADER, "--idle=%u", o->table_idle);
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

/* Variables of the environment that exporterd may get, unless the configuration
 * has another value, which replaces it. */
static void make_exporter(struct plan *p, const struct options *o)
{
	static char *none[] = { NULL };
	char *const *more = none;

	if (o->config)
		more = o->config->env;
	if (o->endpoint)
		plan_add(p, PROGRAM_EXPORTER, "--endpoint=%s",
			       o->endpoint);
	for (char **e = environ; e && *e; e++) {
		if (ask_allows(PROGRAM_EXPORTER, *e) &&
		    !make_plan_hidden(*e, more))
			plan_add(p, PROGRAM_EXPORTER, "%s", *e);
	}
	for (; *more; more++)
		plan_add(p, PROGRAM_EXPORTER, "%s", *more);
}

/* The supervisor itself adds the --output that the user gave. */
static void make_recorder(struct plan *p, const struct options *o,
			  const struct target *target)
{
	recorder_link_plan(p, o, target->what);
	plan_add(p, PROGRAM_RECORDER, "--control-fd=3");
	if (!options_given(o, "output"))
		plan_add(p, PROGRAM_RECORDER, "--output=%s", o->output);
	plan_add(p, PROGRAM_EXPORTER, "--recorder-fd=3");
}

static uint32_t make_flags(const struct options *o, const struct target *t,
			   const struct live_page *page)
{
	uint32_t flags = 0;

	if (page->on)
		flags |= PLAN_PAGE;
	if (o->output)
		flags |= PLAN_RECORD;
	if (recorder_link_piped(o))
		flags |= PLAN_PIPED;
	if (o->rest[0])
		flags |= PLAN_COMMAND;
	if (t->kind == TARGET_COMMAND)
		flags |= PLAN_BELOW;
	if (o->verbose)
		flags |= PLAN_VERBOSE;
	if (o->config)
		flags |= PLAN_RELOAD;
	return flags;
}

/* trifold's processes that live as long as the hub, except daemons, which it
 * knows. */
static void make_own(struct plan *p, const struct options *o)
{
	plan_add(p, PROGRAM_HUB, "--own=%d", (int)getpid());
	plan_add(p, PROGRAM_HUB, "--own=%d", (int)getppid());
	if (o->own)
		plan_add(p, PROGRAM_HUB, "--own=%u", o->own);
}

static void make_viewer(struct plan *p, const struct options *o)
{
	plan_add(p, PROGRAM_VIEWER, "--memory=%u", o->page_memory);
	plan_add(p, PROGRAM_VIEWER, "--keep=%u", o->page_keep);
	if (o->page_otlp)
		plan_add(p, PROGRAM_VIEWER, "--otlp");
}

void make_plan_daemons(struct plan *p, const struct options *o,
		       const struct target *target, bool network)
{
	plan_add(p, PROGRAM_HUB, "--interval=%u", o->interval);
	if (o->config) {
		plan_add(p, PROGRAM_HUB, "--cpu-share=%u", o->cpu_share);
		plan_add(p, PROGRAM_HUB, "--lines-share=%u", o->lines_share);
	}
	/* nobody records: it costs less, and lines come later */
	if (o->config && !o->output)
		plan_add(p, PROGRAM_HUB, "--always-on");
	if (config_env_debuginfod(o->config))
		plan_add(p, PROGRAM_HUB, "--debuginfod");
	if (o->include_self)
		plan_add(p, PROGRAM_HUB, "--include-self");
	if (o->show_loops)
		plan_add(p, PROGRAM_HUB, "--show-loops");
	if (!network && config_env_debuginfod(o->config))
		plan_add(p, PROGRAM_EXPORTER, "--no-receiver");
	else if (!network)
		plan_add(p, PROGRAM_EXPORTER, "--no-network");
	make_exporter(p, o);
	make_loader(p, o, target);
	if (!o->no_page && o->config)
		make_viewer(p, o);
	for (int i = PROGRAM_HUB; o->verbose && i < PROGRAM_DAEMONS; i++)
		plan_add(p, i, "--debug");
}

int make_plan(struct plan *p, const struct options *o,
	      const struct target *target, const struct live_page *page,
	      bool network)
{
	plan_init(p);
	p->flags = make_flags(o, target, page);
	p->duration_ms = o->duration_ms;
	make_plan_daemons(p, o, target, network);
	make_own(p, o);
	if (page->on)
		plan_add(p, PROGRAM_VIEWER, "%s", page->viewer_env);
	for (int i = 0; i < page->sockets.n; i++)
		plan_add(p, PROGRAM_VIEWER, "--listen-fd=%d", 3 + i);
	if (o->output)
		make_recorder(p, o, target);
	if (p->full)
		log_err("the command line, the configuration and the OTEL_* "
			"variables are too long together: more than %d words, "
			"or %d KiB", PLAN_WORDS_MAX, ASK_WORDS_MAX / 1024);
	if (p->full)
		return -E2BIG;
	return 0;
}
