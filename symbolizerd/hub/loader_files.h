/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_files - loaderd's questions about files, and the answers
 *
 * Between the connection to loaderd, the policy for tables (tables/files.h),
 * what is known of executables, and the workers: none of them knows the others.
 */
#ifndef SYMBOLIZERD_HUB_LOADER_FILES_H
#define SYMBOLIZERD_HUB_LOADER_FILES_H

#include "ipc/conn.h"
#include "symbolizerd/hub/jobs.h"
#include "symbolizerd/tables/out.h"

struct hub;

/* For files_init() and jobs_init(); their ctx is the hub. */
extern const struct tables_out loader_files_out;
extern const struct jobs_ops loader_files_jobs;

/* Messages of loaderd, judged: MSG_OK, or an enum msg_verdict.  Descriptors
 * that are needed are taken. */
int loader_files_on_slab(struct hub *hub, const struct msg *msg);
int loader_files_on_known(struct hub *hub, const struct msg *msg);
int loader_files_on_exe(struct hub *hub, struct msg *msg);
int loader_files_on_mapped(struct hub *hub, const struct msg *msg);
int loader_files_on_freed(struct hub *hub, const struct msg *msg);

/* What the batches of this interval showed was used. */
void loader_files_used(struct hub *hub);

#endif /* SYMBOLIZERD_HUB_LOADER_FILES_H */
