// SPDX-License-Identifier: Apache-2.0
#include "cli/config/check.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cli/config/config.h"
#include "common/log.h"

/* As compilers do, so that editors find the line. */
static void config_check_say(const char *path, uint32_t line, bool warning,
			     const char *text)
{
	const char *kind = "";
	char at[16] = "";

	if (line)
		snprintf(at, sizeof(at), ":%u", line);
	if (warning)
		kind = "warning: ";
	fprintf(stderr, "%s%s: %s%s\n", path, at, kind, text);
}

static void check_show_key(const struct config *c, const struct config_value *v,
			   enum config_id id)
{
	char value[512], origin[PATH_MAX + 16];

	printf("%s = %s\t# %s\n", config_keys[id].name,
	       config_shown(v, id, value, sizeof(value)),
	       config_origin(c, v, id, origin, sizeof(origin)));
}

static void config_check_show(const struct config *c)
{
	const char *section = "";

	for (int i = 0; i < KEY__COUNT; i++) {
		if (i && strcmp(section, config_keys[i].section))
			putchar('\n');
		if (strcmp(section, config_keys[i].section))
			printf("[%s]\n", config_keys[i].section);
		section = config_keys[i].section;
		check_show_key(c, c->value, i);
	}
	for (unsigned int i = 0; i < c->n_more; i++) {
		const char *name = c->more[i].name;
		char q[512];

		printf("\n[export \"%s\"]\n", log_quote(name, strlen(name), q,
							 sizeof(q)));
		for (int k = 0; k < KEY__COUNT; k++) {
			if (config_key_of_more(k))
				check_show_key(c, c->more[i].value, k);
		}
	}
}

static void check_say_ok(const struct config *c)
{
	for (unsigned int file = 0; file < c->n_files; file++) {
		int n = 0;

		for (int i = 0; i < KEY__COUNT; i++)
			n += c->value[i].line && c->value[i].file == file;
		printf("%s: OK, %d of %d keys set\n", c->file[file], n, KEY__COUNT);
	}
	if (!c->n_files)
		printf("%s: there is no such file: the defaults hold\n",
		       config_path(c, 0));
}

static void config_check_count(const struct config *c)
{
	const char *what = config_path(c, 0), *ending = "s";

	if (c->n_files > 1)
		what = "configuration";
	if (c->mistakes == 1)
		ending = "";
	fprintf(stderr, "%s: %u mistake%s\n", what, c->mistakes, ending);
}

int check_config_run(const struct options *o)
{
	struct config c;
	int r;

	if (o->defaults) {
		config_keys_example(stdout);
		return fflush(stdout) != 0;
	}
	r = config_load(&c, o->file, NULL, config_check_say);
	if (r == -ENOMEM)
		log_err("out of memory");
	else if (r)
		config_check_count(&c);
	else if (o->effective)
		config_check_show(&c);
	else
		check_say_ok(&c);
	config_fini(&c);
	if (r == -ENOMEM)
		return 1;
	if (r)
		return EXIT_USAGE;
	return 0;
}
