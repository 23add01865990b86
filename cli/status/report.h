/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report - the accounts (ipc/counters.h) as text
 */
#ifndef CLI_STATUS_REPORT_H
#define CLI_STATUS_REPORT_H

#include <stdbool.h>
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

/* How samples were taken; frequency 0: not known. */
struct report_run {
	uint32_t frequency;	/* Hz, per CPU */
	uint64_t cpus;		/* that were sampled */
	bool partial;		/* of some processes only */
	bool mixed;		/* at more than one frequency: how busy it was
				 * is not known */
	bool stopped;		/* daemons were killed before all was delivered */
	bool unwritten;		/* there was to be a recording, and is none */
	bool elsewhere;		/* samples go to a page or receivers, too */
};

/* How loaderd samples now, if the status has it.  Call for each status: the
 * frequency can change. */
void report_run_note(struct report_run *run, const struct status *st);

/* The last line: "N samples, none lost; 1.2 of 20.0 CPU-seconds busy (6 %)"; busy is
 * as in profile/busy.h */
void report_summary(const struct status *st, const struct report_run *run,
		    char *out, size_t size);

/* For the recorder; start_ns and end_ns are filled in by the caller. */
void report_account(const struct status *st, struct profile_account *ret);

/* Print everything, in the order of a sample's path: `trifold status`. */
void report_table(const struct status *st, const struct own_processes *list,
		  FILE *to);

#endif /* CLI_STATUS_REPORT_H */
