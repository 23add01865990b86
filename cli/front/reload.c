// SPDX-License-Identifier: Apache-2.0
#include "cli/front/reload.h"

#include <errno.h>
#include <string.h>

#include "cli/config/env.h"
#include "cli/supervisor/ask.h"
#include "common/log.h"
#include "common/log_quote.h"

/* The recorder was told the frequency, and has one for all of its file. */
static bool waits(const struct options *o, enum config_id id)
{
	return config_keys[id].owner == OBEYS_NEXT_START ||
	       (id == KEY_FREQUENCY && o->output);
}

static const struct config_more *find_more(const struct config *c,
					   const char *name)
{
	for (unsigned int i = 0; i < c->n_more; i++) {
		if (!strcmp(c->more[i].name, name))
			return &c->more[i];
	}
	return NULL;
}

static bool same(const struct config_more *a, const struct config_more *b)
{
	for (int i = 0; i < KEY__COUNT; i++) {
		if (strcmp(a->value[i].text, b->value[i].text))
			return false;
	}
	return true;
}

static bool compare_more(const struct config *was, const struct config *is,
			 struct console *c)
{
	bool any = false;

	for (unsigned int i = 0; i < was->n_more + is->n_more; i++) {
		bool old = i < was->n_more;
		const struct config_more *m = old ? &was->more[i] :
			&is->more[i - was->n_more];
		const struct config_more *other =
			find_more(old ? is : was, m->name);
		char q[96];

		/* a pair is met twice: say it once */
		if (other && (!old || same(m, other)))
			continue;
		console_say(c, "configuration: [export \"%s\"] %s now",
			    log_quote(m->name, strlen(m->name), q, sizeof(q)),
			    other ? "is different" : old ? "is gone" : "is there");
		any = true;
	}
	return any;
}

/* Who renewed a certificate says so by a reload. */
static bool has_files(const struct config *c)
{
	bool any = *c->value[KEY_CA].text || *c->value[KEY_CLIENT_CERT].text;

	for (unsigned int i = 0; i < c->n_more; i++)
		any |= *c->more[i].value[KEY_CA].text ||
		       *c->more[i].value[KEY_CLIENT_CERT].text;
	return any;
}

/* Say what changed; returns who obeys it. */
static unsigned int reload_compare(const struct options *o,
				   const struct config *was,
				   const struct config *is, struct console *c)
{
	static const enum program who[] = {
		[OBEYS_EXPORTER] = PROGRAM_EXPORTER,
		[OBEYS_LOADER] = PROGRAM_LOADER,
	};
	unsigned int which = 0;

	for (int i = 0; i < KEY__COUNT; i++) {
		char value[512];

		if (!strcmp(was->value[i].text, is->value[i].text))
			continue;
		console_say(c, "configuration: %s of [%s] is \"%s\"%s",
			    config_keys[i].name, config_keys[i].section,
			    config_shown(is->value, i, value, sizeof(value)),
			    waits(o, i) ? " at the next start" : " now");
		if (!waits(o, i))
			which |= 1u << who[config_keys[i].owner];
	}
	if (compare_more(was, is, c) || has_files(is))
		which |= 1u << PROGRAM_EXPORTER;
	return which;
}

bool reload_possible(const struct options *o, const struct config *fresh)
{
	if (config_env_network(fresh) || o->output)
		return true;
	config_log(fresh->path, fresh->value[KEY_ENDPOINT].line, false,
		   "no endpoint is left, and no --output was asked for");
	return false;
}

uint32_t reload(struct options *o, struct config *now, struct config *fresh,
		struct console *c)
{
	struct options was = *o;
	uint32_t which = reload_compare(o, now, fresh, c);

	config_fini(now);
	*now = *fresh;
	config_apply(now, o);
	/* these wait for the next start */
	o->interval = was.interval;
	o->verbose = was.verbose;
	o->page_memory = was.page_memory;
	o->page_keep = was.page_keep;
	o->page_otlp = was.page_otlp;
	if (waits(o, KEY_FREQUENCY))
		o->frequency = was.frequency;
	console_say(c, "the configuration was read again%s", which ? "" :
		    "; nothing is to be done");
	return which;
}
