/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_frames - stacks and texts of a request's dictionary
 *
 * Each element is decoded once, when a sample first refers to it.
 */
#ifndef VIEWER_SERVER_DECODE_FRAMES_H
#define VIEWER_SERVER_DECODE_FRAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ipc/batch.h"
#include "viewer/server/otlp_in.pb-c.h"

#define FRAMES_DEPTH_MAX	2048	/* frames of a stack; then cut */
#define FRAMES_TEXT_MAX		4096	/* bytes of a name; then cut */

/* Text that is borrowed from the request. */
struct text {
	const char *s;
	size_t len;
};

struct frames {
	const OtlpIn__Dictionary *d;
	struct batch_builder *b;
	uint32_t *strings, *mappings, *locations, *stacks;
					/* index in the batch + 1; 0: not yet */
	uint32_t *functions;		/* likewise, NAME__FORMS each: code of several kinds
					 * may have one */
	bool bad;			/* an index was out of range */
};

/* d may be NULL: all tables are empty then.  0 or -ENOMEM; frames_fini() in either
 * case. */
int frames_init(struct frames *f, const OtlpIn__Dictionary *d,
		struct batch_builder *b);
void frames_fini(struct frames *f);

/* String i; empty, and f->bad, where there is none. */
struct text frames_text(struct frames *f, int32_t i);
/* The text of a value, or empty. */
struct text frames_value(struct frames *f, const OtlpIn__Value *v);
/* Attribute i, or NULL and f->bad. */
const OtlpIn__KeyValueAndUnit *frames_attribute(struct frames *f, int32_t i);

bool text_is(struct text t, const char *s);
/* Interned, cut at FRAMES_TEXT_MAX. */
uint32_t text_intern(struct batch_builder *b, struct text t);

/* Stack i in the batch.  On failure 0, and f->bad or the builder failed. */
uint32_t frames_stack(struct frames *f, int32_t i);

#endif /* VIEWER_SERVER_DECODE_FRAMES_H */
