// SPDX-License-Identifier: Apache-2.0
/* A record from loaderd: what passes can be walked to its end, and the names of its
 * managed frames can be taken out and read. */
#include <stdlib.h>
#include <string.h>

#include "symbolizerd/knowledge/managed.h"
#include "symbolizerd/knowledge/record.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t walk(const struct trace_rec *rec)
{
	size_t end = (size_t)rec->n_kernel + rec->n_user, i = rec->n_kernel;

	while (i < end)
		i += frame_words(rec->words[i]);
	if (i != end)
		abort();
	return end;
}

static void take_names(struct trace_rec *rec)
{
	struct managed m;
	uint32_t len = rec->len;
	size_t end;

	managed_init(&m, 1);
	managed_translate(&m, rec, 1);
	end = walk(rec);
	if (rec->len > len || rec->len != sizeof(*rec) + 8 * end)
		abort();
	for (size_t i = rec->n_kernel; i < end; i += frame_words(rec->words[i])) {
		const struct managed_function *f =
			managed_find(&m, FRAME_NUMBER(rec->words[i]));

		if (FRAME_KIND(rec->words[i]) == FRAME_TEXT)
			abort();
		if (FRAME_KIND(rec->words[i]) == FRAME_MANAGED && f &&
		    strlen(f->name) + strlen(f->file) + managed_line(f, OUR_AT(rec->words[i])) == SIZE_MAX)
			abort();
	}
	managed_fini(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct trace_rec *rec = malloc(size ? size : 1);

	memcpy(rec, data, size);
	if (record_check(rec, size) == RECORD_SAMPLE) {
		record_shape(rec);
		walk(rec);
		take_names(rec);
	}
	free(rec);
	return 0;
}
