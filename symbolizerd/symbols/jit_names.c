// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/jit_names.h"

#include "symbolizerd/symbols/jit_wanted.h"
#include "symbolizerd/symbols/jitdump.h"
#include "symbolizerd/symbols/perf_map.h"

int jit_names(int fd, const uint64_t *words, size_t n, struct frame_names_build *out)
{
	static struct jit_wanted wanted;	/* large; a worker has one job */
	int r = 0;

	jit_wanted_init(&wanted, words, n);
	if (jitdump_is(fd))
		r = jitdump_find(fd, &wanted);
	else
		perf_map_find(fd, &wanted);
	if (!r)
		jit_wanted_tell(&wanted, out);
	return r;
}
