/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complexity - how does the time of something grow with the size of its input?
 *
 * CPU time of this thread, the best of five: a busy machine does not count.
 */
#ifndef TESTS_UNIT_COMPLEXITY_H
#define TESTS_UNIT_COMPLEXITY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static inline uint64_t complexity_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* work() does something of size n and returns the CPU time that counts, ns. */
static inline uint64_t complexity_best(uint64_t (*work)(size_t n), size_t n)
{
	uint64_t best = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		uint64_t ns = work(n);

		best = ns < best ? ns : best;
	}
	return best;
}

/* Time of 8n over time of n: 8 where it is linear, 64 where it is quadratic. */
static inline double complexity_growth(uint64_t (*work)(size_t n), size_t n)
{
	uint64_t one = complexity_best(work, n),
		 eight = complexity_best(work, 8 * n);

	printf("# %zu: %.2f ms; %zu: %.2f ms\n", n, (double)one / 1e6, 8 * n,
	       (double)eight / 1e6);
	return (double)eight / (double)(one ? one : 1);
}
#define COMPLEXITY_MAX	24	/* n log n, and caches that are too small */

#endif /* TESTS_UNIT_COMPLEXITY_H */
