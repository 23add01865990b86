// SPDX-License-Identifier: Apache-2.0
/* A text of /proc/TID/status: the process it names is one, or none. */
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/record/target.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size ? size : 1);

	memcpy(text, data, size);
	if (target_tgid(text, size) > INT_MAX)
		abort();
	free(text);
	return 0;
}
