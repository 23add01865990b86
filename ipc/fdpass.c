// SPDX-License-Identifier: Apache-2.0
#include "ipc/fdpass.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int fdpass_send(int socket, const void *m, size_t len, int fd)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)m, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (fd >= 0) {
		mh.msg_control = &control;
		mh.msg_controllen = sizeof(control);
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	}
	return sendmsg(socket, &mh, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ?
		-errno : 0;
}
