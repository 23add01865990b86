/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_link - the other end of the recorder (recorder.h), for the process
 * that starts it or has its control socket */
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

/* Plan the recorder's words except its output: format, what is recorded (`what`,
 * without a command), and whether that is a part of the system. */
void recorder_link_plan(struct plan *p, const struct options *o,
			const char *what);

/* Does the recording go to standard output?  Who reads that may take its time. */
bool recorder_link_piped(const struct options *o);

/* Start it without a supervisor, with the words of p; its writer is seal_uid, its
 * log goes to log_fd.  0 or -errno. */
int recorder_link_start(struct recorder_link *r, const struct plan *p,
			uid_t seal_uid, int log_fd);

/* Send the recorder a message, with a descriptor (borrowed) unless that is -1.  0
 * or -errno. */
int recorder_link_tell(const struct recorder_link *r,
		       const struct record_msg *m, int fd);

#endif /* CLI_RECORD_RECORDER_LINK_H */
