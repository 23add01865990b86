/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_link - the other end of the recorder (recorder.h): who starts it, or
 * who was given its control socket */
#ifndef CLI_RECORD_RECORDER_LINK_H
#define CLI_RECORD_RECORDER_LINK_H

#include <stdbool.h>
#include <sys/types.h>

#include "cli/record/plan.h"
#include "cli/record/recorder.h"

struct recorder_link {
	pid_t pid;		/* 0: not running */
	int control;		/* -1: none */
};

/* What a recorder must be told beside its output: format, what is recorded (`what`,
 * where there is no command), and whether that is a part of the system. */
void recorder_link_plan(struct plan *p, const struct options *o,
			const char *what);

/* Start it without a supervisor, with the words of p; its writer is seal_uid,
 * its lines go to log_fd.  0 or -errno. */
int recorder_link_start(struct recorder_link *r, const struct plan *p,
			uid_t seal_uid, int log_fd);

/* Send it a message, with a descriptor (borrowed) unless that is -1.  0 or
 * -errno. */
int recorder_link_tell(const struct recorder_link *r,
		       const struct record_msg *m, int fd);

#endif /* CLI_RECORD_RECORDER_LINK_H */
