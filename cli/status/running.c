// SPDX-License-Identifier: Apache-2.0
#include "cli/status/running.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "cli/supervisor/runtime_dir.h"
#include "common/clock.h"

#define WAIT_NS		(5 * NSEC_PER_SEC)

int running_connect(struct conn *c, uid_t *hub_uid)
{
	int r = runtime_dir_hub_uid(hub_uid);

	return r ? r : conn_connect(c, STATUS_SOCKET, PEER_HUB, *hub_uid);
}

bool running_nobody(int r)
{
	return r == -ENOENT || r == -ECONNREFUSED;
}

static bool enough(const struct watch *w, bool loader)
{
	return w->known && (!loader || w->status.loader_up);
}

static int wait_status(struct watch *w, bool loader)
{
	uint64_t end = now_ns() + WAIT_NS;
	int r = watch_connect(w, now_ns());

	while (!r && !enough(w, loader)) {
		struct pollfd p = { .fd = w->conn.fd, .events = POLLIN };
		uint64_t now = now_ns();

		if (now >= end)
			return -ETIMEDOUT;
		if (poll(&p, 1, (int)((end - now) / NSEC_PER_MSEC) + 1) < 0 &&
		    errno != EINTR)
			return -errno;
		if (p.revents)
			r = watch_read(w, now);
	}
	return enough(w, loader) ? 0 : r;
}

/* unix(7): of a socket that connected, who called listen(2). */
static pid_t made_by(const struct watch *w)
{
	struct ucred cred = { .pid = 0 };
	socklen_t len = sizeof(cred);

	return getsockopt(w->conn.fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) ?
		0 : cred.pid;
}

int running_status(struct status *ret, bool loader, pid_t *top)
{
	uid_t hub_uid = 0;
	int r = runtime_dir_hub_uid(&hub_uid);
	struct watch w;

	watch_init(&w, hub_uid);
	if (!r)
		r = wait_status(&w, loader);
	*ret = w.status;
	if (top)
		*top = made_by(&w);
	watch_fini(&w);
	return r == -ETIMEDOUT && w.known ? -ENOLINK : r;
}
