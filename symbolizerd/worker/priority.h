/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priority - more CPU time than others get, on a busy host
 *
 * A nice value counts only among the tasks of one session if the kernel groups
 * them by session (autogroup, sched(7)), as most do by default.  Then the group
 * has a nice value of its own.
 */
#ifndef SYMBOLIZERD_WORKER_PRIORITY_H
#define SYMBOLIZERD_WORKER_PRIORITY_H

/* Give this process nice value -10, as loaderd has, and its session too if it leads
 * one, as far as it may.  proc: /proc, open.  Returns the session's group, for
 * priority_settle(), owned by the caller; -1: there is none, or it was not raised. */
int priority_raise(int proc);

/* Nice value 0 again, and in the group, which was closed then.  0, or -errno: is to
 * be tried again, -EAGAIN after 100 ms. */
int priority_settle(int *group);

#endif /* SYMBOLIZERD_WORKER_PRIORITY_H */
