/* SPDX-License-Identifier: GPL-2.0-only OR Apache-2.0 */
/*
 * vma - questions to the VMA walker and its answers, between vma.bpf.c and
 * vma_churn.c: all of .bss of the object
 */
#ifndef TESTS_LIVE_VMA_H
#define TESTS_LIVE_VMA_H

#include <linux/types.h>

#include "bpf/file.h"

#define ASKS	64		/* addresses a run */

struct vma_ask {
	__u64 addr;
	__u64 start, end, off;	/* the answer: as in struct mapping */
	struct file_key key;
	__u8 found, has_file, busy, exec;
	__u8 pad[4];
};

struct vma_run {
	__u64 ns;		/* for all of them */
	struct vma_ask ask[ASKS];
};

#endif /* TESTS_LIVE_VMA_H */
