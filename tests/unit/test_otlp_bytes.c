// SPDX-License-Identifier: Apache-2.0
/* How many bytes a request takes, and why not more. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/protobuf.h"
#include "exporterd/body.h"
#include "profile/formats/otlp.h"
#include "profile/formats/otlp.pb-c.h"
#include "tests/unit/harness.h"
#include "tests/unit/otlp_rules.h"

#define START	1700000000000000000ULL
#define SECOND	1000000000ULL

/* --- a batch as large as one of a busy machine ------------------------------------ */

enum { EVENTS = 190, PROCESSES = 20, STACKS = 150, DEPTH = 25, FRAMES = 700,
       FUNCTIONS = 450, EXES = 12 };

static uint64_t state;

/* The same numbers on every machine. */
static uint32_t draw(uint32_t below)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(state >> 33) % below;
}

static uint32_t text(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

/* Function i: every third is of C++, and has three names. */
static uint32_t function(struct batch_builder *b, uint32_t i)
{
	static const char *const words[] = { "table", "find", "hash", "insert",
					     "Compiler", "node", "read", "tree" };
	char name[64], full[96], mangled[96], file[64];
	const char *x = words[i % 8], *y = words[i / 8 % 8];

	snprintf(name, sizeof(name), "%s_%s_%u", x, y, i / 4);
	snprintf(full, sizeof(full), "%s::%s_%u(%s const&, int)", x, y, i, y);
	snprintf(mangled, sizeof(mangled), "_ZN6%s6%s_%uERK4%si", x, y, i, y);
	snprintf(file, sizeof(file), "src/%s/%s.cc", x, y);
	return batch_function(b, &(struct batch_function){
		.name = text(b, name),
		.full_name = i % 3 ? 0 : text(b, full),
		.system_name = i % 3 ? 0 : text(b, mangled),
		.file = i % 3 == 1 ? 0 : text(b, file),
		.start_line = i % 3 == 1 ? 0 : i * 7 % 900 + 1 });
}

static uint32_t program(struct batch_builder *b, uint32_t i)
{
	char path[64], id[41];

	snprintf(path, sizeof(path), "/usr/lib/x86_64-linux-gnu/lib%u.so.1", i);
	snprintf(id, sizeof(id), "%08x%08x%08x%08x%08x", draw(1u << 31),
		 draw(1u << 31), draw(1u << 31), draw(1u << 31), draw(1u << 31));
	return batch_exe(b, &(struct batch_exe){
		.path = text(b, path), .build_id = text(b, id),
		.file_id = { (uint8_t)draw(256), (uint8_t)i } });
}

/* Frames of low numbers are in most stacks. */
static uint32_t stack(struct batch_builder *b, const uint32_t frames[FRAMES])
{
	uint32_t v[DEPTH], n = DEPTH - draw(DEPTH / 2);

	for (uint32_t k = 0; k < n; k++)
		v[k] = frames[k < n / 3 ? draw(FRAMES) : draw(FRAMES / 9) * 9];
	return batch_stack(b, v, n);
}

static uint32_t process(struct batch_builder *b, uint32_t i)
{
	char path[64];

	snprintf(path, sizeof(path), "/usr/bin/program-%u", i % 8);
	return batch_resource(b, &(struct batch_resource){
		.pid = 1000 + i, .exe_path = text(b, path),
		.exe_name = text(b, path + 9), .comm = text(b, path + 9),
		.start_ns = START - i * SECOND / 7 });
}

struct made {
	void *data;
	struct batch batch;
};

static void make(struct made *m)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t exes[EXES], functions[FUNCTIONS], frames[FRAMES], stacks[STACKS];
	size_t len;

	state = 1;
	for (uint32_t i = 0; i < EXES; i++)
		exes[i] = program(b, i);
	for (uint32_t i = 0; i < FUNCTIONS; i++)
		functions[i] = function(b, i);
	for (uint32_t i = 0; i < FRAMES; i++)
		frames[i] = batch_frame(b, &(struct batch_frame){
			.address = 0x1000 + draw(1u << 21), .line = draw(900),
			.exe = exes[i % EXES], .kind = BATCH_FRAME_NATIVE,
			.function = functions[i % FUNCTIONS] });
	for (uint32_t i = 0; i < STACKS; i++)
		stacks[i] = stack(b, frames);
	for (uint32_t i = 0; i < EVENTS; i++) {
		uint32_t p = draw(PROCESSES);
		struct batch_attr a = {
			.tid = 1000 + p, .thread_name = text(b, "worker"),
			.cpu = draw(2),
		};

		batch_event(b, stacks[draw(STACKS)], batch_attr(b, &a),
			    process(b, p), STOP_COMPLETE,
			    START + i * (5 * SECOND / EVENTS) + draw(1 << 24));
	}
	CHECK_EQ(batch_builder_finish(b, START, START + 5 * SECOND, &m->data,
				      &len), 0);
	CHECK_EQ(batch_open(m->data, len, &m->batch), 0);
	batch_builder_free(b);
}

struct encoded {
	uint8_t *data;
	size_t len;
	struct otlp_made made;
	Request *r;
};

static void encode(const struct made *m, struct otlp_range range,
		   struct encoded *e)
{
	CHECK_EQ(otlp_encode_range(&m->batch, range, NULL, &e->data, &e->len,
				   &e->made), 0);
	e->r = otlp__export_profiles_service_request__unpack(NULL, e->len,
							     e->data);
	CHECK(e->r);
}

static void drop(struct encoded *e)
{
	otlp__export_profiles_service_request__free_unpacked(e->r, NULL);
	free(e->data);
}

/* --- tests ------------------------------------------------------------------------- */

/* Raise it with a reason only.  Of the version only the length could differ. */
TEST(otlp_bytes_of_a_known_batch)
{
	size_t versions;
	struct encoded e;
	struct made m;

	make(&m);
	encode(&m, otlp_all(&m.batch), &e);
	versions = e.r->n_resource_profiles * strlen(TRIFOLD_VERSION);
	CHECK_EQ(e.r->n_resource_profiles, PROCESSES);
	CHECK_EQ(e.len - versions, 40038);
	drop(&e);
	free(m.data);
}

/* Of a whole request and of its halves: no element unused, none there twice. */
TEST(otlp_bytes_are_of_what_is_used_once)
{
	struct made m;

	make(&m);
	for (uint32_t n = 1; n <= 2; n++) {
		for (uint32_t i = 0; i < n; i++) {
			struct otlp_range half = { EVENTS / n * i, EVENTS / n };
			struct encoded e;

			encode(&m, half, &e);
			CHECK_STR(check_profcheck(e.r) ? : "", "");
			CHECK_STR(check_receivers(e.r) ? : "", "");
			CHECK_STR(check_orphans(e.r) ? : "", "");
			drop(&e);
		}
	}
	free(m.data);
}

static uint32_t *uses_of(const Dictionary *d)
{
	uint32_t *uses = calloc(d->n_location_table, sizeof(*uses));

	CHECK(uses);
	for (size_t i = 0; i < d->n_stack_table; i++) {
		const Otlp__Stack *s = d->stack_table[i];

		for (size_t k = 0; k < s->n_location_indices; k++)
			uses[s->location_indices[k]]++;
	}
	return uses;
}

/* Indices of one byte are for the locations that stacks name most often. */
TEST(otlp_often_used_locations_have_short_indices)
{
	uint32_t least = UINT32_MAX, most = 0, *uses;
	struct encoded e;
	struct made m;

	make(&m);
	encode(&m, otlp_all(&m.batch), &e);
	uses = uses_of(e.r->dictionary);
	CHECK(e.r->dictionary->n_location_table > 300);
	for (size_t i = 1; i < e.r->dictionary->n_location_table; i++) {
		if (i < 128 && least > uses[i])
			least = uses[i];
		if (i >= 128 && most < uses[i])
			most = uses[i];
	}
	CHECK(least >= most && most > 0);
	free(uses);
	drop(&e);
	free(m.data);
}

/* Neighbours differ little: mappings and addresses ascend, twice from the
 * beginning. */
TEST(otlp_locations_are_in_the_order_of_files)
{
	const Dictionary *d;
	struct encoded e;
	struct made m;

	make(&m);
	encode(&m, otlp_all(&m.batch), &e);
	d = e.r->dictionary;
	for (size_t i = 2; i < d->n_location_table; i++) {
		const Otlp__Location *l = d->location_table[i - 1],
				     *n = d->location_table[i];

		CHECK(i == 128 || l->mapping_index < n->mapping_index ||
		      (l->mapping_index == n->mapping_index &&
		       l->address < n->address));
	}
	drop(&e);
	free(m.data);
}

static const uint8_t *id_of(const struct encoded *e, size_t i)
{
	return e->r->resource_profiles[i]->scope_profiles[0]->profiles[0]
		->profile_id.data;
}

/* Random bytes do not compress: a request's profiles share most of them. */
TEST(otlp_profiles_of_a_request_share_random_bytes)
{
	struct encoded e, other;
	struct made m;

	make(&m);
	encode(&m, otlp_all(&m.batch), &e);
	encode(&m, otlp_all(&m.batch), &other);
	for (size_t i = 0; i < e.r->n_resource_profiles; i++) {
		CHECK(memcmp(id_of(&e, i), id_of(&e, 0), 12) == 0);
		for (size_t k = 0; k < i; k++)
			CHECK(memcmp(id_of(&e, i), id_of(&e, k), 16) != 0);
	}
	CHECK(memcmp(id_of(&e, 0), id_of(&other, 0), 12) != 0);
	drop(&e);
	drop(&other);
	free(m.data);
}

/* The cuts are where they should be, and pay. */
TEST(otlp_tables_are_compressed_each_by_a_code_of_its_own)
{
	struct body *whole, *cut;
	struct encoded e;
	struct made m;

	make(&m);
	encode(&m, otlp_all(&m.batch), &e);
	for (unsigned int i = 0; i < OTLP_CUTS; i++) {
		/* a table begins with its empty element */
		CHECK(e.made.cuts.at[i] < e.len - 1);
		CHECK_EQ(e.data[e.made.cuts.at[i]], (i + 1) << 3 | 2);
		CHECK_EQ(e.data[e.made.cuts.at[i] + 1], 0);
	}
	/* not zstd: from 1.5.7 on it divides at places of its own as well */
	whole = body_make(e.data, e.len, COMPRESSION_GZIP);
	cut = body_make_cut(e.data, e.len, e.made.cuts.at, OTLP_CUTS,
			    COMPRESSION_GZIP);
	CHECK(whole && cut);
	CHECK(cut->len * 100 < whole->len * 98);
	printf("# gzip %zu, in blocks %zu\n", whole->len, cut->len);
	body_put(whole);
	body_put(cut);
	drop(&e);
	free(m.data);
}

/* Text that is plain is copied as it is; the result is the same. */
TEST(otlp_text_is_the_same_by_either_way)
{
	static const char odd[] = { '\0', '\x01', '\x7f', '\x80', '\xff', 'a' };
	char s[20];

	for (size_t n = 0; n <= sizeof(s); n++) {
		for (size_t i = 0; i < n * sizeof(odd); i++) {
			struct buffer x = { 0 }, y = { 0 };
			size_t mark;

			memset(s, 'x', sizeof(s));
			s[i % n] = odd[i / n];
			pb_text(&x, 1, s, n);
			mark = pb_begin(&y, 1);
			buffer_utf8(&y, s, n);
			pb_end(&y, mark);
			CHECK(!x.failed && x.len == y.len);
			CHECK(memcmp(x.data, y.data, x.len) == 0);
			free(x.data);
			free(y.data);
		}
	}
}
