// SPDX-License-Identifier: Apache-2.0
#include "ipc/rules.h"

#include "ipc/message_hub.h"

/* Statistics and answers are still taken after a bye. */
#define MSG_LIVE	(CONN_READY | CONN_ENDING)

/* Exactly one struct, or one with up to `tail` bytes after it. */
#define MSG_RULE(sender, state, fds, type, tail)			\
	{ .len_min = sizeof(type), .len_max = sizeof(type) + (tail),	\
	  .nfds = (fds), .from = (sender), .states = (state) }

_Static_assert(sizeof(struct hub_totals) == sizeof(struct msg_checkpoint),
	       "what loaderd keeps");
_Static_assert(sizeof(struct msg_status) <= MSG_LEN_MAX, "status fits");
_Static_assert(sizeof(struct msg_exe) + MSG_PATH_MAX <= MSG_LEN_MAX,
	       "an executable with the longest path fits");
_Static_assert(sizeof(struct msg_job) + JOB_WORDS_MAX * 8 <= MSG_LEN_MAX,
	       "a job with the most frames fits");

/* New work is refused once a bye was seen; answers and statistics are not. */
const struct msg_rule msg_rules[MSG__MAX] = {
	/* to loaderd */
	[MSG_HELLO_HUB] = MSG_RULE(PEER_HUB, CONN_NEW, 0, struct msg_hello_hub, 0),
	[MSG_SLAB_WANTED] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_slab, 0),
	[MSG_ENTRY] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_entry, 0),
	[MSG_SLAB_DROP] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_slab, 0),
	[MSG_DROP] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct file_key, 0),
	[MSG_RUNTIMES] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_runtimes, 0),
	[MSG_LIST] = { .from = PEER_HUB, .states = MSG_LIVE },
	[MSG_CHECKPOINT] = MSG_RULE(PEER_HUB, MSG_LIVE, 0,
				    struct msg_checkpoint, 0),
	[MSG_OPENED] = { 0, MSG_PATH_MAX, 1, PEER_OPENER, MSG_LIVE },
	[MSG_OPEN_FAILED] = MSG_RULE(PEER_OPENER, MSG_LIVE, 0,
				     struct msg_open_failed, 0),
	/* to its opener, the last three through the hub and loaderd */
	[MSG_OPEN] = MSG_RULE(PEER_LOADERD, CONN_READY, 0, struct request_file, 0),
	[MSG_DEBUG_WANTED] = MSG_RULE(PEER_WORKER | PEER_HUB | PEER_LOADERD,
				      MSG_LIVE, 0, struct msg_wanted, 0),
	[MSG_MEM_WANTED] = MSG_RULE(PEER_HUB | PEER_LOADERD, MSG_LIVE, 0, struct msg_wanted, 0),
	[MSG_PERF_MAP_WANTED] = MSG_RULE(PEER_HUB | PEER_LOADERD, MSG_LIVE, 0,
					 struct msg_wanted, 0),
	/* all others */
	[MSG_HELLO_LOADER] = MSG_RULE(PEER_LOADERD, CONN_NEW, 2,
				  struct msg_hello_loader, 0),
	[MSG_HELLO_EXPORTER] = MSG_RULE(PEER_EXPORTERD, CONN_NEW, 0,
				    struct msg_hello_exporter, 0),
	[MSG_EXE] = MSG_RULE(PEER_LOADERD, CONN_READY, 1, struct msg_exe,
			 MSG_PATH_MAX),
	[MSG_MAPPED] = { .nfds = 1, .from = PEER_LOADERD,
			 .states = CONN_READY },
	[MSG_CGROUP] = MSG_RULE(PEER_LOADERD, CONN_READY, 0, struct msg_cgroup,
				0),
	[MSG_LOADER_STATS] = MSG_RULE(PEER_LOADERD, MSG_LIVE, 0,
				  struct msg_loader_stats, 0),
	[MSG_BYE] = { .from = PEER_LOADERD, .states = CONN_READY },
	[MSG_JOB] = MSG_RULE(PEER_HUB, CONN_READY, 1, struct msg_job,
			     JOB_WORDS_MAX * 8),
	[MSG_JOB_DONE] = MSG_RULE(PEER_WORKER, MSG_LIVE, 1, struct msg_job_done, 0),
	[MSG_JOB_FAILED] = MSG_RULE(PEER_WORKER, MSG_LIVE, 0, struct msg_job_failed, 0),
	[MSG_NAMES] = { .nfds = 1, .from = PEER_WORKER, .states = MSG_LIVE },
	[MSG_FORK] = MSG_RULE(PEER_HUB, CONN_READY, 0, struct msg_slot, 0),
	[MSG_KILL] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_slot, 0),
	[MSG_FORKED] = MSG_RULE(PEER_ZYGOTE, MSG_LIVE, 0, struct msg_slot, 0),
	[MSG_EXITED] = MSG_RULE(PEER_ZYGOTE, MSG_LIVE, 0, struct msg_slot, 0),
	[MSG_BATCH] = MSG_RULE(PEER_HUB | PEER_EXPORTERD, CONN_READY, 1,
			   struct msg_batch, 0),
	[MSG_BATCH_DONE] = MSG_RULE(PEER_EXPORTERD | PEER_RECORDER, MSG_LIVE, 0,
				struct msg_batch_done, 0),
	[MSG_EXPORTER_STATS] = MSG_RULE(PEER_EXPORTERD, MSG_LIVE, 0,
				    struct msg_exporter_stats, 0),
	[MSG_DEBUGINFO_WANTED] = MSG_RULE(PEER_HUB, CONN_READY, 0,
				      struct msg_debuginfo_wanted, 0),
	[MSG_DEBUGINFO] = MSG_RULE(PEER_EXPORTERD, MSG_LIVE, 1, struct msg_debuginfo, 0),
	[MSG_DEBUGINFO_NONE] = { .from = PEER_EXPORTERD, .states = MSG_LIVE },
	[MSG_STATUS] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_status, 0),
	[MSG_WANTED_FILE] = { .nfds = 1, .from = PEER_LOADERD | PEER_HUB,
			      .states = MSG_LIVE },
	[MSG_WANTED_NONE] = MSG_RULE(PEER_LOADERD | PEER_HUB, MSG_LIVE, 0,
				     struct msg_open_failed, 0),
	[MSG_SUBSCRIBE] = MSG_RULE(PEER_STATUS, CONN_READY, 0,
			       struct msg_subscribe, 0),
	[MSG_MISSED] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_missed, 0),
	[MSG_SLAB] = MSG_RULE(PEER_LOADERD, CONN_READY, 1, struct msg_slab, 0),
	[MSG_KNOWN] = MSG_RULE(PEER_LOADERD, CONN_READY, 1, struct msg_known,
			       0),
};

static const char *const type_names[MSG__MAX] = {
	"?", "HELLO_LOADER", "HELLO_HUB", "HELLO_EXPORTER", "EXE",
	"MAPPED", "CGROUP", "LOADER_STATS", "BYE", "SLAB_WANTED", "ENTRY",
	"CHECKPOINT", "JOB", "JOB_DONE", "JOB_FAILED", "FORK", "KILL",
	"EXITED", "BATCH", "BATCH_DONE", "EXPORTER_STATS", "STATUS", "OPEN",
	"OPENED", "OPEN_FAILED", "DEBUG_WANTED", "WANTED_FILE", "WANTED_NONE",
	"MEM_WANTED", "SUBSCRIBE", "MISSED", "SLAB_DROP", "DROP", "LIST",
	"SLAB", "KNOWN", "NAMES",
	"FORKED", "PERF_MAP_WANTED",
	"DEBUGINFO_WANTED", "DEBUGINFO", "DEBUGINFO_NONE", "RUNTIMES",
};

const struct msg_rule *msg_rule(unsigned int type)
{
	if (type >= MSG__MAX || !msg_rules[type].from)
		return NULL;
	return &msg_rules[type];
}

const char *msg_type_name(unsigned int type)
{
	return type < MSG__MAX ? type_names[type] : "?";
}
