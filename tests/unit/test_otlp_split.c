// SPDX-License-Identifier: Apache-2.0
#include "exporterd/split.h"

#include <errno.h>
#include <string.h>

#include "profile/formats/otlp.h"
#include "profile/formats/otlp.pb-c.h"
#include "tests/unit/harness.h"
#include "tests/unit/malloc_fails.h"
#include "tests/unit/otlp_rules.h"

#define START	1700000000000000000ULL
#define EVENTS	97
#define MANY	40	/* of one identity */

/* --- a request ----------------------------------------------------------------- */

static uint32_t text(struct batch_builder *b, const char *fmt, unsigned int i)
{
	char s[64];

	return batch_string(b, s, (size_t)snprintf(s, sizeof(s), fmt, i));
}

static uint32_t frame(struct batch_builder *b, unsigned int i)
{
	uint32_t file = text(b, i % 3 ? "file%u.c" : "", i % 5);
	uint32_t fn = batch_function(b, &(struct batch_function){
		.name = text(b, "function%u", i), .file = file,
		.start_line = i });
	uint32_t exe = batch_exe(b, &(struct batch_exe){
		.path = text(b, "/usr/bin/prog%u", i % 4),
		.build_id = text(b, "abcd%u", i % 4) });

	return batch_frame(b, &(struct batch_frame){
		.address = 0x1000 + i, .exe = exe, .function = fn,
		.line = i % 2 ? i + 1 : 0, .kind = BATCH_FRAME_NATIVE });
}

static uint32_t stack(struct batch_builder *b, unsigned int i)
{
	uint32_t v[4];

	for (unsigned int k = 0; k < 4; k++)
		v[k] = frame(b, i % (7 + k));
	return batch_stack(b, v, 4);
}

/* EVENTS events; the last MANY are one sample in OTLP. */
static uint8_t *make(size_t *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch batch;
	uint8_t *data;
	size_t len;
	void *p;

	CHECK(b);
	for (unsigned int i = 0; i < EVENTS; i++) {
		unsigned int k = i < EVENTS - MANY ? i : EVENTS;
		uint32_t process = batch_resource(b, &(struct batch_resource){
			.pid = 100 + k % 5, .exe_name = text(b, "p%u", k % 5) });
		uint32_t thread = batch_attr(b, &(struct batch_attr){
			.tid = 100 + k % 11, .cpu = k % 2,
			.thread_name = text(b, "t%u", k % 11) });

		batch_event(b, stack(b, k), thread, process, STOP_COMPLETE,
			    START + i);
	}
	CHECK(batch_builder_finish(b, START, START + EVENTS, &p, &len) == 0);
	batch_builder_free(b);
	CHECK(batch_open(p, len, &batch) == 0);
	CHECK(otlp_encode(&batch, NULL, &data, ret) == 0);
	free(p);
	return data;
}

/* --- what each event says, as a number ------------------------------------------- */

struct said {
	uint64_t v[EVENTS];
	size_t n;
};

static uint64_t add(uint64_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (uint8_t)*s) * 0x100000001b3ULL;
	return h * 0x100000001b3ULL;
}

static uint64_t add_number(uint64_t h, uint64_t n)
{
	char s[32];

	snprintf(s, sizeof(s), "%llu", (unsigned long long)n);
	return add(h, s);
}

static uint64_t add_attributes(uint64_t h, const Dictionary *d,
			       const int32_t *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const Otlp__KeyValueAndUnit *a = d->attribute_table[v[i]];

		h = add(h, d->string_table[a->key_strindex]);
		if (a->value->value_case == OTLP__ANY_VALUE__VALUE_STRING_VALUE)
			h = add(h, a->value->string_value);
		else
			h = add_number(h, (uint64_t)a->value->int_value);
	}
	return h;
}

static uint64_t add_location(uint64_t h, const Dictionary *d, int32_t i)
{
	const Otlp__Location *l = d->location_table[i];
	const Otlp__Mapping *m = d->mapping_table[l->mapping_index];

	h = add_number(h, l->address);
	h = add(h, d->string_table[m->filename_strindex]);
	h = add_number(h, m->memory_limit);
	h = add_attributes(h, d, m->attribute_indices, m->n_attribute_indices);
	h = add_attributes(h, d, l->attribute_indices, l->n_attribute_indices);
	for (size_t k = 0; k < l->n_lines; k++) {
		const Otlp__Function *f =
			d->function_table[l->lines[k]->function_index];

		h = add_number(h, (uint64_t)l->lines[k]->line);
		h = add(h, d->string_table[f->name_strindex]);
		h = add(h, d->string_table[f->filename_strindex]);
		h = add_number(h, (uint64_t)f->start_line);
	}
	return h;
}

static uint64_t add_type(uint64_t h, const Dictionary *d,
			 const Otlp__ValueType *t)
{
	h = add(h, d->string_table[t->type_strindex]);
	return add(h, d->string_table[t->unit_strindex]);
}

static void say_profile(struct said *to, const Request *r, size_t i)
{
	const Otlp__Profile *p =
		r->resource_profiles[i]->scope_profiles[0]->profiles[0];
	const Dictionary *d = r->dictionary;
	uint64_t h = 0, sample;

	for (size_t k = 0; k < r->resource_profiles[i]->resource->n_attributes;
	     k++) {
		Otlp__KeyValue *kv =
			r->resource_profiles[i]->resource->attributes[k];

		h = add(h, kv->key);
		h = kv->value->value_case ==
		    OTLP__ANY_VALUE__VALUE_STRING_VALUE ?
		    add(h, kv->value->string_value) :
		    add_number(h, (uint64_t)kv->value->int_value);
	}
	h = add_type(add_type(h, d, p->sample_type), d, p->period_type);
	h = add_number(h, p->time_unix_nano);
	for (size_t k = 0; k < p->n_samples; k++) {
		const Otlp__Sample *s = p->samples[k];
		const Otlp__Stack *st = d->stack_table[s->stack_index];

		sample = add_attributes(h, d, s->attribute_indices,
					s->n_attribute_indices);
		for (size_t m = 0; m < st->n_location_indices; m++)
			sample = add_location(sample, d,
					      st->location_indices[m]);
		for (size_t m = 0; m < s->n_timestamps_unix_nano; m++) {
			CHECK(to->n < EVENTS);
			to->v[to->n++] = add_number(
				sample, s->timestamps_unix_nano[m]);
		}
	}
}

static void say(struct said *to, const uint8_t *data, size_t len)
{
	Request *r = otlp__export_profiles_service_request__unpack(NULL, len,
								    data);
	const char *bad;

	CHECK(r);
	bad = check_profcheck(r);
	bad = bad ? bad : check_receivers(r);
	bad = bad ? bad : check_orphans(r);
	if (bad)
		printf("# broken rule: %s\n", bad);
	CHECK(!bad);
	for (size_t i = 0; i < r->n_resource_profiles; i++)
		say_profile(to, r, i);
	otlp__export_profiles_service_request__free_unpacked(r, NULL);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void sort(struct said *s)
{
	qsort(s->v, s->n, sizeof(s->v[0]), by_value);
}

/* --- tests ------------------------------------------------------------------------ */

TEST(split_halves_say_together_what_the_whole_says)
{
	struct said whole = { .n = 0 }, halves = { .n = 0 };
	struct split_part p[2];
	size_t len;
	uint8_t *data = make(&len);

	say(&whole, data, len);
	CHECK_EQ(whole.n, EVENTS);
	CHECK_EQ(split_request(data, len, p), 0);
	CHECK_EQ(p[0].samples, EVENTS / 2);
	CHECK_EQ(p[1].samples, EVENTS - EVENTS / 2);
	CHECK(p[0].len < len && p[1].len < len);
	for (int i = 0; i < 2; i++) {
		size_t before = halves.n;

		say(&halves, p[i].data, p[i].len);
		CHECK_EQ(halves.n - before, p[i].samples);
		free(p[i].data);
	}
	sort(&whole);
	sort(&halves);
	CHECK(memcmp(&whole, &halves, sizeof(whole)) == 0);
	free(data);
}

static void split_all(const uint8_t *data, size_t len, struct said *leaves)
{
	struct split_part p[2];
	int r = split_request(data, len, p);

	if (r == -ENODATA) {
		size_t before = leaves->n;

		say(leaves, data, len);
		CHECK_EQ(leaves->n, before + 1);
		return;
	}
	CHECK_EQ(r, 0);
	for (int i = 0; i < 2; i++) {
		CHECK(p[i].profiles > 0);
		split_all(p[i].data, p[i].len, leaves);
		free(p[i].data);
	}
}

TEST(split_goes_down_to_single_events)
{
	struct said whole = { .n = 0 }, leaves = { .n = 0 };
	size_t len;
	uint8_t *data = make(&len);

	say(&whole, data, len);
	split_all(data, len, &leaves);
	sort(&whole);
	sort(&leaves);
	CHECK(memcmp(&whole, &leaves, sizeof(whole)) == 0);
	free(data);
}

TEST(split_items_keep_id_and_compression)
{
	size_t len;
	uint8_t *data = make(&len);

	for (int c = 0; c < COMPRESSION__KINDS; c++) {
		struct said whole = { .n = 0 };
		struct body *b = body_make(data, len, (enum compression)c);
		struct item *it = item_new(b, 7, EVENTS, 5), *half[2];

		CHECK(b && it);
		CHECK_EQ(split_item(it, half), 0);
		CHECK_EQ(it->samples, EVENTS);
		CHECK_EQ(half[0]->samples + half[1]->samples, EVENTS);
		for (int i = 0; i < 2; i++) {
			uint8_t *raw = body_raw(half[i]->body);

			CHECK(raw);
			CHECK_EQ(half[i]->id, 7);
			CHECK_EQ(half[i]->body->compression, c);
			say(&whole, raw, half[i]->body->raw_len);
			free(raw);
			item_free(half[i]);
		}
		CHECK_EQ(whole.n, EVENTS);
		it->samples = 1;
		CHECK_EQ(split_item(it, half), -ENODATA);
		item_free(it);
		body_put(b);
	}
	free(data);
}

TEST(split_survives_every_failed_allocation)
{
	size_t len;
	uint8_t *data = make(&len);
	struct body *b = body_make(data, len, COMPRESSION_GZIP);
	struct item *it = item_new(b, 7, EVENTS, 5), *half[2];
	int r = -1;

	CHECK(b && it);
	/* each takes as long as the ones before: not every one of them */
	for (long n = 0; r; n += n < 50 ? 1 : 37) {
		CHECK(n < 100000);
		fail_at = n;
		r = split_item(it, half);
		CHECK(r == 0 || r == -ENOMEM || r == -EPROTO);
	}
	fail_at = -1;
	item_free(half[0]);
	item_free(half[1]);
	item_free(it);
	body_put(b);
	free(data);
}

static void try(const uint8_t *data, size_t len)
{
	struct split_part p[2];
	int r = split_request(data, len, p);

	CHECK(r == 0 || r == -ENODATA || r == -EPROTO || r == -ENOMEM);
	if (r == 0) {
		free(p[0].data);
		free(p[1].data);
	}
}

TEST(split_survives_every_truncation_and_bit_flip)
{
	size_t len;
	uint8_t *data = make(&len);

	for (size_t n = 0; n <= len; n += n < 200 ? 1 : 13) {
		uint8_t *copy = malloc(n ? n : 1);

		CHECK(copy);
		memcpy(copy, data, n);
		try(copy, n);
		free(copy);
	}
	for (size_t bit = 0; bit < 8 * len; bit += 3) {
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
		try(data, len);
		data[bit / 8] ^= (uint8_t)(1u << bit % 8);
	}
	free(data);
}
