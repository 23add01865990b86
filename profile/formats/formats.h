/* SPDX-License-Identifier: Apache-2.0 */
/*
 * formats - the formats of recordings, one row each
 *
 * The command line, its help and manual, the recorder and the downloads of the
 * live page use this table: a new format is a file with its encoder in this folder,
 * and a row in formats.c.
 */
#ifndef PROFILE_FORMATS_FORMATS_H
#define PROFILE_FORMATS_FORMATS_H

#include <stdint.h>

#include "common/buffer.h"
#include "ipc/batch.h"
#include "profile/profile.h"

#define FORMAT_ENDINGS_MAX	3	/* with the NULL */

enum {				/* what an encoder uses */
	FORMAT_USES_TIMES = 1,		/* of each sample, not only counts */
	FORMAT_USES_THREADS = 2,
	FORMAT_NEEDS_TIMES = 4,		/* without them its output would be wrong */
	FORMAT_FOR_PEOPLE = 8,		/* may go to a terminal */
};

struct format {
	const char *name;		/* for --format */
	const char *endings[FORMAT_ENDINGS_MAX]; /* of files; the first one is that
						  * of a default name */
	const char *type;		/* Content-Type */
	unsigned int looks;		/* FORMAT_... */
	/* Append the file's bytes.  0, -ENOMEM, -EIO (compression). */
	int (*encode)(const struct batch *b, const struct profile_info *info,
		      struct buffer *out);
};

/* Formats have numbers from 1 on; the first is the default. */
#define FORMAT_NONE	0

/* NULL for FORMAT_NONE and after the last one. */
const struct format *format_at(uint32_t number);

/* By the name, or by the ending of a file's name; or FORMAT_NONE. */
uint32_t format_named(const char *name);
uint32_t format_of(const char *path);

/* "html, folded ... or firefox", and the same for all endings.  Return buf. */
const char *format_names(char *buf, size_t size);
const char *format_endings(char *buf, size_t size);

#endif /* PROFILE_FORMATS_FORMATS_H */
