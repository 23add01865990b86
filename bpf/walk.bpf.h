/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * walk - from frame to frame: native ones, and those of runtimes
 *
 * step() appends a native frame and moves to its caller.  Where it comes to code of a
 * runtime it says so, and managed() asks the runtime, which may have frames: some a
 * call of NAME_step(), until it has no more.  Each runtime keeps its own place in a state of
 * its own, which lasts as long as the sample: so stacks may alternate between runtimes.
 * All but the loop is in global functions: the verifier checks each once.
 */
#ifndef BPF_WALK_BPF_H
#define BPF_WALK_BPF_H

#include "bpf/runtimes.gen.h"
#include "frames.bpf.h"
#include "loops.bpf.h"
#include "names.bpf.h"
#include "parts.h"
#include "runtime.h"
#include "space.bpf.h"
#include "state.bpf.h"

/* From the frame of a loop to its caller. */
__weak __noinline int leave_loop(void)
{
	struct scratch *s = scratch();

	return s ? unwind_rule_step(&s->st, &s->rule) : STOP_INTERNAL;
}

/* The frame at hand is memory of no file: ask those that may have code there, until one
 * has it. */
static __always_inline int enter_memory(struct scratch *s)
{
	__u64 ask;
	int r;

	if (!s->space_known)
		space_recall();
	ask = (s->space.owners | (s->met & RUNTIMES_BESIDE)) & runtimes;
	for (__u32 i = 1; i < RUNTIME__MAX; i++) {
		if (!(ask >> i & 1))
			continue;
		r = runtime_enter(i, PART_JIT, s->st.pc);
		s->part_of = i;
		if (r != ENTER_NOT)
			return r;
	}
	return ENTER_NOT;
}

/* Ask the runtime whose code step() has come to. */
static __always_inline int enter_part(struct scratch *s)
{
	__u64 at;
	int r;

	if (s->part == PART_JIT) {
		r = enter_memory(s);
		/* if frames come, those before them are no reason to look for a loop */
		if (s->inside || r == ENTER_FRAMES)
			s->passed = 0;
		if (s->space_lost) {	/* the next sample looks for it */
			bpf_map_delete_elem(&rt0_spaces, &s->rec.process);
			s->space_lost = 0;
			s->space.owners = 0;
		}
	} else {
		at = s->part == PART_PASSED ? s->passed : s->st.pc;
		r = runtime_enter(s->part_of, s->part, at);
	}
	if (r == ENTER_FRAMES)
		s->inside = s->part_of;
	return r;
}

/* As in native code, to the caller of the part; frames: of the runtime come next. */
static __always_inline __u32 leave_part(struct scratch *s, __u32 part, int frames)
{
	switch (part) {
	case PART_LOOP:
		if (frames)
			loop_take_back(s);
		else
			count(BPF_MANAGED_NONE);
		return leave_loop();
	case PART_PASSED:
		if (!frames)
			s->passed = 0;
		return STOP_NOT;
	case PART_JIT:
		if (!frames) {
			s->passed = 0;
			note_anon(s);
		}
		return step_by_frame_pointer(STOP_ANON);
	default:
		/* not NO_ROW: a guess would stand between this frame and those that come */
		return frames ? step_by_frame_pointer(STOP_NO_TABLE) : STOP_UNSUPPORTED;
	}
}

/* No more frames of a runtime: go on natively. */
static __always_inline void end_frames(struct scratch *s, int how)
{
	int broken = how == STEP_BROKEN;

	s->inside = 0;
	if (s->loop_word)
		broken |= loop_put_back(s, how == STEP_NONE);
	if (broken)
		count(BPF_MANAGED_NONE);
}

/* The native stack ends for this reason.  True: a runtime has frames nevertheless, which
 * come next; then it ends. */
__weak __noinline int frames_at_end(__u32 why)
{
	struct scratch *s = scratch();
	__u64 ask;

	if (!s || why == STOP_CUT)
		return 0;
	ask = s->met & RUNTIMES_ENDS & runtimes & ~s->ended;
	for (__u32 i = 1; i < RUNTIME__MAX; i++) {
		if (!(ask >> i & 1))
			continue;
		s->ended |= 1ULL << i;
		file_met(s, i);
		if (runtime_enter(i, PART_ENDS, why) != ENTER_FRAMES)
			continue;
		s->inside = i;
		s->stopped = why;
		return 1;
	}
	return 0;
}

/* The walk is in code of a runtime, or in its frames: append some. */
static __always_inline int runtime_frames(struct scratch *s)
{
	__u32 part = s->part;
	int r;

	/* also what was read in vain */
	if (s->reads > READS_SAMPLE) {
		push(s, (__u64)FRAME_CUT << FRAME_KIND_SHIFT);
		return STOP_CUT;
	}
	if (part) {
		r = enter_part(s);
		s->part = PART_NONE;
		s->stopped = STOP_NOT;
		if (r >= ENTER_STOP)
			s->stopped = r - ENTER_STOP;
		else if (r != ENTER_MOVED)
			s->stopped = leave_part(s, part, r == ENTER_FRAMES);
	}
	if (!s->inside)
		return s->stopped;
	r = runtime_step(s->inside);
	if (r == STEP_MORE)
		return STOP_NOT;
	end_frames(s, r);
	return s->stopped;
}

/* step() has stopped: because a runtime is to be asked, or the native stack ends.  Returns
 * why the whole stack ends, or STOP_NOT. */
__weak __noinline int managed(__u32 stop)
{
	struct scratch *s = scratch();

	if (!s)
		return STOP_INTERNAL;
	if (stop == STOP_RUNTIME)
		stop = runtime_frames(s);
	if (stop != STOP_NOT && s->met & RUNTIMES_ENDS && frames_at_end(stop))
		return STOP_NOT;
	return stop;
}

#endif /* BPF_WALK_BPF_H */
