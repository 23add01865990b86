/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority - a larger share of CPU time on a busy host
 *
 * A nice value counts only among the tasks of one session if the kernel groups
 * them by session (autogroup, sched(7)), as most do by default.  Then the group
 * has a nice value of its own.
 */
#ifndef SYMBOLIZERD_WORKER_PRIORITY_H
#define SYMBOLIZERD_WORKER_PRIORITY_H

/* Give this process nice value -10, as loaderd has, and also its session, if it leads
 * one; failures are only logged.  proc: /proc, open.  Returns the session's group for
 * priority_settle(), owned by the caller; -1: none, or it was not raised. */
int priority_raise(int proc);

/* Set nice value 0 again, also of the group, which is closed.  0, or -errno: to be
 * tried again, after -EAGAIN in 100 ms. */
int priority_settle(int *group);

#endif /* SYMBOLIZERD_WORKER_PRIORITY_H */
