// SPDX-License-Identifier: Apache-2.0
#include "cli/unit/unit_config.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config/config.h"
#include "cli/config/env.h"
#include "cli/front/make_plan.h"
#include "cli/supervisor/program_table.h"
#include "common/log.h"

static bool unit_config_no_secret(const struct config *c,
				  const struct config_value *v)
{
	static const char headers[] =
		"headers: the units take no secrets from the configuration: put "
		"them into a file and name that by headers_file (docs/OPERATING.md)";
	static const char endpoint[] =
		"endpoint: the units take no password from the configuration: write "
		"the header authorization into a file for headers_file (docs/OPERATING.md)";
	const struct config_value *secret;
	const char *text, *shown;
	char url[512];

	shown = config_shown(v, KEY_ENDPOINT, url, sizeof(url));
	/* those of the environment: unit_config_is_public() */
	if (*v[KEY_HEADERS].text && v[KEY_HEADERS].source == FROM_FILE) {
		secret = &v[KEY_HEADERS];
		text = headers;
	} else if (strstr(shown, "(hidden)@") && v[KEY_ENDPOINT].source == FROM_FILE) {
		secret = &v[KEY_ENDPOINT];
		text = endpoint;
	} else {
		return true;
	}
	config_log(config_path(c, secret->file), secret->line, false, text);
	return false;
}

static bool unit_config_no_secrets(const struct config *c)
{
	bool ok = unit_config_no_secret(c, c->value);

	for (unsigned int i = 0; i < c->n_more; i++)
		ok &= unit_config_no_secret(c, c->more[i].value);
	return ok;
}

/* --- variables ----------------------------------------------------------------- */

static bool unit_config_ends_with(const char *name, size_t len, const char *end)
{
	size_t n = strlen(end);

	return len >= n && !strncasecmp(name + len - n, end, n);
}

/* What any user may read must hold no secret, whichever variable brought it. */
static bool unit_config_is_secret(const char *word)
{
	size_t len = strcspn(word, "=");
	const char *value = word + len + (word[len] == '=');
	bool url = strstr(value, "://") || unit_config_ends_with(word, len, "proxy");

	if (*word != '-' && *value && unit_config_ends_with(word, len, "HEADERS"))
		return true;
	return url && config_key_has_user(value);
}

/* The value of the configuration file that became this variable; NULL: it is of the
 * environment.  Those of further receivers are judged before. */
static const struct config_value *unit_config_of_file(const struct config *c, const char *word)
{
	for (int i = 0; i < KEY__COUNT; i++) {
		size_t len = strcspn(word, "=");
		char name[64];

		config_key_variable(&config_keys[i], false, name);
		if (c->value[i].source == FROM_FILE && strlen(name) == len &&
		    !memcmp(word, name, len))
			return &c->value[i];
	}
	return NULL;
}

static void unit_config_refuse(const struct config *c, const char *word)
{
	const struct config_value *v = unit_config_of_file(c, word);

	if (v)
		config_log(config_path(c, v->file), v->line, false,
			   "the units take no password from the configuration, for every user "
			   "could read it: write the value without it");
	else
		log_err("%.*s: the units take no headers and no password from variables, for every "
			"user could read them: headers belong into a file that headers_file names; a "
			"proxy or a server that wants a password cannot be used by the units "
			"(docs/OPERATING.md)", (int)strcspn(word, "="), word);
}

static bool unit_config_is_public(const struct config *c, const struct plan *p)
{
	bool ok = true;

	for (int i = 0; i < PROGRAM_DAEMONS; i++) {
		const char *word = NULL;

		while ((word = plan_next(p, i, word))) {
			if (!unit_config_is_secret(word))
				continue;
			unit_config_refuse(c, word);
			ok = false;
		}
	}
	return ok;
}

/* --- the files ------------------------------------------------------------------- */

/* The new file replaces the old one once it is complete. */
static int unit_config_write(int dir, const struct plan *p, enum program id)
{
	const char *name = PROGRAM_NAME(id), *word = NULL;
	char temporary[32];
	FILE *f;
	int fd, r;

	snprintf(temporary, sizeof(temporary), ".%s", name);
	unlinkat(dir, temporary, 0);
	fd = openat(dir, temporary,
		    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		f = NULL;
	else
		f = fdopen(fd, "w");
	if (!f)
		return -errno;
	fchmod(fd, 0644);	/* whatever the umask says */
	while ((word = plan_next(p, id, word)))
		fprintf(f, "%s\n", word);
	if (ferror(f) || fflush(f))
		r = -EIO;
	else
		r = 0;
	if (fclose(f) && !r)
		r = -errno;
	if (!r && renameat(dir, temporary, dir, name) < 0)
		r = -errno;
	return r;
}

static int unit_config_words(const char *path, const struct config *c)
{
	static const struct target everything = { .kind = TARGET_ALL, .ended = -1 };
	int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r = 0;
	static struct plan plan;
	struct options o;

	if (dir < 0) {
		log_err("%s: %m", path);
		return 1;
	}
	options_defaults(&o);
	config_apply(c, &o);
	plan_init(&plan);
	make_plan_daemons(&plan, &o, &everything, config_env_network(c));
	if (plan.full) {
		log_err("the configuration and the OTEL_* variables are too long together");
		r = -E2BIG;
	}
	if (!r && !unit_config_is_public(c, &plan))
		r = -EINVAL;
	for (int i = 0; i < PROGRAM_DAEMONS && !r; i++) {
		r = unit_config_write(dir, &plan, i);
		if (r)
			log_err("%s/%s: %s", path, PROGRAM_NAME(i),
				strerror(-r));
	}
	close(dir);
	if (r == -EINVAL)
		return EXIT_USAGE;
	return r != 0;
}

int unit_config_run(const struct options *given)
{
	struct config c;
	int r;

	if (!given->file) {
		log_err("unit-config: name the directory to write to");
		return EXIT_USAGE;
	}
	r = config_load(&c, NULL, given, config_log);
	if (!r && !unit_config_no_secrets(&c))
		r = -EINVAL;
	if (r == -EINVAL)
		r = EXIT_USAGE;
	else if (r)
		r = 1;
	else
		r = unit_config_words(given->file, &c);
	config_fini(&c);
	return r;
}
