// SPDX-License-Identifier: Apache-2.0
#include "ipc/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	8U	/* linux/memfd.h, 6.3 */
#endif

/* Write the parts and seal.  0 or -errno. */
static int sealed_fill(int fd, const struct iovec *parts, int n)
{
	for (int i = 0; i < n; i++) {
		ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);

		if (done < 0)
			return -errno;
		/* a memfd takes all at once, unless memory is short */
		if (done != (ssize_t)parts[i].iov_len)
			return -ENOSPC;
	}
	return fcntl(fd, F_ADD_SEALS, SEALED_SEALS | F_SEAL_SEAL) < 0 ? -errno : 0;
}

int sealed_make(const char *name, const struct iovec *parts, int n)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd, r;

	fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	if (fd < 0)
		return -errno;
	r = sealed_fill(fd, parts, n);
	if (r) {
		close(fd);
		return r;
	}
	return fd;
}

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
