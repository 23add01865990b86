// SPDX-License-Identifier: Apache-2.0
#include "common/utf8.h"
#include "ipc/batch.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* --- the N-th allocation fails (linked with --wrap) ------------------------- */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t m);
void *__real_realloc(void *p, size_t n);
void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t m);
void *__wrap_realloc(void *p, size_t n);

static long fail_after = -1;	/* -1: never */

static bool fails(void)
{
	if (fail_after < 0)
		return false;
	return fail_after-- == 0;
}

void *__wrap_malloc(size_t n)
{
	return fails() ? NULL : __real_malloc(n);
}

void *__wrap_calloc(size_t n, size_t m)
{
	return fails() ? NULL : __real_calloc(n, m);
}

void *__wrap_realloc(void *p, size_t n)
{
	return fails() ? NULL : __real_realloc(p, n);
}

/* --- a sample with something in every table -------------------------------- */

static uint32_t str(struct batch_builder *b, const char *s)
{
	return batch_string(b, s, strlen(s));
}

static uint32_t frame(struct batch_builder *b, const char *exe,
		      const char *function, uint64_t address, uint32_t kind)
{
	struct batch_exe e = {
		.path = str(b, exe), .build_id = str(b, "c0ffee"),
		.file_id = { 1, 2, 3 },
	};
	struct batch_function f = {
		.name = str(b, function), .file = str(b, "a.c"),
		.start_line = 3,
	};
	struct batch_frame v = {
		.address = address, .kind = kind, .line = 7,
	};

	v.exe = batch_exe(b, &e);
	v.function = batch_function(b, &f);
	return batch_frame(b, &v);
}

static void fill(struct batch_builder *b)
{
	uint32_t frames[3], stacks[2], attr, resource;
	struct batch_attr a = { .tid = 12, .cpu = 1 };
	struct batch_resource r = { .pid = 10, .start_ns = 5 };

	frames[0] = frame(b, "/bin/a", "main", 0x1000, BATCH_FRAME_NATIVE);
	frames[1] = frame(b, "/bin/a", "caf\xc3\xa9", 0x2000, BATCH_FRAME_GO);
	frames[2] = frame(b, "", "tcp_sendmsg", 8, BATCH_FRAME_KERNEL);
	stacks[0] = batch_stack(b, frames, 2);
	stacks[1] = batch_stack(b, frames, 3);
	a.thread_name = str(b, "worker");
	attr = batch_attr(b, &a);
	r.exe_path = str(b, "/bin/a");
	r.exe_name = r.comm = str(b, "a");
	resource = batch_resource(b, &r);
	batch_event(b, stacks[0], attr, resource, STOP_COMPLETE, 1000);
	batch_event(b, stacks[1], attr, resource, STOP_COMPLETE, 1001);
	batch_event(b, stacks[0], attr, resource, STOP_COMPLETE, 999);
	batch_event(b, stacks[0], 0, 0, STOP_COMPLETE, 1002);
}

static void *finish(struct batch_builder *b, size_t *len)
{
	void *data;

	CHECK_EQ(batch_builder_finish(b, 990, 1002, &data, len), 0);
	return data;
}

static void *good_batch(size_t *len)
{
	struct batch_builder *b = batch_builder_new(20);
	void *data;

	CHECK(b != NULL);
	fill(b);
	data = finish(b, len);
	batch_builder_free(b);
	return data;
}

static bool str_is(const struct batch *b, uint32_t i, const char *want)
{
	const char *s;
	size_t len;

	CHECK(i < batch_n(b, BATCH_STRINGS));
	s = batch_str(b, i, &len);
	return len == strlen(want) && !memcmp(s, want, len);
}

/* --- building --------------------------------------------------------------- */

TEST(batch_builder_shares_equal_values)
{
	size_t len;
	void *data = good_batch(&len);
	const struct batch_sample *s;
	struct batch b;

	CHECK_EQ(batch_open(data, len, &b), 0);
	CHECK_EQ(b.hdr->frequency, 20);
	CHECK_EQ(batch_n(&b, BATCH_EXES), 3);
	CHECK_EQ(batch_n(&b, BATCH_FUNCTIONS), 4);
	CHECK_EQ(batch_n(&b, BATCH_FRAMES), 3);
	CHECK_EQ(batch_n(&b, BATCH_STACKS), 2);
	CHECK_EQ(batch_n(&b, BATCH_STACK_FRAMES), 5);
	CHECK_EQ(batch_n(&b, BATCH_SAMPLES), 3);
	CHECK_EQ(batch_n(&b, BATCH_TIMES), 4);
	CHECK_EQ(b.hdr->start_ns, 990);
	CHECK_EQ(b.hdr->end_ns, 1003);		/* widened */
	s = &b.samples[0];
	CHECK_EQ(s->n, 2);
	CHECK_EQ(b.times[s->first], 1000);
	CHECK_EQ(b.times[s->first + 1], 999);
	CHECK_EQ(b.stacks[s->stack].n, 2);
	CHECK_EQ(b.attrs[s->attr].tid, 12);
	CHECK(str_is(&b, b.attrs[s->attr].thread_name, "worker"));
	CHECK(str_is(&b, b.resources[s->resource].exe_path, "/bin/a"));
	CHECK(str_is(&b, b.functions[b.frames[1].function].name,
		     "caf\xc3\xa9"));
	CHECK(str_is(&b, 0, ""));
	free(data);
}

TEST(batch_without_samples_is_valid)
{
	struct batch_builder *b = batch_builder_new(1);
	struct batch got;
	void *data;
	size_t len;

	CHECK_EQ(batch_builder_finish(b, 50, 40, &data, &len), 0);
	CHECK_EQ(batch_open(data, len, &got), 0);
	CHECK_EQ(batch_n(&got, BATCH_SAMPLES), 0);
	CHECK_EQ(batch_events(b), 0);
	batch_builder_free(b);
	batch_builder_free(NULL);
	free(data);
}

TEST(batch_builder_stays_valid_after_finish)
{
	struct batch_builder *b = batch_builder_new(20);
	size_t len, len2;
	void *data, *data2;
	struct batch got;

	fill(b);
	data = finish(b, &len);
	data2 = finish(b, &len2);
	CHECK_EQ(len, len2);
	CHECK(!memcmp(data, data2, len));
	fill(b);
	CHECK_EQ(batch_events(b), 8);
	free(data2);
	data2 = finish(b, &len2);
	CHECK_EQ(batch_open(data2, len2, &got), 0);
	CHECK_EQ(batch_n(&got, BATCH_TIMES), 8);
	CHECK_EQ(batch_n(&got, BATCH_SAMPLES), 3);
	batch_builder_free(b);
	free(data);
	free(data2);
}

TEST(batch_builder_replaces_invalid_utf8)
{
	static const struct {
		const char *in;
		size_t len;
		const char *out;
	} cases[] = {
		{ "plain", 5, "plain" },
		{ "a\0b", 3, "a\xef\xbf\xbd" "b" },
		{ "\xff", 1, "\xef\xbf\xbd" },
		{ "\xc3\xa9", 2, "\xc3\xa9" },
		{ "\xc3", 1, "\xef\xbf\xbd" },
		{ "\xc3x", 2, "\xef\xbf\xbdx" },
		{ "\xc0\xaf", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xed\xa0\x80", 3,
		  "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xf0\x9f\x98\x80", 4, "\xf0\x9f\x98\x80" },
		{ "\xf4\x90\x80\x80", 4, "\xef\xbf\xbd\xef\xbf\xbd"
		  "\xef\xbf\xbd\xef\xbf\xbd" },
		{ "\xe2\x82", 2, "\xef\xbf\xbd\xef\xbf\xbd" },
	};
	struct batch_builder *b = batch_builder_new(20);
	uint32_t at[sizeof(cases) / sizeof(cases[0])];
	struct batch got;
	size_t len;
	void *data;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		/* exactly as long as said, so that ASan sees one more */
		char *copy = malloc(cases[i].len);

		memcpy(copy, cases[i].in, cases[i].len);
		at[i] = batch_string(b, copy, cases[i].len);
		free(copy);
	}
	data = finish(b, &len);
	CHECK_EQ(batch_open(data, len, &got), 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		CHECK(str_is(&got, at[i], cases[i].out));
	batch_builder_free(b);
	free(data);
}

/* Every two-byte and every three-byte beginning, against a plain decoder. */
static bool plainly_valid(const unsigned char *p, size_t len)
{
	static const uint32_t least[] = { 0, 1, 0x80, 0x800, 0x10000 };
	size_t n = p[0] < 0x80 ? 1 : (p[0] & 0xe0) == 0xc0 ? 2 :
		   (p[0] & 0xf0) == 0xe0 ? 3 : (p[0] & 0xf8) == 0xf0 ? 4 : 0;
	uint32_t c;

	if (n == 0 || n > len)
		return false;
	c = n == 1 ? p[0] : p[0] & (0x7fu >> n);
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return false;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c >= least[n] && c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
}

TEST(utf8_agrees_with_a_plain_decoder)
{
	static const unsigned char last[] = { 0x00, 0x7f, 0x80, 0xbf, 0xc0 };

	for (uint32_t v = 0; v < 1u << 24; v += v % 7 + 1) {
		unsigned char p[4] = {
			(unsigned char)(v >> 16), (unsigned char)(v >> 8),
			(unsigned char)v, last[v % 5],
		};

		for (size_t len = 1; len <= 4; len++)
			CHECK_EQ(utf8_char((char *)p, len) != 0,
				 plainly_valid(p, len));
	}
}

TEST(batch_builder_refuses_what_cannot_be)
{
	struct batch_frame v = { .kind = 0 };
	struct batch_exe e = { .path = 77 };
	struct batch_builder *b;
	uint32_t word = 5;
	void *data;
	size_t len;

	for (int i = 0; i < 7; i++) {
		b = batch_builder_new(i == 6 ? 0 : 20);
		CHECK(b != NULL);
		if (i == 0)
			CHECK_EQ(batch_frame(b, &v), 0);
		else if (i == 1)
			CHECK_EQ(batch_exe(b, &e), 0);
		else if (i == 2)
			CHECK_EQ(batch_stack(b, &word, 1), 0);
		else if (i == 3)
			CHECK_EQ(batch_stack(b, &word, 0), 0);
		else if (i == 4)
			batch_event(b, 0, 0, 0, STOP_COMPLETE, 1);
		else if (i == 5)
			frame(b, "x", "y", 1, BATCH_FRAME__KINDS);
		CHECK_EQ(batch_builder_finish(b, 0, 1, &data, &len), -EINVAL);
		batch_builder_free(b);
	}
}

TEST(batch_function_without_a_name_is_none)
{
	struct batch_function f = { .start_line = 3 };
	struct batch_builder *b = batch_builder_new(20);
	size_t len;

	CHECK_EQ(batch_function(b, &f), 0);
	free(finish(b, &len));
	batch_builder_free(b);
}

TEST(batch_builder_survives_every_failing_allocation)
{
	for (long n = 0; ; n++) {
		struct batch_builder *b, *merged;
		struct batch got;
		void *data = NULL, *again = NULL;
		size_t len;
		int r = -ENOMEM;

		fail_after = n;
		b = batch_builder_new(20);
		merged = batch_builder_new(20);
		if (b && merged) {
			fill(b);
			r = batch_builder_finish(b, 1, 2, &data, &len);
		}
		if (r == 0) {
			CHECK_EQ(batch_open(data, len, &got), 0);
			batch_merge(merged, &got);
			r = batch_builder_finish(merged, 1, 2, &again, &len);
		}
		CHECK(r == 0 || r == -ENOMEM);
		batch_builder_free(b);
		batch_builder_free(merged);
		free(data);
		free(again);
		if (fail_after >= 0) {		/* it was not needed any more */
			CHECK_EQ(r, 0);
			CHECK(n > 20);
			break;
		}
	}
	fail_after = -1;
}

/* Many values, so that every table and lookup grows several times. */
TEST(batch_builder_grows)
{
	struct batch_builder *b = batch_builder_new(97);
	uint32_t *stacks = calloc(20000, sizeof(*stacks));
	struct batch got;
	char name[32];
	size_t len;
	void *data;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < 20000; i++) {
			uint32_t f[3], s;

			snprintf(name, sizeof(name), "function %u", i);
			f[0] = frame(b, "/bin/x", name, i,
				     BATCH_FRAME_NATIVE);
			f[1] = frame(b, name, "main", i, BATCH_FRAME_NATIVE);
			f[2] = f[0];
			s = batch_stack(b, f, 2 + i % 2);
			CHECK(pass == 0 || s == stacks[i]);
			stacks[i] = s;
			batch_event(b, s, 0, 0, STOP_COMPLETE, 100 + i);
		}
	}
	data = finish(b, &len);
	CHECK_EQ(batch_open(data, len, &got), 0);
	CHECK_EQ(batch_n(&got, BATCH_STACKS), 20000);
	CHECK_EQ(batch_n(&got, BATCH_FRAMES), 40000);
	CHECK_EQ(batch_n(&got, BATCH_FUNCTIONS), 20002);
	CHECK_EQ(batch_n(&got, BATCH_TIMES), 40000);
	for (uint32_t i = 0; i < 20000; i++) {
		const struct batch_sample *s = &got.samples[i];
		const struct batch_stack *k = &got.stacks[s->stack];
		const struct batch_frame *f =
			&got.frames[got.stack_frames[k->first]];

		CHECK_EQ(s->n, 2);
		CHECK_EQ(got.times[s->first], 100 + f->address);
		snprintf(name, sizeof(name), "function %u",
			 (uint32_t)f->address);
		CHECK(str_is(&got, got.functions[f->function].name, name));
	}
	batch_builder_free(b);
	free(stacks);
	free(data);
}

TEST(batch_merge_adds_all_and_shares)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch from, got;
	size_t len, len2;
	void *data = good_batch(&len), *data2;

	/* other numbers for the same strings */
	frame(b, "/lib/z", "zzz", 5, BATCH_FRAME_NATIVE);
	CHECK_EQ(batch_open(data, len, &from), 0);
	batch_merge(b, &from);
	batch_merge(b, &from);
	CHECK_EQ(batch_events(b), 8);
	data2 = finish(b, &len2);
	CHECK_EQ(batch_open(data2, len2, &got), 0);
	CHECK_EQ(batch_n(&got, BATCH_SAMPLES), 3);
	CHECK_EQ(batch_n(&got, BATCH_TIMES), 8);
	CHECK_EQ(batch_n(&got, BATCH_FRAMES), 4);
	CHECK_EQ(got.samples[0].n, 4);
	CHECK(str_is(&got, got.functions[got.frames[2].function].name,
		     "caf\xc3\xa9"));
	CHECK(str_is(&got, got.resources[got.samples[0].resource].exe_name,
		     "a"));
	CHECK(str_is(&got, got.attrs[got.samples[0].attr].thread_name,
		     "worker"));
	batch_builder_free(b);
	free(data);
	free(data2);
}

/* a, into it b, into that c; and d, of the same name as a. */
static void inlined_frames(struct batch_builder *b, uint32_t v[4])
{
	static const char *const names[] = { "a", "b", "c", "a" };
	struct batch_frame f = { .address = 64, .kind = BATCH_FRAME_GO };

	for (int i = 0; i < 4; i++) {
		struct batch_function fn = { .name = str(b, names[i]) };

		f.function = batch_function(b, &fn);
		f.inlined = i < 3 ? i : 0;
		f.into = f.inlined ? v[i - 1] : 0;
		f.address = i < 3 ? 64 : 65;
		v[i] = batch_frame(b, &f);
	}
}

static void *inlined_batch(uint32_t v[4], size_t *len)
{
	struct batch_builder *b = batch_builder_new(20);
	void *data;

	CHECK(b != NULL);
	frame(b, "/x", "other", 1, BATCH_FRAME_NATIVE);
	inlined_frames(b, v);
	batch_event(b, batch_stack(b, (uint32_t[]){ v[2], v[3] }, 2), 0, 0,
		    STOP_COMPLETE, 1000);
	data = finish(b, len);
	batch_builder_free(b);
	return data;
}

TEST(batch_says_what_is_inlined)
{
	uint32_t v[4], in[BATCH_INLINED_MAX + 1];
	struct batch_builder *b = batch_builder_new(20);
	struct batch from, got;
	size_t len;
	void *data = inlined_batch(v, &len), *data2;

	CHECK_EQ(batch_open(data, len, &from), 0);
	frame(b, "/lib/z", "zzz", 5, BATCH_FRAME_NATIVE);
	frame(b, "/lib/y", "zzz", 6, BATCH_FRAME_NATIVE);
	batch_merge(b, &from);
	data2 = finish(b, &len);
	CHECK_EQ(batch_open(data2, len, &got), 0);
	CHECK_EQ(batch_inlined(&got, got.stack_frames[0], in), 3);
	CHECK(str_is(&got, got.functions[got.frames[in[0]].function].name, "c"));
	CHECK(str_is(&got, got.functions[got.frames[in[1]].function].name, "b"));
	CHECK(str_is(&got, got.functions[got.frames[in[2]].function].name, "a"));
	CHECK_EQ(batch_inlined(&got, got.stack_frames[1], in), 1);
	batch_builder_free(b);
	free(data);
	free(data2);
}

TEST(batch_open_rejects_bad_inlining)
{
	uint32_t v[4];
	size_t len;
	void *data = inlined_batch(v, &len);
	struct batch b;
	struct batch_frame *f, keep;

	CHECK_EQ(batch_open(data, len, &b), 0);
	f = (struct batch_frame *)&b.frames[v[2]];
	keep = *f;
#define REFUSED(change)							\
	do {								\
		f->change;						\
		CHECK_EQ(batch_open(data, len, &b), -EPROTO);		\
		*f = keep;						\
	} while (0)
	REFUSED(into = v[2]);			/* itself */
	REFUSED(into = v[3]);			/* one behind it */
	REFUSED(into = UINT32_MAX);
	REFUSED(into = v[0]);			/* not one less */
	REFUSED(inlined = 0);			/* into, but not inlined */
	REFUSED(inlined = 1);
	REFUSED(inlined = UINT16_MAX);
	REFUSED(address = 65);
	REFUSED(kind = BATCH_FRAME_NATIVE);
	REFUSED(exe = 1);
	REFUSED(function = 0);
	REFUSED(pad = 1);
	CHECK_EQ(batch_open(data, len, &b), 0);
	free(data);
}

TEST(batch_inlines_only_so_deep)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch_frame f = { .kind = BATCH_FRAME_GO };
	struct batch_function fn = { .name = str(b, "f") };
	size_t len;
	void *data;

	f.function = batch_function(b, &fn);
	f.into = batch_frame(b, &f);
	for (f.inlined = 1; f.inlined <= BATCH_INLINED_MAX; f.inlined++) {
		CHECK_EQ(batch_frame(b, &f), f.inlined);
		f.into = f.inlined;
	}
	data = finish(b, &len);
	free(data);
	CHECK_EQ(batch_frame(b, &f), 0);
	CHECK_EQ(batch_builder_finish(b, 0, 1, &data, &len), -EINVAL);
	batch_builder_free(b);
}

/* --- reading ---------------------------------------------------------------- */

TEST(batch_open_rejects_every_truncation)
{
	size_t full;
	uint8_t *data = good_batch(&full);
	struct batch b;

	for (size_t len = 0; len < full; len++) {
		uint8_t *copy = malloc(len ? len : 1);
		struct batch_hdr *hdr = (void *)copy;

		memcpy(copy, data, len);
		CHECK_EQ(batch_open(copy, len, &b), -EPROTO);
		/* and when the header owns up to it */
		if (len >= sizeof(*hdr)) {
			hdr->bytes = len;
			CHECK_EQ(batch_open(copy, len, &b), -EPROTO);
		}
		free(copy);
	}
	free(data);
}

/* Follow every index as a reader would; ASan watches. */
static uint64_t walk(const struct batch *b)
{
	uint64_t sum = 0;
	size_t len;

	for (uint32_t i = 0; i < batch_n(b, BATCH_SAMPLES); i++) {
		const struct batch_sample *s = &b->samples[i];
		const struct batch_stack *k = &b->stacks[s->stack];
		const struct batch_resource *r = &b->resources[s->resource];

		for (uint32_t j = 0; j < k->n; j++) {
			const struct batch_frame *f =
				&b->frames[b->stack_frames[k->first + j]];
			const struct batch_function *fn =
				&b->functions[f->function];

			sum += *batch_str(b, fn->name, &len) + len;
			sum += (uint64_t)batch_str(b, fn->file, &len)[0];
			batch_str(b, b->exes[f->exe].path, &len);
			sum += len + b->exes[f->exe].file_id[0];
		}
		for (uint32_t j = 0; j < s->n; j++)
			sum += b->times[s->first + j];
		batch_str(b, b->attrs[s->attr].thread_name, &len);
		sum += len;
		batch_str(b, r->container_id, &len);
		sum += len;
	}
	return sum;
}

TEST(batch_open_survives_every_single_bit_flip)
{
	size_t len, ok = 0;
	uint8_t *data = good_batch(&len), *copy = malloc(len);
	struct batch b;

	for (size_t bit = 0; bit < 8 * len; bit++) {
		memcpy(copy, data, len);
		copy[bit / 8] ^= (uint8_t)(1 << (bit % 8));
		if (batch_open(copy, len, &b) == 0) {
			walk(&b);
			ok++;
		}
	}
	/* what is left are names, addresses, lines, ids, times, numbers */
	CHECK(ok < 8 * len / 2);
	memcpy(copy, data, len);
	CHECK_EQ(batch_open(copy, len, &b), 0);
	free(copy);
	free(data);
}

/* Each field that is an index, a count or a kind, set to its first bad value. */
static void bad(size_t at, uint32_t value, int line)
{
	size_t len;
	uint8_t *data = good_batch(&len);
	struct batch b = { .hdr = (void *)1 };

	CHECK(at + 4 <= len);
	memcpy(data + at, &value, 4);
	if (batch_open(data, len, &b) != -EPROTO) {
		printf("# line %d: accepted\n", line);
		exit(1);
	}
	CHECK(b.hdr == (void *)1);
	free(data);
}

static size_t field(enum batch_table t, uint32_t i, size_t offset)
{
	size_t len;
	struct batch_hdr *hdr = good_batch(&len);
	size_t at = hdr->table[t].off + i * batch_elem_size[t] + offset;

	CHECK(i < hdr->table[t].n + (t == BATCH_STRINGS));
	free(hdr);
	return at;
}

static uint32_t count(enum batch_table t)
{
	size_t len;
	struct batch_hdr *hdr = good_batch(&len);
	uint32_t n = hdr->table[t].n;

	free(hdr);
	return n;
}

#define BAD(t, i, type, member, value)					\
	bad(field(t, i, offsetof(struct type, member)), value, __LINE__)

TEST(batch_open_rejects_each_bad_field)
{
	uint32_t strings = count(BATCH_STRINGS);
	uint32_t resources = count(BATCH_RESOURCES);

	BAD(BATCH_EXES, 1, batch_exe, path, strings);
	BAD(BATCH_EXES, 1, batch_exe, build_id, strings);
	BAD(BATCH_EXES, 1, batch_exe, runtime_id, strings);
	BAD(BATCH_EXES, 1, batch_exe, runtime, RUNTIME__MAX);
	BAD(BATCH_EXES, 1, batch_exe, runtime_id, 1); /* of none */
	BAD(BATCH_EXES, 0, batch_exe, path, 1);
	BAD(BATCH_EXES, 0, batch_exe, file_id, 1);
	BAD(BATCH_FUNCTIONS, 1, batch_function, name, 0);
	BAD(BATCH_FUNCTIONS, 1, batch_function, name, strings);
	BAD(BATCH_FUNCTIONS, 1, batch_function, file, strings);
	BAD(BATCH_FUNCTIONS, 1, batch_function, full_name, strings);
	BAD(BATCH_FUNCTIONS, 1, batch_function, system_name, strings);
	BAD(BATCH_FUNCTIONS, 1, batch_function, unnamed, 2);
	BAD(BATCH_FUNCTIONS, 0, batch_function, name, 1);
	BAD(BATCH_FRAMES, 0, batch_frame, exe, count(BATCH_EXES));
	BAD(BATCH_FRAMES, 0, batch_frame, function, count(BATCH_FUNCTIONS));
	BAD(BATCH_FRAMES, 0, batch_frame, kind, 0);
	BAD(BATCH_FRAMES, 0, batch_frame, kind, BATCH_FRAME__KINDS);
	BAD(BATCH_STACKS, 0, batch_stack, n, 0);
	BAD(BATCH_STACKS, 0, batch_stack, n, 6);
	BAD(BATCH_STACKS, 0, batch_stack, n, UINT32_MAX);
	BAD(BATCH_STACKS, 0, batch_stack, first, 4);
	BAD(BATCH_STACKS, 0, batch_stack, first, UINT32_MAX);
	bad(field(BATCH_STACK_FRAMES, 4, 0), count(BATCH_FRAMES), __LINE__);
	BAD(BATCH_ATTRS, 1, batch_attr, thread_name, strings);
	BAD(BATCH_ATTRS, 1, batch_attr, pad, 1);
	BAD(BATCH_ATTRS, 0, batch_attr, tid, 1);
	BAD(BATCH_RESOURCES, 1, batch_resource, exe_path, strings);
	BAD(BATCH_RESOURCES, 1, batch_resource, exe_name, strings);
	BAD(BATCH_RESOURCES, 1, batch_resource, container_id, strings);
	BAD(BATCH_RESOURCES, 1, batch_resource, comm, strings);
	BAD(BATCH_RESOURCES, 1, batch_resource, unit, strings);
	BAD(BATCH_RESOURCES, 1, batch_resource, pad, 1);
	BAD(BATCH_RESOURCES, 1, batch_resource, kernel, 2);
	BAD(BATCH_RESOURCES, 0, batch_resource, pid, 1);
	BAD(BATCH_SAMPLES, 0, batch_sample, stack, count(BATCH_STACKS));
	BAD(BATCH_SAMPLES, 0, batch_sample, attr, count(BATCH_ATTRS));
	BAD(BATCH_SAMPLES, 0, batch_sample, resource, resources);
	BAD(BATCH_SAMPLES, 0, batch_sample, stop, STOP__MAX);
	BAD(BATCH_SAMPLES, 0, batch_sample, n, 0);
	BAD(BATCH_SAMPLES, 0, batch_sample, n, 1);	/* a gap */
	BAD(BATCH_SAMPLES, 1, batch_sample, first, 1);	/* an overlap */
	BAD(BATCH_SAMPLES, 2, batch_sample, n, 2);
	BAD(BATCH_SAMPLES, 2, batch_sample, n, UINT32_MAX);
	bad(field(BATCH_TIMES, 0, 0), 989, __LINE__);
	bad(field(BATCH_TIMES, 3, 0), 1003, __LINE__);
	bad(field(BATCH_STRINGS, 0, 0), 1, __LINE__);
	bad(field(BATCH_STRINGS, 1, 0), 1, __LINE__);
	bad(field(BATCH_STRINGS, 3, 0), 0, __LINE__);
	bad(field(BATCH_STRINGS, 3, 0), UINT32_MAX, __LINE__);
	bad(field(BATCH_STRINGS, strings, 0), count(BATCH_BYTES) - 1,
	    __LINE__);
	bad(field(BATCH_BYTES, 0, 0), 0, __LINE__);
	bad(field(BATCH_BYTES, 0, 0), 0xffffffff, __LINE__);
}

TEST(batch_open_rejects_a_bad_header)
{
	bad(offsetof(struct batch_hdr, magic), 0, __LINE__);
	bad(offsetof(struct batch_hdr, version), BATCH_VERSION + 1, __LINE__);
	bad(offsetof(struct batch_hdr, bytes), 0, __LINE__);
	bad(offsetof(struct batch_hdr, bytes) + 4, 1, __LINE__);
	bad(offsetof(struct batch_hdr, frequency), 0, __LINE__);
	bad(offsetof(struct batch_hdr, pad), 1, __LINE__);
	bad(offsetof(struct batch_hdr, start_ns) + 4, 1, __LINE__);
	for (int t = 0; t < BATCH__TABLES; t++) {
		size_t at = offsetof(struct batch_hdr, table) + 8 * (size_t)t;
		uint32_t off, n;
		size_t len;
		uint8_t *data = good_batch(&len);

		memcpy(&off, data + at, 4);
		memcpy(&n, data + at + 4, 4);
		free(data);
		bad(at, 0, __LINE__);
		bad(at, off + 1, __LINE__);
		bad(at, off - 8, __LINE__);
		bad(at, off + 8, __LINE__);
		bad(at, UINT32_MAX - 7, __LINE__);
		bad(at + 4, UINT32_MAX, __LINE__);
		bad(at + 4, 0x80000000, __LINE__);
		bad(at + 4, n + 16, __LINE__);
		bad(at + 4, 0, __LINE__);
	}
}

TEST(batch_open_wants_alignment)
{
	size_t len;
	uint8_t *data = good_batch(&len), *copy = malloc(len + 8);
	struct batch b;

	for (size_t off = 0; off < 8; off++) {
		memcpy(copy + off, data, len);
		CHECK_EQ(batch_open(copy + off, len, &b), off ? -EPROTO : 0);
	}
	free(copy);
	free(data);
}
