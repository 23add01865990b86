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

static void json_string(struct buffer *w, const char *s, size_t n)
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
	if (run < n)
		buffer_utf8(w, s + run, n - run);
	buffer_add(w, "\"", 1);
}

static void json_begin(struct json *j, const char *key)
{
	if (j->more)
		buffer_add(j->out, ",", 1);
	if (j->line)
		buffer_add(j->out, "\n", 1);
	j->more = true;
	j->line = false;
	if (key) {
		json_string(j->out, key, strlen(key));
		buffer_add(j->out, ":", 1);
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	json_begin(j, key);
	buffer_add(j->out, &bracket, 1);
	j->more = false;
}

void json_close(struct json *j, char bracket)
{
	if (j->line)
		buffer_add(j->out, "\n", 1);
	buffer_add(j->out, &bracket, 1);
	j->more = true;
	j->line = false;
}

void json_line(struct json *j)
{
	j->line = true;
}

void json_text(struct json *j, const char *key, const char *s)
{
	if (s)
		json_chars(j, key, s, strlen(s));
	else
		json_null(j, key);
}

void json_chars(struct json *j, const char *key, const void *s, size_t n)
{
	json_begin(j, key);
	json_string(j->out, s, n);
}

void json_num(struct json *j, const char *key, uint64_t v)
{
	json_begin(j, key);
	buffer_num(j->out, v);
}

void json_int(struct json *j, const char *key, int64_t v)
{
	json_begin(j, key);
	buffer_printf(j->out, "%" PRId64, v);
}

void json_millionths(struct json *j, const char *key, uint64_t v)
{
	json_begin(j, key);
	buffer_num(j->out, v / 1000000);
	buffer_printf(j->out, ".%06u", (unsigned int)(v % 1000000));
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_begin(j, key);
	buffer_str(j->out, v ? "true" : "false");
}

void json_null(struct json *j, const char *key)
{
	json_begin(j, key);
	buffer_str(j->out, "null");
}

int json_finish(struct json *j, FILE *to)
{
	struct buffer *w = j->out;
	int r;

	buffer_str(w, "\n");
	r = w->failed ? -ENOMEM : 0;
	if (!r && (fwrite(w->data, 1, w->len, to) != w->len || fflush(to)))
		r = -EIO;
	free(w->data);
	*w = (struct buffer){ .failed = false };
	return r;
}
