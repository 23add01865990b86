/* SPDX-License-Identifier: Apache-2.0 */
/*
 * vector - an array that grows
 *
 * VECTOR(struct process) list;  makes a zero-initialised member with the
 * elements in list.v, their number in list.n, and room for list.cap; free()
 * list.v at the end.  An array whose owner has other names for these uses
 * array_reserve().
 */
#ifndef COMMON_VECTOR_H
#define COMMON_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INDEX_NONE	UINT32_MAX	/* no element of an array */
#define VECTOR_FIRST	16	/* elements that the first allocation holds */

#define VECTOR(type)							\
	struct {							\
		type *v;						\
		uint32_t n, cap;					\
	}

/* Room for n elements in *array (a pointer to a pointer), which has room for
 * *cap (uint32_t).  Capacities double.  False: no memory; nothing changed. */
#define array_reserve(array, cap, n)					\
	array_room((array), (cap), (n), sizeof(**(array)))

/* The same for a VECTOR: room for `more` elements after the last. */
#define vector_reserve(vec, more)					\
	array_reserve(&(vec)->v, &(vec)->cap, (uint64_t)(vec)->n + (more))

/* Append one of the VECTOR's type.  False: no memory. */
#define vector_push(vec, element)					\
	({								\
		bool room_ = vector_reserve(vec, 1);			\
									\
		if (room_) {						\
			(vec)->v[(vec)->n] = (element);			\
			(vec)->n++;					\
		}							\
		room_;							\
	})

/* array: a pointer to the array's pointer, of whatever type. */
static inline bool array_grow(void *array, uint32_t *cap, uint64_t n,
			      size_t size)
{
	uint64_t want = *cap ? *cap : VECTOR_FIRST;
	void *p;

	while (want < n)
		want *= 2;
	if (want > UINT32_MAX || want > SIZE_MAX / size)
		return false;
	memcpy(&p, array, sizeof(p));
	p = realloc(p, want * size);
	if (!p)
		return false;
	memcpy(array, &p, sizeof(p));
	*cap = (uint32_t)want;
	return true;
}

static inline bool array_room(void *array, uint32_t *cap, uint64_t n,
			      size_t size)
{
	return n <= *cap || array_grow(array, cap, n, size);
}

#endif /* COMMON_VECTOR_H */
