// SPDX-License-Identifier: Apache-2.0
/* A snapshot: what is believed is walked, and written as it was read. */
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/snapshot/replay.h"
#include "symbolizerd/snapshot/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void written_again(const struct snapshot *s)
{
	struct buffer one = { 0 }, two = { 0 };
	struct snapshot again = { 0 };

	text_write(s, &one);
	if (one.failed || text_read(one.data, one.len, &again))
		abort();
	text_write(&again, &two);
	if (one.len != two.len || memcmp(one.data, two.data, one.len))
		abort();
	snapshot_fini(&again);
	free(one.data);
	free(two.data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct snapshot s = { 0 }, got = { 0 };
	struct replay_misses misses;
	void *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	if (!text_read(copy, size, &s)) {
		written_again(&s);
		replay(&s, &got, &misses);
	}
	snapshot_fini(&s);
	snapshot_fini(&got);
	free(copy);
	return 0;
}
