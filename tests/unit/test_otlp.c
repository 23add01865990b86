// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/otlp.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/harness.h"
#define WRAP_REALLOC
#include "tests/unit/malloc_fails.h"
#include "tests/unit/otlp_batch.h"

TEST(otlp_request_keeps_every_rule)
{
	make();
	encode(NULL);
	CHECK_EQ(r->n_resource_profiles, 3);
}

TEST(otlp_samples_are_all_there_and_merged)
{
	Otlp__Profile *p;

	make();
	encode(NULL);
	/* resource 0 comes first */
	p = r->resource_profiles[0]->scope_profiles[0]->profiles[0];
	CHECK_EQ(p->n_samples, 1);
	CHECK_EQ(p->samples[0]->n_timestamps_unix_nano, 1);
	CHECK_EQ(p->samples[0]->timestamps_unix_nano[0],
		 START + 5 * SECOND - 1);
	p = r->resource_profiles[1]->scope_profiles[0]->profiles[0];
	CHECK_EQ(p->n_samples, 1);
	CHECK_EQ(p->samples[0]->n_timestamps_unix_nano, 2);
	CHECK_EQ(p->samples[0]->n_values, 0);
	CHECK_EQ(p->period, 50000000);
	CHECK_EQ(p->time_unix_nano, START);
	CHECK_EQ(p->duration_nano, 5 * SECOND);
	p = r->resource_profiles[2]->scope_profiles[0]->profiles[0];
	CHECK_EQ(p->n_samples, 2);
	CHECK_EQ(p->samples[0]->n_timestamps_unix_nano, 1);
	CHECK_EQ(p->samples[1]->timestamps_unix_nano[0], START + 4);
}

static const char *name_of(const Dictionary *d, const Otlp__Location *l)
{
	return l->n_lines ? d->string_table[d->function_table[
		l->lines[0]->function_index]->name_strindex] : "";
}

static const char *type_of(const Dictionary *d, const Otlp__Location *l)
{
	return d->attribute_table[l->attribute_indices[0]]->value->string_value;
}

TEST(otlp_stack_says_what_each_frame_is)
{
	static const struct { const char *name, *type; uint64_t address;
			      bool mapped; } want[] = {
		{ "do_sys_open", "kernel", 0x12, false },
		{ "ext4_map [ext4]", "kernel", 0x34, false },
		{ "inner", "native", 0x1234, true },
		{ "prog+0x...", "native", 0x5678, true },
		{ "main.main", "go", 0x1000, true },
		{ "lib.so+0x...", "native", 0x99, false },
		{ "[JIT code, no names]", "unknown", 0x7fff00001000, false },
		{ "[frames missing]", "abort-marker", 0, false },
	};
	const Otlp__Stack *s;
	const Dictionary *d;

	make();
	encode(NULL);
	d = r->dictionary;
	s = d->stack_table[r->resource_profiles[1]->scope_profiles[0]->
		profiles[0]->samples[0]->stack_index];
	CHECK_EQ(s->n_location_indices, 8);
	for (int i = 0; i < 8; i++) {
		const Otlp__Location *l =
			d->location_table[s->location_indices[i]];

		CHECK_STR(name_of(d, l), want[i].name);
		CHECK_STR(type_of(d, l), want[i].type);
		CHECK_EQ(l->address, want[i].address);
		CHECK_EQ(l->mapping_index != 0, want[i].mapped);
		if (l->mapping_index)
			CHECK(d->mapping_table[l->mapping_index]->memory_limit >
			      l->address);
	}
}

TEST(otlp_location_has_a_line_for_each_inlined_call)
{
	static const char *const want[] = { "inner", "outer" };
	struct batch_builder *b = batch_builder_new(20);
	const Otlp__Location *l;
	struct batch_frame f;
	const Dictionary *d;
	uint32_t v;

	f = (struct batch_frame){
		.address = 0x10, .exe = program(b), .line = 12,
		.function = function(b, "outer", "a.c", 10),
		.kind = BATCH_FRAME_NATIVE,
	};
	f.into = batch_frame(b, &f);
	f.inlined = 1;
	f.line = 22;
	f.function = function(b, "inner", "b.c", 20);
	v = batch_frame(b, &f);
	batch_event(b, batch_stack(b, &v, 1), 0, process(b, 1), STOP_COMPLETE,
		    START);
	finish(b);
	encode(NULL);
	d = r->dictionary;
	CHECK_EQ(d->n_location_table, 2);	/* 0 is the empty one */
	l = d->location_table[1];
	CHECK_EQ(l->n_lines, 2);
	for (int i = 0; i < 2; i++) {
		const Otlp__Function *fn =
			d->function_table[l->lines[i]->function_index];

		CHECK_STR(d->string_table[fn->name_strindex], want[i]);
		CHECK_EQ(fn->start_line, i ? 10 : 20);
		CHECK_EQ(l->lines[i]->line, i ? 12 : 22);
	}
}

/* The whole name, so that a receiver can choose; a short one is no way back. */
TEST(otlp_functions_have_full_and_system_names)
{
	struct batch_builder *b = batch_builder_new(20);
	const struct batch_function v = {
		.name = text(b, "a::f<...>"), .system_name = text(b, "_Z1f"),
		.full_name = text(b, "void a::f<int>(int)"),
	};
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, program(b), 16,
			   batch_function(b, &v), 0);
	const Otlp__Function *fn;

	batch_event(b, batch_stack(b, &f, 1), 0, process(b, 1), STOP_COMPLETE,
		    START);
	finish(b);
	encode(NULL);
	CHECK_EQ(r->dictionary->n_function_table, 2);
	fn = r->dictionary->function_table[1];
	CHECK_STR(r->dictionary->string_table[fn->name_strindex],
		  "void a::f<int>(int)");
	CHECK_STR(r->dictionary->string_table[fn->system_name_strindex], "_Z1f");
}

/* What has an ID is known to a receiver by that and its address. */
TEST(otlp_leaves_names_out_if_asked)
{
	static const struct otlp_how bare = { .bare = true };
	static const char *const kept[] = {
		"do_sys_open", "ext4_map [ext4]", "", "", "main.main", "lib.so+0x...",
		"[JIT code, no names]", "[frames missing]",
	};
	const Dictionary *d;
	const Otlp__Stack *s;

	make();
	encode(&bare);
	d = r->dictionary;
	s = d->stack_table[r->resource_profiles[1]->scope_profiles[0]->
		profiles[0]->samples[0]->stack_index];
	CHECK_EQ(s->n_location_indices, 8);
	for (size_t i = 0; i < 8; i++) {
		const Otlp__Location *l =
			d->location_table[s->location_indices[i]];

		CHECK_STR(name_of(d, l), kept[i]);
		CHECK_EQ(l->n_lines, kept[i][0] != '\0');
	}
	CHECK_EQ(d->location_table[s->location_indices[2]]->address, 0x1234);
	CHECK(d->location_table[s->location_indices[2]]->mapping_index);
}

/* A batch of one sample, in functions of which the first has no name and the second is
 * not known at all, both of the program. */
static void make_nameless(void)
{
	struct batch_builder *b = batch_builder_new(20);
	const struct batch_function v = {
		.name = text(b, "prog!0x1000"), .unnamed = 1,
	};
	uint32_t f[] = {
		frame(b, BATCH_FRAME_NATIVE, program(b), 16, batch_function(b, &v), 0),
		frame(b, BATCH_FRAME_NATIVE, program(b), 32, 0, 0),
		frame(b, BATCH_FRAME_NATIVE, program(b), 48, 0, 0),
		frame(b, BATCH_FRAME_UNKNOWN, 0, 64, 0, 0),
		frame(b, BATCH_FRAME_UNKNOWN, 0, 80, 0, 0),
	};

	batch_event(b, batch_stack(b, f, 5), 0, process(b, 1), STOP_COMPLETE, START);
	finish(b);
}

/* Most receivers leave a location without a function out: its samples would be its
 * caller's. */
TEST(otlp_has_a_function_for_code_without_a_name)
{
	static const char *const want[] = {
		"prog!0x1000", "prog+0x...", "prog+0x...", "[JIT code, no names]",
		"[JIT code, no names]",
	};
	const Dictionary *d;

	make_nameless();
	encode(NULL);
	d = r->dictionary;
	CHECK_EQ(d->n_function_table, 4);
	CHECK_EQ(d->n_location_table, 6);
	for (size_t i = 0; i < 5; i++) {
		const Otlp__Location *l =
			d->location_table[d->stack_table[1]->location_indices[i]];

		CHECK_STR(name_of(d, l), want[i]);
		CHECK_EQ(l->address, 16 * (i + 1));
		CHECK_EQ(l->mapping_index != 0, i < 3);
	}
}

/* By address and build ID a receiver may find a name that we do not know; not that of
 * code in no file. */
TEST(otlp_leaves_code_without_names_to_a_receiver_that_asks)
{
	static const struct otlp_how nameless = { .nameless = true }, bare = { .bare = true };

	make_nameless();
	for (int k = 0; k < 2; k++) {
		const Dictionary *d;

		encode(k ? &bare : &nameless);
		d = r->dictionary;
		CHECK_EQ(d->n_function_table, 2);
		for (size_t i = 0; i < 5; i++) {
			const Otlp__Location *l = d->location_table[
				d->stack_table[1]->location_indices[i]];

			CHECK_EQ(l->n_lines, i > 2);
			CHECK_EQ(l->address, 16 * (i + 1));
			CHECK_EQ(l->mapping_index != 0, i < 3);
		}
	}
}

/* Nobody finds a function by an address that is gone. */
TEST(otlp_keeps_names_of_code_without_an_address)
{
	static const struct otlp_how nameless = { .nameless = true }, bare = { .bare = true };
	struct batch_builder *b = batch_builder_new(20);
	const struct batch_function v = { .name = text(b, "prog!0x1000"), .unnamed = 1 };
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, program(b), 0, batch_function(b, &v), 0);

	batch_event(b, batch_stack(b, &f, 1), 0, process(b, 1), STOP_COMPLETE, START);
	finish(b);
	for (int k = 0; k < 2; k++) {
		encode(k ? &bare : &nameless);
		CHECK_EQ(r->dictionary->n_location_table, 2);
		CHECK_STR(name_of(r->dictionary, r->dictionary->location_table[1]),
			  "prog!0x1000");
	}
}

TEST(otlp_sample_attributes_are_thread_and_cpu)
{
	const Otlp__Sample *s;
	const Dictionary *d;

	make();
	encode(NULL);
	d = r->dictionary;
	s = r->resource_profiles[1]->scope_profiles[0]->profiles[0]->samples[0];
	CHECK_EQ(s->n_attribute_indices, 3);
	CHECK_STR(attribute_key(d, s->attribute_indices[0]), "thread.id");
	CHECK_EQ(d->attribute_table[s->attribute_indices[0]]->value->int_value,
		 100);
	CHECK_STR(attribute_key(d, s->attribute_indices[1]), "thread.name");
	CHECK_STR(attribute_key(d, s->attribute_indices[2]),
		  "cpu.logical_number");
	/* a 0 is a value too */
	CHECK_EQ(d->attribute_table[s->attribute_indices[2]]->value->value_case,
		 OTLP__ANY_VALUE__VALUE_INT_VALUE);
}

/* Of a stack that is complete, has no user part or was cut (a frame says so),
 * nothing is said. */
TEST(otlp_says_what_ended_a_stack_early)
{
	struct batch_builder *b = batch_builder_new(20);
	Otlp__Profile *p;
	uint32_t stack, f;
	int said = 0;

	CHECK(b);
	f = frame(b, BATCH_FRAME_NATIVE, program(b), 0x1234, 0, 0);
	stack = batch_stack(b, &f, 1);
	for (uint32_t i = STOP_COMPLETE; i < STOP__MAX; i++)
		batch_event(b, stack, 0, 0, i, START + i);
	finish(b);
	encode(NULL);
	p = r->resource_profiles[0]->scope_profiles[0]->profiles[0];
	CHECK_EQ(p->n_samples, STOP_GUESSED - STOP_CUT);
	for (size_t i = 0; i < p->n_samples; i++) {
		const Otlp__Sample *s = p->samples[i];
		const Dictionary *d = r->dictionary;
		const char *name = batch_early_end((uint32_t)
			(s->timestamps_unix_nano[0] - START));

		CHECK_EQ(s->n_attribute_indices, name != NULL);
		CHECK_EQ(s->n_timestamps_unix_nano, name ? 1 : 4);
		if (!name)
			continue;
		said++;
		CHECK_STR(attribute_key(d, s->attribute_indices[0]),
			  "trifold.stack.end");
		CHECK_STR(d->attribute_table[s->attribute_indices[0]]->value
			  ->string_value, name);
		CHECK_EQ(batch_early_end_of(name, strlen(name)),
			 s->timestamps_unix_nano[0] - START);
	}
	CHECK_EQ(said, STOP_GUESSED - STOP_CUT - 1);
}

/* Stacks of two events: with guesses, and what is left without them. */
static void guessed_stack(void)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t v[5];

	CHECK(b);
	v[0] = frame(b, BATCH_FRAME_NATIVE, program(b), 0x10, 0, 0);
	v[1] = frame(b, BATCH_FRAME_GUESS, 0, STOP_NO_ROW, 0, 0);
	v[2] = frame(b, BATCH_FRAME_NATIVE, program(b), 0x20, function(b, "guessed", "", 0), 0);
	v[3] = frame(b, BATCH_FRAME_GUESS, 0, STOP_NO_ROW, 0, 0);
	v[4] = frame(b, BATCH_FRAME_NATIVE, program(b), 0x30, 0, 0);
	batch_event(b, batch_stack(b, v, 5), 0, 0, STOP_GUESSED, START + 1);
	batch_event(b, batch_stack(b, v, 1), 0, 0, STOP_NO_ROW, START + 2);
	finish(b);
}

static const Otlp__Profile *only_profile(void)
{
	return r->resource_profiles[0]->scope_profiles[0]->profiles[0];
}

TEST(otlp_ends_stacks_before_guesses)
{
	const Otlp__Profile *p;

	guessed_stack();
	encode(NULL);
	p = only_profile();
	/* both are the same stack now, and end for the same reason */
	CHECK_EQ(p->n_samples, 1);
	CHECK_EQ(p->samples[0]->n_timestamps_unix_nano, 2);
	CHECK_EQ(r->dictionary->stack_table[p->samples[0]->stack_index]->n_location_indices, 1);
	CHECK_EQ(r->dictionary->n_location_table, 2);
	for (size_t i = 0; i < r->dictionary->n_string_table; i++)
		CHECK(strcmp(r->dictionary->string_table[i], "guessed") != 0);
	CHECK_EQ(p->samples[0]->n_attribute_indices, 1);
	CHECK_STR(r->dictionary->attribute_table[p->samples[0]->attribute_indices[0]]->value
		  ->string_value, "no_row");
}

TEST(otlp_has_guesses_where_they_are_wanted)
{
	const struct otlp_how extra = { .guesses = true };
	const Otlp__Stack *s;

	guessed_stack();
	encode(&extra);
	CHECK_EQ(only_profile()->n_samples, 2);
	CHECK_EQ(r->dictionary->n_location_table, 5);
	for (size_t i = 0; i < 2; i++) {
		s = r->dictionary->stack_table[only_profile()->samples[i]->stack_index];
		if (s->n_location_indices == 1)
			continue;
		CHECK_EQ(s->n_location_indices, 5);
		CHECK_EQ(only_profile()->samples[i]->n_attribute_indices, 0);
		CHECK_EQ(s->location_indices[1], s->location_indices[3]);
		CHECK_STR(type_of(r->dictionary,
				  r->dictionary->location_table[s->location_indices[1]]),
			  "guess-marker");
		CHECK_EQ(r->dictionary->location_table[s->location_indices[1]]->address, 0);
	}
}

TEST(otlp_wrong_utf8_becomes_replacement)
{
	static const char *const pairs[] = {
		"k", "a\xff" "b\xc0\x80" "c\xed\xa0\x80\xe2\x82\xac", NULL };
	const struct otlp_how extra = { .pairs = pairs };

	make();
	encode(&extra);
	CHECK_STR(attribute(r->resource_profiles[1], "k"),
		  "a\xef\xbf\xbd" "b\xef\xbf\xbd\xef\xbf\xbd" "c\xef\xbf\xbd"
		  "\xef\xbf\xbd\xef\xbf\xbd\xe2\x82\xac");
}

TEST(otlp_batch_without_samples_is_no_request)
{
	struct batch_builder *b = batch_builder_new(20);
	uint8_t *data = (uint8_t *)1;
	size_t len = 2;

	finish(b);
	CHECK(otlp_encode(&m.batch, NULL, &data, &len) == -ENODATA);
	CHECK(data == (uint8_t *)1);
	CHECK_EQ(len, 2);
}

TEST(otlp_survives_every_failed_allocation)
{
	uint8_t *data;
	size_t len;
	int ret;

	make();
	for (long i = 0;; i++) {
		fail_at = i;
		ret = otlp_encode(&m.batch, NULL, &data, &len);
		if (ret == 0)
			break;
		CHECK(ret == -ENOMEM);
	}
	CHECK(fail_at >= 0);
	fail_at = -1;
	free(data);
}

/* --- a request that the collector and profcheck took --------------------------- */

static const uint8_t golden[] = {
	0x0a, 0x88, 0x01, 0x0a, 0x22, 0x0a, 0x15, 0x0a, 0x0c, 0x73, 0x65, 0x72,
	0x76, 0x69, 0x63, 0x65, 0x2e, 0x6e, 0x61, 0x6d, 0x65, 0x12, 0x05, 0x0a,
	0x03, 0x73, 0x76, 0x63, 0x0a, 0x09, 0x0a, 0x03, 0x70, 0x69, 0x64, 0x12,
	0x02, 0x18, 0x2a, 0x12, 0x62, 0x0a, 0x0c, 0x0a, 0x05, 0x73, 0x63, 0x6f,
	0x70, 0x65, 0x12, 0x03, 0x30, 0x2e, 0x31, 0x12, 0x52, 0x0a, 0x04, 0x08,
	0x01, 0x10, 0x02, 0x12, 0x1e, 0x08, 0x01, 0x12, 0x02, 0x02, 0x03, 0x18,
	0x01, 0x22, 0x02, 0x01, 0x01, 0x2a, 0x10, 0x00, 0x00, 0x2a, 0x36, 0xfe,
	0x9c, 0x97, 0x17, 0x05, 0x00, 0x2a, 0x36, 0xfe, 0x9c, 0x97, 0x17, 0x19,
	0x00, 0x00, 0x2a, 0x36, 0xfe, 0x9c, 0x97, 0x17, 0x20, 0x80, 0x94, 0xeb,
	0xdc, 0x03, 0x2a, 0x04, 0x08, 0x03, 0x10, 0x04, 0x30, 0x80, 0xe1, 0xeb,
	0x17, 0x3a, 0x10, 0x41, 0x42, 0x43, 0x44, 0x45, 0x46, 0x47, 0x48, 0x49,
	0x4a, 0x4b, 0x4c, 0x4d, 0x4e, 0x4f, 0x50, 0x12, 0xea, 0x01, 0x0a, 0x00,
	0x0a, 0x0b, 0x08, 0x80, 0x20, 0x10, 0x80, 0x40, 0x20, 0x07, 0x2a, 0x01,
	0x01, 0x12, 0x00, 0x12, 0x0b, 0x08, 0x01, 0x10, 0xb4, 0x24, 0x1a, 0x04,
	0x08, 0x01, 0x10, 0x0a, 0x1a, 0x00, 0x1a, 0x04, 0x08, 0x05, 0x18, 0x06,
	0x22, 0x00, 0x22, 0x1c, 0x0a, 0x10, 0x30, 0x31, 0x32, 0x33, 0x34, 0x35,
	0x36, 0x37, 0x38, 0x39, 0x61, 0x62, 0x63, 0x64, 0x65, 0x66, 0x12, 0x08,
	0x30, 0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x37, 0x2a, 0x00, 0x2a, 0x07,
	0x73, 0x61, 0x6d, 0x70, 0x6c, 0x65, 0x73, 0x2a, 0x05, 0x63, 0x6f, 0x75,
	0x6e, 0x74, 0x2a, 0x03, 0x63, 0x70, 0x75, 0x2a, 0x0b, 0x6e, 0x61, 0x6e,
	0x6f, 0x73, 0x65, 0x63, 0x6f, 0x6e, 0x64, 0x73, 0x2a, 0x04, 0x6d, 0x61,
	0x69, 0x6e, 0x2a, 0x06, 0x6d, 0x61, 0x69, 0x6e, 0x2e, 0x63, 0x2a, 0x06,
	0x2f, 0x62, 0x69, 0x6e, 0x2f, 0x78, 0x2a, 0x1f, 0x70, 0x72, 0x6f, 0x63,
	0x65, 0x73, 0x73, 0x2e, 0x65, 0x78, 0x65, 0x63, 0x75, 0x74, 0x61, 0x62,
	0x6c, 0x65, 0x2e, 0x62, 0x75, 0x69, 0x6c, 0x64, 0x5f, 0x69, 0x64, 0x2e,
	0x67, 0x6e, 0x75, 0x2a, 0x04, 0x61, 0x62, 0x63, 0x64, 0x2a, 0x0b, 0x74,
	0x68, 0x72, 0x65, 0x61, 0x64, 0x2e, 0x6e, 0x61, 0x6d, 0x65, 0x2a, 0x09,
	0x74, 0x68, 0x72, 0x65, 0x61, 0x64, 0x2e, 0x69, 0x64, 0x32, 0x00, 0x32,
	0x0a, 0x08, 0x08, 0x12, 0x06, 0x0a, 0x04, 0x61, 0x62, 0x63, 0x64, 0x32,
	0x0c, 0x08, 0x0a, 0x12, 0x08, 0x0a, 0x06, 0x77, 0x6f, 0x72, 0x6b, 0x65,
	0x72, 0x32, 0x06, 0x08, 0x0b, 0x12, 0x02, 0x18, 0x4d, 0x3a, 0x00, 0x3a,
	0x03, 0x0a, 0x01, 0x01
};

TEST(otlp_proto_reads_and_writes_the_golden_request)
{
	uint8_t out[sizeof(golden)];

	r = otlp__export_profiles_service_request__unpack(NULL, sizeof(golden),
							  golden);
	CHECK(r);
	CHECK(!check_profcheck(r));
	CHECK_EQ(otlp__export_profiles_service_request__get_packed_size(r),
		 sizeof(golden));
	otlp__export_profiles_service_request__pack(r, out);
	CHECK(memcmp(out, golden, sizeof(golden)) == 0);
	CHECK_EQ(r->resource_profiles[0]->scope_profiles[0]->profiles[0]->
		 samples[0]->link_index, 1);
}

/* The rules above can fail: each of these breaks one. */
TEST(otlp_rules_notice)
{
	make();
#define BREAKS(check, change)						\
	do {								\
		encode(NULL);				\
		change;							\
		CHECK(check(r) != NULL);				\
	} while (0)
#define P (r->resource_profiles[1]->scope_profiles[0]->profiles[0])
#define Q (r->resource_profiles[2]->scope_profiles[0]->profiles[0])
#define D (r->dictionary)
	BREAKS(check_profcheck, P->samples[0]->stack_index = 99);
	BREAKS(check_profcheck, P->samples[0]->attribute_indices[0] = -1);
	BREAKS(check_profcheck, P->samples[0]->attribute_indices[0] =
	       P->samples[0]->attribute_indices[1]);
	BREAKS(check_profcheck, P->duration_nano = 1);
	BREAKS(check_profcheck, P->sample_type->unit_strindex = 999);
	BREAKS(check_profcheck, D->link_table[0]->span_id.len = 0;
	       D->mapping_table[0]->memory_limit = 1);
	BREAKS(check_profcheck, D->mapping_table[1]->memory_limit = 0;
	       D->mapping_table[1]->memory_start = 1);
	BREAKS(check_profcheck, D->location_table[1]->mapping_index = 77);
	BREAKS(check_profcheck, D->stack_table[1]->location_indices[0] = 77);
	BREAKS(check_receivers, P->period = 0);
	BREAKS(check_receivers, P->profile_id.len = 15);
	BREAKS(check_receivers, D->location_table[1]->n_attribute_indices = 0);
	BREAKS(check_receivers, D->mapping_table[1]->n_attribute_indices = 0);
	BREAKS(check_orphans, Q->samples[0]->n_attribute_indices = 0;
	       Q->samples[1]->n_attribute_indices = 0);
}
