// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/confine.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>

#include "ipc/message_loader.h"

#define HUB_NOFILE	(HUB_FDS + HUB_FDS_KEPT + SLABS_MAX)
#define ZYGOTE_NOFILE	HUB_NOFILE
/* A worker opens nothing.  But this limit also bounds what all processes of its
 * uid have in flight over sockets, the hub's tables for loaderd among them. */
#define WORKER_NOFILE	HUB_NOFILE
#define HUB_AS_BYTES	(1ULL << 30)

/* What glibc's fork(3) asks of clone(2): no namespace, no thread. */
#define FORK_FLAGS	(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule hub_rules[] = {
	YES(accept4),				/* loaderd, exporterd, readers */
	WHEN(getsockopt, 2, INT, SO_PEERCRED),	/* the peer's user */
	YES(memfd_create),			/* batches; tables for loaderd */
	YES(timerfd_settime),			/* the end of an interval */
	YES(getuid),				/* status.c: which user may ask */
};

static const struct sandbox_rule zygote_rules[] = {
	/* a worker for each file; waits for its end; kills one that takes too long */
	WHEN(clone, 0, ~0ULL, FORK_FLAGS), YES(wait4),
	WHEN(kill, 1, INT, SIGKILL),
	WHEN(setpriority, 2, INT, 0),		/* back to normal after the start */
	/* for confine_worker() */
	WHEN(prctl, 0, INT, PR_SET_PDEATHSIG),
	WHEN(prctl, 0, INT, PR_SET_NO_NEW_PRIVS),
	WHEN(prctl, 0, INT, PR_SET_DUMPABLE),
	YES(seccomp), WHEN(prlimit64, 0, INT, 0),
	/* for the worker itself, whose filter is added to this one */
	YES(memfd_create), WHEN(madvise, 2, INT, MADV_RANDOM),
};

static const struct sandbox_rule worker_rules[] = {
	YES(memfd_create),			/* its answer */
	WHEN(madvise, 2, INT, MADV_RANDOM),	/* a file with DWARF */
};

#define WORKER_CPU	0	/* the place of its limit in the array */

/* Main process and zygote share the namespaces of confine_namespaces(). */
const struct confinement confinement_hub = {
	.process = "hub",
	.namespaces = NEW_ROOT | CLONE_NEWNET,
	.limits = {
		COMMON_LIMITS, LIMIT(NOFILE, HUB_NOFILE), LIMIT(AS, HUB_AS_BYTES),
		NO_PROCESSES, NO_LOCKED_MEMORY,
	},
	.deathsig = SIGTERM, .may_be_unit = true,
	.rules = { RULES(hub_rules, NULL) },
};

const struct confinement confinement_zygote = {
	.process = "zygote",
	.namespaces = NEW_ROOT | CLONE_NEWNET,
	.limits = {
		COMMON_LIMITS, LIMIT(NOFILE, ZYGOTE_NOFILE),
		LIMIT(AS, WORKER_AS_BYTES), NO_LOCKED_MEMORY,
	},
	.deathsig = SIGKILL,
	.rules = { RULES(zygote_rules, NULL) },
};

const struct confinement confinement_worker = {
	.process = "worker",
	.namespaces = NEW_ROOT | CLONE_NEWNET,
	.limits = {
		[WORKER_CPU] = LIMIT(CPU, WORKER_CPU_S), COMMON_LIMITS,
		LIMIT(NOFILE, WORKER_NOFILE), LIMIT(AS, WORKER_AS_BYTES),
		LIMIT(DATA, WORKER_DATA_BYTES), LIMIT(FSIZE, WORKER_FILE_BYTES),
		NO_PROCESSES, NO_LOCKED_MEMORY,
	},
	.deathsig = SIGKILL,
	/* the zygote has both already */
	.identity_inherited = true, .landlock = LANDLOCK_NONE,
	.rules = { RULES(worker_rules, NULL) },
};

void confine_namespaces(void)
{
	sandbox_namespaces(confinement_hub.namespaces, NULL, NULL);
}

void confine_hub(uid_t uid, gid_t gid)
{
	confine(&confinement_hub, &(struct confine_as){ .uid = uid, .gid = gid });
}

void confine_zygote(uid_t uid, gid_t gid, const int *keep, int n)
{
	sandbox_close_fds(keep, n);
	confine(&confinement_zygote, &(struct confine_as){ .uid = uid, .gid = gid });
}

/* The worker's filter, the same for all. */
static struct sandbox_program worker_filter;

void confine_worker_prepare(void)
{
	sandbox_program_make(&worker_filter, &confinement_worker);
}

void confine_worker(unsigned int cpu_s)
{
	struct confinement c = confinement_worker;

	if (!worker_filter.n)
		confine_worker_prepare();
	c.limits[WORKER_CPU].max = cpu_s;
	c.any_call = true;	/* its filter follows */
	confine(&c, &(struct confine_as){ .uid = (uid_t)-1 });
	sandbox_program_load(&worker_filter);
}

void confine_lone_worker(uid_t uid, gid_t gid, const int *keep, int n)
{
	struct confinement c = confinement_worker;

	c.identity_inherited = false;
	sandbox_close_fds(keep, n);
	confine(&c, &(struct confine_as){ .uid = uid, .gid = gid });
}
