/* SPDX-License-Identifier: Apache-2.0 */
/*
 * viewer_store - a store with a few samples, for targets that ask for them
 */
#ifndef TESTS_FUZZ_VIEWER_STORE_H
#define TESTS_FUZZ_VIEWER_STORE_H

#include "tests/unit/cli_batch.h"
#include "viewer/server/store.h"

#define STORE_BUDGET	(1u << 20)
#define STORE_NOW	10000000000ULL	/* the samples are of the 5 s before */

/* Filled anew; release with store_fini(). */
static inline void store_of_samples(struct store *s)
{
	struct batch b;
	void *data = sample_batch(&b);

	store_init(s, STORE_BUDGET, 3600000000000ULL);
	s->frequency = 20;
	CHECK(!store_add(s, data, b.hdr->bytes, STORE_NOW));
}

#endif /* TESTS_FUZZ_VIEWER_STORE_H */
