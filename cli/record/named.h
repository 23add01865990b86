/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named - the processes that have a name
 *
 * A name is what /proc/PID/comm says (proc_pid_comm(5)), of which the kernel
 * keeps 15 bytes, or the last part of the path in argv[0].  A process chooses
 * both, and the search believes it: it only compares.
 */
#ifndef CLI_RECORD_NAMED_H
#define CLI_RECORD_NAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/number.h"

/* Is that the name of a process with this comm and this argv[0], either with
 * its length? */
bool named_is(const char *name, const char *comm, size_t comm_len,
	      const char *arg, size_t arg_len);

/* Has this process the name, as /proc (open on `proc`) says now? */
bool named_has(int proc, uint32_t pid, const char *name);

/* All of them in /proc, open on `proc` (and closed), but this process and its
 * parent: the first NUMBERS_MAX into *to.  How many there are; or -errno. */
int named_find(int proc, const char *name, struct number_list *to);

#endif /* CLI_RECORD_NAMED_H */
