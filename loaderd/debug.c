// SPDX-License-Identifier: Apache-2.0
#include "loaderd/debug.h"

#include <string.h>

#include "common/clock.h"

#define DEADLINE_NS	(1 * NSEC_PER_SEC)

static void debug_answer(struct debug *d, uint32_t exe, int fd)
{
	struct msg_debug m = { .exe = exe };

	/* if it does not get through, the worker goes on without */
	(void)!hub_link_send(d->hub, fd < 0 ? MSG_DEBUG_NONE : MSG_DEBUG_FILE, &m,
			sizeof(m), NULL, 0, fd);
}

void debug_wanted(struct debug *d, const struct msg_debug_wanted *m,
		  uint32_t tgid)
{
	struct msg_open_debug q = {
		.tgid = tgid, .build_id_len = m->build_id_len,
	};
	struct debug_question *slot = NULL;

	for (int i = 0; i < DEBUG_MAX; i++) {
		if (!d->asked[i].id)
			slot = &d->asked[i];
	}
	memcpy(q.build_id, m->build_id, sizeof(q.build_id));
	if (!slot || m->build_id_len < 2 || m->build_id_len > BUILD_ID_MAX ||
	    opener_ask_debug(d->opener, ++d->last_id | DEBUG_ID, &q)) {
		debug_answer(d, m->exe, -1);
		return;
	}
	*slot = (struct debug_question){ d->last_id | DEBUG_ID, now_ns(),
					 m->exe };
}

void debug_opened(struct debug *d, struct msg *m)
{
	for (int i = 0; i < DEBUG_MAX; i++) {
		if (d->asked[i].id != m->hdr.id)
			continue;
		d->asked[i].id = 0;
		debug_answer(d, d->asked[i].exe,
			     m->hdr.type == MSG_OPENED ? m->fds[0] : -1);
	}
	msg_close_fds(m);
}

void debug_tick(struct debug *d, uint64_t now)
{
	for (int i = 0; i < DEBUG_MAX; i++) {
		if (!d->asked[i].id || now - d->asked[i].since_ns < DEADLINE_NS)
			continue;
		opener_kill(d->opener);
		d->asked[i].id = 0;
		debug_answer(d, d->asked[i].exe, -1);
	}
}
