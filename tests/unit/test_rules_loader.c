// SPDX-License-Identifier: Apache-2.0
/*
 * What loaderd and its opener link: a rule for each message that they receive,
 * the hub's or the opener's, and none for any other.
 */
#include "ipc/message_loader.h"
#include "tests/unit/harness.h"

static const enum msg_type received[] = {
	MSG_HELLO_HUB, MSG_CHECKPOINT, MSG_SLAB_WANTED, MSG_ENTRY, MSG_SLAB_DROP,
	MSG_DROP, MSG_LIST,
	MSG_DEBUG_WANTED,
	MSG_OPENED, MSG_OPEN_FAILED,
	MSG_OPEN, MSG_MEM_WANTED, MSG_PERF_MAP_WANTED,
};

static bool is_received(unsigned int type)
{
	for (size_t i = 0; i < sizeof(received) / sizeof(*received); i++) {
		if (received[i] == type)
			return true;
	}
	return false;
}

TEST(rules_loader_has_what_is_received_and_nothing_else)
{
	for (unsigned int t = 0; t < MSG__MAX; t++)
		CHECK_EQ(msg_rules[t].from != 0, is_received(t));
}

TEST(rules_loader_refuses_what_loaderd_sends)
{
	struct msg_hdr hdr = {
		.version = MSG_VERSION, .type = MSG_EXE,
		.len = sizeof(struct msg_exe),
	};

	CHECK_EQ(msg_check(PEER_LOADERD, CONN_READY, &hdr, hdr.len, 1),
		 MSG_BAD_TYPE);
}
