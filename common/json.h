/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json - objects and arrays into the growing memory of common/protobuf.h
 *
 * RFC 8259; commas are put by themselves.  A key of NULL is for elements of
 * arrays and the outermost value.
 */
#ifndef COMMON_JSON_H
#define COMMON_JSON_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "common/protobuf.h"

/* Zero-initialised by the caller, who also free()s w.data. */
struct json {
	struct pb w;
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
