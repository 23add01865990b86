/* SPDX-License-Identifier: Apache-2.0 */
/*
 * knowledge - what the hub knows, and the accounts of it
 *
 * Samples, traces, processes, executables, names: all that comes from records
 * and from messages.  No connection and no worker is in here: those have a
 * pointer to it.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_KNOWLEDGE_H
#define SYMBOLIZERD_KNOWLEDGE_KNOWLEDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/log_limit.h"
#include "ipc/counters.h"
#include "ipc/message_hub.h"
#include "symbolizerd/knowledge/batches.h"
#include "symbolizerd/knowledge/cgroup.h"
#include "symbolizerd/knowledge/cpu_share.h"
#include "symbolizerd/knowledge/debug_files.h"
#include "symbolizerd/knowledge/executable.h"
#include "symbolizerd/knowledge/jit.h"
#include "symbolizerd/knowledge/ksym.h"
#include "symbolizerd/knowledge/ledger.h"
#include "symbolizerd/knowledge/managed.h"
#include "symbolizerd/knowledge/own.h"
#include "symbolizerd/knowledge/process.h"
#include "symbolizerd/knowledge/samples.h"
#include "symbolizerd/knowledge/source_lines.h"
#include "symbolizerd/knowledge/trace.h"
#include "symbolizerd/knowledge/user_share.h"
#include "symbolizerd/tables/files.h"

/* What is told of what comes. */
struct knowledge_out {
	/* A batch is made (fd borrowed). */
	void (*batch)(void *ctx, int fd, uint64_t id,
		      const struct msg_batch *m);
	/* The interval has ended; all its batches are in .batches. */
	void (*interval_ended)(void *ctx);
	/* A sample has met this executable, and its symbols are not there; may be
	 * NULL. */
	void (*wanted)(void *ctx, struct executable *e);
	/* A loaderd says for the first time that it samples. */
	void (*sampling)(void *ctx);
	/* Samples, or a message that is no mere report; may be NULL. */
	void (*heard)(void *ctx);
};

struct knowledge {
	struct ledger ledger;
	uint64_t presume_end_ns;	/* of the ledger; 0: not presuming */
	struct hub_stats stats;		/* those that are counted, not gauged */
	struct cpu_share share;		/* for files, without workers */
	struct user_share workers;	/* what all others leave of limits.cpu_share */
	uint64_t loader_ns, exporter_ns, hub_ns;	/* used by these; 0: not known */
	uint64_t load_ns;		/* of loaderd's, while it loaded the sampler */
	struct batches batches;
	struct own own;
	struct samples samples;
	struct traces traces;
	struct processes processes;
	struct executables exes;
	struct debug_files debug_files;	/* .ops is the owner's to set */
	struct file_policy files;	/* what loaderd has of them */
	struct ksym_names ksyms;
	struct managed managed;
	struct jit jit;			/* .visit is the owner's to set */
	struct source_lines lines;	/* .visit, .open and .share likewise */
	struct cgroups cgroups;
	uint32_t interval;		/* number of the present one; from 1 */
	uint32_t pass;			/* number of the last batch's building */
	uint64_t interval_start_ns;	/* CLOCK_REALTIME */
	uint64_t boot_ns;		/* when it booted, likewise; 0: not asked */
	uint32_t frequency;		/* Hz, as loaderd said */
	bool partial;			/* likewise */
	const struct knowledge_out *out;
	void *ctx;
	struct log_limit offence_log;
};

/* What .files has to say goes to files_out.  0 or -EIO: no random seed. */
int knowledge_init(struct knowledge *k, const struct knowledge_out *out,
		   void *ctx, const struct tables_out *files_out,
		   void *files_ctx);
void knowledge_fini(struct knowledge *k);

/* Something came: knowledge_out.heard. */
void knowledge_heard(struct knowledge *k);

/* What BPF and daemons have used since the last time is charged to the share of all; what one
 * of them used before its first report is not, nor what loaderd needs to load the sampler for a
 * runtime (runtimes_wanted.h). */
void knowledge_charge(struct knowledge *k, const struct status *st);

/* Count and log the offence of a peer; the caller ends the connection. */
void knowledge_offence(struct knowledge *k, const char *who, int verdict);

#endif /* SYMBOLIZERD_KNOWLEDGE_KNOWLEDGE_H */
