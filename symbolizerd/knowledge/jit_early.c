// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/jit_early.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool jit_early_is_dump(const char *path, size_t len)
{
	static const char begin[] = "jit-", end[] = ".dump";
	const char *slash = memrchr(path, '/', len);
	const char *base = slash ? slash + 1 : path, *stop = path + len;
	const char *digits = base + sizeof(begin) - 1;

	if ((size_t)(stop - base) < sizeof(begin) + sizeof(end) - 1 ||
	    memcmp(base, begin, sizeof(begin) - 1) ||
	    memcmp(stop - sizeof(end) + 1, end, sizeof(end) - 1))
		return false;
	while (digits < stop - sizeof(end) + 1 && *digits >= '0' && *digits <= '9')
		digits++;
	return digits == stop - sizeof(end) + 1;
}

void jit_early_add(struct jit_early *e, uint32_t tgid, int fd)
{
	uint32_t i = e->next++ % JIT_EARLY;

	if (e->v[i].tgid) {
		close(e->v[i].fd);
		e->closed++;
	}
	e->v[i].tgid = 0;
	e->v[i].fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (e->v[i].fd >= 0)
		e->v[i].tgid = tgid;
}

int jit_early_take(struct jit_early *e, uint32_t tgid)
{
	int last = -1;

	for (uint32_t k = 0; k < JIT_EARLY; k++) {	/* the oldest first */
		uint32_t i = (e->next + k) % JIT_EARLY;

		if (e->v[i].tgid != tgid)
			continue;
		if (last >= 0)
			close(last);
		last = e->v[i].fd;
		e->v[i].tgid = 0;
	}
	return last;
}

void jit_early_fini(struct jit_early *e)
{
	for (uint32_t i = 0; i < JIT_EARLY; i++) {
		if (e->v[i].tgid)
			close(e->v[i].fd);
		e->v[i].tgid = 0;
	}
}
