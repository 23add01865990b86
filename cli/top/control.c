// SPDX-License-Identifier: Apache-2.0
#include "cli/top/control.h"

#include <errno.h>
#include <sys/socket.h>

#include "ipc/fdpass.h"

int top_tell(int control, const struct top_msg *m, int fd)
{
	return fdpass_send(control, m, sizeof(*m), fd);
}

int top_hear(int control, struct top_msg *m, int *fd)
{
	ssize_t n = fdpass_recv(control, m, sizeof(*m), MSG_DONTWAIT, fd);

	if (n == 0 || n == -ECONNRESET)
		return -EPIPE;
	if (n < 0)
		return (int)n;
	m->text[sizeof(m->text) - 1] = '\0';
	if (n == sizeof(*m))
		return 0;
	return -EPROTO;
}
