// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/config/keys.h"
#include "common/log.h"

#define WIDTH	72

/* Text that flows; col: 0 at the begin of a line. */
struct flow {
	size_t col;
};

static void put_char(char c, bool dashes)
{
	if (c == '\\')
		fputs("\\e", stdout);
	else if (c == '-' && dashes)
		fputs("\\-", stdout);	/* not a hyphen: it is to be typed */
	else
		putchar(c);
}

static bool ends_sentence(const char *s, size_t len)
{
	while (len && strchr(")]\"'`", s[len - 1]))
		len--;
	return len && strchr(".!?", s[len - 1]);
}

static void end_line(struct flow *f)
{
	if (f->col)
		putchar('\n');
	f->col = 0;
}

/* mdoc wants each sentence on a line of its own. */
static void put_word(struct flow *f, const char *s, size_t len)
{
	bool dashes = memmem(s, len, "--", 2) || *s == '-' || s[1] == '-';

	if (f->col && f->col + 1 + len > WIDTH)
		end_line(f);
	if (f->col)
		putchar(' ');
	else if (*s == '.' || *s == '\'')
		fputs("\\&", stdout);
	for (size_t i = 0; i < len; i++)
		put_char(s[i], dashes);
	f->col += 1 + len;
	if (ends_sentence(s, len))
		end_line(f);
}

static void put_words(struct flow *f, const char *s, size_t len)
{
	const char *end = s + len;

	while (s < end) {
		size_t n = 0;

		while (s + n < end && s[n] != ' ' && s[n] != '\n')
			n++;
		if (n)
			put_word(f, s, n);
		s += n < (size_t)(end - s) ? n + 1 : n;
	}
}

static void put_literal(const char *s, size_t len)
{
	if (len && (*s == '.' || *s == '\''))
		fputs("\\&", stdout);
	for (size_t i = 0; i < len; i++)
		put_char(s[i], true);
	putchar('\n');
}

/* Lines that begin with a blank stay as they are; an empty line begins a
 * paragraph. */
static void put_details(const char *s)
{
	struct flow f = { 0 };
	bool literal = false;

	if (*s != ' ')		/* a display begins a paragraph */
		printf(".Pp\n");
	while (*s) {
		size_t len = strcspn(s, "\n");
		bool indented = *s == ' ';

		if (indented != literal) {
			end_line(&f);
			printf(indented ? ".Bd -literal\n" : ".Ed\n");
			literal = indented;
		}
		if (!len) {
			end_line(&f);
			printf(".Pp\n");
		} else if (literal) {
			put_literal(s, len);
		} else {
			put_words(&f, s, len);
		}
		s += len + (s[len] == '\n');
	}
	end_line(&f);
	if (literal)
		printf(".Ed\n");
}

static void put_option(const struct option_def *d)
{
	char buf[OPTION_HELP_MAX];
	const char *help = option_help_text(d, buf, sizeof(buf));
	struct flow f = { 0 };

	printf(".It Fl \\-%s", d->name);
	if (d->value)
		printf(" Ar %s", d->value);
	putchar('\n');
	put_words(&f, help, strlen(help));
	end_line(&f);
}

static void put_command(const struct command *c)
{
	printf(".Ss %s\n.Bd -literal\n", c->name);
	printf("trifold %s ", c->name);
	put_literal(c->usage, strlen(c->usage));
	printf(".Ed\n.Pp\n%s.\n.Bl -tag -width Ds\n", c->summary);
	for (size_t i = 0; i < c->n_options; i++) {
		if (c->options[i].help)
			put_option(&c->options[i]);
	}
	put_option(&option_help);
	printf(".El\n");
	if (c->details)
		put_details(c->details);
}

static void put_commands(const struct command *commands, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (commands[i].summary)
			put_command(&commands[i]);
	}
}

static void put_key(const struct config_key *k)
{
	struct flow f = { 0 };
	char variable[64];

	printf(".It Cm %s\n", k->name);
	put_words(&f, k->help, strlen(k->help));
	end_line(&f);
	printf("Default:\n");
	printf(*k->def ? ".Ql %s .\n" : "none.\n", k->def);
	if (k->flag)
		printf("Option:\n.Fl \\-%s .\n", k->flag);
	for (int profiles = 1; profiles >= 0; profiles--) {
		config_key_variable(k, profiles, variable);
		if (*variable)
			printf("Variable:\n.Ev %s .\n", variable);
	}
}

static void put_keys(void)
{
	const char *section = "";

	for (int i = 0; i < KEY__COUNT; i++) {
		const struct config_key *k = &config_keys[i];

		if (strcmp(section, k->section))
			printf("%s.Ss %s\n.Bl -tag -width Ds\n",
			       *section ? ".El\n" : "", k->section);
		section = k->section;
		put_key(k);
	}
	printf(".El\n");
}

static int manual_copy(const char *path, const struct command *commands,
		       size_t n)
{
	FILE *from = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	int r;

	if (!from)
		return -1;
	while (getline(&line, &cap, from) > 0) {
		if (!strcmp(line, "@COMMANDS@\n"))
			put_commands(commands, n);
		else if (!strcmp(line, "@KEYS@\n"))
			put_keys();
		else
			fputs(line, stdout);
	}
	r = ferror(from) ? -1 : 0;
	free(line);
	fclose(from);
	return r;
}

int manual_run(const struct options *o, const struct command *commands,
	       size_t n)
{
	if (!o->file) {
		log_err("manual needs a FILE");
		return EXIT_USAGE;
	}
	if (manual_copy(o->file, commands, n)) {
		log_err("%s: %m", o->file);
		return 1;
	}
	if (fflush(stdout) || ferror(stdout)) {
		log_err("cannot write: %m");
		return 1;
	}
	return 0;
}
