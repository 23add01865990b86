/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_key - the key that requests of the live page must have (viewer/server/guard.h)
 *
 * The process that starts the viewer makes it and shows it; or the viewer does.
 */
#ifndef COMMON_PAGE_KEY_H
#define COMMON_PAGE_KEY_H

#include <stdbool.h>

#define PAGE_KEY_LEN	32	/* 128 bits in lower-case hexadecimal */

/* A new key, NUL-terminated.  0 or -errno. */
int page_key_new(char key[PAGE_KEY_LEN + 1]);
/* Is s PAGE_KEY_LEN lower-case hexadecimal digits? */
bool page_key_is(const char *s);

#endif /* COMMON_PAGE_KEY_H */
