// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/pprof.h"

#include <zlib.h>

#include "tests/unit/cli_batch.h"

/* A reader of the wire format, just enough to look at what was written. */
struct reader {
	const uint8_t *p, *end;
};
struct field {
	uint32_t number;
	uint64_t value;
	struct reader body;		/* of strings and messages */
};

static uint64_t varint(struct reader *r)
{
	uint64_t v = 0;
	unsigned int shift = 0;

	for (;; shift += 7) {
		CHECK(r->p < r->end && shift < 64);
		v |= (uint64_t)(*r->p & 0x7f) << shift;
		if (!(*r->p++ & 0x80))
			return v;
	}
}

static bool next(struct reader *r, struct field *f)
{
	uint64_t tag;

	if (r->p == r->end)
		return false;
	tag = varint(r);
	f->number = (uint32_t)(tag >> 3);
	f->value = varint(r);
	if ((tag & 7) == 2) {
		CHECK(f->value <= (uint64_t)(r->end - r->p));
		f->body = (struct reader){ r->p, r->p + f->value };
		r->p += f->value;
	} else {
		CHECK_EQ(tag & 7, 0);
	}
	return true;
}

static uint64_t number(struct reader r, uint32_t field)
{
	struct field f;

	while (next(&r, &f)) {
		if (f.number == field)
			return f.value;
	}
	return 0;
}

static uint8_t raw[1 << 20];

static struct profile_info info = {
	.host = "host", .kernel = "6.1", .machine = "x86_64",
	.account = { .known = 1, .taken = 7, .delivered = 7 },
};

static struct reader profile_of(void *(*make)(struct batch *))
{
	struct batch b;
	void *mem = make(&b);
	struct buffer out = { 0 };
	z_stream z = { .next_out = raw, .avail_out = sizeof(raw) };

	CHECK_EQ(pprof_encode(&b, &info, &out), 0);
	CHECK(out.len > 2 && out.data[0] == 0x1f && out.data[1] == 0x8b);
	z.next_in = out.data;
	z.avail_in = (uInt)out.len;
	CHECK_EQ(inflateInit2(&z, 16 + 15), Z_OK);
	CHECK_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
	CHECK_EQ(z.avail_in, 0);
	CHECK_EQ(inflateEnd(&z), Z_OK);
	free(out.data);
	free(mem);
	return (struct reader){ raw, raw + z.total_out };
}

static struct reader profile(void)
{
	return profile_of(sample_batch);
}

/* String i of the table, compared. */
static bool string_is(struct reader r, uint64_t i, const char *want)
{
	struct field f;

	while (next(&r, &f)) {
		if (f.number == 6 && i-- == 0)
			return f.value == strlen(want) &&
			       !memcmp(f.body.p, want, f.value);
	}
	return false;
}

TEST(pprof_counts_every_sample)
{
	struct reader r = profile(), it = r;
	uint64_t count = 0, ns = 0;
	struct field f, s;

	while (next(&it, &f)) {
		if (f.number != 2)
			continue;
		while (next(&f.body, &s)) {
			if (s.number != 2)
				continue;
			count += varint(&s.body);
			ns += varint(&s.body);
		}
	}
	CHECK_EQ(count, 7);
	CHECK_EQ(ns, 7 * 50000000ULL);
	CHECK_EQ(number(r, 12), 50000000);
	CHECK_EQ(number(r, 10), 5000000000ULL);
	CHECK(string_is(r, 0, ""));
}

/* Ids are unique and not 0, and every reference finds what it names. */
TEST(pprof_references_resolve)
{
	struct reader r = profile(), it = r;
	uint64_t strings = 0, n[6] = { 0 };
	struct field f, s;

	for (it = r; next(&it, &f); ) {
		if (f.number == 6)
			strings++;
		if (f.number >= 3 && f.number <= 5)
			CHECK_EQ(number(f.body, 1), ++n[f.number]);
	}
	for (it = r; next(&it, &f); ) {
		if (f.number == 5)
			CHECK(number(f.body, 2) < strings &&
			      number(f.body, 2) > 0);
		if (f.number == 4)
			CHECK(number(f.body, 2) <= n[3]);
		for (; f.number == 4 && next(&f.body, &s); ) {
			if (s.number == 4)
				CHECK(number(s.body, 1) >= 1 &&
				      number(s.body, 1) <= n[5]);
		}
		for (; f.number == 2 && next(&f.body, &s); ) {
			while (s.number == 1 && s.body.p < s.body.end) {
				uint64_t id = varint(&s.body);

				CHECK(id >= 1 && id <= n[4]);
			}
			if (s.number == 3)
				CHECK(number(s.body, 1) < strings &&
				      number(s.body, 2) < strings);
		}
	}
	CHECK(strings > 10);
}

TEST(pprof_labels_processes_and_incomplete_stacks)
{
	struct reader r = profile(), it = r;
	unsigned int worker = 0, ends = 0, containers = 0, units = 0;
	struct field f, s;

	while (next(&it, &f)) {
		while (f.number == 2 && next(&f.body, &s)) {
			uint64_t key, value;

			if (s.number != 3)
				continue;
			key = number(s.body, 1);
			value = number(s.body, 2);
			if (string_is(r, key, "comm") && string_is(r, value, "worker"))
				worker++;
			if (string_is(r, key, "stack_end") && string_is(r, value, "no_table"))
				ends++;
			if (string_is(r, key, "container_id") && string_is(r, value, "c0ffee"))
				containers++;
			if (string_is(r, key, "unit") && string_is(r, value, "web"))
				units++;
		}
	}
	CHECK_EQ(worker, 1);
	CHECK_EQ(ends, 1);
	CHECK_EQ(containers, 2);
	CHECK_EQ(units, 3);
}

TEST(pprof_says_that_a_process_has_no_name)
{
	struct reader r = profile_of(nameless_batch), it = r;
	struct field f, s;
	unsigned int n = 0;

	while (next(&it, &f)) {
		while (f.number == 2 && next(&f.body, &s)) {
			if (s.number == 3 && string_is(r, number(s.body, 1), "comm") &&
			    string_is(r, number(s.body, 2), "[unknown process]"))
				n++;
		}
	}
	CHECK_EQ(n, 1);
}

TEST(pprof_mappings_carry_build_ids)
{
	struct reader r = profile(), it = r;
	unsigned int found = 0;
	struct field f;

	while (next(&it, &f)) {
		if (f.number != 3 ||
		    !string_is(r, number(f.body, 5), "/usr/bin/app"))
			continue;
		found++;
		CHECK(string_is(r, number(f.body, 6),
			"abcdef0123456789abcdef0123456789abcdef01"));
		CHECK(number(f.body, 3) > 0x3000);
		CHECK_EQ(number(f.body, 7), 1);
		for (uint32_t i = 8; i <= 10; i++)
			CHECK_EQ(number(f.body, i), 0);
	}
	CHECK_EQ(found, 1);
}

/* The place of "main" in the sample batch is 0x1000 of /usr/bin/app. */
TEST(pprof_locations_lie_in_their_file)
{
	struct reader r = profile(), it = r;
	uint64_t app = 0, main_ = 0;
	struct field f;

	while (next(&it, &f)) {
		if (f.number == 3 &&
		    string_is(r, number(f.body, 5), "/usr/bin/app"))
			app = number(f.body, 1);
		if (f.number == 4 && number(f.body, 3) == 0x1000)
			main_ = number(f.body, 2);
	}
	CHECK(app != 0);
	CHECK_EQ(main_, app);
}

/* Name of a function by its id, compared. */
static bool function_is(struct reader r, uint64_t id, const char *want)
{
	struct reader it = r;
	struct field f;

	while (next(&it, &f)) {
		if (f.number == 5 && number(f.body, 1) == id)
			return string_is(r, number(f.body, 2), want);
	}
	return false;
}

TEST(pprof_location_has_a_line_for_each_inlined_call)
{
	static const char *const want[] = { "inner", "middle", "outer" };
	struct reader r = profile_of(inlined_batch), it = r;
	unsigned int locations = 0, lines = 0;
	struct field f, s;

	while (next(&it, &f)) {
		if (f.number == 4)
			locations++;
		/* functions, files, lines and inlined calls are known */
		for (uint32_t i = 7; f.number == 3 && i <= 10; i++)
			CHECK_EQ(number(f.body, i), string_is(r,
				number(f.body, 5), "/bin/app") || i == 7);
		if (f.number != 4 || number(f.body, 3) != 0x1000)
			continue;
		while (next(&f.body, &s)) {
			if (s.number != 4)
				continue;
			CHECK(lines < 3);
			CHECK(function_is(r, number(s.body, 1), want[lines]));
			CHECK_EQ(number(s.body, 2), 30 - 10 * lines);
			lines++;
		}
	}
	CHECK_EQ(lines, 3);
	CHECK_EQ(locations, 2);
}

TEST(pprof_functions_have_short_and_system_names)
{
	static const char *const want[][2] = {
		{ "a::f<...>", "_Z1f" }, { "g", "g.cold" },
	};
	struct reader r = profile_of(mangled_batch), it = r;
	unsigned int n = 0;
	struct field f;

	while (next(&it, &f)) {
		if (f.number != 5 || n == 2)
			continue;
		CHECK(string_is(r, number(f.body, 2), want[n][0]));
		CHECK(string_is(r, number(f.body, 3), want[n][1]));
		n++;
	}
	CHECK_EQ(n, 2);
}

/* Where it is the name, pprof's own tool would demangle it: "<module>" to "". */
TEST(pprof_has_no_system_name_that_is_the_name)
{
	struct reader r = profile(), it = r;
	unsigned int n = 0;
	struct field f;

	while (next(&it, &f)) {
		if (f.number != 5)
			continue;
		CHECK_EQ(number(f.body, 3), 0);
		n++;
	}
	CHECK_EQ(n, 6);
}

/* The functions of the locations in their order, but for those at address 1. */
static void check_functions(struct reader r, const char *const *want, uint64_t n)
{
	struct reader it = r;
	struct field f, s;
	uint64_t found = 0;

	while (next(&it, &f)) {
		uint64_t lines = 0;
		const char *name;

		if (f.number != 4 || number(f.body, 3) == 1)
			continue;
		CHECK(found < n);
		name = want[found++];
		while (next(&f.body, &s)) {
			if (s.number != 4)
				continue;
			lines++;
			CHECK(name && function_is(r, number(s.body, 1), name));
		}
		CHECK_EQ(lines, name != NULL);
	}
	CHECK_EQ(found, n);
}

/* A location without a line vanishes in most tools, and its samples are its caller's. */
TEST(pprof_has_a_function_for_code_without_a_name)
{
	static const char *const want[] = {
		"libfoo.so+0x...", "libfoo.so+0x...", "[unknown file]", "[JIT code, no names]",
	};
	struct reader r = profile_of(nameless_batch), it = r;
	unsigned int n = 0;
	struct field f;

	check_functions(r, want, 4);
	while (next(&it, &f)) {
		if (f.number == 5)
			n++;
	}
	CHECK_EQ(n, 4);		/* with [kernel] */
}

/* Code without a name, and code of a function that is called after where it begins: of a
 * file with a build ID, without its address too, of a file with an ID that pprof has no
 * field for, of one with none; a name that is known. */
static void *lookup_batch(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t id = batch_exe(b, &(struct batch_exe){
		.path = str(b, "/lib/id.so"), .build_id = str(b, "abcdef") });
	uint32_t hash = batch_exe(b, &(struct batch_exe){
		.path = str(b, "/lib/hash.so"), .file_id = { 1 } });
	uint32_t none = batch_exe(b, &(struct batch_exe){ .path = str(b, "/lib/none.so") });
	const struct { uint32_t exe; uint64_t address; const char *name; bool unnamed; } of[] = {
		{ id, 16, NULL, false }, { id, 32, "id.so!0x20", true },
		{ id, 0, "id.so!0x30", true }, { hash, 16, NULL, false },
		{ hash, 32, "hash.so!0x20", true }, { none, 16, NULL, false },
		{ none, 32, "none.so!0x20", true }, { id, 64, "known", false },
	};
	uint32_t n = sizeof(of) / sizeof(of[0]), stack[sizeof(of) / sizeof(of[0])];
	size_t len;
	void *data;

	for (uint32_t i = 0; i < n; i++) {
		struct batch_function fn = { .unnamed = of[i].unnamed };

		if (of[i].name)
			fn.name = str(b, of[i].name);
		stack[i] = batch_frame(b, &(struct batch_frame){
			.kind = BATCH_FRAME_NATIVE, .exe = of[i].exe,
			.address = of[i].address,
			.function = fn.name ? batch_function(b, &fn) : 0 });
	}
	event(b, process(b, 9, NULL, NULL), 10, "", STOP_COMPLETE, stack, n, 1);
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* What cannot be found again keeps what it is called. */
TEST(pprof_leaves_out_what_a_tool_can_find)
{
	static const char *const all[] = {
		"id.so+0x...", "id.so!0x20", "id.so!0x30", "hash.so+0x...", "hash.so!0x20",
		"none.so+0x...", "none.so!0x20", "known",
	}, *const nameless[] = {
		NULL, NULL, "id.so!0x30", "hash.so+0x...", "hash.so!0x20",
		"none.so+0x...", "none.so!0x20", "known",
	}, *const of_no_file[] = {
		"libfoo.so+0x...", "libfoo.so+0x...", "[unknown file]", "[JIT code, no names]",
	};

	check_functions(profile_of(lookup_batch), all, 8);
	info.nameless = true;
	check_functions(profile_of(lookup_batch), nameless, 8);
	check_functions(profile_of(nameless_batch), of_no_file, 4);
	info.nameless = false;
}

/* Two programs, of which the second has most samples. */
static void *two_programs(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t exe[2];
	size_t len;
	void *data;

	CHECK(b != NULL);
	for (uint32_t i = 0; i < 2; i++)
		exe[i] = batch_exe(b, &(struct batch_exe){
			.path = str(b, i ? "/bin/much" : "/bin/little") });
	for (uint32_t i = 0; i < 2; i++) {
		struct batch_resource r = {
			.pid = i + 1,
			.exe_path = str(b, i ? "/bin/much" : "/bin/little"),
		};
		uint32_t f = frame(b, BATCH_FRAME_NATIVE, "f", exe[i], 1);

		for (uint32_t n = 0; n <= i; n++)
			event(b, batch_resource(b, &r), i + 1, "t",
			      STOP_COMPLETE, &f, 1, 100 + n);
	}
	CHECK_EQ(batch_builder_finish(b, 0, 500, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

TEST(pprof_is_titled_after_the_program_of_most_samples)
{
	static const char *const want[] = { "/bin/much", "[kernel]",
					    "/bin/little" };
	struct reader r = profile_of(two_programs), it = r;
	unsigned int n = 0;
	struct field f;

	while (next(&it, &f)) {
		if (f.number != 3)
			continue;
		CHECK(n < 3);
		CHECK(string_is(r, number(f.body, 5), want[n]));
		n++;
	}
	CHECK_EQ(n, 3);
}
