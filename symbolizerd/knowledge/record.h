/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record - judging the samples that loaderd sends
 *
 * The layout is that of bpf/record.h.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_RECORD_H
#define SYMBOLIZERD_KNOWLEDGE_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "bpf/stop.h"

enum record_verdict {
	RECORD_SAMPLE = 1,
	RECORD_KSYM,
	RECORD_BAD_SAMPLE,	/* says that it is one, but is invalid */
	RECORD_BAD,
};

/* Judge len bytes, aligned to 8. */
enum record_verdict record_check(const void *data, size_t len);

/* What kinds of frames a user stack has. */
struct record_shape {
	bool user;		/* a user stack at all */
	bool native;		/* all of its frames are in files */
};
struct record_shape record_shape(const struct trace_rec *rec);

/* Words of the frame that starts with w. */
static inline unsigned int frame_words(uint64_t w)
{
	return 1 + FRAME_MORE(w);
}

#endif /* SYMBOLIZERD_KNOWLEDGE_RECORD_H */
