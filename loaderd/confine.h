/* SPDX-License-Identifier: Apache-2.0 */
/*
 * confine - what loaderd and its opener can do once they have started
 *
 * A step that fails ends the process (common/sandbox.h).
 */
#ifndef LOADERD_CONFINE_H
#define LOADERD_CONFINE_H

#include "common/sandbox.h"

extern const struct confinement confinement_loaderd, confinement_opener;

/*
 * Main.  Afterwards it can: use bpf(2) and perf_event_open(2) (CAP_BPF,
 * CAP_PERFMON), read and write the descriptors it holds, make memfds, and
 * connect Unix sockets.  It cannot open a file, become another user, fork, exec,
 * trace, or reach a network.  It ends when its parent dies, unless that is
 * PID 1.  uid (uid_t)-1: the unit set it already.
 */
void confine_main(uid_t uid, gid_t gid);

/*
 * The opener and its respawner.  Afterwards they can: open for reading whatever
 * CAP_SYS_PTRACE, CAP_CHECKPOINT_RESTORE and CAP_DAC_READ_SEARCH let a non-root
 * uid open (so never /proc/PID/mem for writing), answer main, fork and kill
 * each other.  They cannot write any file, trace, write memory
 * (process_vm_writev), take descriptors (pidfd_getfd), use bpf(2) or make a
 * socket.  No Landlock: its ptrace hook ignores capabilities and would refuse
 * /proc/PID.
 */
void confine_opener(uid_t uid, gid_t gid);

#endif /* LOADERD_CONFINE_H */
