/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body - the body of a request, decompressed as it comes
 *
 * Never more than `max` bytes after decompression: a small body that unpacks to
 * gigabytes is refused at the limit.
 */
#ifndef VIEWER_SERVER_BODY_H
#define VIEWER_SERVER_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

#include "common/buffer.h"

#define BODY_WINDOW_LOG	23	/* zstd: 8 MiB, which decoders should support
				 * (RFC 8878, 3.1.1.1.2) */

enum coding {
	BODY_PLAIN,
	BODY_GZIP,		/* one member */
	BODY_ZSTD,		/* one frame or more */
};

struct viewer_body {
	struct buffer bytes;
	size_t max;			/* of .bytes */
	enum coding coding;
	bool ended;			/* the compressed stream is complete */
	z_stream z;
	ZSTD_DCtx *zstd;
};

/* 0 or -ENOMEM; body_fini() after success. */
int body_init(struct viewer_body *b, enum coding c, size_t max);
void body_fini(struct viewer_body *b);

/* Add a part: 0, -E2BIG (over max), -EPROTO (invalid stream, or bytes after its end),
 * -ENOMEM.  After an error nothing more may be added. */
int body_add(struct viewer_body *b, const void *data, size_t len);

/* There are no more parts: 0, or -EPROTO when the stream is not complete. */
int body_end(const struct viewer_body *b);

#endif /* VIEWER_SERVER_BODY_H */
