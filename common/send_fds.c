// SPDX-License-Identifier: Apache-2.0
#include "common/send_fds.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int send_fds(int socket, struct iovec *iov, size_t n, const int *fds, size_t nfds)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(SEND_FDS_MAX * sizeof(int))];
	} control = { 0 };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = n };

	if (nfds > SEND_FDS_MAX)
		return -EMSGSIZE;
	if (nfds) {
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(nfds * sizeof(int));
		memcpy(CMSG_DATA(&control.align), fds, nfds * sizeof(int));
	}
	if (sendmsg(socket, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}
