// SPDX-License-Identifier: Apache-2.0
#include "cli/front/confine.h"

#include <linux/capability.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include "common/sandbox.h"

#define FRONT_FILES	80	/* 32 --pid and what comes from the supervisor */
#define FRONT_MEMORY	(512ULL << 20)	/* RLIMIT_AS */

int front_confine_reading(uid_t uid)
{
	static const int caps[] = { CAP_DAC_READ_SEARCH, CAP_NET_BIND_SERVICE };
	int r = sandbox_identity(uid, uid, caps, 2);

	return r ? r : sandbox_quiet(SIGKILL);
}

int front_confine(void)
{
	/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py
	 * fails if a call is not used. */
	static const struct sandbox_rule rules[] = {
		/* a recorder's, an exporterd's, a reader's */
		WHEN(socketpair, 0, INT, AF_UNIX),
		/* how wide is the terminal now?  Is it still there? */
		WHEN(ioctl, 1, INT, TIOCGWINSZ),
	};
	int r = sandbox_limits(FRONT_FILES, FRONT_MEMORY, 0, false);

	if (!r)
		r = sandbox_identity((uid_t)-1, (gid_t)-1, NULL, 0);
	if (!r)
		r = sandbox_quiet(SIGKILL);
	if (!r)
		r = sandbox_landlock_deny();
	if (!r)
		r = sandbox_seccomp(rules, sizeof(rules) / sizeof(rules[0]));
	return r;
}
