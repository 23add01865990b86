/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * stops - what the BPF program of tests/live/stops.bpf.c notes of a thread that
 * left its CPU, for tests/live/stops.c
 */
#ifndef LIVE_STOPS_H
#define LIVE_STOPS_H

#include <linux/types.h>

#include "bpf/frame.h"

struct stop_frame {
	__u64 pc;		/* as the CPU or the stack has it */
	__u64 sp;
	__u64 word;		/* first word of the frame in the record */
};

struct stop {
	__u32 reason;		/* enum stop_reason */
	__u32 n;		/* frames used */
	__u32 flags;		/* enum rec_flags */
	__u32 pad;
	struct stop_frame frame[FRAMES_MAX];
};

#define THREADS_MAX	64	/* threads whose last stop is kept */

#endif /* LIVE_STOPS_H */
