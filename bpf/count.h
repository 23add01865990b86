/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * count - what BPF counts
 *
 * loaderd adds the numbers up over CPUs and passes them on; only symbolizerd and
 * readers of a status know what each means.
 */
#ifndef BPF_COUNT_H
#define BPF_COUNT_H

#include "request.h"
#include "stop.h"

/* Counters kept by BPF, one slot each in struct cpu_counts. */
enum bpf_count {
	BPF_TAKEN = 0,		/* samples that the program decided to record */
	BPF_SENT,		/* of BPF_TAKEN: put into the ring */
	BPF_RING_FULL,		/* of BPF_TAKEN: lost, the ring was full */
	BPF_REQUEST_FULL,		/* requests that did not fit their ring, or their process's
				 * or user's share; or went without the list of the
				 * process's mappings, for which the user had no share */
	BPF_RUN_NS,		/* sum of run_ns */
	BPF_FRAMES,		/* user frames unwound */
	BPF_RUNTIME_UNKNOWN,	/* mappings in samples, of files of a runtime that the
				 * sampler does not know */
	BPF_MANAGED,		/* of BPF_FRAMES: those of an interpreter or a JIT */
	BPF_MANAGED_NONE,	/* interpreter loops and JIT code without such frames */
	BPF_STOP,		/* + enum stop_reason */
	BPF_COUNT__MAX = BPF_STOP + STOP__MAX
};
_Static_assert(BPF_COUNT__MAX == BPF_COUNTS, "as many as loaderd passes on");

#endif /* BPF_COUNT_H */
