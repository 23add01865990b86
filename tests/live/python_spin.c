// SPDX-License-Identifier: Apache-2.0
/* 200 functions, spin_0() to spin_199(), that use the CPU for so many milliseconds of its time. */
#include <stdint.h>
#include <time.h>

static volatile uint64_t sink;

#define SPIN(n)								\
	int spin_##n(int ms)						\
	{								\
		struct timespec a, b;					\
									\
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);		\
		do {							\
			for (int i = 0; i < 20000; i++)			\
				sink += (uint64_t)i;			\
			clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);	\
		} while ((b.tv_sec - a.tv_sec) * 1000000000LL +		\
			 b.tv_nsec - a.tv_nsec < ms * 1000000LL);	\
		return n;						\
	}
#define TEN(n)	SPIN(n##0) SPIN(n##1) SPIN(n##2) SPIN(n##3) SPIN(n##4)	\
		SPIN(n##5) SPIN(n##6) SPIN(n##7) SPIN(n##8) SPIN(n##9)

TEN() TEN(1) TEN(2) TEN(3) TEN(4) TEN(5) TEN(6) TEN(7) TEN(8) TEN(9)
TEN(10) TEN(11) TEN(12) TEN(13) TEN(14) TEN(15) TEN(16) TEN(17) TEN(18) TEN(19)
