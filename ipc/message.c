// SPDX-License-Identifier: Apache-2.0
#include "ipc/message.h"

_Static_assert(sizeof(struct msg_status) <= MSG_LEN_MAX, "status fits");
_Static_assert(sizeof(struct msg_exe) + MSG_PATH_MAX <= MSG_LEN_MAX,
	       "an executable with the longest path fits");
_Static_assert(sizeof(struct msg_cgroup) + CGROUP_LEVELS * CGROUP_NAME <=
	       MSG_LEN_MAX, "a cgroup with the longest path fits");

#define LIVE	(CONN_READY | CONN_ENDING)

/* Exactly one struct, or one with up to `tail` bytes behind it. */
#define RULE(sender, state, fds, type, tail)				\
	{ .len_min = sizeof(type), .len_max = sizeof(type) + (tail),	\
	  .nfds = (fds), .from = (sender), .states = (state) }

/* New work is refused once a bye was seen; answers and statistics are not. */
static const struct msg_rule rules[MSG__MAX] = {
	[MSG_HELLO_LOADER] = RULE(PEER_LOADERD, CONN_NEW, 3,
				  struct msg_hello_loader, 0),
	[MSG_HELLO_HUB] = RULE(PEER_HUB, CONN_NEW, 0, struct msg_hello_hub, 0),
	[MSG_HELLO_EXPORTER] = RULE(PEER_EXPORTERD, CONN_NEW, 0,
				    struct msg_hello_exporter, 0),
	[MSG_EXE] = RULE(PEER_LOADERD, CONN_READY, 1, struct msg_exe,
			 MSG_PATH_MAX),
	[MSG_EXE_DROPPED] = RULE(PEER_LOADERD, CONN_READY, 0,
				 struct msg_exe_dropped, 0),
	[MSG_CGROUP] = RULE(PEER_LOADERD, CONN_READY, 0, struct msg_cgroup,
			    CGROUP_LEVELS * CGROUP_NAME),
	[MSG_LOADER_STATS] = RULE(PEER_LOADERD, LIVE, 0,
				  struct msg_loader_stats, 0),
	[MSG_BYE] = { .from = PEER_LOADERD, .states = CONN_READY },
	[MSG_TABLE] = RULE(PEER_HUB, LIVE, 1, struct msg_table, 0),
	[MSG_TABLE_NONE] = RULE(PEER_HUB, LIVE, 0, struct msg_table_none, 0),
	[MSG_CHECKPOINT] = RULE(PEER_HUB, LIVE, 0, struct msg_checkpoint, 0),
	[MSG_JOB] = RULE(PEER_HUB, CONN_READY, 1, struct msg_job, 0),
	[MSG_JOB_DONE] = RULE(PEER_WORKER, LIVE, 2, struct msg_job_done, 0),
	[MSG_JOB_FAILED] = RULE(PEER_WORKER, LIVE, 0, struct msg_job_failed, 0),
	[MSG_FORK] = RULE(PEER_HUB, CONN_READY, 0, struct msg_slot, 0),
	[MSG_KILL] = RULE(PEER_HUB, LIVE, 0, struct msg_slot, 0),
	[MSG_EXITED] = RULE(PEER_ZYGOTE, LIVE, 0, struct msg_slot, 0),
	[MSG_BATCH] = RULE(PEER_HUB | PEER_EXPORTERD, CONN_READY, 1,
			   struct msg_batch, 0),
	[MSG_BATCH_DONE] = RULE(PEER_EXPORTERD | PEER_RECORDER, LIVE, 0,
				struct msg_batch_done, 0),
	[MSG_EXPORTER_STATS] = RULE(PEER_EXPORTERD, LIVE, 0,
				    struct msg_exporter_stats, 0),
	[MSG_STATUS] = RULE(PEER_HUB, LIVE, 0, struct msg_status, 0),
	[MSG_OPEN] = RULE(PEER_LOADERD, CONN_READY, 0, struct msg_open, 0),
	[MSG_OPENED] = RULE(PEER_OPENER, LIVE, 1, struct msg_opened,
			    MSG_PATH_MAX),
	[MSG_OPEN_FAILED] = RULE(PEER_OPENER, LIVE, 0, struct msg_open_failed,
				 0),
	[MSG_DEBUG_WANTED] = RULE(PEER_WORKER | PEER_HUB, LIVE, 0,
				  struct msg_debug_wanted, 0),
	[MSG_DEBUG_FILE] = RULE(PEER_LOADERD | PEER_HUB, LIVE, 1,
				struct msg_debug, 0),
	[MSG_DEBUG_NONE] = RULE(PEER_LOADERD | PEER_HUB, LIVE, 0,
				struct msg_debug, 0),
	[MSG_OPEN_DEBUG] = RULE(PEER_LOADERD, CONN_READY, 0,
				struct msg_open_debug, 0),
	[MSG_SUBSCRIBE] = RULE(PEER_STATUS, CONN_READY, 0,
			       struct msg_subscribe, 0),
	[MSG_MISSED] = RULE(PEER_HUB, LIVE, 0, struct msg_missed, 0),
};

static const char *const type_names[MSG__MAX] = {
	"?", "HELLO_LOADER", "HELLO_HUB", "HELLO_EXPORTER", "EXE",
	"EXE_DROPPED", "CGROUP", "LOADER_STATS", "BYE", "TABLE", "TABLE_NONE",
	"CHECKPOINT", "JOB", "JOB_DONE", "JOB_FAILED", "FORK", "KILL",
	"EXITED", "BATCH", "BATCH_DONE", "EXPORTER_STATS", "STATUS", "OPEN",
	"OPENED", "OPEN_FAILED", "DEBUG_WANTED", "DEBUG_FILE", "DEBUG_NONE",
	"OPEN_DEBUG", "SUBSCRIBE", "MISSED",
};

static const char *const verdict_names[MSG__VERDICTS] = {
	"ok", "bad version", "unknown type", "wrong sender", "wrong state",
	"wrong length", "wrong number of descriptors", "bad content",
	"truncated, or descriptors withheld (SELinux or AppArmor?)",
};

const char *msg_verdict_name(int verdict)
{
	return verdict >= 0 && verdict < MSG__VERDICTS ?
		verdict_names[verdict] : "?";
}

const char *msg_type_name(unsigned int type)
{
	return type < MSG__MAX ? type_names[type] : "?";
}

const struct msg_rule *msg_rule(unsigned int type)
{
	return type < MSG__MAX && rules[type].from ? &rules[type] : NULL;
}

int msg_check(enum peer from, enum conn_state state, const struct msg_hdr *hdr,
	      size_t got, unsigned int nfds)
{
	const struct msg_rule *rule = msg_rule(hdr->type);

	if (hdr->version != MSG_VERSION)
		return MSG_BAD_VERSION;
	if (!rule)
		return MSG_BAD_TYPE;
	if (!(rule->from & from))
		return MSG_BAD_SENDER;
	if (!(rule->states & state))
		return MSG_BAD_STATE;
	if (hdr->len != got || got < rule->len_min || got > rule->len_max)
		return MSG_BAD_LEN;
	if (nfds != rule->nfds)
		return MSG_BAD_FDS;
	return MSG_OK;
}
