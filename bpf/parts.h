/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * parts - what the walk and the code of a runtime say to each other
 *
 * The walk knows kinds of code, not languages.  Where it comes to code of a runtime, the
 * runtime is asked (NAME_enter), then gives its frames (NAME_step) until it has no more.
 * All three are global functions of bpf/NAME.bpf.h; walk.bpf.h calls them, and has the
 * rules; docs/HOWTO_ADD_RUNTIME.md has an example.
 */
#ifndef BPF_PARTS_H
#define BPF_PARTS_H

/* Where the walk is, when it asks NAME_enter(part, at).  s->st is in the frame in
 * question, s->file says of which file (not for PART_JIT). */
enum runtime_part {
	PART_NONE = 0,
	PART_LOOP,		/* the loop of an interpreter; its native frame was noted.
				 * at: s->st.pc */
	PART_JIT,		/* memory of no file; nothing was noted: note_anon() does.
				 * at: s->st.pc */
	PART_PASSED,		/* native code of its file, and the frame before was left by
				 * frame pointer, so a loop may have been passed over.  at:
				 * the stack pointer of that frame */
	PART_ENDS,		/* the native stack ends here.  at: enum stop_reason */
	PART_CODE = 16,		/* + n: range n of its file, which has no rules (n < 256); its
				 * native frame was noted.  at: s->st.pc */
};

enum runtime_enter {
	ENTER_NOT = 0,		/* not its frame, or it has no frames here: the walk goes on
				 * as if there was no runtime */
	ENTER_FRAMES,		/* frames of it come next.  Meanwhile the walk moves to the
				 * caller as in native code: of a loop by its rule, else by frame
				 * pointer; for PART_PASSED and PART_ENDS it stays */
	ENTER_MOVED,		/* s->st is at the caller's already.  Frames come next if
				 * s->inside is the runtime's number */
	ENTER_STOP = 16,	/* + enum stop_reason: likewise, but then the stack ends */
};

/* What NAME_step() says.  In any case it may have appended a frame, with its names, or a few
 * without. */
enum runtime_step {
	STEP_MORE = 0,		/* call it again */
	STEP_DONE,		/* there are no more here */
	STEP_NONE,		/* likewise; if there were none at all, it is right so */
	STEP_BROKEN,		/* likewise, and frames are missing: it is counted */
};

/* What NAME_owns(pc) says of the address space at hand, which maps a file of the runtime
 * (s->file): has it code in memory of no file? */
enum runtime_owns {
	OWNS_NOT = 0,
	OWNS_CODE,
	OWNS_LATER,		/* not yet: ask again */
};

/* Of step(), beside enum stop_reason: a runtime is to be asked. */
#define STOP_RUNTIME	0x100

/* Reads of memory that the frames of runtimes may cost in a sample: beyond that the stack is
 * cut.  NAME_enter() and NAME_step() add to s->reads what a frame costs as a rule, and what
 * the process's memory decides, in loops. */
#define READS_SAMPLE	49152

#endif /* BPF_PARTS_H */
