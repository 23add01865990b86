/* SPDX-License-Identifier: Apache-2.0 */
/* restart - when a daemon that died is started again */
#ifndef CLI_SUPERVISOR_RESTART_H
#define CLI_SUPERVISOR_RESTART_H

#include <stdint.h>

#define BACKOFF_FIRST_NS	100000000ULL
#define BACKOFF_MAX_NS		5000000000ULL
#define BACKOFF_RESET_NS	10000000000ULL

/*
 * How long to wait before a daemon is started again; *backoff (0 at first) is
 * the wait before the last start, lived_ns how long it ran since.
 */
uint64_t restart_backoff(uint64_t *backoff, uint64_t lived_ns);

#endif /* CLI_SUPERVISOR_RESTART_H */
