// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/hub/loader_counts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ipc/message_loader.h"

static size_t loader_counts_bytes(uint32_t cpus)
{
	return cpus * sizeof(struct cpu_counts);
}

/* The kernel checks the length of a BPF map's mapping, but not a file's. */
static bool loader_counts_stay(int fd, size_t bytes)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	return !S_ISREG(st.st_mode) ||
	       (seals >= 0 && (seals & F_SEAL_SHRINK) &&
		(uint64_t)st.st_size >= bytes);
}

int loader_counts_map(struct loader_counts *c, int fd, uint32_t cpus)
{
	size_t bytes = loader_counts_bytes(cpus);
	void *at;

	if (!cpus || cpus > COUNTS_CPUS_MAX || !loader_counts_stay(fd, bytes))
		return -EPROTO;
	at = mmap(NULL, bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED)
		return -errno;
	*c = (struct loader_counts){ at, cpus };
	return 0;
}

void loader_counts_unmap(struct loader_counts *c)
{
	if (c->at)
		munmap((void *)c->at, loader_counts_bytes(c->cpus));
	*c = (struct loader_counts){ NULL, 0 };
}
