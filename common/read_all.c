// SPDX-License-Identifier: Apache-2.0
#include "common/read_all.h"

#include <errno.h>
#include <unistd.h>

#define READ_STEP	65536	/* bytes, at least */

int read_all(int fd, size_t max, struct buffer *ret)
{
	while (ret->len <= max) {
		size_t left = max + 1 - ret->len, room;
		ssize_t n;

		if (!buffer_room(ret, left < READ_STEP ? left : READ_STEP))
			return -ENOMEM;
		room = ret->cap - ret->len;
		n = read(fd, ret->data + ret->len, room < left ? room : left);
		if (n == 0)
			return 0;
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			ret->len += (size_t)n;
	}
	return 0;
}

int write_all(int fd, const void *p, size_t n)
{
	const char *at = p;

	while (n) {
		ssize_t done = write(fd, at, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		if (done == 0)
			return -EIO;
		at += done;
		n -= (size_t)done;
	}
	return 0;
}
