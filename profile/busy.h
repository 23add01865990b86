/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy - how much of the CPUs' time was used
 *
 * One definition for all that show it.  A sample stands for the time between two on one
 * CPU, 1/frequency.  Used is the time of all samples that were taken but trifold's own,
 * which the account counts apart; of what CPUs had while they were sampled, idle or not
 * (covered_ns in ipc/counters.h).  A filter or a range takes its samples and its time.
 */
#ifndef PROFILE_BUSY_H
#define PROFILE_BUSY_H

#include <stdint.h>

struct busy {
	double used_s, all_s;
	double share;		/* 0 to 1; 0: all_s is not known */
};

/* all_s 0: not known.  The distance of samples varies, so a few more than their share may
 * lie in the time: never more than all of it is used. */
struct busy busy_of(double used_s, double all_s);

/* Samples that count as used, of an account.  Its parts are of two processes, and `taken`
 * may be a second older: not below 0. */
uint64_t busy_samples(uint64_t taken, uint64_t own);

/* How long so many CPUs were sampled, s, by the same account. */
double busy_span_s(uint64_t covered_ns, uint64_t cpus);

#endif /* PROFILE_BUSY_H */
