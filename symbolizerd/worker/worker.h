/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker - the only code that parses files and memory of profiled processes
 *
 * A worker has one job.  The zygote (zygote.h) forks it, already confined, with one
 * socket; it receives one MSG_JOB, reads through the descriptor in that message, and
 * exits after its answer, which may be MSG_JOB_FAILED.
 *
 * JOB_FILE: a file (pread only: it may shrink or change at any time, a mapping
 * could raise SIGBUS); a MSG_JOB_DONE for each part that is wanted.  JOB_PROCESS: a
 * process's memory, through symbols/process_memory.h; MSG_NAMES.  JOB_LINES: a file
 * (lines_job.h); MSG_NAMES.
 */
#ifndef SYMBOLIZERD_WORKER_WORKER_H
#define SYMBOLIZERD_WORKER_WORKER_H

/* Handle one job on socket fd; returns the exit status of the process.  An answer to a worker
 * that had this socket before is dropped; any other message ends the process with 1. */
int worker_run(int fd);

#endif /* SYMBOLIZERD_WORKER_WORKER_H */
