/* SPDX-License-Identifier: Apache-2.0 */
/*
 * runtimes - names and properties of runtimes, in batches and recordings
 *
 * By enum runtime (bpf/runtime.h).  What a worker does with a runtime's files is
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
	const char *id_key;	/* OTLP's attribute with the ID of its build; "": it
				 * has none */
	const char *own[RUNTIME_OWN];	/* names of managed frames of its own code, by
				 * function number */
	uint8_t visited;	/* 1: a visit to the process may read what names of
				 * managed frames lack; class and descriptor belong
				 * to them */
	const char *program;	/* the outermost function of a program, in whose file it is;
				 * with a dot first: the method, whose class it is; "": of
				 * no program */
	const char *package;	/* a file that is called as its folder is; "": none */
	const char *runners[RUNTIME_RUNNERS];	/* functions that run programs */
};

/* The row of a runtime below RUNTIME__MAX. */
static inline const struct runtime_info *runtime_info(uint32_t runtime)
{
	static const struct runtime_info rows[RUNTIME__MAX] = {
		[RUNTIME_NONE] = { "", BATCH_FRAME_NATIVE, BATCH_FRAME_UNKNOWN, "", { NULL }, 0,
				   "", "", { NULL } },
		[RUNTIME_GO] = { "Go", BATCH_FRAME_GO, BATCH_FRAME_UNKNOWN,
				 "process.executable.build_id.go", { NULL }, 0, "", "", { NULL } },
		[RUNTIME_PYTHON] = { "CPython", BATCH_FRAME_NATIVE,
				     BATCH_FRAME_PYTHON, "", { NULL }, 0,
				     /* Lib/runpy.py */
				     "<module>", "__main__.py",
				     { "_run_module_as_main", "_run_code" } },
		[RUNTIME_HOTSPOT] = { "HotSpot", BATCH_FRAME_NATIVE,
				      BATCH_FRAME_JVM, "",
				      { "", "[JVM stub]", "[JVM adapter]",
					"[JVM interpreter]" }, 1, ".main", "", { NULL } },
	};

	return &rows[runtime];
}

#endif /* IPC_RUNTIMES_H */
