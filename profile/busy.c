// SPDX-License-Identifier: Apache-2.0
#include "profile/busy.h"

#include "common/clock.h"

struct busy busy_of(double used_s, double all_s)
{
	struct busy b = { .used_s = used_s, .all_s = all_s };

	if (all_s <= 0)
		return b;
	if (b.used_s > all_s)
		b.used_s = all_s;
	b.share = b.used_s / all_s;
	return b;
}

uint64_t busy_samples(uint64_t taken, uint64_t own)
{
	if (own > taken)
		return 0;
	return taken - own;
}

double busy_span_s(uint64_t covered_ns, uint64_t cpus)
{
	if (!cpus)
		return 0;
	return (double)covered_ns / (double)cpus / NSEC_PER_SEC;
}
