/* SPDX-License-Identifier: Apache-2.0 */
/* wait_status - describes how a process ended */
#ifndef COMMON_WAIT_STATUS_H
#define COMMON_WAIT_STATUS_H

#include <stddef.h>

/* status: as of waitpid(2).  "exited with status 1", "was killed by signal 9
 * (Killed)".  Returns out. */
const char *wait_status_text(int status, char *out, size_t size);

/* What a shell would give: 128 + N if it was killed by signal N. */
int wait_status_code(int status);

#endif /* COMMON_WAIT_STATUS_H */
