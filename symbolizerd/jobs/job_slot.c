// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/jobs/job_slot.h"

#include <errno.h>
#include <string.h>

#include "common/clock.h"

/* By build ID, by a name that may be, or both. */
static bool job_slot_asks_for(const struct msg_wanted *q)
{
	if (q->alternate == DEBUG_ALTERNATE)
		return q->build_id_len && msg_debug_alternate(q->paths);
	if (q->alternate == DEBUG_PACKAGE)
		return !q->build_id_len && (!q->paths[0] || msg_debug_link(q->paths));
	return q->paths[0] ? msg_debug_link(q->paths) : q->build_id_len;
}

int job_slot_debug_wanted(struct job_slot *slot, const struct msg *msg, struct msg_wanted *ret)
{
	memcpy(ret, msg->buf, sizeof(*ret));
	if (slot->state != SLOT_BUSY || slot->waits || slot->kind == JOB_PROCESS ||
	    ret->alternate > (slot->kind == JOB_LINES ? DEBUG_PACKAGE : 0) ||
	    slot->asked[ret->alternate] ||
	    ret->build_id_len == 1 || ret->build_id_len > BUILD_ID_MAX ||
	    !memchr(ret->paths, '\0', sizeof(ret->paths)) || !job_slot_asks_for(ret))
		return MSG_BAD_CONTENT;
	slot->asked[ret->alternate] = slot->waits = true;
	slot->times.asked_ns = now_ns();
	return MSG_OK;
}

int job_slot_tell_debug(struct job_slot *slot, int fd, enum debug_source source)
{
	struct msg_open_failed failed = { .error = ENOENT };

	slot->waits = false;
	slot->times.told_ns = now_ns();
	return fd < 0 ? conn_send(&slot->conn, MSG_WANTED_NONE, 0, &failed,
				  sizeof(failed), NULL, 0, NULL, 0) :
			conn_send(&slot->conn, MSG_WANTED_FILE, source, NULL, 0,
				  NULL, 0, &fd, 1);
}
