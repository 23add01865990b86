// SPDX-License-Identifier: Apache-2.0
#include "common/cost.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int cost_open(void)
{
	return open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
}

void cost_read(int statm, struct cost *ret)
{
	struct rusage u = { 0 };
	char text[128], *at;
	ssize_t n;

	getrusage(RUSAGE_SELF, &u);
	*ret = (struct cost){ .cpu_ns = cost_cpu(&u) };
	if (statm < 0)
		return;
	n = pread(statm, text, sizeof(text) - 1, 0);
	if (n <= 0)
		return;
	text[n] = '\0';
	strtoul(text, &at, 10);
	ret->rss_bytes = strtoul(at, NULL, 10) *
			 (uint64_t)sysconf(_SC_PAGESIZE);
}
