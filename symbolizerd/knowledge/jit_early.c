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

static void jit_early_drop(struct jit_early *e, uint32_t i)
{
	if (!e->v[i].process.tgid)
		return;
	close(e->v[i].fd);
	e->v[i].process.tgid = 0;
}

void jit_early_add(struct jit_early *e, const struct process_id *process, int fd, uint64_t now_ns)
{
	uint32_t i = e->next++ % JIT_EARLY;

	if (e->v[i].process.tgid)
		e->closed++;
	jit_early_drop(e, i);
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (fd < 0)
		return;
	e->v[i].process = *process;
	e->v[i].since_ns = now_ns;
	e->v[i].fd = fd;
}

int jit_early_take(struct jit_early *e, const struct process_id *process)
{
	int last = -1;

	for (uint32_t k = 0; k < JIT_EARLY; k++) {	/* the oldest first */
		uint32_t i = (e->next + k) % JIT_EARLY;

		if (!same_process(&e->v[i].process, process))
			continue;
		if (last >= 0)
			close(last);
		last = e->v[i].fd;
		e->v[i].process.tgid = 0;
	}
	return last;
}

void jit_early_sweep(struct jit_early *e, uint64_t now_ns)
{
	for (uint32_t i = 0; i < JIT_EARLY; i++) {
		if (now_ns - e->v[i].since_ns >= JIT_EARLY_NS)
			jit_early_drop(e, i);
	}
}

void jit_early_fini(struct jit_early *e)
{
	for (uint32_t i = 0; i < JIT_EARLY; i++)
		jit_early_drop(e, i);
}
