/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine - what symbolizerd's three kinds of process may do
 *
 * confine_namespaces() comes first, for main and zygote together; then the
 * zygote is forked; then each confines itself, before it reads a byte from
 * another process.  A step that fails ends the process (common/sandbox.h).
 */
#ifndef SYMBOLIZERD_WORKER_CONFINE_H
#define SYMBOLIZERD_WORKER_CONFINE_H

#include "common/sandbox.h"

extern const struct confinement confinement_hub, confinement_zygote, confinement_worker;

/* New network, mount, IPC and UTS namespaces, an empty root. */
void confine_namespaces(void);

/* Descriptors of the main process: queued executables 256, tables on their way 128,
 * batches 16, files of JITs 80, debug files 64, the rest; and those that it keeps
 * (symbolizerd/knowledge/executable.h). */
#define HUB_FDS			656
#define HUB_FDS_KEPT		1024

/*
 * The main process.  Afterwards it can: use the descriptors that it has,
 * accept connections on its listening sockets and learn who connects; receive
 * descriptors and use those; make sealed memfds (memfd_create, fcntl) and map
 * memory, never executable; set its timers; send and receive; end.  It cannot
 * open, connect, make sockets, start processes, send signals, or change its
 * identity.
 */
void confine_hub(uid_t uid, gid_t gid);

/*
 * The zygote.  It can: fork processes into the same namespaces with the same
 * confinement; wait for its children; send SIGKILL to processes of its uid (with
 * Landlock's ABI 6: to its children only); use its sockets; lower its limits (its
 * address space is a worker's, which can be no larger);
 * load a further seccomp filter; and all that a worker can.  keep: n
 * descriptors, all others are closed.
 */
void confine_zygote(uid_t uid, gid_t gid, const int *keep, int n);

/*
 * A worker, forked by the zygote and confined like it already.  It can: read
 * the descriptors that it receives (pread; no mapping of code), send its
 * answers, make sealed memfds of at most WORKER_FILE_BYTES, use up to
 * WORKER_DATA_BYTES of memory that it writes, WORKER_AS_BYTES of address space (a file
 * with DWARF is mapped), cpu_s seconds of CPU time, and end.
 * It cannot fork or signal any more.
 */
#define WORKER_DATA_BYTES	(512ULL << 20)
#define WORKER_AS_BYTES		(4ULL << 30)
#define WORKER_FILE_BYTES	(256ULL << 20)
#define WORKER_CPU_S		30	/* the most; see confine_worker() */
void confine_worker(unsigned int cpu_s);

/* Make the filter of all workers: in the zygote, before it is confined, since that takes
 * longer than to load it.  Without this each worker makes its own. */
void confine_worker_prepare(void);

/* A worker without a zygote, which also becomes uid and gid and closes all but the
 * n descriptors of keep: for commands that show or walk one file.  It keeps the
 * namespaces of its caller. */
void confine_lone_worker(uid_t uid, gid_t gid, const int *keep, int n);

#endif /* SYMBOLIZERD_WORKER_CONFINE_H */
