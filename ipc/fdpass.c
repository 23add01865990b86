// SPDX-License-Identifier: Apache-2.0
#include "ipc/fdpass.h"

#include "common/send_fds.h"

int fdpass_send(int socket, const void *m, size_t len, int fd)
{
	struct iovec part = { (void *)m, len };

	return send_fds(socket, &part, 1, &fd, fd >= 0);
}
