/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - objects and arrays into a growing buffer (common/buffer.h)
 *
 * RFC 8259; commas are put by themselves.  A key of NULL is for elements of
 * arrays and the outermost value.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/buffer.h"

/*
 * n bytes of UTF-8 as a JSON string, with its quotes (RFC 8259), that can lie
 * in a <script> element: '<', '>' and '&' are escaped too, so neither an end
 * tag nor a comment can be spelled (HTML standard, "restrictions for contents
 * of script elements").  Bytes that are no UTF-8 become U+FFFD.
 */
void json_string(struct buffer *w, const char *s, size_t n);

/* Zero-initialised by the caller, who also free()s w.data. */
struct json {
	struct buffer w;
	bool more;		/* a comma goes before what comes next */
};

void json_open(struct json *j, const char *key, char bracket);	/* '{' or '[' */
void json_close(struct json *j, char bracket);			/* '}' or ']' */
/* Escaped; what is no UTF-8 becomes U+FFFD.  NULL becomes null. */
void json_text(struct json *j, const char *key, const char *s);
void json_num(struct json *j, const char *key, uint64_t v);
void json_int(struct json *j, const char *key, int64_t v);
void json_bool(struct json *j, const char *key, bool v);

/* Write it and a newline, and free it.  0, -ENOMEM or -EIO. */
int json_finish(struct json *j, FILE *to);

#endif /* COMMON_JSON_H */
