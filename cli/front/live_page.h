/* SPDX-License-Identifier: Apache-2.0 */
/*
 * live_page - what `trifold run` gives trifold-viewer
 *
 * The sockets are bound here, once, and go to the supervisor with the plan: the
 * address stays the same when the viewer is restarted.  So does the key, 128
 * random bits, which the viewer gets by its environment and users by a line of
 * output.
 */
#ifndef CLI_FRONT_LIVE_PAGE_H
#define CLI_FRONT_LIVE_PAGE_H

#include <stdbool.h>

#include "cli/config/options.h"
#include "common/page_key.h"
#include "common/listen.h"

#define LIVE_PAGE_PORT		4328

struct live_page {
	bool on;
	bool elsewhere;			/* the default port was taken */
	struct listeners sockets;
	char key[PAGE_KEY_LEN + 1];
	char viewer_env[64];		/* "NAME=value", of the viewer */
};

/*
 * Open what the options say; programs: the directory of the daemons.  0, also
 * without a page (.on is false), or -errno after a line in the log.
 */
int live_page_open(struct live_page *p, const struct options *o,
		   const char *programs);

/* "http://127.0.0.1:4328/#key=..." */
const char *live_page_address(const struct live_page *p, char out[80]);

#endif /* CLI_FRONT_LIVE_PAGE_H */
