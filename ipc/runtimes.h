/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes - names and properties of runtimes, in batches and recordings
 *
 * By enum runtime; the rows are in bpf/runtimes.def.  What a worker does with a runtime's files is
 * in symbolizerd/runtimes/.
 */
#ifndef IPC_RUNTIMES_H
#define IPC_RUNTIMES_H

#include <stddef.h>
#include <stdint.h>

#include "bpf/runtime.h"
#include "ipc/frame_kinds.h"

#define RUNTIME_OWN	4
#define RUNTIME_RUNNERS	2
#define RUNTIME_ID_MAX	128	/* bytes, with the NUL */

struct runtime_info {
	const char *name;	/* for people */
	uint8_t code;		/* enum batch_frame_kind of its compiled code */
	uint8_t managed;	/* of frames that are not native ones */
	uint8_t flags;		/* enum runtime_flags */
	const char *id_key;	/* OTLP's attribute with the ID of its build; "": it
				 * has none */
	const char *own[RUNTIME_OWN];	/* names of managed frames of its own code, by
				 * function number */
	const char *program;	/* the outermost function of a program, in whose file it is;
				 * with a dot first: the method, whose class it is; NULL: of
				 * no program */
	const char *package;	/* a file that is called as its folder is; "": none; only
				 * with a program */
	const char *runners[RUNTIME_RUNNERS];	/* functions that run programs */
};

/* The row of a runtime below RUNTIME__MAX. */
static inline const struct runtime_info *runtime_info(uint32_t runtime)
{
	static const struct runtime_info rows[RUNTIME__MAX] = {
		[RUNTIME_NONE] = {
			.name = "", .code = BATCH_FRAME_NATIVE,
			.managed = BATCH_FRAME_UNKNOWN, .id_key = "",
		},
#define RUNTIME(number, id, tag, bits, verify, title, kind, other, key)	\
		[number].name = title, [number].flags = bits,		\
		[number].code = BATCH_FRAME_##kind,			\
		[number].managed = BATCH_FRAME_##other, [number].id_key = key,
#define RUNTIME_PROGRAM(id, function, file, ...)			\
		[RUNTIME_##id].program = function,			\
		[RUNTIME_##id].package = file,				\
		[RUNTIME_##id].runners = { __VA_ARGS__ },
#define RUNTIME_STUBS(id, ...)	[RUNTIME_##id].own = { __VA_ARGS__ },
#include "bpf/runtimes.def"
	};

	return &rows[runtime];
}

#endif /* IPC_RUNTIMES_H */
