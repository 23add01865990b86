/* SPDX-License-Identifier: Apache-2.0 */
/* spool_sample - a batch, and a file of the spool with it */
#ifndef TESTS_SPOOL_SAMPLE_H
#define TESTS_SPOOL_SAMPLE_H

#include <string.h>

#include "exporterd/spool_file.h"
#include "tests/unit/harness.h"

#define SAMPLE_ID	0x1122334455667788ULL
#define SAMPLE_EVENTS	12

/* A batch that ends at this time, malloc'ed. */
static inline void *sample_batch(uint64_t end_ns, uint32_t events, size_t *len)
{
	struct batch_builder *b = batch_builder_new(19);
	struct batch_resource res = { .pid = 1, .start_ns = 1 };
	struct batch_frame frame = { .address = 1, .kind = BATCH_FRAME_UNKNOWN };
	struct batch_attr attr = { .tid = 1 };
	uint32_t f, stack, r, a;
	void *ret;

	CHECK(b);
	f = batch_frame(b, &frame);
	stack = batch_stack(b, &f, 1);
	r = batch_resource(b, &res);
	a = batch_attr(b, &attr);
	for (uint32_t i = 0; i < events; i++)
		batch_event(b, stack, a, r, 0, end_ns - 1 - i);
	CHECK_EQ(batch_builder_finish(b, end_ns - 1, end_ns, &ret, len), 0);
	batch_builder_free(b);
	return ret;
}

static inline uint8_t *sample_file(size_t *len)
{
	size_t n;
	void *batch = sample_batch(1000000, SAMPLE_EVENTS, &n);
	struct spool_hdr hdr = {
		.magic = SPOOL_MAGIC, .version = SPOOL_VERSION,
		.id = SAMPLE_ID, .samples = SAMPLE_EVENTS, .bytes = n,
	};
	uint8_t *ret = malloc(sizeof(hdr) + n);

	CHECK(ret);
	hdr.hash = spool_hash(&hdr, batch);
	memcpy(ret, &hdr, sizeof(hdr));
	memcpy(ret + sizeof(hdr), batch, n);
	free(batch);
	*len = sizeof(hdr) + n;
	return ret;
}

#endif /* TESTS_SPOOL_SAMPLE_H */
