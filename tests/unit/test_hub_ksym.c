// SPDX-License-Identifier: Apache-2.0
/* The hub's kernel symbols: by name, whatever loaderd numbers them. */
#include "symbolizerd/knowledge/ksym.h"
#include "tests/unit/harness.h"

static void set(struct ksym_names *k, uint32_t number, const char *name)
{
	struct ksym_rec rec = { .number = number };

	snprintf(rec.name, sizeof(rec.name), "%s", name);
	CHECK_EQ(ksym_set(k, &rec), 0);
}

/* Our number for loaderd's. */
static uint32_t ours(const struct ksym_names *k, uint32_t number)
{
	uint64_t bytes[(sizeof(struct trace_rec) + 16) / 8] = { 0 };
	struct trace_rec *rec = (void *)bytes;

	rec->n_kernel = 1;
	rec->n_user = 1;
	rec->words[0] = FRAME_WORD(FRAME_KERNEL, number, 0x123);
	rec->words[1] = FRAME_WORD(FRAME_NATIVE, number, 0x456);
	ksym_translate(k, rec);
	CHECK_EQ(FRAME_KIND(rec->words[0]), FRAME_KERNEL);
	CHECK_EQ(FRAME_PLACE(rec->words[0]), 0x123);
	CHECK_EQ(rec->words[1], FRAME_WORD(FRAME_NATIVE, number, 0x456));
	return FRAME_NUMBER(rec->words[0]);
}

static void expect(const struct ksym_names *k, uint32_t number, const char *name,
		   const char *owner)
{
	const char *got, *got_owner;

	got = ksym_find(k, ours(k, number), &got_owner);
	CHECK_STR(got, name);
	CHECK_STR(got_owner, owner);
}

TEST(hub_ksym_tells_function_and_module)
{
	struct ksym_names k = { 0 };

	expect(&k, 700, "[kernel]", "[kernel]");
	set(&k, 700, "ext4_map [ext4]");
	expect(&k, 700, "ext4_map", "[ext4]");
	set(&k, 700, "tcp_sendmsg");
	expect(&k, 700, "tcp_sendmsg", "[kernel]");
	expect(&k, 699, "[kernel]", "[kernel]");
	expect(&k, FRAME_NUMBER_MASK, "[kernel]", "[kernel]");
	ksym_clear(&k);
}

TEST(hub_ksym_has_one_number_for_a_name)
{
	struct ksym_names k = { 0 };
	uint32_t read, write;

	set(&k, 1, "vfs_read");
	set(&k, 2, "vfs_write");
	read = ours(&k, 1);
	write = ours(&k, 2);
	CHECK(read != write && read != KSYM_UNKNOWN && write != KSYM_UNKNOWN);
	/* loaderd forgot, and met them in another order */
	set(&k, 3, "vfs_write");
	set(&k, 4, "vfs_read");
	CHECK_EQ(ours(&k, 3), write);
	CHECK_EQ(ours(&k, 4), read);
	/* and gives numbers again, one day */
	set(&k, 1, "vfs_write");
	CHECK_EQ(ours(&k, 1), write);
	/* the same function of two modules is two */
	set(&k, 5, "vfs_read [mod]");
	CHECK(ours(&k, 5) != read);
	CHECK_EQ(k.names.n, 4);		/* with that of KSYM_UNKNOWN */
	ksym_clear(&k);
	CHECK_EQ(ours(&k, 1), KSYM_UNKNOWN);
}

TEST(hub_ksym_holds_many)
{
	struct ksym_names k = { 0 };
	char name[32];

	for (uint32_t i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "symbol%u", i * 7 % 10000);
		set(&k, i + 1, name);
	}
	CHECK_EQ(k.names.n, 10001);
	for (uint32_t i = 0; i < 10000; i++) {
		snprintf(name, sizeof(name), "symbol%u", i * 7 % 10000);
		expect(&k, i + 1, name, "[kernel]");
		CHECK_EQ(ours(&k, i + 1), ours(&k, i + 10001));
	}
	ksym_clear(&k);
}

/* A trace of one kernel frame, of loaderd's number. */
static void trace_of(struct traces *t, const struct ksym_names *k, uint32_t number)
{
	uint64_t bytes[(sizeof(struct trace_rec) + 8) / 8] = { 0 };
	struct trace_rec *rec = (void *)bytes;
	int first;

	rec->n_kernel = 1;
	rec->words[0] = FRAME_WORD(FRAME_KERNEL, number, 0x123);
	ksym_translate(k, rec);
	CHECK(traces_add(t, rec, 0, 1, &first) != TRACE_NONE);
}

/* There is room for so many: what traces have stays, and so does what loaderd has numbers
 * for, if something else can go. */
TEST(hub_ksym_forgets_what_nothing_has)
{
	struct ksym_names k = { .max = 100 };
	struct traces traces;
	struct ksym_rec rec;
	char name[32];

	traces_init(&traces, 5);
	set(&k, 1, "in_a_trace");
	trace_of(&traces, &k, 1);
	for (uint32_t i = 2; i < 100; i++) {
		snprintf(name, sizeof(name), "symbol_%u [m]", i);
		set(&k, i % 50 + 2, name);	/* half of the numbers are given again */
	}
	rec = (struct ksym_rec){ .number = 200, .name = "new" };
	CHECK(ksym_set(&k, &rec) < 0);
	expect(&k, 200, "[kernel]", "[kernel]");
	CHECK_EQ(k.full, 1);
	ksym_sweep(&k, &traces);
	set(&k, 200, "new");
	expect(&k, 200, "new", "[kernel]");
	expect(&k, 1, "in_a_trace", "[kernel]");
	expect(&k, 99 % 50 + 2, "symbol_99", "[m]");
	/* all have a number of loaderd's: then what no trace has goes */
	for (rec.number = 300; !ksym_set(&k, &rec); rec.number++)
		snprintf(rec.name, sizeof(rec.name), "later_%u", rec.number);
	ksym_sweep(&k, &traces);
	ksym_sweep(&k, &traces);
	expect(&k, 1, "in_a_trace", "[kernel]");
	expect(&k, 99 % 50 + 2, "[kernel]", "[kernel]");
	set(&k, 200, "new");
	expect(&k, 200, "new", "[kernel]");
	ksym_clear(&k);
	traces_fini(&traces);
}
