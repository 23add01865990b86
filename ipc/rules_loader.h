/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rules_loader - what loaderd and its opener receive, and from whom
 *
 * Entries of msg_rules[]: rules_loader.c has these alone, rules.c the others
 * beside them.
 */
#ifndef IPC_RULES_LOADER_H
#define IPC_RULES_LOADER_H

#include "ipc/message_loader.h"

/* Statistics and answers are still taken after a bye. */
#define MSG_LIVE	(CONN_READY | CONN_ENDING)

/* Exactly one struct, or one with up to `tail` bytes behind it. */
#define MSG_RULE(sender, state, fds, type, tail)			\
	{ .len_min = sizeof(type), .len_max = sizeof(type) + (tail),	\
	  .nfds = (fds), .from = (sender), .states = (state) }

#define MSG_RULES_LOADER						\
	[MSG_HELLO_HUB] = MSG_RULE(PEER_HUB, CONN_NEW, 0, struct msg_hello_hub, 0),	\
	[MSG_SLAB_WANTED] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_slab, 0),	\
	[MSG_ENTRY] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_entry, 0),	\
	[MSG_SLAB_DROP] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct msg_slab, 0),	\
	[MSG_DROP] = MSG_RULE(PEER_HUB, MSG_LIVE, 0, struct file_key, 0),	\
	[MSG_LIST] = { .from = PEER_HUB, .states = MSG_LIVE },			\
	[MSG_CHECKPOINT] = MSG_RULE(PEER_HUB, MSG_LIVE, 0,		\
				    struct msg_checkpoint, 0),		\
	[MSG_OPEN] = MSG_RULE(PEER_LOADERD, CONN_READY, 0, struct request_file, 0),	\
	[MSG_OPENED] = { 0, MSG_PATH_MAX, 1, PEER_OPENER, MSG_LIVE },		\
	[MSG_OPEN_FAILED] = MSG_RULE(PEER_OPENER, MSG_LIVE, 0,		\
				     struct msg_open_failed, 0),	\
	[MSG_DEBUG_WANTED] = MSG_RULE(PEER_WORKER | PEER_HUB | PEER_LOADERD,	\
				      MSG_LIVE, 0, struct msg_wanted, 0),	\
	[MSG_MEM_WANTED] = MSG_RULE(PEER_HUB | PEER_LOADERD, MSG_LIVE, 0, struct msg_wanted, 0), \
	[MSG_PERF_MAP_WANTED] = MSG_RULE(PEER_HUB | PEER_LOADERD, MSG_LIVE, 0, struct msg_wanted, 0)

#endif /* IPC_RULES_LOADER_H */
