// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "exporterd/resource.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1), out[16];

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (os_release_value(text, "NAME", out, sizeof(out)) &&
	    (!*out || strlen(out) >= sizeof(out)))
		abort();
	free(text);
	return 0;
}
