/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_memory - reading a profiled process's memory within a budget
 *
 * The process goes on running: every read may find other bytes than the one before,
 * and pointers are whatever the process wrote there.
 */
#ifndef SYMBOLIZERD_SYMBOLS_PROCESS_MEMORY_H
#define SYMBOLIZERD_SYMBOLS_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Budget of a visit; an interpreter's frame takes some ten reads. */
#define PROCESS_MEMORY_READS	65536u
#define PROCESS_MEMORY_BYTES	(16u << 20)

struct process_memory {
	int fd;			/* /proc/PID/mem; borrowed */
	uint32_t reads, bytes;	/* left of the budget */
};

/*
 * Read len bytes at addr, or fewer if the mapping ends before.  Returns how many;
 * -EFAULT: nothing is mapped there; -ESRCH: the process has ended; -EDQUOT: the
 * budget is spent, and stays so; or -errno.
 */
ssize_t process_memory_read(struct process_memory *m, uint64_t addr, void *buf,
			    size_t len);

#endif /* SYMBOLIZERD_SYMBOLS_PROCESS_MEMORY_H */
