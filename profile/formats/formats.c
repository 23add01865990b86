// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/formats.h"

#include <stdio.h>
#include <string.h>

#include "profile/formats/firefox.h"
#include "profile/formats/folded.h"
#include "profile/formats/html.h"
#include "profile/formats/otlp.h"
#include "profile/formats/pprof.h"
#include "profile/formats/speedscope.h"

static const char json_type[] = "application/json";

#define ONLY_TIMES	(FORMAT_USES_TIMES | FORMAT_NEEDS_TIMES)

static const struct format formats[] = {
	{ "html", { ".html", ".htm" }, "text/html; charset=utf-8",
	  FORMAT_USES_TIMES | FORMAT_USES_THREADS, html_encode },
	{ "folded", { ".folded", ".txt" }, "text/plain; charset=utf-8",
	  FORMAT_FOR_PEOPLE,
	  folded_encode },
	{ "pprof", { ".pb.gz", ".pprof" }, "application/octet-stream",
	  FORMAT_USES_THREADS, pprof_encode },
	{ "otlp", { ".otlp" }, "application/x-protobuf",
	  ONLY_TIMES | FORMAT_USES_THREADS, otlp_encode_file },
	{ "speedscope", { ".speedscope.json" }, json_type,
	  ONLY_TIMES, speedscope_encode },
	{ "firefox", { ".firefox.json" }, json_type,
	  ONLY_TIMES | FORMAT_USES_THREADS, firefox_encode },
};
#define FORMATS	(sizeof(formats) / sizeof(formats[0]))

const struct format *format_at(uint32_t number)
{
	if (number == FORMAT_NONE || number > FORMATS)
		return NULL;
	return &formats[number - 1];
}

uint32_t format_named(const char *name)
{
	for (uint32_t i = 0; i < FORMATS; i++) {
		if (!strcmp(name, formats[i].name))
			return i + 1;
	}
	return FORMAT_NONE;
}

uint32_t format_of(const char *path)
{
	size_t len = strlen(path);

	for (uint32_t i = 0; i < FORMATS; i++) {
		for (const char *const *e = formats[i].endings; *e; e++) {
			size_t n = strlen(*e);

			if (len > n && !strcmp(path + len - n, *e))
				return i + 1;
		}
	}
	return FORMAT_NONE;
}

/* Append a word to a list; last: it is the last one. */
static void format_list_add(char *buf, size_t size, const char *word, bool last)
{
	size_t len = strlen(buf);
	const char *comma = ", ";

	if (len == 0)
		comma = "";
	else if (last)
		comma = " or ";
	snprintf(buf + len, size - len, "%s%s", comma, word);
}

const char *format_names(char *buf, size_t size)
{
	buf[0] = '\0';
	for (uint32_t i = 0; i < FORMATS; i++)
		format_list_add(buf, size, formats[i].name, i == FORMATS - 1);
	return buf;
}

const char *format_endings(char *buf, size_t size)
{
	buf[0] = '\0';
	for (uint32_t i = 0; i < FORMATS; i++) {
		for (const char *const *e = formats[i].endings; *e; e++)
			format_list_add(buf, size, *e,
					i == FORMATS - 1 && !e[1]);
	}
	return buf;
}
