/* SPDX-License-Identifier: Apache-2.0 */
/*
 * frame_kinds - the kinds of a batch's frames
 *
 * Encoders, filters and pages take what they must know of a kind from this table, so
 * that none of them names a language.  The rows are in frame_kinds.def, those of
 * languages in bpf/runtimes.def.
 */
#ifndef IPC_FRAME_KINDS_H
#define IPC_FRAME_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum batch_frame_kind {
#define BATCH_KIND(number, kind, ...)	BATCH_FRAME_##kind = number,
#include "ipc/frame_kinds.def"
};

enum {
	BATCH_FRAME__KINDS = 0
#define BATCH_KIND(...)		+ 1
#include "ipc/frame_kinds.def"
};
#define BATCH_KIND(number, ...)						\
	_Static_assert(number < BATCH_FRAME__KINDS, "numbers of kinds have no gaps");
#include "ipc/frame_kinds.def"

enum frame_class {
	FRAMES_PROCESS,		/* not a frame: the line of a process in a tree */
	FRAMES_KERNEL,		/* address: offset in a symbol of the kernel */
	FRAMES_FILE,		/* address: offset in the file of its exe */
	FRAMES_MEMORY,		/* in memory of no file, or managed code: its address
				 * means nothing outside its process */
	FRAMES_MARK,		/* a mark that frames are missing */
};

/* What is not needed to recognize a function in its name (short_name.h). */
enum name_form {
	NAME_SYMBOL,		/* of an ELF file or the kernel: its version, and what compilers
				 * append */
	NAME_DEMANGLED,		/* a demangler wrote it: parameters and so on too */
	NAME_NUMBERED,		/* what compilers append with a number: of C functions in a
				 * program of a language whose own names have dots */
	NAME_METHOD,		/* parameters, and what is another in each run (short_method.h) */
	NAME_GIVEN,		/* nothing */
	NAME__FORMS
};

struct frame_kind_info {
	uint8_t class;		/* enum frame_class */
	uint8_t form;		/* enum name_form, unless a demangler wrote the name */
	const char *name, *shown, *title, *colour;
};

/* The row of a kind below BATCH_FRAME__KINDS. */
static inline const struct frame_kind_info *frame_kind_info(uint32_t kind)
{
	static const struct frame_kind_info kinds[BATCH_FRAME__KINDS] = {
#define BATCH_KIND(number, kind, class, form, name, shown, page, hue, sat, title, colour) \
		[BATCH_FRAME_##kind] = {					\
			FRAMES_##class, NAME_##form, name, shown, title, colour	\
		},
#include "ipc/frame_kinds.def"
	};

	return &kinds[kind];
}

static inline enum frame_class frame_kind_class(uint32_t kind)
{
	return (enum frame_class)frame_kind_info(kind)->class;
}

/* How a name of this kind of frame becomes short; mangled: it has another in its file. */
static inline enum name_form frame_kind_form(uint32_t kind, bool mangled)
{
	enum frame_class class = frame_kind_class(kind);

	if (mangled && (class == FRAMES_FILE || class == FRAMES_KERNEL))
		return NAME_DEMANGLED;
	return (enum name_form)frame_kind_info(kind)->form;
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
