/* SPDX-License-Identifier: Apache-2.0 */
/*
 * from_folded - a batch made of folded stacks
 *
 * The outermost frame is the process; one that ends in "_[k]" is the kernel's;
 * a second one "[stack ends: REASON]" is what trifold writes of an incomplete
 * stack.  All others are functions of no known file.  The text has neither times
 * nor threads: every sample is at the same time.
 */
#ifndef CLI_CONVERT_FROM_FOLDED_H
#define CLI_CONVERT_FROM_FOLDED_H

#include <stddef.h>
#include <stdint.h>

#include "cli/convert/folded_read.h"
#include "ipc/batch.h"

#define FROM_FOLDED_SAMPLES_MAX	(BATCH_BYTES_MAX / 16)	/* a batch has a time for each, so
						 * no recording has more */

/*
 * Of len bytes, samples taken `frequency` times a second and CPU.  0 and malloc'ed
 * bytes of a batch; 1: *m says where and why they are no folded stacks; -ENOMEM; -E2BIG:
 * over BATCH_BYTES_MAX.  *each: so many of the text are one of the batch: 1, or more if
 * they are more than a batch has room for (other profilers count microseconds or
 * bytes).  All stacks together then keep their number, to one; each has its share, to
 * one, and one that is rare may be missing.
 */
int from_folded(const char *bytes, size_t len, uint32_t frequency,
		struct folded_mistake *m, void **ret, size_t *ret_len, uint64_t *each);

#endif /* CLI_CONVERT_FROM_FOLDED_H */
