// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "exporterd/answer.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Two bytes of status, the length of Retry-After, Retry-After, the body. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct http_answer h = { .error = "" };
	struct answer a;
	size_t n;

	if (size < 3)
		return 0;
	h.status = 100 + (data[0] | data[1] << 8) % 500;
	n = data[2] % HTTP_VALUE_MAX;
	if (n > size - 3)
		n = size - 3;
	memcpy(h.retry_after, data + 3, n);
	h.body = data + 3 + n;
	h.len = size - 3 - n;
	answer_judge(&h, &a);
	return 0;
}
