/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report - the accounts (ipc/counters.h) as text
 */
#ifndef CLI_STATUS_REPORT_H
#define CLI_STATUS_REPORT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/status/processes.h"
#include "ipc/counters.h"
#include "profile/profile.h"

/* "ring_full 3, no_hub 1": every reason that lost samples. */
void report_reasons(const struct status *st, char *out, size_t size);

/* The progress line; elapsed in seconds. */
void report_progress(const struct status *st, uint64_t elapsed, char *out,
		     size_t size);

/* The last line: "N samples taken: N delivered, N lost (...), difference 0" */
void report_summary(const struct status *st, char *out, size_t size);

/* For the recorder; start_ns and end_ns are the caller's to fill. */
void report_account(const struct status *st, struct profile_account *ret);

/* All of it, in the order of a sample's way: `trifold status`. */
void report_table(const struct status *st, const struct own_processes *list,
		  FILE *to);

#endif /* CLI_STATUS_REPORT_H */
