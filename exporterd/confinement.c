// SPDX-License-Identifier: Apache-2.0
#include "exporterd/confinement.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>

#define FAMILY(f)	WHEN(socket, 0, INT, f)
#define WRITING		(O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND | O_TMPFILE)
#define NO_MADV		102	/* MADV_GUARD_INSTALL: stacks of glibc 2.42 */

/* Beyond base_rules of common/sandbox.c; tests/live/test_filters.py fails if a
 * call is not used. */
static const struct sandbox_rule exporter_rules[] = {
	/* the hub and systemd's resolver; HTTP and DNS; getaddrinfo() of a name
	 * with several addresses asks netlink for this host's, to sort them */
	FAMILY(AF_UNIX), FAMILY(AF_INET), FAMILY(AF_INET6), FAMILY(AF_NETLINK),
	YES(connect), YES(bind),
	/* curl: a connection's addresses, options and error */
	YES(getsockname), YES(getpeername), YES(getsockopt), YES(setsockopt),
	WHEN(fcntl, 1, INT, F_SETFD), WHEN(fcntl, 1, INT, F_SETFL),
	/* DNS: A and AAAA at once; the length of the answer */
	YES(sendmmsg), WHEN(ioctl, 1, INT, FIONREAD),
	/* curl's resolver thread, from its start to its end, and its notice at
	 * the end; from curl 8.9 on by eventfd2 */
	WHEN(clone, 0, CLONE_THREAD, CLONE_THREAD), YES(rseq),
	YES(exit), YES(socketpair), YES(eventfd2),
	YES(gettid),		/* systemd's NSS modules */
	/* memory: our trim(), malloc, a thread's stack */
	WHEN(madvise, 2, INT, MADV_DONTNEED), WHEN(madvise, 2, INT, NO_MADV),
	/* files that may be read: certificates, resolv.conf and the like, which
	 * may be new; stdio seeks in them */
	WHEN(openat, 2, WRITING & ~O_DIRECTORY, O_RDONLY), YES(newfstatat),
	YES(lseek),
	YES(timerfd_settime),	/* when to try again, when to give up */
	YES(uname),		/* DNS: our domain, if resolv.conf has none */
	/* what a library may try, and does without */
	FAIL(mlock, EPERM), FAIL(prlimit64, EPERM), FAIL(pipe2, EPERM),
	FAIL(recvmmsg, ENOSYS), FAIL(getcwd, EACCES), FAIL(fadvise64, EINVAL),
	FAIL(dup, EMFILE), FAIL(shutdown, ENOTCONN),
};

/* With a spool or a cache: list its files and check their owner; make a file of mode 0600,
 * write, sync, rename and remove it. */
static const struct sandbox_rule exporter_dir_rules[] = {
	WHEN_BOTH(openat, 2, WRITING & ~O_DIRECTORY, O_WRONLY | O_CREAT, INT, 0600),
	/* glibc for riscv64 has renameat2 alone */
	YES(getdents64), YES(geteuid), YES(fsync), YES(renameat),
	WHEN(renameat2, 4, INT, 0), WHEN(unlinkat, 2, INT, 0),
};

/* The time of last use of a file in the cache, set by its descriptor. */
static const struct sandbox_rule exporter_cache_rules[] = {
	WHEN(utimensat, 1, UINT64_MAX, 0),
};

/* For what is read from the spool, or comes from a debuginfod server. */
static const struct sandbox_rule exporter_memfd_rules[] = { YES(memfd_create) };

const struct confinement confinement_exporterd = {
	.process = "exporterd",
	.namespaces = NEW_ROOT,
	.limits = {
		COMMON_LIMITS,
		LIMIT(NOFILE, 1024),	/* KEPT_MAX and RECORDER_MAX, sockets */
		LIMIT(AS, 1ULL << 30),	/* a batch, its request, the queue */
		NO_LOCKED_MEMORY,
	},
	.deathsig = SIGTERM, .may_be_unit = true,
	.landlock = LANDLOCK_FILES,
	.rules = {
		RULES(exporter_rules, NULL),
		[EXPORTER_DIR_RULES] = RULES(exporter_dir_rules, "with a spool or a cache"),
		[EXPORTER_CACHE_RULES] = RULES(exporter_cache_rules, "with a cache"),
		[EXPORTER_MEMFD_RULES] =
			RULES(exporter_memfd_rules, "with a spool or debuginfod servers"),
	},
};
