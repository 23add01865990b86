// SPDX-License-Identifier: Apache-2.0
#include "cli/config/confine.h"

#include <errno.h>
#include <linux/capability.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

const struct confinement confinement_front_reading = {
	.process = "front, while it reads its configuration",
	.caps = CAP(DAC_READ_SEARCH) | CAP(NET_BIND_SERVICE),
	.deathsig = SIGKILL, .landlock = LANDLOCK_NONE, .any_call = true,
};

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule front_rules[] = {
	/* to a recorder, an exporterd, a reader */
	WHEN(socketpair, 0, INT, AF_UNIX),
	/* the width of the terminal, if it is still there */
	WHEN(ioctl, 1, INT, TIOCGWINSZ),
};

const struct confinement confinement_front = {
	.process = "front",
	.limits = {
		COMMON_LIMITS,
		LIMIT(NOFILE, 80),	/* 32 --pid and what comes from the supervisor */
		LIMIT(AS, 512ULL << 20), NO_PROCESSES, NO_LOCKED_MEMORY,
	},
	.deathsig = SIGKILL,
	.rules = { RULES(front_rules, NULL) },
};

const struct confinement confinement_recorder = {
	.process = "recorder",
	.limits = {
		COMMON_LIMITS, LIMIT(NOFILE, 64), LIMIT(AS, 4ULL << 30),
		NO_PROCESSES, NO_LOCKED_MEMORY,
	},
	.deathsig = SIGKILL,
};

const struct confinement confinement_reader = {
	.process = "reader of `trifold convert`, `diff`",
	.limits = {
		COMMON_LIMITS, LIMIT(NOFILE, 16), LIMIT(AS, 4ULL << 30),
		NO_PROCESSES, NO_LOCKED_MEMORY,
	},
	.deathsig = SIGKILL,
};

/* TCSETSW2: asm-generic/ioctls.h; glibc from 2.42 on */
#define SET2_WAIT	0x402c542c

static const struct sandbox_rule display_rules[] = {
	/* ncurses: the terminal's modes, by tcsetattr(TCSADRAIN); its size.
	 * What was typed ahead may stay. */
	WHEN(ioctl, 1, INT, TCSETSW), WHEN(ioctl, 1, INT, SET2_WAIT),
	WHEN(ioctl, 1, INT, TIOCGWINSZ),
	FAIL_WHEN(ioctl, 1, INT, TCFLSH, ENOTTY),
};

const struct confinement confinement_display = {
	.process = "display of `trifold top`",
	.limits = {
		COMMON_LIMITS, LIMIT(NOFILE, 64), LIMIT(AS, 1ULL << 30),
		NO_PROCESSES, NO_LOCKED_MEMORY,
	},
	.rules = { RULES(display_rules, NULL) },
};

void confine_front_reading(uid_t uid)
{
	confine(&confinement_front_reading,
		&(struct confine_as){ .uid = uid, .gid = uid });
}

void confine_front(void)
{
	confine(&confinement_front, &(struct confine_as){
		.uid = (uid_t)-1, .gid = (gid_t)-1 });
}

void confine_recorder(uid_t seal)
{
	if (geteuid() != 0)
		seal = (uid_t)-1;
	confine(&confinement_recorder,
		&(struct confine_as){ .uid = seal, .gid = seal });
}

void confine_reader(uid_t seal, const int *keep, int n)
{
	sandbox_close_fds(keep, n);
	confine(&confinement_reader, &(struct confine_as){ .uid = seal, .gid = seal });
}

void confine_display(uid_t seal)
{
	confine(&confinement_display,
		&(struct confine_as){ .uid = seal, .gid = seal });
}
