/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_link - the supervisor's end of the recorder (recorder.h) */
#ifndef CLI_RECORD_RECORDER_LINK_H
#define CLI_RECORD_RECORDER_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/record/recorder.h"
#include "cli/supervisor/daemons.h"
#include "profile/profile.h"

struct recorder_link {
	pid_t pid;		/* 0: not running */
	bool ready;		/* its file is open */
	int control;		/* -1: none */
};

/* 0 or -errno. */
int recorder_link_start(struct recorder_link *r, const struct launch *l);

/* Send it a message, with a descriptor (borrowed) unless that is -1.  0 or
 * -errno. */
int recorder_link_tell(const struct recorder_link *r,
		       const struct record_msg *m, int fd);

/* A connection for a new exporterd: its end, or -1 without a recorder. */
int recorder_link_feed(struct recorder_link *r);

/* It is to write its file with this account, or (NULL) none, and to end.
 * Returns 0 or -errno. */
int recorder_link_end(struct recorder_link *r,
		      const struct profile_account *account);

#endif /* CLI_RECORD_RECORDER_LINK_H */
