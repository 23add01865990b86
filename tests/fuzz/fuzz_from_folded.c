// SPDX-License-Identifier: Apache-2.0
/* Folded stacks become a batch that is valid, with as many samples. */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/convert/from_folded.h"
#include "ipc/batch.h"
#include "profile/formats/folded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy = malloc(size ? size : 1);
	struct folded_mistake m = { 0, NULL };
	struct buffer out = { 0 };
	struct batch b;
	uint64_t each;
	void *batch;
	size_t len;
	int r;

	memcpy(copy, data, size);
	r = from_folded(copy, size, 1 + size % 1000, &m, &batch, &len, &each);
	free(copy);
	if (r == 1 && (!m.line || !m.what))
		abort();
	if (r)
		return 0;
	if (batch_open(batch, len, &b) || !batch_n(&b, BATCH_TIMES) ||
	    folded_encode(&b, NULL, &out))
		abort();
	free(out.data);
	free(batch);
	return 0;
}
