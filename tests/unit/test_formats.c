// SPDX-License-Identifier: Apache-2.0
#include "profile/formats/formats.h"

#include "tests/unit/cli_batch.h"

static const char *of(const char *path)
{
	const struct format *f = format_at(format_of(path));

	return f ? f->name : "none";
}

TEST(format_follows_the_ending)
{
	CHECK_STR(of("a.html"), "html");
	CHECK_STR(of("dir.otlp/a.htm"), "html");
	CHECK_STR(of("a.folded"), "folded");
	CHECK_STR(of("a.txt"), "folded");
	CHECK_STR(of("a.pb.gz"), "pprof");
	CHECK_STR(of("a.pprof"), "pprof");
	CHECK_STR(of("a.otlp"), "otlp");
	CHECK_STR(of("a.speedscope.json"), "speedscope");
	CHECK_STR(of("a.firefox.json"), "firefox");
	CHECK_STR(of("a.json"), "none");
	CHECK_STR(of(".html"), "none");
	CHECK_STR(of("a.gz"), "none");
	CHECK_STR(of("html"), "none");
	CHECK_STR(of(""), "none");
}

TEST(formats_have_names_and_endings_of_their_own)
{
	uint32_t n = 0;

	for (uint32_t i = 1; format_at(i); i++, n++) {
		const struct format *f = format_at(i);

		CHECK_EQ(format_named(f->name), i);
		CHECK(f->encode && f->type && f->endings[0]);
		for (const char *const *e = f->endings; *e; e++) {
			char path[40];

			snprintf(path, sizeof(path), "a%s", *e);
			CHECK_EQ(format_of(path), i);
		}
	}
	CHECK_EQ(n, 6);
	CHECK(!format_at(FORMAT_NONE) && !format_at(n + 1));
	CHECK(!format_at(UINT32_MAX));
	CHECK_EQ(format_named("pproff"), FORMAT_NONE);
	CHECK_EQ(format_named(""), FORMAT_NONE);
}

TEST(formats_are_listed)
{
	char buf[200], one[8];

	CHECK_STR(format_names(buf, sizeof(buf)),
		  "html, folded, pprof, otlp, speedscope or firefox");
	CHECK_STR(format_endings(buf, sizeof(buf)),
		  ".html, .htm, .folded, .txt, .pb.gz, .pprof, .otlp, "
		  ".speedscope.json or .firefox.json");
	CHECK_STR(format_names(one, sizeof(one)), "html, f");
}

TEST(every_format_encodes_a_batch)
{
	struct profile_info info = { .host = "host", .kernel = "6.1.0" };
	struct batch b;
	void *mem = sample_batch(&b);

	for (uint32_t i = 1; format_at(i); i++) {
		struct buffer out = { 0 };

		CHECK_EQ(format_at(i)->encode(&b, &info, &out), 0);
		CHECK(out.len > 100);
		free(out.data);
	}
	free(mem);
}
