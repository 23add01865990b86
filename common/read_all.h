/* SPDX-License-Identifier: Apache-2.0 */
/* read_all - read a file to its end; write all of a buffer */
#ifndef COMMON_READ_ALL_H
#define COMMON_READ_ALL_H

#include "common/buffer.h"

/* Append all of fd, and one byte more than max if it has more.  0 or -errno. */
int read_all(int fd, size_t max, struct buffer *ret);

/* All n bytes.  0 or -errno. */
int write_all(int fd, const void *p, size_t n);

#endif /* COMMON_READ_ALL_H */
