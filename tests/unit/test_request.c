// SPDX-License-Identifier: Apache-2.0
#include "exporterd/request.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "ipc/sealed.h"
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

/* EVENTS events; the last MANY are one sample. */
static void *make(struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
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
	CHECK(batch_open(p, len, ret) == 0);
	CHECK(batch_n(ret, BATCH_SAMPLES) < EVENTS - MANY + 2);
	return p;
}

static struct kept_batches kept;

static int seal(const struct batch *b)
{
	struct iovec all = { (void *)b->hdr, b->hdr->bytes };
	int fd = sealed_make("test", &all, 1);

	CHECK(fd >= 0);
	return fd;
}

static struct item *item(const struct batch *b, enum compression c)
{
	int fd = seal(b);
	struct kept_batch *whole = kept_batch_new(&kept, fd, b->hdr->bytes);
	struct request q;
	struct item *it;

	CHECK(whole);
	close(fd);
	CHECK_EQ(request_init(&q, b, otlp_all(b), NULL), 0);
	CHECK_EQ(q.samples, EVENTS);
	it = request_item(&q, 7, c, whole, otlp_all(b));
	CHECK(it);
	CHECK_EQ(item_bytes(it), it->body->len);
	request_fini(&q);
	kept_batch_put(whole);
	return it;
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

/* What was compressed: to be freed. */
static uint8_t *raw_of(const struct body *b)
{
	uint8_t *out = malloc(b->raw_len);
	z_stream z = {
		.next_in = b->data,
		.avail_in = (uInt)b->len,
		.next_out = out,
		.avail_out = (uInt)b->raw_len,
	};

	CHECK(out);
	if (b->compression == COMPRESSION_NONE) {
		CHECK_EQ(b->len, b->raw_len);
		memcpy(out, b->data, b->len);
	} else if (b->compression == COMPRESSION_ZSTD) {
		CHECK_EQ(ZSTD_decompress(out, b->raw_len, b->data, b->len),
			 b->raw_len);
	} else {
		CHECK(inflateInit2(&z, 15 + 16) == Z_OK &&
		      inflate(&z, Z_FINISH) == Z_STREAM_END);
		CHECK_EQ(z.total_out, b->raw_len);
		inflateEnd(&z);
	}
	return out;
}

static void say_item(struct said *to, const struct item *it)
{
	size_t before = to->n;
	uint8_t *raw = raw_of(it->body);

	say(to, raw, it->body->raw_len);
	CHECK_EQ(to->n - before, it->samples);
	free(raw);
}

TEST(halves_say_together_what_the_whole_says)
{
	for (int c = 0; c < COMPRESSION__KINDS; c++) {
		struct said whole = { .n = 0 }, halves = { .n = 0 };
		struct batch b;
		void *mem = make(&b);
		struct item *it = item(&b, (enum compression)c), *half[2];

		say_item(&whole, it);
		CHECK_EQ(whole.n, EVENTS);
		CHECK_EQ(request_halve(it, NULL, half), 0);
		CHECK_EQ(it->samples, EVENTS);
		CHECK_EQ(half[0]->samples, EVENTS / 2);
		CHECK_EQ(half[1]->samples, EVENTS - EVENTS / 2);
		for (int i = 0; i < 2; i++) {
			CHECK_EQ(half[i]->id, 7);
			CHECK_EQ(half[i]->body->compression, c);
			CHECK(half[i]->profiles > 0 &&
			      half[i]->profiles <= it->profiles);
			CHECK(half[i]->body->raw_len < it->body->raw_len);
			CHECK(half[i]->batch == it->batch);
			say_item(&halves, half[i]);
			item_free(half[i]);
		}
		sort(&whole);
		sort(&halves);
		CHECK(memcmp(&whole, &halves, sizeof(whole)) == 0);
		item_free(it);
		free(mem);
	}
}

/* Takes it over. */
static void halve_all(struct item *it, struct said *leaves)
{
	struct item *half[2];
	int r = request_halve(it, NULL, half);

	if (r == -ENODATA) {
		CHECK_EQ(it->samples, 1);
		CHECK_EQ(it->profiles, 1);
		say_item(leaves, it);
		item_free(it);
		return;
	}
	CHECK_EQ(r, 0);
	CHECK_EQ(half[0]->samples + half[1]->samples, it->samples);
	item_free(it);
	halve_all(half[0], leaves);
	halve_all(half[1], leaves);
}

/* The events of one sample are parted, too. */
TEST(halving_goes_down_to_single_events)
{
	struct said whole = { .n = 0 }, leaves = { .n = 0 };
	struct batch b;
	void *mem = make(&b);
	struct item *it = item(&b, COMPRESSION_NONE);

	say_item(&whole, it);
	halve_all(it, &leaves);
	sort(&whole);
	sort(&leaves);
	CHECK_EQ(leaves.n, EVENTS);
	CHECK(memcmp(&whole, &leaves, sizeof(whole)) == 0);
	free(mem);
}

TEST(an_item_without_its_batch_cannot_be_halved)
{
	struct batch b;
	void *mem = make(&b);
	struct item *it = item(&b, COMPRESSION_GZIP), *half[2];

	kept_batch_put(it->batch);
	it->batch = NULL;
	CHECK_EQ(kept.n, 0);
	CHECK_EQ(request_halve(it, NULL, half), -ENOENT);
	item_free(it);
	free(mem);
}

/* A long outage: what is kept is bounded in number and bytes, and the oldest
 * goes first. */
TEST (the_oldest_batches_are_no_longer_kept) {
	struct kept_batch *v[KEPT_MAX + 2];
	struct batch b, back;
	void *mem = make(&b);
	int fd = seal(&b);

	for (int i = 0; i < KEPT_MAX + 2; i++) {
		v[i] = kept_batch_new(&kept, fd, 1000);
		CHECK(v[i]);
	}
	close(fd);
	CHECK_EQ(kept.n, KEPT_MAX);
	CHECK_EQ(kept.bytes, KEPT_MAX * 1000);
	CHECK_EQ(kept_batch_map(v[0], &back), -ENOENT);
	CHECK_EQ(kept_batch_map(v[1], &back), -ENOENT);
	CHECK_EQ(kept_batch_map(v[2], &back), 0);
	CHECK(memcmp(back.hdr, mem, b.hdr->bytes) == 0);
	kept_batch_unmap(&back);
	for (int i = 0; i < KEPT_MAX + 2; i++)
		kept_batch_put(v[i]);
	CHECK(!kept.n && !kept.bytes && !kept.first && !kept.last);
	free(mem);
}

TEST (batches_that_are_kept_have_a_limit_in_bytes) {
	struct kept_batch *v[3];
	struct batch b, back;
	void *mem = make(&b);
	int fd = seal(&b);

	for (int i = 0; i < 3; i++)
		v[i] = kept_batch_new(&kept, fd, KEPT_BYTES / 2);
	CHECK_EQ(kept.n, 2);
	CHECK_EQ(kept.bytes, KEPT_BYTES);
	CHECK_EQ(kept_batch_map(v[0], &back), -ENOENT);
	kept_batch_put(v[1]);
	CHECK_EQ(kept.bytes, KEPT_BYTES / 2);
	kept_batch_put(v[2]);
	kept_batch_put(v[0]);
	v[0] = kept_batch_new(&kept, fd, BATCH_BYTES_MAX);
	CHECK_EQ(kept_batch_map(v[0], &back), 0);
	kept_batch_unmap(&back);
	kept_batch_put(v[0]);
	CHECK(!kept.n && !kept.bytes && !kept.first && !kept.last);
	close(fd);
	CHECK(!kept_batch_new(&kept, fd, 1000));
	free(mem);
}

TEST(halving_survives_every_failed_allocation)
{
	struct batch b;
	void *mem = make(&b);
	struct item *it = item(&b, COMPRESSION_GZIP), *half[2];
	int r = -1;

	for (long n = 0; r; n++) {
		CHECK(n < 100000);
		fail_at = n;
		r = request_halve(it, NULL, half);
		CHECK(r == 0 || r == -ENOMEM);
	}
	fail_at = -1;
	item_free(half[0]);
	item_free(half[1]);
	item_free(it);
	free(mem);
}
