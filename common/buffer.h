/* SPDX-License-Identifier: Apache-2.0 */
/*
 * buffer - bytes or text in memory that grows
 *
 * When an allocation fails, `failed` is set and every later call does nothing:
 * the caller checks once, at the end.
 */
#ifndef COMMON_BUFFER_H
#define COMMON_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller zero-initialises it and free()s data.  Not terminated by a NUL. */
struct buffer {
	uint8_t *data;
	size_t len, cap;
	bool failed;
};

/* Make room for n more bytes after len.  False: failed. */
bool buffer_room(struct buffer *b, size_t n);

void buffer_add(struct buffer *b, const void *p, size_t n);
void buffer_str(struct buffer *b, const char *s);
void buffer_num(struct buffer *b, uint64_t v);		/* decimal */
void buffer_printf(struct buffer *b, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));	/* at most 1,023 bytes */

/* n bytes of text; every byte that belongs to no UTF-8 character, and NUL,
 * becomes U+FFFD. */
void buffer_utf8(struct buffer *b, const char *s, size_t n);

#endif /* COMMON_BUFFER_H */
