/* SPDX-License-Identifier: Apache-2.0 */
/* any_rule - unwind rules as an adversary makes them, the same in each run */
#ifndef TESTS_ANY_RULE_H
#define TESTS_ANY_RULE_H

#include <stdint.h>

#include "bpf/table.h"

/* Four bytes in a row of each word that must not leave. */
#define MARK	0x5ec2e7d1ULL

static inline uint64_t next_random(void)
{
	static uint64_t x = 88172645463325252ULL;

	x ^= x << 13;
	x ^= x >> 7;
	return x ^= x << 17;
}

static inline uint64_t below(uint64_t n)
{
	return (next_random() >> 16) % n;
}

static inline uint64_t marked_word(void)
{
	unsigned int at = 8 * below(5);

	return (next_random() & ~(0xffffffffULL << at)) | MARK << at;
}

/* Most are near, some wild. */
static inline int32_t any_offset(void)
{
	switch (below(16)) {
	case 0:
		return (int32_t)next_random();
	case 1:
		return (int32_t)below(4096) - 2048;
	default:
		return 8 * ((int32_t)below(96) - 32);
	}
}

static inline struct unwind_rule any_rule(void)
{
	struct unwind_rule r = {
		.cfa = below(50) ? CFA_SP + below(CFA__MAX - CFA_SP) : below(256),
		.ra = below(RA__MAX + 1), .saved = next_random(),
		.cfa_reg = below(2) ? below(SAVED_REGS) : below(256),
		.cfa_off = any_offset(), .aux = any_offset(),
		.fp_off = any_offset(), .ra_off = any_offset(),
		.by_fp = next_random(),
		.ra_reg = below(2) ? below(SAVED_REGS) : below(256),
	};

	for (int i = 0; i < SAVED_REGS; i++)
		r.reg_off[i] = any_offset() / 8;
	return r;
}

#endif /* TESTS_ANY_RULE_H */
