/* SPDX-License-Identifier: Apache-2.0 */
/*
 * text - a snapshot as lines of text
 *
 * docs/SNAPSHOT.md describes them.  What is read is foreign: it may say anything,
 * and what a line can make us keep is bounded (snapshot.h).
 */
#ifndef SYMBOLIZERD_SNAPSHOT_TEXT_H
#define SYMBOLIZERD_SNAPSHOT_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "common/buffer.h"
#include "symbolizerd/snapshot/snapshot.h"

#define SNAPSHOT_TEXT_MAX	(24u << 20)	/* bytes */

/* Append all of it; threads with their frames come last. */
void text_write(const struct snapshot *s, struct buffer *to);

/* Read len bytes into *s, which is empty.  0; -ENOMEM; or the number of the first
 * line that is wrong, beginning with 1.  *s is to be freed in any case. */
int text_read(const void *text, size_t len, struct snapshot *s);

/* The same, compressed as by gzip.  0 or -errno; to->data: appended. */
int text_pack(const struct buffer *text, struct buffer *to);

/* -EPROTO: it is not whole, or no gzip; -E2BIG: it is longer than
 * SNAPSHOT_TEXT_MAX; -ENOMEM. */
int text_unpack(const void *packed, size_t len, struct buffer *to);

#endif /* SYMBOLIZERD_SNAPSHOT_TEXT_H */
