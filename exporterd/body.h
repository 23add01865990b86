/* SPDX-License-Identifier: Apache-2.0 */
/* body - the bytes of a request, compressed, shared by its senders */
#ifndef EXPORTERD_BODY_H
#define EXPORTERD_BODY_H

#include <stddef.h>
#include <stdint.h>

enum compression {
	COMPRESSION_NONE = 0,
	COMPRESSION_GZIP,		/* RFC 1952 */
	COMPRESSION_ZSTD,		/* RFC 8878 */
	COMPRESSION__KINDS
};

struct body {
	unsigned int refs;
	enum compression compression;
	size_t raw_len;			/* before compression */
	size_t len;
	uint8_t *data;
};

/* Name in variables and in Content-Encoding; "none" for none. */
const char *compression_name(enum compression c);

/* The kind of that name, or -1. */
int compression_of(const char *name);

/* Compress a copy of data.  Returns one reference, or NULL when memory is
 * short. */
struct body *body_make(const uint8_t *data, size_t len, enum compression c);

/* The same.  At each of n offsets in data, ascending, bytes of another kind begin:
 * the compressor then begins a block with a new code, unless the block before would
 * be too short to pay for it. */
struct body *body_make_cut(const uint8_t *data, size_t len, const size_t *cuts,
			   unsigned int n, enum compression c);

static inline struct body *body_get(struct body *b)
{
	b->refs++;
	return b;
}

void body_put(struct body *b);		/* accepts NULL */

#endif /* EXPORTERD_BODY_H */
