/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_kinds - the kinds of a batch's frames
 *
 * Encoders, filters and pages take what they must know of a kind from this table, so
 * that none of them names a language.  The rows are in frame_kinds.def.
 */
#ifndef IPC_FRAME_KINDS_H
#define IPC_FRAME_KINDS_H

#include <stddef.h>
#include <stdint.h>

enum batch_frame_kind {
#define BATCH_KIND(kind, ...)	BATCH_FRAME_##kind,
#include "ipc/frame_kinds.def"
#undef BATCH_KIND
	BATCH_FRAME__KINDS
};

enum frame_class {
	FRAMES_PROCESS,		/* not a frame: the line of a process in a tree */
	FRAMES_KERNEL,		/* address: offset in a symbol of the kernel */
	FRAMES_FILE,		/* address: offset in the file of its exe */
	FRAMES_MEMORY,		/* in memory of no file, or managed code: its address
				 * means nothing outside its process */
	FRAMES_MARK,		/* a mark that frames are missing */
};

struct frame_kind_info {
	uint8_t class;		/* enum frame_class */
	const char *name, *shown, *title, *colour;
};

/* The row of a kind below BATCH_FRAME__KINDS. */
static inline const struct frame_kind_info *frame_kind_info(uint32_t kind)
{
	static const struct frame_kind_info kinds[BATCH_FRAME__KINDS] = {
#define BATCH_KIND(kind, class, name, shown, page, hue, sat, title, colour)	\
		[BATCH_FRAME_##kind] = {					\
			FRAMES_##class, name, shown, title, colour		\
		},
#include "ipc/frame_kinds.def"
#undef BATCH_KIND
	};

	return &kinds[kind];
}

static inline enum frame_class frame_kind_class(uint32_t kind)
{
	return (enum frame_class)frame_kind_info(kind)->class;
}

/* The name to filter by; NULL for processes and marks. */
static inline const char *frame_kind_filter(uint32_t kind)
{
	enum frame_class class = frame_kind_class(kind);

	if (class == FRAMES_PROCESS || class == FRAMES_MARK)
		return NULL;
	return frame_kind_info(kind)->name;
}

#endif /* IPC_FRAME_KINDS_H */
