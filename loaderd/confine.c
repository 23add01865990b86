// SPDX-License-Identifier: Apache-2.0
#include "loaderd/confine.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <sys/socket.h>

#include "common/sandbox.h"

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule main_rules[] = {
	/* map elements, slabs, BPF programs' state: elements.c, entries.c */
	YES(bpf),
	/* sampling: a counter with the program on each CPU, also on CPUs that go
	 * online later: sampling.c */
	YES(perf_event_open), WHEN(ioctl, 1, INT, PERF_EVENT_IOC_SET_BPF),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_ENABLE),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_DISABLE),
	WHEN(ioctl, 1, INT, PERF_EVENT_IOC_PERIOD),
	/* other maps under the numbers that programs name: variant.c */
	WHEN(dup3, 2, INT, O_CLOEXEC),
	/* the hub, again when it is another one: conn.c, hub_link.c */
	WHEN(socket, 0, INT, AF_UNIX), YES(connect), YES(setsockopt),
	/* two other channels to it: samples, and sealed tables of what runs */
	WHEN(socketpair, 0, INT, AF_UNIX), YES(memfd_create),
	YES(wait4),		/* for the respawner, at the end */
};

static const struct sandbox_rule opener_rules[] = {
	/* reading only: O_ACCMODE is 3, O_RDONLY 0 */
	WHEN(openat, 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY),
	/* below the root of a process.  Its flags are in memory, where a filter
	 * cannot see them: an opener that was taken over could open for writing,
	 * but not make a file longer (RLIMIT_FSIZE 0) */
	YES(openat2),
	/* path, kind and file system of what was found; arm64 and newer glibc
	 * have only readlinkat and newfstatat */
	YES(readlink), YES(readlinkat), YES(fstat), YES(newfstatat), YES(fstatfs),
	YES(capset),	/* a debug file: without capabilities */
	/* the respawner replaces an opener that hangs; an opener ends with its
	 * respawner (PR_SET_PDEATHSIG) */
	YES(clone), YES(wait4), WHEN(kill, 1, INT, SIGKILL),
	WHEN(prctl, 0, INT, 1 /* PR_SET_PDEATHSIG */),
};

const struct confinement confinement_loaderd = {
	.process = "loaderd",
	.limits = { COMMON_LIMITS, LIMIT(NOFILE, 4096) },
	.caps = CAP(BPF) | CAP(PERFMON),
	.deathsig = SIGTERM, .may_be_unit = true,
	.rules = { RULES(main_rules, NULL) },
};

const struct confinement confinement_opener = {
	.process = "opener",
	.limits = {
		COMMON_LIMITS, LIMIT(NOFILE, 64), LIMIT(AS, 256u << 20),
		LIMIT(FSIZE, 0), NO_LOCKED_MEMORY,
	},
	.caps = CAP(SYS_PTRACE) | CAP(CHECKPOINT_RESTORE) | CAP(DAC_READ_SEARCH),
	.deathsig = SIGKILL, .landlock = LANDLOCK_NONE,
	.rules = { RULES(opener_rules, NULL) },
};

void confine_main(uid_t uid, gid_t gid)
{
	confine(&confinement_loaderd, &(struct confine_as){ .uid = uid, .gid = gid });
}

void confine_opener(uid_t uid, gid_t gid)
{
	signal(SIGXFSZ, SIG_IGN);
	confine(&confinement_opener, &(struct confine_as){ .uid = uid, .gid = gid });
}
