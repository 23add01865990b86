/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy - what the small programs of test_files.py and test_situations.py share
 *
 * Each burns CPU for ever in a situation of its own; the test ends it.
 */
#ifndef CASES_BUSY_H
#define CASES_BUSY_H

#include <sys/prctl.h>

#define LINK	__attribute__((noinline, noclone))

static volatile unsigned long sink;

/* About 0.1 ms. */
static inline __attribute__((always_inline)) void spin(void)
{
	for (int i = 0; i < 100000; i++)
		sink = sink + i * sink;
}

/* The name by which the test finds the process. */
static inline void be_called(const char *name)
{
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif /* CASES_BUSY_H */
