// SPDX-License-Identifier: Apache-2.0
#include "common/json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/text.h"

static void json_begin(struct json *j, const char *key)
{
	if (j->more)
		text_str(&j->w, ",");
	j->more = true;
	if (key) {
		text_json(&j->w, key, strlen(key));
		text_str(&j->w, ":");
	}
}

void json_open(struct json *j, const char *key, char bracket)
{
	json_begin(j, key);
	pb_raw(&j->w, &bracket, 1);
	j->more = false;
}

void json_close(struct json *j, char bracket)
{
	pb_raw(&j->w, &bracket, 1);
	j->more = true;
}

void json_text(struct json *j, const char *key, const char *s)
{
	json_begin(j, key);
	if (s)
		text_json(&j->w, s, strlen(s));
	else
		text_str(&j->w, "null");
}

void json_num(struct json *j, const char *key, uint64_t v)
{
	json_begin(j, key);
	text_num(&j->w, v);
}

void json_int(struct json *j, const char *key, int64_t v)
{
	json_begin(j, key);
	text_printf(&j->w, "%" PRId64, v);
}

void json_bool(struct json *j, const char *key, bool v)
{
	json_begin(j, key);
	text_str(&j->w, v ? "true" : "false");
}

int json_finish(struct json *j, FILE *to)
{
	int r = j->w.failed ? -ENOMEM : 0;

	text_str(&j->w, "\n");
	if (!r && (fwrite(j->w.data, 1, j->w.len, to) != j->w.len || fflush(to)))
		r = -EIO;
	free(j->w.data);
	*j = (struct json){ .more = false };
	return r;
}
