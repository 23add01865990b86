// SPDX-License-Identifier: Apache-2.0
#include "common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static bool json_needs_escape(unsigned char c)
{
	return c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '<' ||
	       c == '>' || c == '&';
}

void json_string(struct buffer *w, const char *s, size_t n)
{
	size_t run = 0;

	buffer_add(w, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (!json_needs_escape(c))
			continue;
		buffer_utf8(w, s + run, i - run);
		buffer_printf(w, "\\u%04x", c);
		run = i + 1;
	}
	buffer_utf8(w, s + run, n - run);
	buffer_add(w, "\"", 1);
}

static void json_begin(struct json *j, const char *key)
{
	if (j->more)
		buffer_str(&j->w, ",");
	j->more = true;
	if (key) {
		json_string(&j->w, key, strlen(key));
		buffer_str(&j->w, ":");
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	json_begin(j, key);
	buffer_add(&j->w, &bracket, 1);
	j->more = false;
}

void json_close(struct json *j, char bracket)
{
	buffer_add(&j->w, &bracket, 1);
	j->more = true;
}

void json_text(struct json *j, const char *key, const char *s)
{
	json_begin(j, key);
	if (s)
		json_string(&j->w, s, strlen(s));
	else
		buffer_str(&j->w, "null");
}

void json_num(struct json *j, const char *key, uint64_t v)
{
	json_begin(j, key);
	buffer_num(&j->w, v);
}

void json_int(struct json *j, const char *key, int64_t v)
{
	json_begin(j, key);
	buffer_printf(&j->w, "%" PRId64, v);
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_begin(j, key);
	buffer_str(&j->w, v ? "true" : "false");
}

int json_finish(struct json *j, FILE *to)
{
	int r = j->w.failed ? -ENOMEM : 0;

	buffer_str(&j->w, "\n");
	if (!r && (fwrite(j->w.data, 1, j->w.len, to) != j->w.len || fflush(to)))
		r = -EIO;
	free(j->w.data);
	*j = (struct json){ .more = false };
	return r;
}
