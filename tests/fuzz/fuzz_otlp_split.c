// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "exporterd/split.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct split_part p[2], again[2];

	if (split_request(data, size, p))
		return 0;
	/* what was written can be read, and has the events it is said to */
	for (int i = 0; i < 2; i++) {
		int r = split_request(p[i].data, p[i].len, again);

		if (r == 0) {
			if (again[0].samples + again[1].samples != p[i].samples)
				abort();
			free(again[0].data);
			free(again[1].data);
		}
		free(p[i].data);
	}
	return 0;
}
