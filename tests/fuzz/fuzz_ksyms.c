// SPDX-License-Identifier: Apache-2.0
/*
 * Any text as the kernel's answer (a line each), asked for any address: what
 * comes of it is a word with a number that was defined, an offset below the
 * symbol's size, and a name that ends.  The ranges stay sorted.
 */
#include <errno.h>

#include "bpf/frame.h"
#include "loaderd/ksyms.h"
#include "tests/unit/harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct ksym_range ranges[KSYM_RANGES];
static struct ksyms k = { .range = ranges };
static const char *text;	/* the next line of answers */
static size_t left;

int bpf_name(struct bpf *b, uint64_t addr, char *ret, size_t size)
{
	const char *end = memchr(text, '\n', left);
	size_t len = end ? (size_t)(end - text) : left;
	size_t fits = len < size - 1 ? len : size - 1;

	(void)b, (void)addr;
	memcpy(ret, text, fits);
	ret[fits] = '\0';
	text += len + !!end;
	left -= len + !!end;
	return fits ? 0 : -EIO;
}

static void check_ranges(void)
{
	CHECK(k.n <= KSYM_RANGES);
	for (uint32_t i = 0; i < k.n; i++) {
		CHECK(k.range[i].size && k.range[i].number != KSYM_NONE);
		CHECK(!i || k.range[i - 1].start + k.range[i - 1].size <= k.range[i].start);
	}
}

static void ask(uint64_t addr)
{
	struct ksym_rec *def = malloc(sizeof(*def));
	uint32_t before = k.n;
	uint64_t word;
	bool fresh = ksyms_word(&k, addr, &word, def);

	CHECK(FRAME_KIND(word) == FRAME_KERNEL);
	CHECK(FRAME_PLACE(word) <= UINT32_MAX);
	if (fresh) {
		CHECK(k.n <= before + 1 && def->len == sizeof(*def));
		CHECK(def->kind == REC_KSYM && memchr(def->name, 0, KSYM_NAME_MAX));
		CHECK(def->number == FRAME_NUMBER(word));
	} else {
		CHECK(k.n == before);
		CHECK(FRAME_NUMBER(word) != KSYM_NONE || FRAME_PLACE(word) == 0);
	}
	free(def);
}

/* First the number of addresses, then these, then answers. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	size_t n = size ? data[0] : 0;

	if (size < 1 + 8 * n)
		return 0;
	k.n = 0;
	text = (const char *)data + 1 + 8 * n;
	left = size - 1 - 8 * n;
	for (size_t i = 0; i < n; i++) {
		uint64_t addr;

		memcpy(&addr, data + 1 + 8 * i, 8);
		ask(addr);
		if (i % 4 == 3)
			ksyms_doubt(&k, false);
	}
	check_ranges();
	return 0;
}
