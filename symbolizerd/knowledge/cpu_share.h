/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpu_share - how much CPU time hub and loaderd may take for files
 *
 * Whoever runs programs decides how many files there are to be read, so this work
 * has a share of CPU time: half of what all of trifold may take, over CPU_SHARE_NS.  Whatever a step took is
 * paid afterwards, so the balance may be negative; then files are put off until
 * time has filled it up.  What is not used is kept, at most for CPU_SHARE_NS: one
 * may use it all at once.  At the start, when every file is new, there is more of it.
 * As much may be owed: one very long step, or a false report, stops nothing for ever.
 *
 * Samples do not count, nor do the workers: these have what all others leave of the same
 * share (user_share.h, knowledge_charge()).
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_CPU_SHARE_H
#define SYMBOLIZERD_KNOWLEDGE_CPU_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/clock.h"
#include "ipc/counters_loader.h"

#define CPU_SHARE_NS		(10 * NSEC_PER_SEC)
#define CPU_SHARE_START		4	/* times CPU_SHARE_NS are there at the start,
					 * or owed at most, unless .owed says more */
#define CPU_SHARE_DEFAULT	2	/* percent of all CPUs */
#define RECORDS_SHARE		5	/* times as much is a recording's: it ends, and what it
					 * does not read until then it never has */

struct cpu_share {
	uint32_t permille;	/* of one CPU */
	uint32_t owed;		/* times CPU_SHARE_NS at most */
	int64_t left_ns;	/* CPU time */
	uint64_t filled_ns;	/* when: CLOCK_MONOTONIC */
	uint64_t used_ns;	/* until now */
	uint64_t loader_ns;	/* used by the present loaderd; 0: not known */
};

void cpu_share_init(struct cpu_share *s, uint32_t permille, uint64_t now_ns);

/* May work for another file begin? */
bool cpu_share_left(struct cpu_share *s, uint64_t now_ns);

/* So much CPU time was used. */
void cpu_share_use(struct cpu_share *s, uint64_t ns);

/* The last word of loaderd and its opener.  What they used before the first one,
 * which is told by NULL, is not charged. */
void cpu_share_loader(struct cpu_share *s, const struct loader_stats *st);

/* Around each step of the hub's work:
 *	begin = cpu_share_begin(); ...; cpu_share_end(s, begin); */
static inline uint64_t cpu_share_begin(void)
{
	return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

static inline void cpu_share_end(struct cpu_share *s, uint64_t begin)
{
	cpu_share_use(s, clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begin);
}

#endif /* SYMBOLIZERD_KNOWLEDGE_CPU_SHARE_H */
