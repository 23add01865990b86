// SPDX-License-Identifier: Apache-2.0
#include "cli/config/file.h"

#include <stdio.h>
#include <string.h>

struct parser {
	const struct config_file_ops *ops;
	void *arg;
	uint32_t line;
};

static void config_file_mistake(const struct parser *p, const char *text)
{
	p->ops->mistake(p->arg, p->line, text);
}

static char *config_file_trim(char *s)
{
	size_t n;

	s += strspn(s, " \t");
	n = strlen(s);
	while (n && (s[n - 1] == ' ' || s[n - 1] == '\t'))
		s[--n] = '\0';
	return s;
}

/* "x" becomes x, in place; NULL when the second quote is not at the end. */
static char *config_file_unquote(char *s)
{
	size_t n = strlen(s);

	if (*s != '"')
		return s;
	if (n < 2 || s[n - 1] != '"')
		return NULL;
	s[n - 1] = '\0';
	return s + 1;
}

static void config_file_section(const struct parser *p, char *s)
{
	size_t n = strlen(s);
	char *name = NULL;

	if (s[n - 1] == ']') {
		s[n - 1] = '\0';
		s = config_file_trim(s + 1);
		n = strcspn(s, " \t\"[]");
		if (s[n]) {
			name = config_file_trim(s + n);
			if (*name == '"')
				name = config_file_unquote(name);
			else
				name = NULL;
			s[n] = '\0';
			if (!name || !*name || strpbrk(name, "\"[]"))
				n = 0;
		}
		if (n) {
			p->ops->section(p->arg, p->line, s, name);
			return;
		}
	}
	config_file_mistake(
		p,
		"write a section as [name] or [name \"which\"], on a line of its own");
	p->ops->section(p->arg, p->line, NULL, NULL);
}

static void file_take_key(const struct parser *p, char *s)
{
	char *eq = strchr(s, '='), *value;

	if (!eq) {
		config_file_mistake(
			p,
			"write \"key = value\", \"[section]\" or \"# comment\"");
		return;
	}
	*eq = '\0';
	s = config_file_trim(s);
	value = config_file_unquote(config_file_trim(eq + 1));
	if (!*s)
		config_file_mistake(p, "there is no key before \"=\"");
	else if (!value)
		config_file_mistake(
			p,
			"the quote at the beginning of the value is not closed at its end");
	else
		p->ops->key(p->arg, p->line, s, value);
}

static void file_take_line(const struct parser *p, char *s, size_t len)
{
	char text[80];

	if (len && s[len - 1] == '\r')
		s[--len] = '\0';
	if (len > CONFIG_LINE_MAX) {
		snprintf(text, sizeof(text), "the line is longer than %d bytes",
			 CONFIG_LINE_MAX);
		config_file_mistake(p, text);
		return;
	}
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if ((c >= 0x20 && c != 0x7f) || c == '\t')
			continue;
		snprintf(text, sizeof(text),
			 "remove the control character 0x%02x (column %zu)", c,
			 i + 1);
		config_file_mistake(p, text);
		return;
	}
	s = config_file_trim(s);
	if (!*s || *s == '#')
		return;
	if (*s == '[')
		config_file_section(p, s);
	else
		file_take_key(p, s);
}

void config_file_parse(char *text, size_t len,
		       const struct config_file_ops *ops, void *arg)
{
	struct parser p = { .ops = ops, .arg = arg };
	char *end = text + len;

	while (text < end) {
		char *eol = memchr(text, '\n', (size_t)(end - text)), *next = end;
		size_t n = (size_t)(end - text);

		if (eol) {
			next = eol + 1;
			n = (size_t)(eol - text);
		}
		p.line++;
		text[n] = '\0';
		file_take_line(&p, text, n);
		text = next;
	}
}
