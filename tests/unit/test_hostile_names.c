// SPDX-License-Identifier: Apache-2.0
/*
 * Names of 4,095 bytes that mean something to whoever shows them, in every place
 * of a batch that has a name, in every format.
 */
#include <zlib.h>

#include "common/utf8.h"
#include "profile/formats/formats.h"
#include "tests/unit/cli_batch.h"

extern const unsigned char page_html[];
extern const unsigned long page_html_len;

#define LONG	4095
#define STACKS	3

static const char *const evils[] = {
	"</script><img src=x onerror=alert(1)>", "<!--<script>", "]]>&lt;",
	"\x1b[2J\x1b]0;x\x07\r\n\b", "\xc2\x9b" "2J\xc2\x85", "\x7f\x7f",
	"a\nb;c d 99999\n", "\xff\xfe\xc3\x28\xed\xa0\x80\xf8", "%s%n%x",
	"\"],\"x\":[\"", "\\\",\\u0000\\", "\xe2\x80\xa8\xe2\x80\xae" "evil",
	"[stack ends: no_table]", "_[k]", "@DATA@", "../../../etc/passwd", " ",
};
#define EVILS	(sizeof(evils) / sizeof(*evils))

/* As often as it fits; what is cut may be half a character. */
static uint32_t long_str(struct batch_builder *b, const char *evil)
{
	size_t len = strlen(evil);
	char s[LONG];

	for (size_t i = 0; i < LONG; i++)
		s[i] = evil[i % len];
	return batch_string(b, s, LONG);
}

/* Three stacks, one sample each: [0], [0, 1], [0, 1, 2]. */
static void *evil_batch(const char *evil, struct batch *ret)
{
	struct batch_builder *b = batch_builder_new(20);
	uint32_t name = long_str(b, evil), v[STACKS], frames[STACKS];
	struct batch_exe e = { .path = name, .build_id = name };
	struct batch_resource r = {
		.pid = 10, .exe_name = name, .exe_path = name, .comm = name,
		.container_id = name,
	};
	struct batch_attr a = { .tid = 10, .thread_name = name };
	uint32_t exe = batch_exe(b, &e);
	size_t len;
	void *data;

	for (uint32_t i = 0; i < STACKS; i++) {
		struct batch_function fn = { .name = name, .file = name };
		struct batch_frame f = {
			.kind = i % 2 ? BATCH_FRAME_KERNEL : BATCH_FRAME_NATIVE,
			.exe = exe, .address = i, .line = i,
		};

		f.function = i < 2 ? batch_function(b, &fn) : 0;
		v[i] = batch_frame(b, &f);
		for (uint32_t k = 0; k <= i; k++)
			frames[k] = v[i - k];
		batch_event(b, batch_stack(b, frames, i + 1),
			    batch_attr(b, &a), batch_resource(b, &r),
			    STOP_COMPLETE, i);
	}
	CHECK_EQ(batch_builder_finish(b, 0, 5000000000ULL, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* Of a format; NUL behind. */
static struct buffer encoded(const char *format, const char *evil)
{
	struct profile_info info = { .host = "" };
	struct buffer out = { 0 };
	struct batch b;
	void *mem = evil_batch(evil, &b);

	snprintf(info.host, sizeof(info.host), "%s", evil);
	snprintf(info.command, sizeof(info.command), "%s", evil);
	CHECK_EQ(format_at(format_named(format))->encode(&b, &info, &out), 0);
	buffer_add(&out, "", 1);
	CHECK(!out.failed);
	out.len--;
	free(mem);
	return out;
}

/* UTF-8; no control character, C1 ones among them, but newlines. */
static void check_text(const struct buffer *b)
{
	const char *s = (const char *)b->data;
	size_t n;

	for (size_t at = 0; at < b->len; at += n) {
		n = utf8_char(s + at, b->len - at);
		CHECK(n > 0);
		CHECK((unsigned char)s[at] >= 0x20 || s[at] == '\n');
		CHECK(s[at] != 0x7f);
	}
}

static size_t count_of(const void *data, size_t len, const char *what)
{
	size_t n = 0;

	for (const char *p = data, *end = p + len;
	     (p = memmem(p, (size_t)(end - p), what, strlen(what))); p++)
		n++;
	return n;
}

/* --- JSON (RFC 8259) ------------------------------------------------------- */

static const char *json_space(const char *s)
{
	return s + strspn(s, " \n");
}

/* Behind the string that begins at s. */
static const char *json_string(const char *s)
{
	CHECK_EQ(*s++, '"');
	for (; *s != '"'; s++) {
		CHECK((unsigned char)*s >= 0x20);
		/* nothing that could end or begin an element of HTML */
		CHECK(*s != '<' && *s != '>');
		if (*s != '\\')
			continue;
		CHECK(*++s && strchr("\"\\/bfnrtu", *s));
		if (*s == 'u') {
			CHECK_EQ(strspn(s + 1, "0123456789abcdef") >= 4, true);
			s += 4;
		}
	}
	return s + 1;
}

/* Behind the value that begins at s. */
static const char *json_value(const char *s)
{
	char close = *s == '{' ? '}' : ']';

	if (*s == '"')
		return json_string(s);
	if (*s != '{' && *s != '[') {
		size_t n = strcspn(s, ",]} \n");

		CHECK(n > 0 && strspn(s, "-.0123456789truefalsn") == n);
		return s + n;
	}
	for (s = json_space(s + 1); *s != close; s = json_space(s)) {
		if (close == '}') {
			s = json_space(json_string(s));
			CHECK_EQ(*s++, ':');
		}
		s = json_space(json_value(json_space(s)));
		CHECK(*s == ',' || *s == close);
		s += *s == ',';
	}
	return s + 1;
}

TEST(json_formats_hold_hostile_names)
{
	static const char *const formats[] = { "speedscope", "firefox" };

	for (size_t i = 0; i < 2 * EVILS; i++) {
		struct buffer b = encoded(formats[i % 2], evils[i / 2]);
		const char *s = (const char *)b.data;

		check_text(&b);
		CHECK_EQ(*json_space(json_value(s)), '\0');
		CHECK(b.len > LONG);
		free(b.data);
	}
}

TEST(html_holds_hostile_names)
{
	static const char begin[] = "id=\"data\"";

	for (size_t i = 0; i < EVILS; i++) {
		struct buffer b = encoded("html", evils[i]);
		const char *s = strstr((const char *)b.data, begin);

		/* not one element more than the page has without */
		CHECK_EQ(count_of(b.data, b.len, "<"),
			 count_of(page_html, page_html_len, "<"));
		CHECK(s != NULL);
		s = json_space(strchr(s, '>') + 1);
		s = json_space(json_value(s));
		CHECK(!strncmp(s, "</script>", 9));
		free(b.data);
	}
}

/* --- folded ------------------------------------------------------------------ */

TEST(folded_holds_hostile_names)
{
	for (size_t i = 0; i < EVILS; i++) {
		struct buffer b = encoded("folded", evils[i]);
		char *s = (char *)b.data, *end;

		check_text(&b);
		CHECK_EQ(count_of(b.data, b.len, "\xc2\x9b"), 0);
		CHECK_EQ(count_of(b.data, b.len, "\xc2\x85"), 0);
		/* three lines, of the process and one to three frames */
		for (size_t n = 1; n <= STACKS; n++, s = end + 1) {
			end = strchr(s, '\n');
			CHECK(end != NULL && end - s > LONG);
			*end = '\0';
			CHECK_EQ(count_of(s, (size_t)(end - s), ";"), n);
			CHECK_STR(strrchr(s, ' '), " 1");
		}
		CHECK_EQ(*s, '\0');
		free(b.data);
	}
}

/* --- protobuf ------------------------------------------------------------------ */

static uint64_t varint(const uint8_t **p, const uint8_t *end)
{
	uint64_t v = 0;

	for (unsigned int shift = 0;; shift += 7) {
		CHECK(*p < end && shift < 64);
		v |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return v;
	}
}

/* All strings of a Profile are in field 6 (profile.proto). */
TEST(pprof_holds_hostile_names)
{
	static uint8_t raw[1 << 20];

	for (size_t i = 0; i < EVILS; i++) {
		struct buffer b = encoded("pprof", evils[i]);
		z_stream z = { .next_in = b.data, .avail_in = (uInt)b.len,
			       .next_out = raw, .avail_out = sizeof(raw) };
		const uint8_t *p = raw, *end;
		size_t longest = 0;

		CHECK_EQ(inflateInit2(&z, 16 + 15), Z_OK);
		CHECK_EQ(inflate(&z, Z_FINISH), Z_STREAM_END);
		inflateEnd(&z);
		for (end = raw + z.total_out; p < end;) {
			uint64_t tag = varint(&p, end), v = varint(&p, end);

			CHECK((tag & 7) == 0 || (tag & 7) == 2);
			if ((tag & 7) == 0)
				continue;
			CHECK(v <= (uint64_t)(end - p));
			for (size_t at = 0, n; tag >> 3 == 6 && at < v; at += n) {
				n = utf8_char((const char *)p + at, v - at);
				CHECK(n > 0);
				longest = v > longest ? v : longest;
			}
			p += v;
		}
		CHECK(longest >= LONG - 3);
		free(b.data);
	}
}

/* --- times, and numbers ---------------------------------------------------------- */

/* One frame at the largest address and line, by processes of extreme numbers, at these
 * times.  A hub in an attacker's hand can have all that batch_open() lets through. */
static void *ends_batch(uint32_t frequency, uint64_t start, uint64_t end, struct batch *ret)
{
	const uint64_t times[] = { start, start + (end - start) / 2, end - 1 };
	struct batch_builder *b = batch_builder_new(frequency);
	struct batch_exe e = { .path = str(b, "x") };
	struct batch_frame f = { .kind = BATCH_FRAME_NATIVE, .exe = batch_exe(b, &e),
				 .address = UINT64_MAX };
	struct batch_function fn = { .name = str(b, "f"), .start_line = UINT32_MAX };
	struct batch_resource r = { .pid = UINT32_MAX, .start_ns = UINT64_MAX };
	struct batch_attr a = { .tid = UINT32_MAX, .cpu = UINT32_MAX };
	uint32_t frames[1];
	size_t len;
	void *data;

	f.function = batch_function(b, &fn);
	f.line = UINT32_MAX;
	frames[0] = batch_frame(b, &f);
	for (size_t i = 0; i < 3; i++)
		batch_event(b, batch_stack(b, frames, 1), batch_attr(b, &a),
			    batch_resource(b, &r), STOP_COMPLETE, times[i]);
	CHECK_EQ(batch_builder_finish(b, start, end, &data, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(data, len, ret), 0);
	return data;
}

/* As long as a batch of three samples can be, and finite numbers only. */
static void check_ends(const char *format, uint32_t frequency, uint64_t start, uint64_t end)
{
	struct profile_info info = { .cpus = UINT32_MAX };
	struct buffer out = { 0 };
	struct batch b;
	void *mem = ends_batch(frequency, start, end, &b);

	CHECK_EQ(format_at(format_named(format))->encode(&b, &info, &out), 0);
	buffer_add(&out, "", 1);
	CHECK(!out.failed && out.len < page_html_len + 65536);
	if (!strcmp(format, "speedscope") || !strcmp(format, "firefox"))
		CHECK_EQ(*json_space(json_value((const char *)out.data)), '\0');
	CHECK(!strstr((const char *)out.data, ":nan") && !strstr((const char *)out.data, ":-nan") &&
	      !strstr((const char *)out.data, ":inf"));
	free(out.data);
	free(mem);
}

TEST(formats_hold_times_at_the_ends)
{
	static const char *const names[] = {
		"html", "folded", "pprof", "otlp", "speedscope", "firefox",
	};
	static const uint64_t at[][2] = {
		{ 0, 1 }, { 0, UINT64_MAX }, { UINT64_MAX - 1, UINT64_MAX },
		{ 1, 1ULL << 63 }, { INT64_MAX, (1ULL << 63) + 1000 },
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		for (size_t k = 0; k < sizeof(at) / sizeof(*at); k++) {
			check_ends(names[i], 1, at[k][0], at[k][1]);
			check_ends(names[i], UINT32_MAX, at[k][0], at[k][1]);
		}
	}
}
