/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sealed - memory passed from one process to another
 *
 * A memfd that can no longer be written, shrunk or grown.  The receiver checks
 * the seals before it maps, and maps privately (MAP_SHARED on a sealed
 * read-write descriptor is EPERM before 6.7).
 */
#ifndef IPC_SEALED_H
#define IPC_SEALED_H

#include <fcntl.h>
#include <stddef.h>
#include <sys/uio.h>

#define SEALED_SEALS	(F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW)

/* Write n parts, one after the other, into a new sealed memfd.  Returns the
 * descriptor or -errno. */
int sealed_make(const char *name, const struct iovec *parts, int n);

/*
 * Check that fd is a sealed memfd of min..max bytes and map it read-only.
 * Returns 0 and the mapping (release with munmap); -errno; or -EPROTO when the
 * descriptor is not what it should be.  fd stays the caller's.
 */
int sealed_map(int fd, size_t min, size_t max, const void **ret, size_t *len);

#endif /* IPC_SEALED_H */
