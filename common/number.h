/* SPDX-License-Identifier: Apache-2.0 */
/* number - reads numbers written as text */
#ifndef COMMON_NUMBER_H
#define COMMON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NUMBERS_MAX	32		/* FILTER_MAX of bpf/request.h */

struct number_list {		/* a list of them, plain data */
	uint32_t v[NUMBERS_MAX];
	uint32_t n;
};

/*
 * A decimal number at the beginning of s, digits only: no blank, no sign.
 * Returns what follows it, or NULL when there is no digit or the value does
 * not fit into 64 bits; *ret is changed only on success.
 */
const char *number_read(const char *s, uint64_t *ret);

/* All of the len bytes at s are digits of a number that is at most max. */
bool number_span(const char *s, size_t len, uint64_t max, uint64_t *ret);

/* All of s is a number from min to max.  *ret is changed only if so. */
bool number_parse(const char *s, uint64_t min, uint64_t max, uint64_t *ret);

/* All of s is hexadecimal, with or without 0x. */
bool number_parse_hex(const char *s, uint64_t *ret);

#endif /* COMMON_NUMBER_H */
