/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8 - names from a process's memory as text that can be shown
 *
 * All is foreign: what is no character of text becomes one that shows it.
 */
#ifndef SYMBOLIZERD_SYMBOLS_UTF8_H
#define SYMBOLIZERD_SYMBOLS_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"

#define UTF8_MAX	(3 * TEXT_BYTES)	/* of TEXT_BYTES; Latin-1: two of one */
#define UTF8_CUT	"..."			/* where bytes are missing in front */

struct utf8 {
	char s[UTF8_MAX + sizeof(UTF8_CUT)];	/* with a NUL */
	size_t len;
};

/* Empty; or what it begins with where so many bytes are missing in front. */
void utf8_begin(struct utf8 *t, uint64_t missing);

/* One character more: there is room for those of TEXT_BYTES. */
void utf8_put(struct utf8 *t, uint32_t c);

/* Java's modified UTF-8 (JVMS 4.4.7) up to a NUL, at most n bytes, which are not more
 * than TEXT_BYTES. */
void utf8_java(struct utf8 *t, const uint8_t *p, size_t n);

#endif /* SYMBOLIZERD_SYMBOLS_UTF8_H */
