/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire - reads bytes of foreign origin
 *
 * A wire_in is a window on memory it does not own.  Every getter either
 * succeeds, or returns a verdict and leaves both the window and the caller's
 * result untouched.  Lengths are compared by subtraction, never by addition,
 * so no length field can wrap a check.
 *
 * Verdicts are positive: they judge the input and must be handled (counted,
 * dropped, answered) by the caller.  They are never errno values.
 */
#ifndef COMMON_WIRE_H
#define COMMON_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum wire_verdict {
	WIRE_OK = 0,
	WIRE_SHORT,		/* fewer bytes left than the field needs */
	WIRE_RANGE,		/* value does not fit its type or its limit */
	WIRE_FORMAT,		/* bytes present, but not of the agreed form */
	WIRE_TRAILING,		/* bytes left over after the last field */
};

struct wire_in {
	const uint8_t *start;	/* for offsets in reports; never moves */
	const uint8_t *pos;	/* next byte; start <= pos <= end */
	const uint8_t *end;	/* one past the last byte */
	bool swap;		/* input is of the other byte order */
};

#define must_check __attribute__((__warn_unused_result__))

void wire_init(struct wire_in *in, const void *data, size_t len, bool swap);

static inline size_t wire_left(const struct wire_in *in)
{
	return (size_t)(in->end - in->pos);
}

static inline size_t wire_offset(const struct wire_in *in)
{
	return (size_t)(in->pos - in->start);
}

must_check int wire_skip(struct wire_in *in, size_t len);
must_check int wire_get(struct wire_in *in, void *dst, size_t len);
must_check int wire_get_u8(struct wire_in *in, uint8_t *ret);
must_check int wire_get_u16(struct wire_in *in, uint16_t *ret);
must_check int wire_get_u32(struct wire_in *in, uint32_t *ret);
must_check int wire_get_u64(struct wire_in *in, uint64_t *ret);
must_check int wire_get_uleb(struct wire_in *in, uint64_t *ret);
must_check int wire_get_sleb(struct wire_in *in, int64_t *ret);

/* Make *ret the next len bytes and step over them: borrowed, not copied. */
must_check int wire_get_sub(struct wire_in *in, size_t len,
			    struct wire_in *ret);

/* Borrow a NUL-terminated string of at most max bytes, NUL not counted. */
must_check int wire_get_cstr(struct wire_in *in, size_t max, const char **ret);

/* After the last field: anything left over is an offence. */
must_check int wire_done(const struct wire_in *in);

#endif /* COMMON_WIRE_H */
