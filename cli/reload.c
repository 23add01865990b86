// SPDX-License-Identifier: Apache-2.0
#include "cli/reload.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

/* The recorder was told the frequency, and has one for all of its file. */
static bool waits(const struct options *o, enum config_id id)
{
	return config_keys[id].owner == OBEYS_NEXT_START ||
	       (id == KEY_FREQUENCY && o->output);
}

/* Say what changed; returns who obeys it. */
static unsigned int compare(const struct options *o, const struct config *was,
			    const struct config *is, struct console *c)
{
	static const enum daemon_id who[] = {
		[OBEYS_EXPORTER] = DAEMON_EXPORTER,
		[OBEYS_LOADER] = DAEMON_LOADER,
	};
	unsigned int which = 0;

	for (int i = 0; i < KEY__COUNT; i++) {
		char value[512];

		if (!strcmp(was->value[i].text, is->value[i].text))
			continue;
		console_say(c, "configuration: %s of [%s] is \"%s\"%s",
			    config_keys[i].name, config_keys[i].section,
			    config_shown(is, i, value, sizeof(value)),
			    waits(o, i) ? " at the next start" : " now");
		if (!waits(o, i))
			which |= 1u << who[config_keys[i].owner];
	}
	/* who renewed a certificate says so by a reload */
	if (*is->value[KEY_CA].text || *is->value[KEY_CLIENT_CERT].text)
		which |= 1u << DAEMON_EXPORTER;
	return which;
}

static bool load(struct config *fresh, const struct options *o)
{
	int r = config_load(fresh, o->config_file, o, config_log);

	if (r)
		return false;
	if (*fresh->value[KEY_ENDPOINT].text || o->output)
		return true;
	config_log(fresh->path, fresh->value[KEY_ENDPOINT].line, false,
		   "no endpoint is left, and no --output was asked for");
	return false;
}

unsigned int reload(struct options *o, struct config *now, struct console *c)
{
	struct options was = *o;
	unsigned int which;
	struct config fresh;

	console_clear(c);
	if (!load(&fresh, o)) {
		console_say(c, "the configuration stays as it was");
		config_fini(&fresh);
		return 0;
	}
	which = compare(o, now, &fresh, c);
	config_fini(now);
	*now = fresh;
	config_apply(now, o);
	/* these wait for the next start */
	o->interval = was.interval;
	o->verbose = was.verbose;
	o->page_memory = was.page_memory;
	o->page_keep = was.page_keep;
	if (waits(o, KEY_FREQUENCY))
		o->frequency = was.frequency;
	console_say(c, "the configuration was read again%s", which ? "" :
		    "; nothing is to be done");
	return which;
}

int reload_signal(enum daemon_id id)
{
	return id == DAEMON_EXPORTER ? SIGHUP : SIGTERM;
}

bool reload_has_terminal(void)
{
	int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}
