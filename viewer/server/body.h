/* SPDX-License-Identifier: Apache-2.0 */
/*
 * body - what a client sends, unpacked as it comes
 *
 * Never more than `max` bytes after decompression, whatever was promised: a
 * small body that unpacks to gigabytes ends at the limit.
 */
#ifndef VIEWER_SERVER_BODY_H
#define VIEWER_SERVER_BODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>
#include <zstd.h>

#include "common/buffer.h"

#define BODY_WINDOW_LOG	23	/* zstd: 8 MiB, which RFC 8878 (3.1.1.1.2) says
				 * that everybody shall support */

enum coding {
	BODY_PLAIN,
	BODY_GZIP,		/* one member */
	BODY_ZSTD,		/* one frame or more */
};

struct viewer_body {
	struct buffer bytes;
	size_t max;			/* of them */
	enum coding coding;
	bool ended;			/* the compressed stream has */
	z_stream z;
	ZSTD_DCtx *zstd;
};

/* 0 or -ENOMEM; body_fini() after success. */
int body_init(struct viewer_body *b, enum coding c, size_t max);
void body_fini(struct viewer_body *b);

/* More of it: 0, -E2BIG (over max), -EPROTO (no such stream, or more behind
 * it), -ENOMEM.  After an error nothing more may be added. */
int body_add(struct viewer_body *b, const void *data, size_t len);

/* That was all: 0, or -EPROTO when the stream has not ended. */
int body_end(const struct viewer_body *b);

#endif /* VIEWER_SERVER_BODY_H */
