// SPDX-License-Identifier: Apache-2.0
#include "ipc/sealed.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL	8U	/* linux/memfd.h, 6.3 */
#endif

int sealed_make(const char *name, const struct iovec *parts, int n)
{
	unsigned int flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
	int fd, r = 0;

	fd = memfd_create(name, flags | MFD_NOEXEC_SEAL);
	if (fd < 0 && errno == EINVAL)
		fd = memfd_create(name, flags);
	if (fd < 0)
		return -errno;
	/* a memfd takes all at once, or memory is short */
	for (int i = 0; i < n && r == 0; i++) {
		ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);

		if (done != (ssize_t)parts[i].iov_len)
			r = done < 0 ? -errno : -ENOSPC;
	}
	if (r == 0 && fcntl(fd, F_ADD_SEALS, SEALED_SEALS | F_SEAL_SEAL) < 0)
		r = -errno;
	if (r)
		close(fd);
	return r ?: fd;
}
