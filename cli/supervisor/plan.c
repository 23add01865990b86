// SPDX-License-Identifier: Apache-2.0
#include "cli/supervisor/plan.h"

#include <errno.h>
#include <string.h>

/* What a front may give to whom: a whole word; or with = or _ at its end, how
 * the word begins.  Nothing here names a program, a user or a library. */
static const struct {
	enum program to;
	const char *name;
} plan_words[] = {
	{ PROGRAM_HUB, "--interval=" },
	{ PROGRAM_EXPORTER, "--endpoint=" },
	{ PROGRAM_EXPORTER, "--no-network" },
	{ PROGRAM_EXPORTER, "OTEL_" },
	{ PROGRAM_EXPORTER, "TRIFOLD_EXPORTER_" },
	{ PROGRAM_EXPORTER, "http_proxy=" },
	{ PROGRAM_EXPORTER, "https_proxy=" },
	{ PROGRAM_EXPORTER, "all_proxy=" },
	{ PROGRAM_EXPORTER, "no_proxy=" },
	{ PROGRAM_EXPORTER, "HTTP_PROXY=" },
	{ PROGRAM_EXPORTER, "HTTPS_PROXY=" },
	{ PROGRAM_EXPORTER, "ALL_PROXY=" },
	{ PROGRAM_EXPORTER, "NO_PROXY=" },
	{ PROGRAM_EXPORTER, "SSL_CERT_FILE=" },
	{ PROGRAM_EXPORTER, "SSL_CERT_DIR=" },
	{ PROGRAM_LOADER, "--frequency=" },
	{ PROGRAM_LOADER, "--filter-pid=" },
	{ PROGRAM_LOADER, "--filter-cgroup=" },
	{ PROGRAM_LOADER, "--table-budget=" },
	{ PROGRAM_LOADER, "--idle=" },
	{ PROGRAM_VIEWER, "--memory=" },
	{ PROGRAM_VIEWER, "--keep=" },
	{ PROGRAM_VIEWER, "--otlp" },
	{ PROGRAM_VIEWER, "TRIFOLD_VIEWER_KEY=" },
	{ PROGRAM_RECORDER, "--frequency=" },
	{ PROGRAM_RECORDER, "--format=" },
	{ PROGRAM_RECORDER, "--command=" },
	{ PROGRAM_RECORDER, "--output=" },
};

const char *plan_option(char *const *argv, const char *name)
{
	size_t len = strlen(name);
	const char *ret = NULL;

	for (; *argv && strcmp(*argv, "--"); argv++) {
		if (strncmp(*argv, name, len))
			continue;
		if ((*argv)[len] == '=')
			ret = *argv + len + 1;
		else if (!(*argv)[len] && argv[1])
			ret = *++argv;
	}
	return ret;
}

/* A path that root would write to: the user's word, or trifold.FORMAT here. */
static bool is_output(const char *path, char *const *argv)
{
	const char *given = plan_option(argv, "--output");

	return given ? !strcmp(path, given) :
		!strncmp(path, "trifold.", 8) && !strchr(path, '/');
}

bool plan_allows(enum program id, const char *text)
{
	for (size_t i = 0; i < sizeof(plan_words) / sizeof(plan_words[0]); i++) {
		const char *name = plan_words[i].name;
		size_t len = strlen(name);
		bool start = name[len - 1] == '=' || name[len - 1] == '_';

		if (id == plan_words[i].to &&
		    (start ? !strncmp(text, name, len) : !strcmp(text, name)))
			return strchr(text, '=') || !start;
	}
	return false;
}

static bool word_allowed(const char *word, char *const *argv)
{
	return plan_allows((enum program)(*word - '0'), word + 1) &&
	       (strncmp(word + 1, "--output=", 9) ||
		is_output(word + 10, argv));
}

int plan_check(const struct plan *p, size_t len, char *const *argv)
{
	const char *end = (const char *)p + len, *word;
	int n = 0;

	if (len < sizeof(*p) || len > PLAN_BYTES_MAX || p->bytes != len ||
	    (p->flags & ~(uint32_t)PLAN__FLAGS) ||
	    p->replace >> PROGRAM_DAEMONS ||
	    p->duration_ms > PLAN_DURATION_MAX_MS ||
	    (len > sizeof(*p) && end[-1]))
		return -EPROTO;
	for (word = p->words; word < end; word += strlen(word) + 1) {
		if (++n > PLAN_WORDS_MAX || !word_allowed(word, argv))
			return -EPROTO;
	}
	return 0;
}

const char *plan_next(const struct plan *p, enum program id, const char *word)
{
	const char *end = (const char *)p + p->bytes;

	for (word = word ? word + strlen(word) + 1 : p->words; word < end;
	     word += strlen(word) + 1) {
		if (*word == '0' + (int)id)
			return word + 1;
	}
	return NULL;
}
