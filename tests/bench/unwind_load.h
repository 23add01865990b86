/* SPDX-License-Identifier: Apache-2.0 */
/*
 * unwind_load - what bench/unwind samples: a stack that stands still
 */
#ifndef TESTS_BENCH_UNWIND_LOAD_H
#define TESTS_BENCH_UNWIND_LOAD_H

enum load_kind {
	LOAD_SMALL,	/* one small function, as deep as asked */
	LOAD_REAL,	/* 40 functions in several pages, with frames as those of
			 * real programs */
	LOAD_COLD,	/* the same; meanwhile 32 MiB are walked through */
};

#define LOAD_FUNCTIONS	40

/* Never returns: it is killed.  depth: of LOAD_SMALL. */
void load_run(enum load_kind kind, int depth) __attribute__((noreturn));

#endif /* TESTS_BENCH_UNWIND_LOAD_H */
