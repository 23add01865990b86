// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/confine.h"

#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/sandbox.h"
#include "viewer/server/http.h"

#define NOFILE		(LISTEN_MAX * HTTP_CONNECTIONS + 32)
/* beside what is kept: requests, their messages, answers */
#define ADDRESS_SPACE	(2ULL << 30)

#define YES(call)	{ .nr = SCMP_SYS(call), .kind = SANDBOX_ALLOW }

/* Beyond base_rules of common/sandbox.c. */
static const struct sandbox_rule rules[] = {
	YES(accept4), YES(accept), YES(getsockopt), YES(setsockopt),
	YES(getsockname), YES(getpeername), YES(shutdown),
};

int confine(const struct config *c)
{
	int r = sandbox_namespaces(true, NULL);

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
		r = sandbox_seccomp(rules, sizeof(rules) / sizeof(rules[0]));
	return r;
}
