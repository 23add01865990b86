// SPDX-License-Identifier: Apache-2.0
#include "common/wire.h"
#include "tests/unit/harness.h"

#include <string.h>

static const uint8_t rec[] = {
	0x11, 0x22, 0x33, 0x44,		/* u32 */
	0x05,				/* u8 */
	'l', 'i', 'b', 'c', '\0',	/* string */
};

static int parse_rec(const void *data, size_t len)
{
	struct wire_in in;
	const char *name;
	uint32_t id;
	uint8_t kind;
	int r;

	wire_init(&in, data, len, false);
	if ((r = wire_get_u32(&in, &id)) ||
	    (r = wire_get_u8(&in, &kind)) ||
	    (r = wire_get_cstr(&in, 15, &name)))
		return r;
	return wire_done(&in);
}

TEST(wire_accepts_exact_record)
{
	CHECK_EQ(parse_rec(rec, sizeof(rec)), WIRE_OK);
}

TEST(wire_rejects_every_truncation)
{
	for (size_t len = 0; len < sizeof(rec); len++) {
		/* an exact heap copy, so that ASan sees one byte too far */
		uint8_t *copy = malloc(len ? len : 1);

		CHECK(copy != NULL);
		memcpy(copy, rec, len);
		CHECK_EQ(parse_rec(copy, len), WIRE_SHORT);
		free(copy);
	}
}

TEST(wire_rejects_trailing_byte)
{
	uint8_t longer[sizeof(rec) + 1] = { 0 };

	memcpy(longer, rec, sizeof(rec));
	CHECK_EQ(parse_rec(longer, sizeof(longer)), WIRE_TRAILING);
}

TEST(wire_failure_leaves_result_and_cursor)
{
	struct wire_in in;
	uint64_t v = 42;

	wire_init(&in, rec, 3, false);
	CHECK_EQ(wire_get_u64(&in, &v), WIRE_SHORT);
	CHECK_EQ(v, 42);
	CHECK_EQ(wire_offset(&in), 0);
}
