/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - writes objects and arrays into a growing buffer (common/buffer.h)
 *
 * RFC 8259.  The writer puts the commas.  An element of an array, and the
 * outermost value, has the key NULL.
 *
 * The output can stand in a <script> element: '<', '>' and '&' are escaped in
 * every string, so no end tag and no comment can be spelled (HTML standard,
 * "restrictions for contents of script elements").  Bytes that are not UTF-8
 * become U+FFFD.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buffer.h"

struct json {			/* zero-initialised, except .out */
	struct buffer *out;	/* the caller's */
	bool more;		/* a comma goes before what comes next */
	bool line;		/* a newline, too */
};

void json_open(struct json *j, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json *j, char bracket);			/* '}' or ']' */

/* Begin a line with what comes next, for readers of the file. */
void json_line(struct json *j);

void json_text(struct json *j, const char *key, const char *s);	/* or null */
/* n bytes at s, which may be NULL if n is 0. */
void json_chars(struct json *j, const char *key, const void *s, size_t n);
void json_num(struct json *j, const char *key, uint64_t v);
void json_int(struct json *j, const char *key, int64_t v);
/* v / 1,000,000, with six decimals: of ns the ms. */
void json_millionths(struct json *j, const char *key, uint64_t v);
void json_bool(struct json *j, const char *key, bool v);
void json_null(struct json *j, const char *key);

/* Write the buffer and a newline to a file, and free it.  0, -ENOMEM or
 * -EIO. */
int json_finish(struct json *j, FILE *to);

#endif /* COMMON_JSON_H */
