// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/worker/confine.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/log.h"
#include "common/sandbox.h"

#define N(rules)	(sizeof(rules) / sizeof((rules)[0]))

/* Queued executables 256, tables on their way 128, batches 16, the rest. */
#define HUB_NOFILE	512
#define ZYGOTE_NOFILE	HUB_NOFILE
/* A worker opens nothing.  But this limit also bounds what all processes of its
 * uid have in flight over sockets, the hub's tables for loaderd among them. */
#define WORKER_NOFILE	HUB_NOFILE
#define HUB_AS_BYTES	(1ULL << 30)

/* What glibc's and musl's fork(2) ask of clone(2): no namespace, no thread. */
#define FORK_FLAGS	(CLONE_CHILD_SETTID | CLONE_CHILD_CLEARTID | SIGCHLD)

static const struct sandbox_rule hub_rules[] = {
	YES(accept4), YES(memfd_create), YES(ftruncate), YES(timerfd_settime),
	WHEN(getsockopt, 2, INT, SO_PEERCRED),
};

static const struct sandbox_rule zygote_rules[] = {
	WHEN(clone, 0, ~0ULL, FORK_FLAGS), WHEN(clone, 0, ~0ULL, SIGCHLD),
	YES(fork), YES(wait4), WHEN(kill, 1, INT, SIGKILL),
	/* for confine_worker() */
	WHEN(prctl, 0, INT, PR_SET_PDEATHSIG),
	WHEN(prctl, 0, INT, PR_SET_NO_NEW_PRIVS),
	WHEN(prctl, 0, INT, PR_SET_DUMPABLE),
	WHEN(prctl, 0, INT, PR_SET_SECCOMP),
	YES(seccomp), WHEN(prlimit64, 0, INT, 0), YES(setrlimit),
	/* for the worker itself */
	YES(memfd_create), YES(ftruncate),
};

static const struct sandbox_rule worker_rules[] = {
	YES(memfd_create), YES(ftruncate),
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
	int r = sandbox_limits(ZYGOTE_NOFILE, HUB_AS_BYTES, -1, false);

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

int confine_worker(void)
{
	int r = sandbox_limits(WORKER_NOFILE, WORKER_AS_BYTES, 0, false);

	if (r == 0)
		r = symbolizerd_confine_limit(RLIMIT_CPU, WORKER_CPU_S);
	if (r == 0)
		r = symbolizerd_confine_limit(RLIMIT_FSIZE, WORKER_FILE_BYTES);
	if (r == 0)
		r = sandbox_quiet(SIGKILL);
	return r ? r : sandbox_seccomp(worker_rules, N(worker_rules));
}
