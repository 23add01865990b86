// SPDX-License-Identifier: Apache-2.0
/*
 * periodic SECONDS PERIOD_NS BURST_NS PHASE_NS - a program in step with a clock
 *
 * At each multiple of the period, and so much later, of CLOCK_MONOTONIC it uses that much
 * CPU time; at its end it says how much it used in all, ns.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000LL + ts.tv_nsec;
}

static __attribute__((noinline)) void burst(long long ns)
{
	long long until = now(CLOCK_PROCESS_CPUTIME_ID) + ns;
	volatile unsigned int sink = 0;

	while (now(CLOCK_PROCESS_CPUTIME_ID) < until) {
		for (int i = 0; i < 2000; i++)
			sink = sink * 3 + i;
	}
}

int main(int argc, char **argv)
{
	long long end, period, length, phase, next;

	if (argc < 5)
		return 2;
	end = now(CLOCK_MONOTONIC) + atoll(argv[1]) * 1000000000LL;
	period = atoll(argv[2]);
	length = atoll(argv[3]);
	phase = atoll(argv[4]);
	while (now(CLOCK_MONOTONIC) < end) {
		next = (now(CLOCK_MONOTONIC) - phase) / period * period + period + phase;
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME,
				&(struct timespec){ next / 1000000000, next % 1000000000 }, NULL);
		burst(length);
	}
	printf("%lld\n", now(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
