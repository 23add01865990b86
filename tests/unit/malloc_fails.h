/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The n-th allocation fails, in a test linked with --wrap=malloc,--wrap=calloc
 * and, where WRAP_REALLOC is defined before, --wrap=realloc.
 */
#ifndef TESTS_MALLOC_FAILS_H
#define TESTS_MALLOC_FAILS_H

#include <stdbool.h>
#include <stddef.h>

/* The n-th from now on, counted from 0; below 0: none. */
static long fail_at = -1;

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);

static bool fails(void)
{
	return fail_at >= 0 && fail_at-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

#ifdef WRAP_REALLOC
void *__real_realloc(void *p, size_t n);
void *__wrap_realloc(void *p, size_t n);

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}
#endif

#endif /* TESTS_MALLOC_FAILS_H */
