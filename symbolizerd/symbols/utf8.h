/* SPDX-License-Identifier: Apache-2.0 */
/*
 * utf8 - names from a process's memory as text that can be shown
 *
 * All bytes are foreign: what is not a printable character becomes '?'.
 */
#ifndef SYMBOLIZERD_SYMBOLS_UTF8_H
#define SYMBOLIZERD_SYMBOLS_UTF8_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"

#define UTF8_MAX	(3 * TEXT_BYTES)	/* made of TEXT_BYTES; of Latin-1: 2 of 1 */
#define UTF8_CUT	"..."			/* for bytes that are missing in front */

struct utf8 {
	char s[UTF8_MAX + sizeof(UTF8_CUT)];	/* with a NUL */
	size_t len;
};

/* Begin with "", or with UTF8_CUT if bytes are missing in front. */
void utf8_begin(struct utf8 *t, uint64_t missing);

/* A text of n bytes at p, at most TEXT_BYTES, up to a NUL: enum text_form (bpf/frame.h).
 * With missing: the rest of a character in front is left out. */
void utf8_text(struct utf8 *t, uint64_t missing, uint32_t form, const uint8_t *p, size_t n);

#endif /* SYMBOLIZERD_SYMBOLS_UTF8_H */
