// SPDX-License-Identifier: Apache-2.0
#include "symbolizerd/knowledge/frame_text.h"

#include <string.h>

bool frame_texts_add(struct frame_texts *t, const __u64 *w)
{
	switch (TEXT_WHICH(FRAME_NUMBER(w[0]))) {
	case TEXT_NAME:
		t->name = w;
		return true;
	case TEXT_FILE:
		t->file = w;
		return true;
	case TEXT_CLASS:
		t->class = w;
		return true;
	case TEXT_SIGNATURE:
		t->signature = w;
		return true;
	case TEXT_LINES:
		/* parts of the table, in their order */
		if (t->n_lines < TEXT_LINES_MAX &&
		    FRAME_PLACE(w[0]) == (uint64_t)t->n_lines * TEXT_BYTES)
			t->lines[t->n_lines++] = w;
		return true;
	default:
		return false;
	}
}

bool frame_texts_any(const struct frame_texts *t)
{
	return t->name || t->class || t->signature || t->file || t->n_lines;
}

bool frame_texts_whole(const struct frame_texts *t, bool qualified)
{
	return t->name && (!qualified || (t->class && t->signature));
}

/* The words of one text as UTF-8. */
static void frame_text_utf8(const __u64 *w, struct utf8 *t)
{
	bool name = TEXT_WHICH(FRAME_NUMBER(w[0])) == TEXT_NAME;

	utf8_text(t, name ? 0 : FRAME_PLACE(w[0]), TEXT_FORM(FRAME_NUMBER(w[0])),
		  (const void *)(w + 1), 8 * FRAME_MORE(w[0]));
}

/* A text that is missing is empty. */
static const char *frame_text_or_none(const __u64 *w, struct utf8 *t)
{
	utf8_begin(t, 0);
	if (w)
		frame_text_utf8(w, t);
	return t->s;
}

static void frame_texts_name(const struct frame_texts *t, struct frame_naming *n)
{
	struct utf8 name, class, signature;

	if (!t->name)
		return;
	reading_name(n->runtime, n->name, n->full, frame_text_or_none(t->class, &class),
		     frame_text_or_none(t->name, &name),
		     frame_text_or_none(t->signature, &signature));
}

static void frame_texts_lines(const struct frame_texts *t, struct frame_naming *n)
{
	for (uint32_t i = 0; i < t->n_lines; i++) {
		size_t bytes = 8 * FRAME_MORE(t->lines[i][0]);

		n->form = TEXT_FORM(FRAME_NUMBER(t->lines[i][0]));
		memcpy(n->lines + n->n_lines, t->lines[i] + 1, bytes);
		n->n_lines += bytes;
	}
	if (t->n_lines)
		n->n_lines = reading_end(n->runtime, n->form, n->lines, n->n_lines, &n->line);
}

/* Without a table of lines. */
static void frame_naming_clear(struct frame_naming *n, uint32_t runtime)
{
	n->runtime = runtime;
	n->name[0] = n->full[0] = n->file.s[0] = '\0';
	n->file.len = n->n_lines = 0;
	n->form = n->line = 0;
}

void frame_texts_read(const struct frame_texts *t, uint32_t runtime, struct frame_naming *ret)
{
	frame_naming_clear(ret, runtime);
	if (t->name)
		ret->line = (uint32_t)FRAME_PLACE(t->name[0]);
	frame_texts_name(t, ret);
	if (t->file)
		frame_text_utf8(t->file, &ret->file);
	frame_texts_lines(t, ret);
}

bool frame_naming_rename(struct frame_naming *n, const char *name, const char *full,
			 const char *file)
{
	size_t len[3] = { strlen(name), strlen(full), strlen(file) };

	if (len[0] >= sizeof(n->name) || len[1] >= sizeof(n->full) ||
	    len[2] >= sizeof(n->file.s))
		return false;
	memcpy(n->name, name, len[0] + 1);
	memcpy(n->full, full, len[1] + 1);
	memcpy(n->file.s, file, len[2] + 1);
	n->file.len = len[2];
	return true;
}

bool frame_naming_set(struct frame_naming *ret, uint32_t runtime, const char *name,
		      const char *full, const char *file)
{
	frame_naming_clear(ret, runtime);
	return frame_naming_rename(ret, name, full, file);
}
