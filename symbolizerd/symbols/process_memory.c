// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/symbols/process_memory.h"

#include <errno.h>
#include <unistd.h>

ssize_t process_memory_read(struct process_memory *m, uint64_t addr, void *buf,
			    size_t len)
{
	ssize_t n;

	if (!m->reads || len > m->bytes) {
		m->reads = 0;
		return -EDQUOT;
	}
	if (addr > INT64_MAX || !len)
		return -EFAULT;
	m->reads--;
	m->bytes -= (uint32_t)len;
	n = pread(m->fd, buf, len, (off_t)addr);
	if (n > 0)
		return n;
	if (n == 0)
		return -ESRCH;
	/* for an address without a mapping the kernel returns EIO */
	if (errno == EIO)
		return -EFAULT;
	return -errno;
}
