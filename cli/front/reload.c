// SPDX-License-Identifier: Apache-2.0
#include "cli/front/reload.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/config/env.h"
#include "cli/supervisor/ask.h"
#include "common/log.h"

/* The recorder has one frequency for its whole file. */
static bool reload_needs_restart(const struct options *o, enum config_id id)
{
	return config_keys[id].owner == OBEYS_NEXT_START ||
	       (id == KEY_FREQUENCY && o->output);
}

/* The hub is told at its start whether servers may be asked: who begins to ask them waits. */
static bool reload_begins_servers(const struct config *was, enum config_id id)
{
	return id == KEY_DEBUGINFOD_URLS && !*was->value[id].text;
}

static const struct config_more *reload_find_more(const struct config *c,
						  const char *name)
{
	for (unsigned int i = 0; i < c->n_more; i++) {
		if (!strcmp(c->more[i].name, name))
			return &c->more[i];
	}
	return NULL;
}

static bool reload_is_same(const struct config_more *a,
			   const struct config_more *b)
{
	for (int i = 0; i < KEY__COUNT; i++) {
		if (strcmp(a->value[i].text, b->value[i].text))
			return false;
	}
	return true;
}

static void reload_say_more(struct console *c, const struct config_more *m, const char *is)
{
	char q[96];

	console_say(c, "configuration: [export \"%s\"] %s now",
		    log_quote(m->name, strlen(m->name), q, sizeof(q)), is);
}

static bool reload_compare_more(const struct config *was,
				const struct config *is, struct console *c)
{
	bool any = false;

	for (unsigned int i = 0; i < was->n_more; i++) {
		const struct config_more *m = &was->more[i], *now = reload_find_more(is, m->name);

		if (now && reload_is_same(m, now))
			continue;
		if (now)
			reload_say_more(c, m, "is different");
		else
			reload_say_more(c, m, "is gone");
		any = true;
	}
	for (unsigned int i = 0; i < is->n_more; i++) {
		if (reload_find_more(was, is->more[i].name))
			continue;
		reload_say_more(c, &is->more[i], "is there");
		any = true;
	}
	return any;
}

static bool reload_files_of(const struct config_value *v)
{
	return *v[KEY_CA].text || *v[KEY_CLIENT_CERT].text ||
	       *v[KEY_HEADERS_FILE].text;
}

/* A reload also means that a certificate was renewed. */
static bool reload_has_files(const struct config *c)
{
	bool any = reload_files_of(c->value);

	for (unsigned int i = 0; i < c->n_more; i++)
		any |= reload_files_of(c->more[i].value);
	return any;
}

/* Append to " NAME, NAME". */
static void reload_append(char *names, size_t size, const char *name)
{
	size_t n = strlen(names);
	const char *before = " ";

	if (n)
		before = ", ";
	snprintf(names + n, size - n, "%s%s", before, name);
}

/* Log what changed; returns the programs that use it. later: " NAME, NAME" of
 * keys that wait for the next start. */
static unsigned int reload_compare(const struct options *o,
				   const struct config *was,
				   const struct config *is, struct console *c,
				   char *later, size_t size)
{
	static const enum program who[] = {
		[OBEYS_EXPORTER] = PROGRAM_EXPORTER,
		[OBEYS_LOADER] = PROGRAM_LOADER,
	};
	unsigned int which = 0;

	later[0] = '\0';
	for (int i = 0; i < KEY__COUNT; i++) {
		const char *when = "now";
		char value[512];

		if (!strcmp(was->value[i].text, is->value[i].text))
			continue;
		if (reload_needs_restart(o, i) || reload_begins_servers(was, i)) {
			when = "at the next start";
			reload_append(later, size, config_keys[i].name);
		} else {
			which |= 1u << who[config_keys[i].owner];
		}
		console_say(c, "configuration: %s of [%s] is \"%s\" %s",
			    config_keys[i].name, config_keys[i].section,
			    config_shown(is->value, i, value, sizeof(value)), when);
	}
	if (reload_compare_more(was, is, c) || reload_has_files(is))
		which |= 1u << PROGRAM_EXPORTER;
	return which;
}

bool reload_possible(const struct options *o, const struct config *fresh)
{
	if (config_env_network(fresh) || o->output)
		return true;
	config_log(config_path(fresh, fresh->value[KEY_ENDPOINT].file),
		   fresh->value[KEY_ENDPOINT].line, false,
		   "no endpoint is left, and no --output was asked for");
	return false;
}

uint32_t reload(struct options *o, struct config *now, struct config *fresh,
		struct console *c)
{
	char later[256];
	uint32_t which = reload_compare(o, now, fresh, c, later, sizeof(later));

	config_fini(now);
	*now = *fresh;
	for (int i = 0; i < KEY__COUNT; i++) {
		/* the page's address stays, but its text belonged to the old
		 * configuration */
		if (!reload_needs_restart(o, i) || i == KEY_LISTEN)
			config_apply_key(now, i, o);
	}
	if (!*later)
		console_say(c, "Reloaded.");
	else if (strchr(later, ','))
		console_say(c, "Reloaded.%s take effect at the next start.", later);
	else
		console_say(c, "Reloaded.%s takes effect at the next start.", later);
	return which;
}
