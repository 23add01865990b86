/* SPDX-License-Identifier: Apache-2.0 */
/*
 * top_daemons - trifold's daemons, started for one `trifold top`
 */
#ifndef CLI_TOP_DAEMONS_H
#define CLI_TOP_DAEMONS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/config/options.h"

#define TOP_INTERVAL	1	/* s between batches */
#define TOP_LOG_KEPT	4096	/* bytes, the last ones */

struct top_daemons {
	pid_t pid;		/* of the supervisor; 0: none */
	int status;		/* as of waitpid, once it has ended */
	int log;		/* their output; -1: none, or closed */
	size_t len;
	char kept[TOP_LOG_KEPT];
};

/* Fork a supervisor (supervise.h), in a session of its own, that ends orderly on
 * SIGTERM or when this process dies.  0 or -errno. */
int top_daemons_start(struct top_daemons *d, const struct options *o);

/* Read their output.  Copies the last whole line, without newline, to line (cut
 * to fit); false: there was none. */
bool top_daemons_read(struct top_daemons *d, char *line, size_t size);

/* Print their last output on standard error, escaped. */
void top_daemons_say(const struct top_daemons *d);

#endif /* CLI_TOP_DAEMONS_H */
