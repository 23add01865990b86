// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/cpu_share.h"

#include <stddef.h>

static int64_t cpu_share_of(const struct cpu_share *s, uint64_t ns)
{
	return (int64_t)(ns / 1000 * s->permille);
}

void cpu_share_init(struct cpu_share *s, uint32_t permille, uint64_t now_ns)
{
	*s = (struct cpu_share){ .permille = permille, .owed = CPU_SHARE_START,
				  .filled_ns = now_ns };
	s->left_ns = cpu_share_of(s, CPU_SHARE_START * CPU_SHARE_NS);
}

bool cpu_share_left(struct cpu_share *s, uint64_t now_ns)
{
	int64_t most = cpu_share_of(s, CPU_SHARE_NS);
	int64_t more = cpu_share_of(s, now_ns - s->filled_ns);

	s->filled_ns = now_ns;
	/* what is left of the start stays */
	if (s->left_ns < most)
		s->left_ns = more < most - s->left_ns ? s->left_ns + more : most;
	return s->left_ns > 0;
}

void cpu_share_use(struct cpu_share *s, uint64_t ns)
{
	int64_t most = cpu_share_of(s, s->owed * CPU_SHARE_NS);

	s->used_ns += ns;
	if (ns < (uint64_t)(s->left_ns + most))
		s->left_ns -= (int64_t)ns;
	else
		s->left_ns = -most;
}

void cpu_share_loader(struct cpu_share *s, const struct loader_stats *st)
{
	uint64_t all = 0;

	if (st)
		all = st->cpu_ns + st->opener.cpu_ns - st->sampling_ns;
	if (s->loader_ns && all > s->loader_ns)
		cpu_share_use(s, all - s->loader_ns);
	s->loader_ns = all;
}
