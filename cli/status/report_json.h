/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report_json - the accounts (ipc/counters.h) as one JSON object
 */
#ifndef CLI_STATUS_REPORT_JSON_H
#define CLI_STATUS_REPORT_JSON_H

#include <stdio.h>

#include "cli/status/processes.h"
#include "ipc/counters.h"

/* docs/DOCTOR.md lists the members.  0 or -errno. */
int report_json(const struct status *st, const struct own_processes *list,
		FILE *to);

#endif /* CLI_STATUS_REPORT_JSON_H */
