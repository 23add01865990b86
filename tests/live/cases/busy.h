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

/* About 0.1 ms; a macro, so that it is never a frame of its own. */
#define spin()								\
	do {								\
		for (int spin_i = 0; spin_i < 100000; spin_i++)		\
			sink = sink + spin_i * sink;			\
	} while (0)

/* The name by which the test finds the process. */
static inline void be_called(const char *name)
{
	prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif /* CASES_BUSY_H */
