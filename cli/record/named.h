/* SPDX-License-Identifier: Apache-2.0 */
/*
 * named - find processes by name
 *
 * A name is what /proc/PID/comm says (proc_pid_comm(5)), of which the kernel
 * keeps 15 bytes, or the last part of the path in argv[0].  A process can set
 * both freely; the search only compares.
 */
#ifndef CLI_RECORD_NAMED_H
#define CLI_RECORD_NAMED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/number.h"

/* Does a process with this comm and this argv[0] (each with its length) have this
 * name? */
bool named_is(const char *name, const char *comm, size_t comm_len,
	      const char *arg, size_t arg_len);

/* Does this process have the name now, by /proc (open on `proc`)? */
bool named_has(int proc, uint32_t pid, const char *name);

/* Find all of them in /proc, open on `proc` (which is closed), except this
 * process and its parent: the first NUMBERS_MAX go into *to.  Returns how many
 * there are, or -errno. */
int named_find(int proc, const char *name, struct number_list *to);

#endif /* CLI_RECORD_NAMED_H */
