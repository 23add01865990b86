// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/confine.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sandbox.h"
#include "ipc/message_loader.h"

#define N(rules)	(sizeof(rules) / sizeof((rules)[0]))

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
	WHEN(getsockopt, 2, INT, SO_PEERCRED),	/* whose process it is */
	YES(memfd_create),			/* batches; tables for loaderd */
	YES(timerfd_settime),			/* the end of an interval */
	YES(getuid),				/* status.c: who may ask? */
};

static const struct sandbox_rule zygote_rules[] = {
	/* a worker for each file; its end; the end of one that takes too long */
	WHEN(clone, 0, ~0ULL, FORK_FLAGS), YES(wait4),
	WHEN(kill, 1, INT, SIGKILL),
	WHEN(setpriority, 2, INT, 0),		/* after the beginning */
	/* for confine_worker() */
	WHEN(prctl, 0, INT, PR_SET_PDEATHSIG),
	WHEN(prctl, 0, INT, PR_SET_NO_NEW_PRIVS),
	WHEN(prctl, 0, INT, PR_SET_DUMPABLE),
	YES(seccomp), WHEN(prlimit64, 0, INT, 0),
	/* for the worker itself, whose filter comes on top of this one */
	YES(memfd_create), WHEN(madvise, 2, INT, MADV_RANDOM),
};

static const struct sandbox_rule worker_rules[] = {
	YES(memfd_create),			/* its answer */
	WHEN(madvise, 2, INT, MADV_RANDOM),	/* a file with DWARF */
};

int confine_namespaces(void)
{
	return sandbox_namespaces(true, NULL);
}

static int symbolizerd_confine_confine(uid_t uid, gid_t gid, int deathsig)
{
	int r = sandbox_identity(uid, gid, NULL, 0);

	if (r == 0)
		r = sandbox_quiet(deathsig);
	return r ? r : sandbox_landlock_deny();
}

int confine_hub(uid_t uid, gid_t gid)
{
	int r = sandbox_limits(HUB_NOFILE, HUB_AS_BYTES, 0, false);

	if (r == 0)
		r = symbolizerd_confine_confine(uid, gid,
						getppid() == 1 ? 0 : SIGTERM);
	return r ? r : sandbox_seccomp(hub_rules, N(hub_rules));
}

int confine_zygote(uid_t uid, gid_t gid, const int *keep, int n)
{
	int r = sandbox_limits(ZYGOTE_NOFILE, WORKER_AS_BYTES, -1, false);

	if (r == 0)
		r = sandbox_close_fds(keep, n);
	if (r == 0)
		r = symbolizerd_confine_confine(uid, gid, SIGKILL);
	return r ? r : sandbox_seccomp(zygote_rules, N(zygote_rules));
}

static int symbolizerd_confine_limit(__rlimit_resource_t what, rlim_t value)
{
	struct rlimit rl = { .rlim_cur = value, .rlim_max = value };

	return setrlimit(what, &rl) < 0 ? -errno : 0;
}

int confine_worker(unsigned int cpu_s)
{
	int r = sandbox_limits(WORKER_NOFILE, WORKER_AS_BYTES, 0, false);

	if (r == 0)
		r = symbolizerd_confine_limit(RLIMIT_CPU, cpu_s);
	if (r == 0)
		r = symbolizerd_confine_limit(RLIMIT_DATA, WORKER_DATA_BYTES);
	if (r == 0)
		r = symbolizerd_confine_limit(RLIMIT_FSIZE, WORKER_FILE_BYTES);
	if (r == 0)
		r = sandbox_quiet(SIGKILL);
	return r ? r : sandbox_seccomp(worker_rules, N(worker_rules));
}
