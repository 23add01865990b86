/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - text into the growing memory of common/protobuf.h
 */
#ifndef COMMON_TEXT_H
#define COMMON_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "common/protobuf.h"

void text_str(struct pb *w, const char *s);
void text_num(struct pb *w, uint64_t v);
void text_printf(struct pb *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));	/* at most 1,023 bytes */

/*
 * n bytes of UTF-8 as a JSON string, with its quotes (RFC 8259), that can lie
 * in a <script> element: '<', '>' and '&' are escaped too, so neither an end
 * tag nor a comment can be spelled (HTML standard, "restrictions for contents
 * of script elements").  Bytes that are no UTF-8 become U+FFFD.
 */
void text_json(struct pb *w, const char *s, size_t n);

#endif /* COMMON_TEXT_H */
