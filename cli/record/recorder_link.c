// SPDX-License-Identifier: Apache-2.0
#include "cli/record/recorder_link.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "ipc/fdpass.h"

int recorder_link_tell(const struct recorder_link *r,
		       const struct record_msg *m, int fd)
{
	return fdpass_send(r->control, m, sizeof(*m), fd);
}

int recorder_link_start(struct recorder_link *r, const struct launch *l)
{
	int fds[2];
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -errno;
	pid = recorder_start(l, fds[1]);
	close(fds[1]);
	if (pid < 0) {
		close(fds[0]);
		return pid;
	}
	r->pid = pid;
	r->control = fds[0];
	return 0;
}

int recorder_link_feed(struct recorder_link *r)
{
	const struct record_msg m = { .kind = RECORD_FEED };
	int fds[2];

	if (r->control < 0 ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) < 0)
		return -1;
	if (recorder_link_tell(r, &m, fds[1])) {
		close(fds[0]);
		fds[0] = -1;
	}
	close(fds[1]);
	return fds[0];
}

int recorder_link_end(struct recorder_link *r,
		      const struct profile_account *account)
{
	struct record_msg m = { .kind = RECORD_END };
	int ret = 0;

	if (r->control < 0)
		return 0;
	if (account) {
		m.account = *account;
		ret = recorder_link_tell(r, &m, -1);
	}
	close(r->control);
	r->control = -1;
	return ret;
}
