/* SPDX-License-Identifier: Apache-2.0 */
/* bisect - searching in an ordered array */
#ifndef COMMON_BISECT_H
#define COMMON_BISECT_H

#include <stdint.h>

/*
 * How many of n elements come before a place: `before` is an expression of the index
 * mid that is true for these elements, and false for all after them.
 */
#define bisect(mid, n, before)						\
	({								\
		uint32_t bisect_low = 0, bisect_high = (n);		\
									\
		while (bisect_low < bisect_high) {			\
			uint32_t mid = bisect_low +			\
				       (bisect_high - bisect_low) / 2;	\
									\
			if (before)					\
				bisect_low = mid + 1;			\
			else						\
				bisect_high = mid;			\
		}							\
		bisect_low;						\
	})

#endif /* COMMON_BISECT_H */
