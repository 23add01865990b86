// SPDX-License-Identifier: Apache-2.0
#include "common/send_fds.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int send_fds(int socket, struct iovec *iov, size_t n, const int *fds, size_t nfds)
{
	size_t bytes = nfds * sizeof(int);
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(SEND_FDS_MAX * sizeof(int))];
	} control = { .align = { CMSG_LEN(bytes), SOL_SOCKET, SCM_RIGHTS } };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = n };

	if (nfds > SEND_FDS_MAX)
		return -EMSGSIZE;
	if (nfds) {
		memcpy(CMSG_DATA(&control.align), fds, bytes);
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(bytes);
	}
	if (sendmsg(socket, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}
