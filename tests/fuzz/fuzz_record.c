// SPDX-License-Identifier: Apache-2.0
/* A record from loaderd: what passes can be walked to its end. */
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/hub/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_rec *rec = malloc(size ? size : 1);

	memcpy(rec, data, size);
	if (record_check(rec, size) == RECORD_SAMPLE) {
		size_t end = (size_t)rec->n_kernel + rec->n_user, i;

		record_shape(rec);
		for (i = rec->n_kernel; i < end; i += frame_words(rec->words[i]))
			;
		if (i != end)
			abort();
	}
	free(rec);
	return 0;
}
