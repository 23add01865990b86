// SPDX-License-Identifier: Apache-2.0
#include "ipc/message.h"

static const char *const verdict_names[MSG__VERDICTS] = {
	"ok", "bad version", "unknown type", "wrong sender", "wrong state",
	"wrong length", "wrong number of descriptors", "bad content",
	"truncated, or descriptors withheld (SELinux or AppArmor?)",
};

const char *msg_verdict_name(enum msg_verdict verdict)
{
	return verdict_names[verdict];
}

int msg_check(enum peer from, enum conn_state state, const struct msg_hdr *hdr,
	      size_t got, unsigned int nfds)
{
	const struct msg_rule *rule;

	if (hdr->version != MSG_VERSION)
		return MSG_BAD_VERSION;
	if (hdr->type >= MSG__MAX)
		return MSG_BAD_TYPE;
	rule = &msg_rules[hdr->type];
	if (!rule->from)
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
