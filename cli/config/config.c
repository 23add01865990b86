// SPDX-License-Identifier: Apache-2.0
#include "cli/config/config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/config/env.h"
#include "cli/config/file.h"
#include "cli/config/places.h"
#include "common/log.h"
#include "common/number.h"

#define SHOWN_MAX	96	/* of a quoted word in a message, bytes */

struct loading {
	struct config *c;
	config_say *say;
	const char *section;
	struct config_value *value;	/* of this section */
	uint32_t file;		/* that is being read, or that a message is
				 * about */
	size_t left;		/* bytes that files may still have */
	bool skip;		/* an unknown section: reported before */
	bool open;		/* everybody can read the file */
	bool strict;		/* it takes effect with root's rights */
};

/* --- messages ------------------------------------------------------------- */

const char *config_path(const struct config *c, uint32_t file)
{
	if (file < c->n_files)
		return c->file[file];
	return CONFIG_PATH_DEFAULT;
}

void config_log(const char *path, uint32_t line, bool warning,
		const char *text)
{
	char at[16] = "";

	if (line)
		snprintf(at, sizeof(at), ":%u", line);
	if (warning)
		log_warn("%s%s: %s", path, at, text);
	else
		log_err("%s%s: %s", path, at, text);
}

__attribute__((format(printf, 3, 4))) static void
config_mistake(struct loading *l, uint32_t line, const char *fmt, ...)
{
	struct config *c = l->c;
	char text[512];
	va_list ap;

	if (++c->mistakes > CONFIG_MISTAKES_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	l->say(config_path(c, l->file), line, false, text);
	if (c->mistakes == CONFIG_MISTAKES_MAX)
		l->say(config_path(c, l->file), line, false,
		       "too many mistakes: the rest is not reported");
}

static const char *config_quote(const char *s, char out[SHOWN_MAX])
{
	return log_quote(s, strlen(s), out, SHOWN_MAX);
}

/* --- lines of the file ---------------------------------------------------- */

static void config_on_mistake(void *arg, uint32_t line, const char *text)
{
	config_mistake(arg, line, "%s", text);
}

/* The receiver of this name, with the values that earlier files gave it. */
static struct config_more *config_find_more(struct config *c, const char *name)
{
	for (unsigned int i = 0; i < c->n_more; i++) {
		if (!strcmp(c->more[i].name, name))
			return &c->more[i];
	}
	if (c->n_more < CONFIG_MORE_MAX)
		return &c->more[c->n_more];
	return NULL;
}

static void config_start_more(struct loading *l, uint32_t line,
			      const char *section, const char *name)
{
	struct config_more *m = config_find_more(l->c, name);
	char q[SHOWN_MAX];

	l->skip = true;
	if (strcmp(section, config_keys[KEY_ENDPOINT].section)) {
		config_mistake(l, line,
				      "[%s] takes no second name: write [%s]",
				      section, section);
		return;
	}
	if (!m) {
		config_mistake(
			l, line, "there are more than %d additional receivers",
			CONFIG_MORE_MAX);
		return;
	}
	if (m->line && m->file == l->file) {
		config_mistake(
			l, line,
			"[export \"%s\"] is in line %u already: give each receiver a name of its own",
			config_quote(name, q), m->line);
		return;
	}
	l->skip = false;
	l->value = m->value;
	l->c->n_more += !m->line;
	m->file = l->file;
	m->line = line;
	m->name = name;
}

static void config_on_section(void *arg, uint32_t line, const char *section,
			      const char *name)
{
	struct loading *l = arg;
	const char *like;
	char q[SHOWN_MAX];

	l->section = section;
	l->value = l->c->value;
	l->skip = !section || !config_section_known(section);
	if (!l->skip && name) {
		config_start_more(l, line, section, name);
		return;
	}
	if (!section || !l->skip)
		return;
	like = config_key_like(NULL, section);
	if (like)
		config_mistake(
			l, line, "there is no section [%s]: did you mean [%s]?",
			config_quote(section, q), like);
	else
		config_mistake(
			l, line,
			"there is no section [%s]; `trifold check-config --defaults` shows all",
			config_quote(section, q));
}

static void config_unknown_key(struct loading *l, uint32_t line,
			       const char *key)
{
	enum config_id elsewhere = config_key_find(NULL, key);
	const char *like = config_key_like(l->section, key);
	char q[SHOWN_MAX];

	config_quote(key, q);
	if (elsewhere != KEY__COUNT)
		config_mistake(l, line, "%s belongs in [%s], not [%s]",
				      q, config_keys[elsewhere].section,
				      l->section);
	else if (like)
		config_mistake(l, line,
				      "[%s] has no key %s: did you mean %s?",
				      l->section, q, like);
	else
		config_mistake(
			l, line,
			"[%s] has no key %s; `trifold check-config --defaults` shows all",
			l->section, q);
}

static void config_bad_value(struct loading *l, uint32_t line,
			     const struct config_key *k, const char *value,
			     const char *wanted)
{
	const char *shown = "...", *hint = "";
	char q[SHOWN_MAX];

	if (!config_key_hides(k, value))
		shown = config_quote(value, q);
	if (strstr(value, " #"))
		hint = " (a comment needs a line of its own)";
	config_mistake(l, line, "%s needs %s, not \"%s\"%s", k->name, wanted, shown, hint);
}

static void config_on_key(void *arg, uint32_t line, const char *key,
			  const char *value)
{
	struct loading *l = arg;
	const char *wanted;
	struct config_value *v;
	enum config_id id;
	char buf[160];

	if (l->skip)
		return;
	if (!l->section) {
		config_mistake(l, line,
				      "write a [section] before the first key");
		return;
	}
	id = config_key_find(l->section, key);
	if (id == KEY__COUNT) {
		config_unknown_key(l, line, key);
		return;
	}
	if (l->value != l->c->value && !config_key_of_more(id)) {
		config_mistake(
			l, line, "%s is of the first receiver only: set it in [%s]",
			key, l->section);
		return;
	}
	v = &l->value[id];
	if (v->line && v->file == l->file) {
		config_mistake(
			l, line,
			"%s was set in line %u already: remove one of them",
			key, v->line);
		return;
	}
	/* it overrides an earlier file, also when it is wrong */
	*v = (struct config_value){
		.text = config_keys[id].def, .file = l->file, .line = line,
	};
	if (!*value)
		return;			/* the default */
	wanted = config_key_check(&config_keys[id], value, buf, sizeof(buf));
	if (wanted) {
		config_bad_value(l, line, &config_keys[id], value, wanted);
		v->wrong = true;
		return;
	}
	v->text = value;
	v->source = FROM_FILE;
}

/* --- the file ------------------------------------------------------------- */

static void config_check_owner(struct loading *l, const char *path, const struct stat *st)
{
	char text[PATH_MAX + 128] = "";

	if (st->st_uid != 0)
		snprintf(text, sizeof(text), "it belongs to user %u, but takes "
			 "effect with root's rights: chown root %s",
			 (unsigned int)st->st_uid, path);
	else if (st->st_mode & (S_IWGRP | S_IWOTH))
		snprintf(text, sizeof(text), "others than root may write it, and it takes "
			 "effect with root's rights: chmod go-w %s", path);
	if (!*text)
		return;
	l->c->mistakes += l->strict;
	l->say(path, 0, !l->strict, text);
}

/* Read into *text (malloc).  0, or -errno; 1 when a mistake was reported. */
static int config_config_read_text(struct loading *l, int fd, char **text, size_t *len)
{
	const char *before = "";
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode)) {
		config_mistake(l, 0, "this is not a regular file");
		return 1;
	}
	config_check_owner(l, config_path(l->c, l->file), &st);
	l->open = st.st_mode & S_IROTH;
	*text = malloc(l->left + 1);
	if (!*text)
		return -ENOMEM;
	for (*len = 0; *len <= l->left; *len += (size_t)n) {
		n = read(fd, *text + *len, l->left + 1 - *len);
		if (n < 0)
			return -errno;
		if (n == 0)
			return 0;
	}
	if (l->file)
		before = ", together with those before it";
	config_mistake(l, 0, "the file is larger than %d bytes%s", CONFIG_FILE_MAX, before);
	return 1;
}

static void config_check_secrets(struct loading *l,
				 const struct config_value *v)
{
	for (int i = 0; i < KEY__COUNT; i++) {
		if (l->open && config_keys[i].secret && v[i].source == FROM_FILE &&
		    v[i].file == l->file)
			l->say(config_path(l->c, l->file), v[i].line, true,
			       "any user can read this file: chmod o-r, if the value is a secret");
	}
}

static void config_check_key_file(struct loading *l,
				  const struct config_value *v)
{
	l->file = v[KEY_CLIENT_KEY].file;
	if (v[KEY_CLIENT_KEY].source == FROM_FILE &&
	    !*v[KEY_CLIENT_CERT].text)
		config_mistake(
			l, v[KEY_CLIENT_KEY].line,
			"client_key without client_certificate: set both");
}

static void config_check_more(struct loading *l)
{
	char q[SHOWN_MAX];

	for (unsigned int i = 0; i < l->c->n_more; i++) {
		const struct config_more *m = &l->c->more[i];

		l->file = m->file;
		if (!*m->value[KEY_ENDPOINT].text &&
		    !m->value[KEY_ENDPOINT].wrong)
			config_mistake(
				l, m->line, "[export \"%s\"] needs an endpoint",
				config_quote(m->name, q));
		config_check_key_file(l, m->value);
	}
}

static void config_config_parse(struct loading *l, char *text, size_t len)
{
	static const struct config_file_ops ops = {
		.section = config_on_section, .key = config_on_key, .mistake =
			config_on_mistake,
	};

	l->section = NULL;
	l->skip = false;
	l->value = l->c->value;
	config_file_parse(text, len, &ops, l);
}

/* Read another file; takes over path (malloc). */
static int config_read_file(struct loading *l, char *path)
{
	struct config *c = l->c;
	/* a FIFO or device must not block */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	char **own = &c->own[2 * c->n_files];
	size_t len = 0;
	int r;

	l->file = c->n_files++;
	c->file[l->file] = own[0] = path;
	if (fd < 0)
		r = -errno;
	else
		r = config_config_read_text(l, fd, &own[1], &len);
	if (fd >= 0)
		close(fd);
	if (r < 0 && r != -ENOMEM)
		config_mistake(l, 0, "cannot be read: %s", strerror(-r));
	if (r < 0)
		return r;
	if (!r) {
		l->left -= len;
		config_config_parse(l, own[1], len);
	}
	config_check_secrets(l, c->value);
	for (unsigned int i = 0; i < c->n_more; i++)
		config_check_secrets(l, c->more[i].value);
	return 0;
}

static void config_check_dir(struct loading *l, const char *dir)
{
	struct stat st;

	/* a writer of the directory chooses its files, old ones of root too */
	if (stat(dir, &st) == 0)
		config_check_owner(l, dir, &st);
}

static int config_read_places(struct loading *l, const char *vendor,
			      const char *admin, struct config_places *p)
{
	int r = config_places_find(vendor, admin, p);
	const char *text;

	if (r == -ENOMEM)
		return r;
	if (r) {
		text = strerror(-r);
		if (r == -E2BIG)
			text = "more than 32 files: this is one file too many";
		l->c->mistakes++;
		l->say(p->failed, 0, false, text);
		return r;
	}
	for (unsigned int i = 0; i < p->n_dirs; i++)
		config_check_dir(l, p->dir[i]);
	for (unsigned int i = 0; i < p->n && r != -ENOMEM; i++) {
		r = config_read_file(l, p->file[i]);
		p->file[i] = NULL;
	}
	return r;
}

/* --- what overrides the files --------------------------------------------- */

static void config_from_environment(struct config *c, enum config_id id)
{
	struct config_value *v = &c->value[id];

	for (int profiles = 1; profiles >= 0; profiles--) {
		char name[64];
		const char *s;

		config_key_variable(&config_keys[id], profiles, name);
		if (*name)
			s = getenv(name);
		else
			s = NULL;
		if (!s || !*s)
			continue;
		v->text = s;
		v->source = FROM_VARIABLE;
		memcpy(v->variable, name, sizeof(name));
		return;
	}
}

static void config_from_options(struct config *c, enum config_id id,
				const struct options *o)
{
	const struct config_key *k = &config_keys[id];
	const char *s = NULL;

	if (k->flag && o)
		s = options_given(o, k->flag);
	if (!s)
		return;
	if (k->flag_value)
		c->value[id].text = k->flag_value;
	else
		c->value[id].text = s;
	c->value[id].source = FROM_FLAG;
}

/* Check what is outside of the files: a file's values are checked as it is read,
 * numbers of options by options_parse(), other variables by exporterd. */
static void config_check_beyond_file(struct loading *l, enum config_id id)
{
	const struct config_value *v = &l->c->value[id];
	const struct config_key *k = &config_keys[id];
	char what[64], text[512], q[SHOWN_MAX], buf[128];
	const char *wanted, *shown = "...";

	if ((k->kind != KIND_URL && k->kind != KIND_LISTEN) || !*v->text ||
	    (v->source != FROM_FLAG && v->source != FROM_VARIABLE))
		return;
	wanted = config_key_check(k, v->text, buf, sizeof(buf));
	if (!wanted)
		return;
	if (v->source == FROM_FLAG)
		snprintf(what, sizeof(what), "--%s", k->flag);
	else
		snprintf(what, sizeof(what), "%s", v->variable);
	if (!config_key_hides(k, v->text))
		shown = config_quote(v->text, q);
	snprintf(text, sizeof(text), "needs %s, not \"%s\"", wanted, shown);
	l->c->mistakes++;
	l->say(what, 0, false, text);
}

static void config_init_values(struct config *c)
{
	memset(c, 0, sizeof(*c));
	for (int i = 0; i < KEY__COUNT; i++) {
		c->value[i].text = config_keys[i].def;
		for (int j = 0; j < CONFIG_MORE_MAX; j++)
			c->more[j].value[i].text = config_keys[i].def;
	}
}

int config_parse(struct config *c, const char *path, char *text, size_t len,
		 config_say *say)
{
	struct loading l = { .c = c, .say = say };

	config_init_values(c);
	c->file[c->n_files++] = path;
	c->own[0] = text;
	config_config_parse(&l, text, len);
	config_check_more(&l);
	if (c->mistakes)
		return -EINVAL;
	return 0;
}

/* Apply variables and options, after the files. */
static int config_set_beyond_file(struct loading *l, const struct options *o)
{
	const struct config_more *homeless;
	struct config *c = l->c;

	config_check_more(l);
	homeless = config_env_number(c);
	if (homeless) {
		l->file = homeless->file;
		config_mistake(
			l, homeless->line,
			"no number is left for this receiver: unset some TRIFOLD_EXPORTER_<N>_* variables");
	}
	if (config_env_make(c))
		return -ENOMEM;
	for (int i = 0; i < KEY__COUNT; i++) {
		config_from_environment(c, i);
		config_from_options(c, i, o);
		config_check_beyond_file(l, i);
	}
	config_check_key_file(l, c->value);
	if (c->mistakes)
		return -EINVAL;
	return 0;
}

int config_load_below(struct config *c, const char *vendor, const char *admin,
		      const struct options *o, config_say *say)
{
	struct config_places p;
	struct loading l = {
		.c = c, .say = say, .left = CONFIG_FILE_MAX,
		/* `trifold run` acts on it as root, whoever reads it */
		.strict = o || geteuid() == 0,
	};
	int r;

	config_init_values(c);
	r = config_read_places(&l, vendor, admin, &p);
	config_places_free(&p);
	if (r == -ENOMEM)
		return r;
	return config_set_beyond_file(&l, o);
}

int config_load(struct config *c, const char *path, const struct options *o,
		config_say *say)
{
	struct loading l = {
		.c = c, .say = say, .left = CONFIG_FILE_MAX,
		.strict = o || geteuid() == 0,
	};
	char *copy;
	int r;

	if (!path)
		return config_load_below(c, CONFIG_DIR_VENDOR, CONFIG_DIR_ADMIN, o, say);
	config_init_values(c);
	copy = strdup(path);
	if (copy)
		r = config_read_file(&l, copy);
	else
		r = -ENOMEM;
	if (r == -ENOMEM)
		return r;
	return config_set_beyond_file(&l, o);
}

void config_fini(struct config *c)
{
	for (int i = 0; i < CONFIG_ENV_MAX; i++)
		free(c->env[i]);
	for (int i = 0; i < 2 * CONFIG_FILES_MAX; i++)
		free(c->own[i]);
	memset(c, 0, sizeof(*c));
}

/* --- using it ------------------------------------------------------------- */

uint32_t config_number(const struct config *c, enum config_id id)
{
	uint64_t v = 0;

	/* config_key_check() has accepted it */
	number_parse(c->value[id].text, 0, UINT32_MAX, &v);
	return (uint32_t)v;
}

static bool config_yes(const struct config *c, enum config_id id)
{
	return !strcmp(c->value[id].text, "yes");
}

void config_apply_key(const struct config *c, enum config_id id,
		      struct options *o)
{
	const char *text = c->value[id].text;

	switch (id) {
	case KEY_FREQUENCY:
		o->frequency = config_number(c, id);
		break;
	case KEY_INTERVAL:
		o->interval = config_number(c, id);
		break;
	case KEY_INCLUDE_SELF:
		o->include_self = config_yes(c, id);
		break;
	case KEY_SHOW_LOOPS:
		o->show_loops = config_yes(c, id);
		break;
	case KEY_BUDGET:
		o->table_budget = config_number(c, id);
		break;
	case KEY_IDLE:
		o->table_idle = config_number(c, id);
		break;
	case KEY_CPU_SHARE:
		o->cpu_share = config_number(c, id);
		break;
	case KEY_LINES_SHARE:
		o->lines_share = config_number(c, id);
		break;
	case KEY_VERBOSE:
		o->verbose = config_yes(c, id);
		break;
	case KEY_PAGE:
		o->no_page = !config_yes(c, id);
		break;
	case KEY_LISTEN:
		if (*text)
			o->listen = text;
		else
			o->listen = NULL;
		break;
	case KEY_MEMORY:
		o->page_memory = config_number(c, id);
		break;
	case KEY_KEEP:
		o->page_keep = config_number(c, id);
		break;
	case KEY_OTLP:
		o->page_otlp = config_yes(c, id);
		break;
	default:		/* exporterd's: config_env_export() */
		break;
	}
}

void config_apply(const struct config *c, struct options *o)
{
	for (int i = 0; i < KEY__COUNT; i++)
		config_apply_key(c, i, o);
	o->config = c;
}

static const char *config_hide_user(const char *url, char *out, size_t size)
{
	const char *host = strstr(url, "//"), *end, *at, *rest = url, *hidden = "";
	char q[512];
	int scheme = 0;

	if (host)
		host += 2;
	else
		host = url;
	end = host + strcspn(host, "/?#");
	at = memrchr(host, '@', (size_t)(end - host));
	if (at) {
		scheme = (int)(host - url);
		hidden = "(hidden)@";
		rest = at + 1;
	}
	log_quote(rest, strcspn(rest, "?#"), q, sizeof(q));
	snprintf(out, size, "%.*s%s%s", scheme, url, hidden, q);
	return out;
}

const char *config_shown(const struct config_value *v, enum config_id id,
			 char *out, size_t size)
{
	const char *s = v[id].text;

	if (config_keys[id].kind == KIND_URL)
		return config_hide_user(s, out, size);
	if (config_keys[id].secret && *s)
		s = "(hidden)";
	return log_quote(s, strlen(s), out, size);
}

const char *config_origin(const struct config *c,
			  const struct config_value *values, enum config_id id,
			  char *out, size_t size)
{
	const struct config_value *v = &values[id];

	switch (v->source) {
	case FROM_FILE:
		snprintf(out, size, "%s:%u", config_path(c, v->file), v->line);
		break;
	case FROM_VARIABLE:
		snprintf(out, size, "%s", v->variable);
		break;
	case FROM_FLAG:
		snprintf(out, size, "--%s", config_keys[id].flag);
		break;
	case FROM_DEFAULT:
		snprintf(out, size, "default");
	}
	return out;
}
