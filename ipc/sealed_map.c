// SPDX-License-Identifier: Apache-2.0
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "ipc/sealed.h"

int sealed_map(int fd, size_t min, size_t max, const void **ret, size_t *len)
{
	int seals = fcntl(fd, F_GET_SEALS);
	struct stat st;
	void *p;

	if (seals < 0 || (seals & SEALED_SEALS) != SEALED_SEALS)
		return -EPROTO;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (st.st_size <= 0 || (size_t)st.st_size < min ||
	    (size_t)st.st_size > max)
		return -EPROTO;
	p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		return -errno;
	*ret = p;
	*len = (size_t)st.st_size;
	return 0;
}
