// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/confine.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "viewer/server/http.h"

#define NOFILE		(LISTEN_MAX * HTTP_CONNECTIONS + 32)
/* without the batches that are kept, four times their memory: requests, answers */
#define ADDRESS_SPACE	(2ULL << 30)

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule viewer_rules[] = {
	/* browsers: accept, answers sent without delay, end of a refused
	 * connection: http.c */
	YES(accept4), YES(setsockopt), YES(shutdown),
};

static const struct sandbox_rule viewer_hub_rules[] = {
	/* connect to the hub, again when it ends: conn_connect() of ipc/conn.c */
	WHEN_BOTH(socket, 0, INT, AF_UNIX, INT,
		  SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK),
	YES(connect),
};

/* places in the arrays of confinement_viewer */
#define VIEWER_MEMORY	0
#define VIEWER_HUB	1

const struct confinement confinement_viewer = {
	.process = "viewer",
	.namespaces = NEW_ROOT | CLONE_NEWNET,
	.limits = {
		[VIEWER_MEMORY] = LIMIT(AS, ADDRESS_SPACE), COMMON_LIMITS,
		LIMIT(NOFILE, NOFILE), NO_PROCESSES, NO_LOCKED_MEMORY,
	},
	.deathsig = SIGTERM, .may_be_unit = true,
	.rules = {
		RULES(viewer_rules, NULL),
		[VIEWER_HUB] = RULES(viewer_hub_rules, "with a hub"),
	},
};

void viewer_confine(const struct viewer_config *v)
{
	struct confinement c = confinement_viewer;
	const char *keep[] = { NULL, NULL };
	char dir[PATH_MAX];

	if (v->hub) {
		/* its directory, since the socket may be made again */
		snprintf(dir, sizeof(dir), "%s", v->hub);
		*strrchr(dir, '/') = '\0';
		keep[0] = dir;
	} else {
		c.rules[VIEWER_HUB].n = 0;
	}
	c.limits[VIEWER_MEMORY].max += 4 * ((uint64_t)v->memory_mib << 20);
	sandbox_namespaces(c.namespaces, keep, NULL);
	confine(&c, &(struct confine_as){ .uid = v->uid, .gid = v->gid });
}
