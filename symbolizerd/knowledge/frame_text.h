/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_text - what the texts before a managed frame say: its names and lines
 *
 * A record has them as FRAME_TEXT (bpf/frame.h).  All is foreign: what is no text becomes
 * characters that show it, and a name that is too long is cut.
 */
#ifndef SYMBOLIZERD_KNOWLEDGE_FRAME_TEXT_H
#define SYMBOLIZERD_KNOWLEDGE_FRAME_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bpf/frame.h"
#include "symbolizerd/runtimes/reading.h"
#include "symbolizerd/symbols/utf8.h"

/* The texts of the next frame (borrowed), each NULL if there is none. */
struct frame_texts {
	uint32_t n_lines;
	const __u64 *name, *file, *class, *signature, *lines[TEXT_LINES_MAX];
};

/* What they say. */
struct frame_naming {
	char name[TEXT_NAME_MAX];
	char full[TEXT_FULL_MAX];	/* with parameters; "": as .name */
	struct utf8 file;		/* "": unknown */
	uint32_t line;			/* the first one; 0: unknown */
	uint32_t runtime;		/* whose function it is: how lines are read */
	uint32_t form;			/* of .lines; 0: there are none */
	size_t n_lines;			/* bytes */
	uint8_t lines[TEXT_LINES_MAX * TEXT_BYTES];
};

/* Take the text that begins at this word, of a record that was judged.  False: it is none
 * of those of the next frame. */
bool frame_texts_add(struct frame_texts *t, const __u64 *w);

/* Is there any? */
bool frame_texts_any(const struct frame_texts *t);

/* Are all parts of the name there?  qualified: of a method, which needs its class and its
 * signature. */
bool frame_texts_whole(const struct frame_texts *t, bool qualified);

/* What they say of a function of this runtime. */
void frame_texts_read(const struct frame_texts *t, uint32_t runtime, struct frame_naming *ret);

/* Give it these names; its lines stay.  False: they are too long, and nothing changed. */
bool frame_naming_rename(struct frame_naming *n, const char *name, const char *full,
			 const char *file);

/* The same without lines.  False: all is empty. */
bool frame_naming_set(struct frame_naming *ret, uint32_t runtime, const char *name,
		      const char *full, const char *file);

#endif /* SYMBOLIZERD_KNOWLEDGE_FRAME_TEXT_H */
