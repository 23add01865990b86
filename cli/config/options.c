// SPDX-License-Identifier: Apache-2.0
#include "cli/config/options.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/config/suggest.h"
#include "profile/formats/formats.h"

void options_defaults(struct options *o)
{
	static char *nothing[] = { NULL };

	*o = (struct options){
		.frequency = FREQUENCY_DEFAULT, .interval = INTERVAL_DEFAULT,
		.rest = nothing,
	};
}

static bool options_parse_seconds(const char *s, uint64_t *ret)
{
	size_t whole = strcspn(s, "."), digits;
	uint64_t v, ms = 0;

	if (!number_span(s, whole, DURATION_MAX_S, &v))
		return false;
	if (s[whole]) {
		digits = strlen(s + whole + 1);
		if (digits > 3 || !number_span(s + whole + 1, digits, 999, &ms))
			return false;
		for (; digits < 3; digits++)
			ms *= 10;
	}
	*ret = v * 1000 + ms;
	return *ret != 0;
}

static const struct option_def option_help = {
	"help", NULL, "show this help", OPTION_FLAG, 0, 0,
	offsetof(struct options, help),
};

static const struct option_def *options_find(const struct command *c,
					     const char *name, size_t len)
{
	for (size_t i = 0; i < c->n_options; i++) {
		if (strlen(c->options[i].name) == len &&
		    !memcmp(c->options[i].name, name, len))
			return &c->options[i];
	}
	if (len == 4 && !memcmp(name, "help", 4))
		return &option_help;
	return NULL;
}

static const char *options_add_number(struct number_list *to, uint32_t v,
				      char *buf, size_t size)
{
	for (uint32_t i = 0; i < to->n; i++) {
		if (to->v[i] == v)
			return NULL;
	}
	if (to->n < NUMBERS_MAX) {
		to->v[to->n++] = v;
		return NULL;
	}
	snprintf(buf, size, "at most %u times", NUMBERS_MAX);
	return buf;
}

/* As options_store(). */
static const char *options_choose(const struct option_def *d, const char *value,
				  uint32_t *at, char *buf, size_t size)
{
	size_t len = strlen(value), n;
	uint32_t i = 0;

	for (const char *s = d->value; *s; s += n + (s[n] == '|')) {
		n = strcspn(s, "|");
		if (n == len && !memcmp(s, value, n)) {
			*at = i;
			return NULL;
		}
		i++;
	}
	snprintf(buf, size, "one of %s", d->value);
	return buf;
}

/* Returns what a value should have been, or NULL when it was stored. */
static const char *options_store(const struct option_def *d, const char *value,
				 struct options *o, char *buf, size_t size)
{
	void *at = (char *)o + d->at;
	uint64_t v = 0;

	switch (d->kind) {
	case OPTION_FLAG:
		*(bool *)at = true;
		return NULL;
	case OPTION_TEXT:
		*(const char **)at = value;
		if (*value)
			return NULL;
		return "something";
	case OPTION_NUMBER:
		if (number_parse(value, d->min, d->max, &v)) {
			*(uint32_t *)at = (uint32_t)v;
			return NULL;
		}
		snprintf(buf, size, "a number from %u to %u", d->min, d->max);
		return buf;
	case OPTION_NUMBERS:
		if (number_parse(value, d->min, d->max, &v))
			return options_add_number(at, (uint32_t)v, buf, size);
		snprintf(buf, size, "a number from %u to %u", d->min, d->max);
		return buf;
	case OPTION_SECONDS:
		if (options_parse_seconds(value, at))
			return NULL;
		return "seconds, such as 10 or 0.5";
	case OPTION_WORDS:
		break;
	case OPTION_CHOICE:
		return options_choose(d, value, at, buf, size);
	case OPTION_FORMAT:
		*(uint32_t *)at = format_named(value);
		if (*(uint32_t *)at)
			return NULL;
		return format_names(buf, size);
	}
	return "something else";
}

__attribute__((format(printf, 4, 5))) static int
options_refuse(const struct command *c, char *err, size_t size, const char *fmt,
	       ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(err, size, fmt, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < size)
		snprintf(err + n, size - (size_t)n,
			 "; see `trifold %s --help`", c->name);
	return -EINVAL;
}

static int options_refuse_unknown(const struct command *c, const char *word,
				  size_t len, char *err, size_t size)
{
	struct suggestion s;
	char name[64];

	snprintf(name, sizeof(name), "%.*s", (int)len, word);
	s = suggest(name);
	for (size_t i = 0; i < c->n_options; i++) {
		if (c->options[i].help)		/* others are hidden */
			suggest_offer(&s, c->options[i].name);
	}
	if (!s.best)
		return options_refuse(c, err, size, "unknown option --%.*s",
				      (int)len, word);
	snprintf(err, size, "unknown option --%s: did you mean --%s?", name,
		 s.best);
	return -EINVAL;
}

/* Report a word that has no place.  There are no short options: for "-o" the
 * message lists the long ones that begin with it. */
static int options_refuse_word(const struct command *c, const char *word,
			       char *err, size_t size)
{
	const char *before = "did you mean --", *hint = "";
	char meant[128] = "";

	for (size_t i = 0; word[0] == '-' && i < c->n_options; i++) {
		const struct option_def *d = &c->options[i];
		size_t n = strlen(meant);

		if (!d->help || tolower((unsigned char)word[1]) != d->name[0])
			continue;
		snprintf(meant + n, sizeof(meant) - n, "%s%s", before, d->name);
		before = " or --";
	}
	if (c->rest == REST_COMMAND)
		hint = " (a command goes behind --)";
	if (!*meant)
		return options_refuse(c, err, size, "unexpected \"%s\"%s", word, hint);
	snprintf(err, size, "unknown option -%c: %s?", word[1], meant);
	return -EINVAL;
}

/* Take argv[*i] and the words after it, up to an option. */
static int options_parse_words(int argc, char **argv, int *i,
			       struct words *words)
{
	*words = (struct words){ argv + *i, 1 };
	while (*i + 1 < argc && strncmp(argv[*i + 1], "--", 2)) {
		words->n++;
		++*i;
	}
	return 0;
}

/* The name under which an option is noted: of two names for one member the one
 * that help shows, which is the first. */
static const char *options_name(const struct command *c,
				const struct option_def *d)
{
	for (size_t i = 0; i < c->n_options; i++) {
		if (c->options[i].at == d->at)
			return c->options[i].name;
	}
	return d->name;
}

/* There is room for all options. */
static void options_note_given(struct options *o, const char *name,
			       const char *text)
{
	uint32_t i = 0;

	while (i < o->n_given && strcmp(o->given[i].name, name))
		i++;
	if (i == OPTIONS_GIVEN_MAX)
		return;
	o->given[i] = (struct given){ name, text };
	if (i == o->n_given)
		o->n_given++;
}

static int options_parse_one(const struct command *c, int argc, char **argv,
			     int *i, struct options *o, char *err, size_t size)
{
	const char *word = argv[*i] + 2, *value = NULL, *wanted;
	size_t len = strcspn(word, "=");
	const struct option_def *d = options_find(c, word, len);
	char buf[128];

	if (!d)
		return options_refuse_unknown(c, word, len, err, size);
	if (word[len])
		value = word + len + 1;
	if (d->kind == OPTION_FLAG && value)
		return options_refuse(c, err, size, "--%s takes no value",
				      d->name);
	if (d->kind != OPTION_FLAG && !value) {
		if (++*i >= argc)
			return options_refuse(c, err, size,
					      "--%s needs a value", d->name);
		value = argv[*i];
	}
	if (d->kind == OPTION_WORDS)
		return options_parse_words(argc, argv, i,
					   (void *)((char *)o + d->at));
	wanted = options_store(d, value, o, buf, sizeof(buf));
	if (wanted)
		return options_refuse(c, err, size, "--%s needs %s", d->name,
				      wanted);
	if (!value)
		value = "";
	options_note_given(o, options_name(c, d), value);
	return 0;
}

/* The place for a word that is no option, or NULL. */
static const char **options_place(const struct command *c, struct options *o)
{
	if ((c->rest == REST_FILE || c->rest == REST_FILE_WORDS) && !o->file)
		return &o->file;
	if (c->rest == REST_FILES && !o->files[0])
		return &o->files[0];
	if (c->rest == REST_FILES && !o->files[1])
		return &o->files[1];
	return NULL;
}

int options_parse(const struct command *c, int argc, char **argv,
		  struct options *o, char *err, size_t size)
{
	int i, r;

	for (i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--")) {
			if (c->rest != REST_COMMAND)
				return options_refuse(c, err, size,
						      "%s runs no command",
						      c->name);
			if (!argv[i + 1])
				return options_refuse(c, err, size,
						      "no command behind --");
			o->rest = argv + i + 1;
			return 0;
		}
		if (!strcmp(argv[i], "-h")) {
			o->help = true;
			continue;
		}
		if (strncmp(argv[i], "--", 2) && options_place(c, o)) {
			*options_place(c, o) = argv[i];
			continue;
		}
		if (strncmp(argv[i], "--", 2) && c->rest == REST_FILE_WORDS && !o->at.n) {
			options_parse_words(argc, argv, &i, &o->at);
			continue;
		}
		if (strncmp(argv[i], "--", 2))
			return options_refuse_word(c, argv[i], err, size);
		r = options_parse_one(c, argc, argv, &i, o, err, size);
		if (r)
			return r;
	}
	return 0;
}

/* An option's help; of OPTION_FORMAT it names the formats, in buf. */
static const char *options_help_text(const struct option_def *d, char *buf,
				     size_t size)
{
	char names[100], endings[160];
	size_t half;

	if (d->kind != OPTION_FORMAT)
		return d->help;
	format_names(names, sizeof(names));
	format_endings(endings, sizeof(endings));
	half = strlen(endings) / 2;
	half += strcspn(endings + half, " ");
	/* three lines, the later ones below the text of the first */
	snprintf(buf, size, "%s\n%21s(by FILE's ending: %.*s\n%21s%s)", names, "",
		 (int)half, endings, "", endings + half + !!endings[half]);
	return buf;
}

static void options_help_line(const struct option_def *d)
{
	char left[40], help[400];

	if (d->value)
		snprintf(left, sizeof(left), "--%s %s", d->name, d->value);
	else
		snprintf(left, sizeof(left), "--%s", d->name);
	printf("  %-18s", left);
	if (strlen(left) > 18)
		printf("\n%20s", "");
	printf(" %s\n", options_help_text(d, help, sizeof(help)));
}

void options_help(const struct command *c)
{
	printf("Usage: trifold %s", c->name);
	if (*c->usage)
		printf(" %s", c->usage);
	printf("\n\n%s.\n\n", c->summary);
	for (size_t i = 0; i < c->n_options; i++) {
		if (c->options[i].help)
			options_help_line(&c->options[i]);
	}
	options_help_line(&option_help);
	if (c->details)
		printf("\n%s", c->details);
}
