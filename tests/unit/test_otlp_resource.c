// SPDX-License-Identifier: Apache-2.0
/* Of what there is a resource in a request, and what it says. */
#include "tests/unit/otlp_batch.h"

TEST(otlp_resource_names_the_process)
{
	static const char *const pairs[] = {
		"host.name", "h", "process.pid", "1", NULL };
	const struct otlp_how extra = { .pairs = pairs };
	const Otlp__ResourceProfiles *p;

	make();
	encode(&extra);
	p = r->resource_profiles[1];
	CHECK_STR(attribute(p, "process.pid"), "100");
	CHECK_STR(attribute(p, "process.executable.name"), "prog");
	CHECK_STR(attribute(p, "process.executable.path"), "/usr/bin/prog");
	CHECK_STR(attribute(p, "process.creation.time"),
		  "2020-09-13T12:26:40.123Z");
	CHECK_STR(attribute(p, "container.id"), "0123456789abcdef");
	CHECK_STR(attribute(p, "host.name"), "h");
	CHECK_STR(attribute(p, "service.name"), "prog");
	CHECK_STR(p->schema_url, OTLP_SCHEMA_URL);
	CHECK_STR(p->scope_profiles[0]->scope->name, "trifold");
	/* the process that nobody knows */
	p = r->resource_profiles[0];
	CHECK_STR(attribute(p, "process.pid"), "(none)");
	CHECK_STR(attribute(p, "service.name"), "unknown_service");
}

/* An attribute of a sample, or "(none)". */
static const char *sample_attribute(const Otlp__Sample *s, const char *key)
{
	static char buf[32];

	for (size_t i = 0; i < s->n_attribute_indices; i++) {
		const Otlp__KeyValueAndUnit *a =
			r->dictionary->attribute_table[s->attribute_indices[i]];

		if (strcmp(r->dictionary->string_table[a->key_strindex], key) != 0)
			continue;
		if (a->value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
			return a->value->string_value;
		snprintf(buf, sizeof(buf), "%lld", (long long)a->value->int_value);
		return buf;
	}
	return "(none)";
}

TEST(otlp_resource_has_what_is_wanted)
{
	static const char *const only[] = { "process.executable.name", NULL };
	const struct otlp_how extra = { .only = only };

	make();
	encode(&extra);
	CHECK_EQ(r->n_resource_profiles, 3);
	CHECK_STR(attribute(r->resource_profiles[1], "process.executable.name"), "prog");
	CHECK_STR(attribute(r->resource_profiles[1], "service.name"), "prog");
	CHECK_EQ(r->resource_profiles[1]->resource->n_attributes, 2);
	CHECK_STR(sample_attribute(r->resource_profiles[1]->scope_profiles[0]->profiles[0]->samples[0],
				   "process.pid"), "(none)");
}

TEST(otlp_resource_is_a_service)
{
	const struct otlp_how extra = { .per = OTLP_PER_SERVICE };
	const Otlp__ResourceProfiles *p;
	const Otlp__Profile *profile;

	make();
	encode(&extra);
	/* both processes of one program, and what no process is known of */
	CHECK_EQ(r->n_resource_profiles, 2);
	p = r->resource_profiles[1];
	CHECK_STR(attribute(p, "service.name"), "prog");
	CHECK_STR(attribute(p, "container.id"), "0123456789abcdef");
	CHECK_EQ(p->resource->n_attributes, 2);
	profile = p->scope_profiles[0]->profiles[0];
	CHECK_EQ(profile->n_samples, 3);
	CHECK_STR(sample_attribute(profile->samples[0], "process.pid"), "100");
	CHECK_STR(sample_attribute(profile->samples[1], "process.pid"), "200");
	CHECK_STR(sample_attribute(profile->samples[1], "process.executable.name"), "prog");
	CHECK_STR(sample_attribute(profile->samples[1], "container.id"), "(none)");
	CHECK_STR(sample_attribute(profile->samples[1], "thread.id"), "101");
}

/* Process 100 three times, as a file of an older name, at another time, and as another
 * program; 200 once: each with the same stack in the same thread. */
static void make_alike(void)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, program(b), 16, 0, 0);
	uint32_t stack = batch_stack(b, &f, 1), one = thread(b, 100, "t", 0);

	for (uint32_t i = 0; i < 4; i++) {
		struct batch_resource v = {
			.pid = i == 2 ? 200 : 100, .unit = text(b, "web"),
			.exe_path = text(b, i ? "/bin/prog" : "/old/prog"),
			.exe_name = text(b, i == 3 ? "other" : "prog"),
			.comm = text(b, i ? "prog" : "title"), .start_ns = SECOND + i,
		};

		batch_event(b, stack, one, batch_resource(b, &v), STOP_COMPLETE, START + i);
		batch_event(b, stack, one, batch_resource(b, &v), STOP_NO_ROW, START + i);
	}
	finish(b);
}

/* What a sample has no attribute for makes no other sample of it. */
TEST(otlp_processes_that_look_the_same_share_samples)
{
	for (enum otlp_per per = OTLP_PER_SERVICE; per <= OTLP_PER_HOST; per++) {
		const struct otlp_how extra = { .per = per };
		const Otlp__Profile *p;
		size_t times = 0, twice = 0;

		free(m.data);
		make_alike();
		encode(&extra);
		CHECK_EQ(r->n_resource_profiles, 1);
		p = r->resource_profiles[0]->scope_profiles[0]->profiles[0];
		CHECK_EQ(p->n_samples, 6);
		for (size_t i = 0; i < p->n_samples; i++) {
			times += p->samples[i]->n_timestamps_unix_nano;
			if (p->samples[i]->n_timestamps_unix_nano == 2)
				twice++;
		}
		CHECK_EQ(times, 8);
		CHECK_EQ(twice, 2);
	}
}

TEST(otlp_resource_is_the_host)
{
	static const char *const pairs[] = { "host.name", "h", NULL };
	const struct otlp_how extra = { .pairs = pairs, .per = OTLP_PER_HOST };
	const Otlp__Profile *profile;
	bool found = false;

	make();
	encode(&extra);
	CHECK_EQ(r->n_resource_profiles, 1);
	CHECK_STR(attribute(r->resource_profiles[0], "service.name"), "h");
	profile = r->resource_profiles[0]->scope_profiles[0]->profiles[0];
	CHECK_EQ(profile->n_samples, 4);
	for (size_t i = 0; i < profile->n_samples; i++) {
		const Otlp__Sample *s = profile->samples[i];

		if (strcmp(sample_attribute(s, "process.pid"), "200") != 0)
			continue;
		CHECK_STR(sample_attribute(s, "service.name"), "prog");
		CHECK_STR(sample_attribute(s, "container.id"), "0123456789abcdef");
		found = true;
	}
	CHECK(found);
}

/* All hosts would be the service "host" otherwise. */
TEST(otlp_host_is_a_service_by_its_name_though_it_is_not_wanted)
{
	static const char *const only[] = { "host.id", NULL };
	static const char *const given[] = { "host.name", "given", NULL };
	struct otlp_how extra = { .only = only, .per = OTLP_PER_HOST, .host_name = "h" };

	make();
	encode(&extra);
	CHECK_STR(attribute(r->resource_profiles[0], "service.name"), "h");
	CHECK_STR(attribute(r->resource_profiles[0], "host.name"), "(none)");
	extra.pairs = given;
	encode(&extra);
	CHECK_STR(attribute(r->resource_profiles[0], "service.name"), "given");
}

TEST(otlp_service_is_the_unit_or_the_program)
{
	static const char *const want[] = { "nginx", "prog", "self", "kernel" };
	struct batch_builder *b = batch_builder_new(20);
	uint32_t f = frame(b, BATCH_FRAME_NATIVE, program(b), 16, 0, 0);

	for (uint32_t i = 0; i < 4; i++) {
		struct batch_resource v = {
			.pid = i + 1, .comm = text(b, "self"), .kernel = i == 3,
			.unit = i == 0 ? text(b, "nginx") : 0,
			.exe_name = i < 2 ? text(b, "prog") : 0,
		};

		batch_event(b, batch_stack(b, &f, 1), 0, batch_resource(b, &v),
			    STOP_COMPLETE, START);
	}
	finish(b);
	encode(NULL);
	CHECK_EQ(r->n_resource_profiles, 4);
	for (int i = 0; i < 4; i++)
		CHECK_STR(attribute(r->resource_profiles[i], "service.name"),
			  want[i]);
}

TEST(otlp_service_name_can_be_given)
{
	static const char *const pairs[] = { "service.name", "mine", NULL };
	const struct otlp_how extra = { .pairs = pairs };

	make();
	encode(&extra);
	for (size_t i = 0; i < r->n_resource_profiles; i++)
		CHECK_STR(attribute(r->resource_profiles[i], "service.name"),
			  "mine");
}
