/* SPDX-License-Identifier: Apache-2.0 */
/*
 * trace_map - what producer and consumer of the trace ring have in common
 */
#ifndef IPC_TRACE_MAP_H
#define IPC_TRACE_MAP_H

#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#define TRACE_RING_BYTES_MAX	(1u << 26)
#define TRACE_REC_MAX		32768	/* bytes of one record */

struct trace_ring_page {	/* one position, alone on its page */
	_Atomic uint64_t pos;
};

#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE	0x0010	/* linux/fcntl.h, 5.1 */
#endif
#define FIXED_SIZE	(F_SEAL_SHRINK | F_SEAL_GROW)

static inline size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static inline bool size_ok(size_t bytes)
{
	return !(bytes & (bytes - 1)) && bytes >= 2 * TRACE_REC_MAX &&
	       bytes <= TRACE_RING_BYTES_MAX;
}

/* A shared mapping, or NULL with errno. */
static inline void *map_shared(int fd, size_t len, int prot)
{
	void *p = mmap(NULL, len, prot, MAP_SHARED, fd, 0);

	return p == MAP_FAILED ? NULL : p;
}

#endif /* IPC_TRACE_MAP_H */
