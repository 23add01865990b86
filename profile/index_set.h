/* SPDX-License-Identifier: Apache-2.0 */
/*
 * index_set - which element of an array is this one?
 *
 * An open-addressed set of indices into an array of its user's, who compares
 * elements: from slots[hash & (cap - 1)] on, around the end, to a free slot.
 */
#ifndef PROFILE_INDEX_SET_H
#define PROFILE_INDEX_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INDEX_NONE	0xffffffffu	/* a free slot */

struct index_set {
	uint32_t *slots;	/* to be freed by the user */
	uint32_t cap;		/* a power of two, or 0 */
	uint32_t n;
};

/* A random seed for hashes of what others chose, or 0. */
uint64_t index_seed(void);

/* The hash of a pair of numbers. */
uint64_t index_pair_hash(uint32_t a, uint32_t b, uint64_t seed);

/* Room for one more, at most half full; hash_of(arg, s, i) is the hash of the
 * element that the set knows as i.  False: no memory. */
bool index_set_room(struct index_set *s,
		    uint64_t (*hash_of)(const void *arg,
					const struct index_set *s, uint32_t i),
		    const void *arg);

/* Room for element n of an array of *cap of this size.  False: no memory. */
bool array_room(void **array, uint32_t *cap, uint32_t n, size_t size);

#endif /* PROFILE_INDEX_SET_H */
