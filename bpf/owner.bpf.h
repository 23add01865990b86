/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * owner - how the caller of a frame is found
 *
 * Pure, so that it can be tested on the host.  An interpreter needs no owner: its loop is
 * native code with a rule that marks it (RULE_LOOP, managed.bpf.h).  A runtime whose code
 * has no rules gets an owner here and a global function in step().  What its frames may
 * hold: frames.bpf.h.
 */
#ifndef BPF_OWNER_BPF_H
#define BPF_OWNER_BPF_H

#include "file.h"
#include "runtime.h"
#include "stop.h"

enum frame_owner {
	OWNER_RULE,		/* the table of the frame's file */
	OWNER_FRAME_POINTER,	/* no table */
	OWNER_HOTSPOT,		/* hotspot_enter() */
};

/* False: this sampler does not know it; its code is unwound as native code, which may end
 * the stack. */
static __always_inline int runtime_is_known(__u32 runtime)
{
	return runtime < RUNTIME__MAX;
}

/* runtime: of the frame's file, by its file_entry; of memory of no file by
 * jit_runtime().  why: STOP_NOT if the file has a table, else why not. */
static __always_inline enum frame_owner frame_owner(__u32 runtime,
						    enum stop_reason why)
{
	switch (runtime) {
	case RUNTIME_HOTSPOT:
		if (why == STOP_ANON)
			return OWNER_HOTSPOT;
		/* fall through */
	case RUNTIME_NONE:
	case RUNTIME_GO:	/* compiled: native frames, by rules */
	default:		/* not known */
		return why == STOP_NOT ? OWNER_RULE : OWNER_FRAME_POINTER;
	}
}

#endif /* BPF_OWNER_BPF_H */
