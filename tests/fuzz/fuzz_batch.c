// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a batch.  What is accepted is merged into a builder, whose
 * result must be accepted too, with as many events.
 */
#include "ipc/batch.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void merge(const struct batch *from)
{
	struct batch_builder *b = batch_builder_new(from->hdr->frequency);
	struct batch got;
	void *out = NULL;
	size_t len;

	batch_merge(b, from);
	if (batch_builder_finish(b, from->hdr->start_ns, from->hdr->end_ns,
				 &out, &len) == 0 &&
	    (batch_open(out, len, &got) ||
	     batch_n(&got, BATCH_TIMES) != batch_n(from, BATCH_TIMES)))
		abort();
	batch_builder_free(b);
	free(out);
}

/* What nobody finds who only guesses; with the right magic all is left alone. */
static void mend(struct batch_hdr *hdr, size_t len)
{
	uint64_t end = sizeof(*hdr);

	if (hdr->magic == BATCH_MAGIC)
		return;
	hdr->magic = BATCH_MAGIC;
	hdr->version = BATCH_VERSION;
	hdr->bytes = len;
	for (int t = 0; t < BATCH__TABLES; t++) {
		end = (end + 7) & ~7ULL;
		hdr->table[t].off = (uint32_t)end;
		end += ((uint64_t)hdr->table[t].n + (t == BATCH_STRINGS)) *
		       batch_elem_size[t];
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct batch_hdr *copy = malloc(len ? len : 1);
	struct batch b;

	memcpy(copy, data, len);
	if (len >= sizeof(*copy))
		mend(copy, len);
	if (batch_open(copy, len, &b) == 0)
		merge(&b);
	free(copy);
	return 0;
}
