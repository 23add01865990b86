// SPDX-License-Identifier: Apache-2.0
/*
 * Any datagram, with any number of descriptors, to any peer in any state: the
 * first three bytes choose those, the rest is sent over a real socket.
 */
#include "ipc/conn.h"
#include "ipc/rules.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void send_raw(int fd, const uint8_t *data, size_t len, unsigned int n)
{
	union {
		struct cmsghdr align;
		char buf[CMSG_SPACE(16 * sizeof(int))];
	} control = { 0 };
	struct iovec iov = { (void *)data, len };
	struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1 };

	if (n) {
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(n * sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(n * sizeof(int));
	}
	sendmsg(fd, &mh, MSG_DONTWAIT);		/* descriptor 0, n times */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct conn c = { .fd = -1 };
	struct msg m;
	int fds[2], r;

	if (len < 3 || socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds))
		return 0;
	conn_init(&c, fds[0], 1 << (data[0] & 7), 1 << (data[1] % 3));
	send_raw(fds[1], data + 3, len - 3, data[2] & 15);
	r = conn_recv(&c, &m);
	if (r == 0 && (m.hdr.len != len - 3 - sizeof(m.hdr) ||
		       m.nfds != (data[2] & 15u) || !msg_rule(m.hdr.type)))
		abort();
	if (r != 0 && m.nfds)
		abort();
	msg_close_fds(&m);
	conn_close(&c);
	c.fd = fds[1];
	conn_close(&c);
	return 0;
}
