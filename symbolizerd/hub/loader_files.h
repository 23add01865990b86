/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_files - loaderd's questions about files, and the answers
 *
 * It stands between the connection to loaderd, the policy for tables
 * (tables/files.h), what is known of executables, and the workers.  None of
 * these knows the others.
 */
#ifndef SYMBOLIZERD_HUB_LOADER_FILES_H
#define SYMBOLIZERD_HUB_LOADER_FILES_H

#include "ipc/conn.h"
#include "symbolizerd/hub/jobs.h"
#include "symbolizerd/hub/knowledge.h"
#include "symbolizerd/hub/loader_link.h"
#include "symbolizerd/tables/out.h"

struct loader_files {		/* all borrowed */
	struct knowledge *k;
	struct jobs *jobs;
	struct loader_link *link;
};

/* For knowledge_init() and jobs_init(); their ctx is a struct loader_files. */
extern const struct tables_out loader_files_out;
extern const struct jobs_ops loader_files_jobs;

/* A message of loaderd about files, judged: MSG_OK, or an enum msg_verdict.
 * Descriptors that are needed are taken.  ctx: a struct loader_files. */
int loader_files_on_message(void *ctx, struct msg *msg);

#endif /* SYMBOLIZERD_HUB_LOADER_FILES_H */
