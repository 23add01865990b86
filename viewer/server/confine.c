// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/confine.h"

#include <limits.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/sandbox.h"
#include "viewer/server/http.h"

#define NOFILE		(LISTEN_MAX * HTTP_CONNECTIONS + 32)
/* beside what is kept: batches, requests, their messages, answers */
#define ADDRESS_SPACE	(2ULL << 30)

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule rules[] = {
	/* browsers: their connections; answers that are not held back; the end
	 * of one that is told off: http.c */
	YES(accept4), YES(setsockopt), YES(shutdown),
	/* the hub, again and again: conn_connect() of ipc/conn.c */
	{ .nr = SCMP_SYS(socket), .mask = INT, .value = AF_UNIX, .mask2 = INT,
	  .value2 = SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK },
	YES(connect),
};

/* Without a hub the last two rules are left out. */
#define HUB_RULES	2

/* The directory of the hub's socket: that may be made again. */
static void confine_hub_directory(const struct viewer_config *c,
				  char dir[PATH_MAX])
{
	snprintf(dir, PATH_MAX, "%s", c->hub ? c->hub : "/");
	*strrchr(dir, '/') = '\0';
}

int viewer_confine(const struct viewer_config *c)
{
	char dir[PATH_MAX];
	const char *keep[] = { dir, NULL };
	int r;

	confine_hub_directory(c, dir);
	r = sandbox_namespaces(true, c->hub ? keep : NULL);
	if (r == 0)
		r = sandbox_limits(NOFILE, ADDRESS_SPACE +
				   4 * ((uint64_t)c->memory_mib << 20), 0, false);
	if (r == 0)
		r = sandbox_identity(c->uid, c->gid, NULL, 0);
	if (r == 0)
		r = sandbox_quiet(getppid() == 1 ? 0 : SIGTERM);
	if (r == 0)
		r = sandbox_landlock_deny();
	if (r == 0)
		r = sandbox_seccomp(rules, sizeof(rules) / sizeof(rules[0]) -
				    (c->hub ? 0 : HUB_RULES));
	return r;
}
