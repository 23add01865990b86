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

#define FROM_FOLDED_SAMPLES_MAX	(1u << 20)	/* a batch has a time for each */

/*
 * Of len bytes, samples taken `frequency` times a second and CPU.  0 and malloc'ed
 * bytes of a batch; 1: *m says where and why they are no folded stacks, or too
 * many; -ENOMEM; -E2BIG: over BATCH_BYTES_MAX.
 */
int from_folded(const char *bytes, size_t len, uint32_t frequency,
		struct folded_mistake *m, void **ret, size_t *ret_len);

#endif /* CLI_CONVERT_FROM_FOLDED_H */
