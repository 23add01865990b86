/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker - the only code that parses files of profiled processes
 *
 * A worker lives for one job.  It is forked by the zygote (symbolizerd/
 * zygote.c), already confined, with one socket; it receives one MSG_JOB, reads
 * the file through the descriptor that came along (pread only: the file may
 * shrink or change at any time, a mapping could raise SIGBUS), answers
 * MSG_JOB_DONE or MSG_JOB_FAILED, and exits.
 */
#ifndef SYMBOLIZERD_WORKER_WORKER_H
#define SYMBOLIZERD_WORKER_WORKER_H

/* Handle one job on socket fd; returns the exit status of the process. */
int worker_run(int fd);

#endif /* SYMBOLIZERD_WORKER_WORKER_H */
