// SPDX-License-Identifier: Apache-2.0
/*
 * A worker's table of any bytes, then a loaderd that tells of a former hub with
 * any entries and any slab: against the contract that loaderd enforces.
 */
#include "tests/unit/fake_slabs.h"

#include "symbolizerd/tables/tables.h"

#define BUDGET	(4u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct table_policy tables;	/* empty between two installations */

static void grace(void)
{
	for (int i = 0; i < 2; i++)
		CHECK(tables_settled(&tables, fake_second()));
}

static void install(const uint8_t *data, size_t size)
{
	const struct file_key key = { .ino = 1 };
	struct file_entry entry = { .exe = 7 };
	struct table_ref ref = { 0 };
	void *copy = malloc(size ? size : 1);

	memcpy(copy, data, size);
	if (!tables_install(&tables, 0, &key, &entry, copy, size, &ref)) {
		for (uint32_t i = 0; ref.pages && i < size; i++)
			table_rule(ref.dir, ref.pages, data[i] * 257ull * i);
		fake_unlink(ref.dir, ref.pages);
		tables_release(&tables, &ref);
	}
	free(copy);
	grace();
	CHECK(tables.slabs.elements == 0 && tables.rules.n == 2);
}

/* The bytes are the start of slab 2; it refers to itself at most. */
static void adopt(const uint8_t *data, size_t size)
{
	struct file_entry e = { .exe = 7, .state = FILE_TABLE };
	struct slab_copy *c;
	struct table_ref ref = { 0 };

	if (size < 24)
		return;
	tables_fini(&tables);
	CHECK(tables_init(&tables, 1, BUDGET, &fake_out, NULL) == 0);
	fake.handled = fake.by_second = 0;
	memcpy(&e.dir, data, 4);
	memcpy(&e.pages, data + 4, 4);
	size -= 8;
	fake_at(RULE_SLABS << SLAB_SHIFT, 1);
	if (size > 64 * sizeof(union element))
		size = 64 * sizeof(union element);
	memcpy(fake.slab[RULE_SLABS], data + 8, size);
	c = fake_copy(RULE_SLABS);
	CHECK(tables_adopt_slab(&tables, RULE_SLABS, c));
	if (tables_adopt(&tables, &e, &ref))
		tables_release(&tables, &ref);
	tables_adopt_end(&tables);
	grace();
	CHECK(tables.slabs.elements == 0 && fake.elements == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool begun;

	if (!begun) {
		fake_begin(BUDGET, 1);
		CHECK(tables_init(&tables, 1, BUDGET, &fake_out, NULL) == 0);
	}
	begun = true;
	if (size && data[0] & 1)
		adopt(data + 1, size - 1);
	else if (size)
		install(data + 1, size - 1);
	return 0;
}
