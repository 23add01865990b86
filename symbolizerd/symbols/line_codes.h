/* SPDX-License-Identifier: Apache-2.0 */
/*
 * line_codes - functions, lines and inlined calls of pieces of a file's code
 *
 * Built by a worker for the offsets that the main process asked for, passed as a sealed
 * memfd, validated there.  A piece is the function around an offset, or a part of it, so
 * that one answer holds for all of its places.
 *
 * After the header there are the codes, the line_ats of all of them, the functions, the
 * segments of all codes, then NUL-terminated strings, the first of which is empty.
 */
#ifndef SYMBOLIZERD_SYMBOLS_LINE_CODES_H
#define SYMBOLIZERD_SYMBOLS_LINE_CODES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "symbolizerd/symbols/index.h"

#define LINE_CODES_MAGIC	0x6c744674u	/* "tFtl", little endian */
#define LINE_CODES_MAX		512u		/* of a visit */
#define LINE_CODES_SEGMENTS	(128u << 10)	/* of all, as are the next */
#define LINE_CODES_ATS		(128u << 10)
#define LINE_CODES_FUNCTIONS	(32u << 10)
#define LINE_CODES_STRINGS	(4u << 20)	/* bytes, with their NULs */
#define LINE_CODES_NAMES	(8u << 20)	/* bytes of all functions' strings: one that many
						 * have counts for each */
#define LINE_STRING_MAX		8193u		/* bytes of one, without its NUL */
#define LINE_CODES_BYTES_MAX						\
	(sizeof(struct line_codes_hdr) + LINE_CODES_MAX * sizeof(struct line_code) +	\
	 LINE_CODES_ATS * sizeof(struct line_at) +			\
	 LINE_CODES_FUNCTIONS * sizeof(struct line_name) +		\
	 LINE_CODES_SEGMENTS * sizeof(struct line_segment) + LINE_CODES_STRINGS)

#define LINE_CODE_BYTES		32768u		/* of one, at most; a power of two */
#define LINE_CODE_SEGMENTS	1024u
#define LINE_CODE_ATS		4096u
#define LINE_NONE		UINT16_MAX

struct line_codes_hdr {
	uint32_t magic;
	uint32_t left;		/* how many of the last offsets, not all, were skipped for lack of
				 * time or room */
	uint32_t codes, ats, functions, segments;
	uint32_t string_bytes;
	uint32_t pad;
};

/* A piece of code. */
struct line_code {
	uint64_t offset;	/* in the file */
	uint32_t len;		/* at least 1 */
	uint16_t segments;	/* at least 1: the next ones */
	uint16_t ats;		/* likewise; may be 0 */
};

/* A function at a line. */
struct line_at {
	uint32_t function, line;	/* 0: the line is unknown */
	uint16_t outer;		/* in the call of which it is inlined: an earlier one of the same
				 * code; LINE_NONE: it is the outermost */
	uint16_t pad;
};

struct line_name {
	uint32_t name, file;	/* offsets into the strings; "": unknown */
	uint32_t system;	/* likewise, its name in the file; "": the same as .name */
	uint32_t first_line;	/* 0: unknown */
};

/* From here on, up to the next one, the innermost function is this one. */
struct line_segment {
	uint16_t begin;		/* offset in the code; of its first one: 0 */
	uint16_t at;		/* of the code's; LINE_NONE: nothing is known */
};

struct line_codes {
	struct line_codes_hdr hdr;
	const struct line_code *codes;
	const struct line_at *ats;
	const struct line_name *functions;
	const struct line_segment *segments;
	const char *strings;
};

/* Validate len bytes (aligned to 8) as an answer to so many offsets.  0, or -EPROTO and *ret
 * untouched. */
int line_codes_open(const void *data, size_t len, uint32_t offsets, struct line_codes *ret);

/* A function, without a line; its strings live as long as the data. */
struct symbol_place line_codes_function(const struct line_codes *x, uint32_t i);

/* Has one of n codes this offset? */
bool line_codes_any(const struct line_code *v, uint32_t n, uint64_t off);

/* The segment with this offset of a code, of n. */
uint32_t line_codes_segment(const struct line_segment *v, uint32_t n, uint64_t off);

/* --- building ------------------------------------------------------------------- */

#define LINE_CODES_LAST	1024u	/* recent ones of a kind, to be shared */

struct line_codes_build {
	struct line_codes_hdr hdr, before;	/* .before: the code that is being made */
	uint32_t offsets;
	uint32_t names, names_before;	/* bytes: LINE_CODES_NAMES */
	bool full;		/* the code found no room in the answer, rather than in itself */
	/* Indices + 1, or of strings offsets, by hash. */
	uint32_t last_at[LINE_CODES_LAST], last_function[LINE_CODES_LAST];
	uint32_t last_string[LINE_CODES_LAST];
	struct symbol_place known[LINE_CODES_FUNCTIONS];	/* as they were added */
	struct line_code codes[LINE_CODES_MAX];
	struct line_at ats[LINE_CODES_ATS];
	struct line_name functions[LINE_CODES_FUNCTIONS];
	struct line_segment segments[LINE_CODES_SEGMENTS];
	char strings[LINE_CODES_STRINGS];
};

void line_codes_begin(struct line_codes_build *b, uint32_t offsets);

/* Is this offset in a code that was added? */
static inline bool line_codes_has(const struct line_codes_build *b, uint64_t off)
{
	return line_codes_any(b->codes, b->hdr.codes, off);
}

/* A code begins.  False: there is no room (b->full), or it is too long. */
bool line_codes_add(struct line_codes_build *b, uint64_t offset, uint32_t len);

/* From this offset in it on there are these n places, the innermost first; n 0: nothing is
 * known.  The first one's is 0, each is greater than the one before.  Strings are copied,
 * and must not change until all codes were added.  False: there is no room (b->full), so the
 * code is not added. */
bool line_codes_add_segment(struct line_codes_build *b, uint32_t begin,
			    const struct symbol_place *v, uint32_t n);

/* Offsets from this one on, which is not the first, were skipped. */
static inline void line_codes_stop(struct line_codes_build *b, uint32_t offset)
{
	b->hdr.left = b->offsets - offset;
}

#define LINE_CODES_PARTS	6

/* The result in parts, all inside of *b. */
void line_codes_end(struct line_codes_build *b, struct iovec parts[LINE_CODES_PARTS]);

#endif /* SYMBOLIZERD_SYMBOLS_LINE_CODES_H */
