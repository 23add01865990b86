// SPDX-License-Identifier: Apache-2.0
/*
 * Any bytes as a batch, or, behind "edit", bytes that replace others of a good
 * one: three each, the place (little endian) and the byte.  So a change of the
 * format leaves no corpus behind.  What is accepted is merged into a builder,
 * whose result must be accepted too, with as many events.
 */
#include "ipc/batch.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EDIT	"edit"

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

static uint32_t text(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

/* Something in every table. */
static void *good(size_t *len)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch_exe e = { .path = text(b, "/bin/a"),
			       .build_id = text(b, "c0ffee") };
	struct batch_function fn = { .name = text(b, "main"),
				     .full_name = text(b, "main(int)"),
				     .file = text(b, "a.c"), .start_line = 3 };
	struct batch_frame frame = { .address = 64, .kind = BATCH_FRAME_NATIVE };
	struct batch_attr attr = { .tid = 12, .thread_name = text(b, "worker") };
	struct batch_resource r = { .pid = 10, .start_ns = 5,
				    .exe_path = text(b, "/bin/a") };
	uint32_t frames[2], stack;
	void *ret = NULL;

	frame.exe = batch_exe(b, &e);
	frame.function = batch_function(b, &fn);
	frame.into = frames[0] = batch_frame(b, &frame);
	frame.inlined = 1;
	frames[1] = batch_frame(b, &frame);
	for (uint32_t i = 0; i < 2; i++) {
		stack = batch_stack(b, frames, i + 1);
		for (uint64_t t = 7; t < 10; t++)
			batch_event(b, stack, batch_attr(b, &attr),
				    batch_resource(b, &r), STOP_COMPLETE, t);
	}
	if (batch_builder_finish(b, 6, 10, &ret, len))
		abort();
	batch_builder_free(b);
	return ret;
}

static void *edited(const uint8_t *edits, size_t n, size_t *len)
{
	uint8_t *ret = good(len);

	for (; n >= 3; n -= 3, edits += 3)
		ret[(edits[0] | (size_t)edits[1] << 8) % *len] = edits[2];
	return ret;
}

static void *raw(const uint8_t *data, size_t len)
{
	struct batch_hdr *ret = malloc(len ? len : 1);

	memcpy(ret, data, len);
	if (len >= sizeof(*ret))
		mend(ret, len);
	return ret;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	size_t n = strlen(EDIT);
	bool edits = len >= n && !memcmp(data, EDIT, n), none = edits && len == n;
	void *bytes = edits ? edited(data + n, len - n, &len) : raw(data, len);
	struct batch b;

	if (batch_open(bytes, len, &b) == 0)
		merge(&b);
	else if (none)
		abort();
	free(bytes);
	return 0;
}
