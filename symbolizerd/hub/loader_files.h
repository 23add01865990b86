/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loader_files - loaderd's questions about files, and the answers
 *
 * It stands between the connection to loaderd, the policy for tables
 * (tables/files.h), what is known of executables, and the workers.  None of
 * these knows the others.
 *
 * When the share of CPU time is used up (cpu_share.h), a file is put off: its question
 * is held, and loaderd, which has at most EXE_AHEAD without an answer, opens no more.
 */
#ifndef SYMBOLIZERD_HUB_LOADER_FILES_H
#define SYMBOLIZERD_HUB_LOADER_FILES_H

#include "ipc/conn.h"
#include "symbolizerd/hub/loader_link.h"
#include "symbolizerd/hub/slab_writer.h"
#include "symbolizerd/jobs/jobs.h"
#include "symbolizerd/knowledge/knowledge.h"
#include "symbolizerd/knowledge/hangs.h"
#include "symbolizerd/tables/out.h"

/* Ids of the hub's own questions for debug files: this and the file's number. */
#define DEBUG_AGAIN_ID	(1ULL << 63)

struct loader_files {
	struct slab_writer writer;
	struct knowledge *k;		/* borrowed, as are the next two */
	struct jobs *jobs;
	struct loader_link *link;
	struct msg *held[EXE_AHEAD];	/* files for which there was no CPU time */
	uint32_t n_held;
	uint64_t connection;		/* of the link, to which the writer belongs */
	struct hangs hangs;		/* the host's own root is searched in any case */
};

/* For knowledge_init() and jobs_init(); their ctx is a struct loader_files. */
extern const struct tables_out loader_files_out;
extern const struct jobs_ops loader_files_jobs;
/* For knowledge.debug_files; likewise. */
extern const struct debug_files_ops loader_files_debug_ops;

/* A message of loaderd about files, judged: MSG_OK, or an enum msg_verdict.
 * Descriptors that are needed are taken.  ctx: a struct loader_files. */
int loader_files_on_message(void *ctx, struct msg *msg);

/* A sample wants the symbols of this executable: knowledge_out.wanted. */
void loader_files_wanted(struct loader_files *lf, struct executable *e);

/* Each second: take up what was put off, if there is CPU time now. */
void loader_files_tick(struct loader_files *lf);

void loader_files_fini(struct loader_files *lf);

#endif /* SYMBOLIZERD_HUB_LOADER_FILES_H */
