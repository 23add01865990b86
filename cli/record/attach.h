/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach - `trifold record` beside a running trifold
 *
 * The running one is not affected: the recorder gets copies of its batches, as
 * `trifold top` does (docs/PROTOCOL.md, SUBSCRIBE).  Root, as supervise.h: the
 * batches are read by the recorder's writer alone.
 */
#ifndef CLI_RECORD_ATTACH_H
#define CLI_RECORD_ATTACH_H

#include "cli/config/options.h"
#include "cli/record/target.h"
#include "ipc/counters.h"

/* Find a running trifold.  1: found, with its status; 0: none; or -errno after a
 * line in the log. */
int attach_find(struct status *ret);

/* Can it record with these options? 0, or -EINVAL after a line that says what to
 * do instead. */
int attach_check(const struct options *o, const struct target *t,
		 const struct status *st, char *err, size_t size);

/*
 * Record as the options and the target say.  Returns the exit status: of o->rest,
 * where there is a command, or 0; 1 if recording failed, or ended before its time
 * because the running trifold did.
 */
int attach(const struct options *o, struct target *target,
	   const struct status *st);

#endif /* CLI_RECORD_ATTACH_H */
