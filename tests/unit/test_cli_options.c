// SPDX-License-Identifier: Apache-2.0
#include "cli/config/options.h"
#include "profile/formats/formats.h"

#include <errno.h>
#include <string.h>

#include "tests/unit/harness.h"

#define AT(member)	offsetof(struct options, member)

static const struct option_def defs[] = {
	{ "duration", "S", "", OPTION_SECONDS, 0, 0, AT(duration_ms) },
	{ "frequency", "HZ", "", OPTION_NUMBER, 1, 1000, AT(frequency) },
	{ "output", "FILE", "", OPTION_TEXT, 0, 0, AT(output) },
	{ "format", "F", "", OPTION_FORMAT, 0, 0, AT(format) },
	{ "verbose", NULL, "", OPTION_FLAG, 0, 0, AT(verbose) },
	{ "at", "A...", "", OPTION_WORDS, 0, 0, AT(at) },
	{ "pid", "PID", "", OPTION_NUMBERS, 1, 99, AT(pids) },
};

static struct options o;
static char err[256];

static int parse_for(enum option_rest rest, const char *const *words)
{
	const struct command c = {
		.name = "record", .usage = "", .summary = "", .options = defs,
		.n_options = 7, .rest = rest,
	};
	static char *argv[80];		/* what is parsed points into it */
	int argc = 1;

	argv[0] = (char *)"record";
	while (*words)
		argv[argc++] = (char *)*words++;
	argv[argc] = NULL;
	options_defaults(&o);
	err[0] = '\0';
	return options_parse(&c, argc, argv, &o, err, sizeof(err));
}

#define PARSE(...) parse_for(REST_COMMAND, (const char *const[]){ __VA_ARGS__, NULL })

TEST(options_have_defaults)
{
	CHECK_EQ(parse_for(REST_COMMAND, (const char *const[]){ NULL }), 0);
	CHECK_EQ(o.frequency, FREQUENCY_DEFAULT);
	CHECK_EQ(o.interval, INTERVAL_DEFAULT);
	CHECK_EQ(o.duration_ms, 0);
	CHECK(!o.output && !o.verbose && !o.help && o.rest && !o.rest[0]);
}

TEST(options_take_both_forms)
{
	CHECK_EQ(PARSE("--duration", "10", "--output=a=b.html", "--verbose"), 0);
	CHECK_EQ(o.duration_ms, 10000);
	CHECK(strcmp(o.output, "a=b.html") == 0);
	CHECK(o.verbose);
	CHECK_EQ(PARSE("--format", "pprof", "--frequency=1000"), 0);
	CHECK_EQ(o.format, format_named("pprof"));
	CHECK_EQ(o.frequency, 1000);
}

TEST(options_read_seconds_exactly)
{
	static const struct { const char *text; uint64_t ms; } good[] = {
		{ "1", 1000 }, { "0.5", 500 }, { "2.05", 2050 },
		{ "0.001", 1 }, { "31622400", 31622400000ULL },
	};
	static const char *const bad[] = {
		"0", "0.0", "-1", "1e3", "", ".5", "1.", "1.0000", "1.2.3",
		"31622401", "99999999999999999999", " 1", "1 ", "0x10", "inf",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_EQ(PARSE("--duration", good[i].text), 0);
		CHECK_EQ(o.duration_ms, good[i].ms);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (PARSE("--duration", bad[i]) == 0)
			printf("# taken: \"%s\"\n", bad[i]);
		CHECK(PARSE("--duration", bad[i]) != 0);
		CHECK_EQ(o.duration_ms, 0);
	}
}

TEST(options_keep_numbers_in_range)
{
	static const char *const bad[] = {
		"0", "1001", "-1", "", "1.5", "4294967297", "x", "+5",
		"18446744073709551617",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(PARSE("--frequency", bad[i]) != 0);
		CHECK_EQ(o.frequency, FREQUENCY_DEFAULT);
		CHECK(strstr(err, "1 to 1000") != NULL);
	}
}

TEST(options_refuse_with_one_line_and_a_hint)
{
	const char *const *const bad[] = {
		(const char *const[]){ "--nope", NULL },
		(const char *const[]){ "--verb", NULL },
		(const char *const[]){ "--verbose=1", NULL },
		(const char *const[]){ "--output", NULL },
		(const char *const[]){ "--output", "", NULL },
		(const char *const[]){ "--output=", NULL },
		(const char *const[]){ "--format", "svg", NULL },
		(const char *const[]){ "ls", NULL },
		(const char *const[]){ "-x", NULL },
		(const char *const[]){ "--", NULL },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(parse_for(REST_COMMAND, bad[i]) != 0);
		CHECK(strstr(err, "; see `trifold record --help`") != NULL);
		CHECK(strchr(err, '\n') == NULL);
	}
}

TEST(options_suggest_what_was_meant)
{
	CHECK(PARSE("--durration", "5") != 0);
	CHECK_STR(err, "unknown option --durration: did you mean --duration?");
	CHECK(PARSE("--frequenzy=5") != 0);
	CHECK_STR(err, "unknown option --frequenzy: did you mean --frequency?");
	CHECK(PARSE("-o", "x.html") != 0);
	CHECK_STR(err, "unknown option -o: did you mean --output?");
	CHECK(PARSE("-F") != 0);
	CHECK_STR(err, "unknown option -F: did you mean --frequency or --format?");
	CHECK(PARSE("--a-long-one-that-is-nowhere-near-any-option-there-is-at-all") != 0);
	CHECK(strstr(err, "did you mean") == NULL);
}

/* The list in the message is made of the formats that there are. */
TEST(options_name_every_format)
{
	for (uint32_t i = 1; format_at(i); i++) {
		CHECK_EQ(PARSE("--format", "svg"), -EINVAL);
		CHECK(strstr(err, format_at(i)->name) != NULL);
		CHECK_EQ(PARSE("--format", format_at(i)->name), 0);
		CHECK_EQ(o.format, i);
	}
	PARSE("--format", "svg");
	CHECK(strstr(err, "needs html, folded, ") && strstr(err, " or "));
}

TEST(options_stop_at_two_dashes)
{
	CHECK_EQ(PARSE("--verbose", "--", "make", "--output", "x"), 0);
	CHECK(o.rest[0] && strcmp(o.rest[0], "make") == 0);
	CHECK(strcmp(o.rest[1], "--output") == 0);
	CHECK(strcmp(o.rest[2], "x") == 0 && !o.rest[3]);
	CHECK(!o.output);
	CHECK(parse_for(REST_NONE, (const char *const[]){ "--", "make", NULL }));
}

TEST(options_know_help)
{
	CHECK_EQ(PARSE("--help"), 0);
	CHECK(o.help);
	CHECK_EQ(PARSE("-h"), 0);
	CHECK(o.help);
	CHECK_EQ(PARSE("--", "ls", "--help"), 0);
	CHECK(!o.help);
}

/* A message longer than its buffer is cut, not written past it. */
TEST(options_cut_long_messages)
{
	char word[400] = "--";

	memset(word + 2, 'x', sizeof(word) - 3);
	word[sizeof(word) - 1] = '\0';
	CHECK(PARSE(word) != 0);
	CHECK_EQ(strlen(err), sizeof(err) - 1);
}

TEST(options_take_a_file_and_lists)
{
	CHECK_EQ(parse_for(REST_FILE, (const char *const[]){
			   "a.out", "--at", "10", "0x20", "--verbose", NULL }), 0);
	CHECK(!strcmp(o.file, "a.out"));
	CHECK_EQ(o.at.n, 2);
	CHECK(!strcmp(o.at.v[1], "0x20"));
	CHECK(o.verbose);
	CHECK_EQ(parse_for(REST_FILE, (const char *const[]){
			   "--verbose", "a.out", NULL }), 0);
	CHECK(!strcmp(o.file, "a.out"));
	CHECK_EQ(o.at.n, 0);
	CHECK_EQ(parse_for(REST_FILE, (const char *const[]){
			   "a.out", "b.out", NULL }), -EINVAL);
	CHECK_EQ(parse_for(REST_FILE, (const char *const[]){ "--at", NULL }),
		 -EINVAL);
	CHECK_EQ(parse_for(REST_NONE, (const char *const[]){ "a.out", NULL }),
		 -EINVAL);
}

TEST(options_add_numbers_up)
{
	const char *words[2 * NUMBERS_MAX + 3] = { NULL };
	char text[NUMBERS_MAX + 1][12];

	CHECK_EQ(PARSE("--pid", "7", "--pid=99", "--pid", "7"), 0);
	CHECK(o.pids.n == 2 && o.pids.v[0] == 7 && o.pids.v[1] == 99);
	CHECK_EQ(PARSE("--pid", "0"), -EINVAL);
	CHECK_EQ(PARSE("--pid", "100"), -EINVAL);
	CHECK_EQ(PARSE("--pid", "1,2"), -EINVAL);
	CHECK_EQ(PARSE("--pid"), -EINVAL);
	for (int i = 0; i <= NUMBERS_MAX; i++) {
		snprintf(text[i], sizeof(text[i]), "%d", i + 1);
		words[2 * i] = "--pid";
		words[2 * i + 1] = text[i];
	}
	CHECK_EQ(parse_for(REST_NONE, words), -EINVAL);
	CHECK(strstr(err, "at most 32 times") != NULL);
	words[2 * NUMBERS_MAX] = NULL;
	CHECK_EQ(parse_for(REST_NONE, words), 0);
	CHECK_EQ(o.pids.n, NUMBERS_MAX);
}

static const struct option_def named_twice[] = {
	{ "frequency", "HZ", "often", OPTION_NUMBER, 1, 1000,
	  offsetof(struct options, frequency) },
	{ "rate", "HZ", NULL, OPTION_NUMBER, 1, 1000,
	  offsetof(struct options, frequency) },
};

TEST(an_option_with_two_names_is_given_by_the_first)
{
	const struct command c = { .name = "x", .options = named_twice,
				   .n_options = 2 };
	char *argv[] = { (char *)"x", (char *)"--rate", (char *)"97" };

	options_defaults(&o);
	CHECK_EQ(options_parse(&c, 3, argv, &o, err, sizeof(err)), 0);
	CHECK_EQ(o.frequency, 97);
	CHECK_STR(options_given(&o, "frequency"), "97");
	CHECK(!options_given(&o, "rate"));
}

TEST(a_hidden_option_is_not_suggested)
{
	const struct command c = { .name = "x", .options = named_twice,
				   .n_options = 2 };
	char *argv[] = { (char *)"x", (char *)"--ratex", (char *)"97" };

	options_defaults(&o);
	CHECK_EQ(options_parse(&c, 3, argv, &o, err, sizeof(err)), -EINVAL);
	CHECK_STR(err, "unknown option --ratex; see `trifold x --help`");
}

TEST(options_take_two_files)
{
	CHECK_EQ(parse_for(REST_FILES, (const char *const[]){
			   "a", "--verbose", "b", NULL }), 0);
	CHECK(!strcmp(o.files[0], "a") && !strcmp(o.files[1], "b"));
	CHECK(o.verbose);
	CHECK_EQ(parse_for(REST_FILES, (const char *const[]){ "a", NULL }), 0);
	CHECK(o.files[0] && !o.files[1]);
	CHECK_EQ(parse_for(REST_FILES, (const char *const[]){
			   "a", "b", "c", NULL }), -EINVAL);
}

TEST(a_file_and_words_behind_it)
{
	static const char *const all[] = { "f", "1000", "-", "--verbose", NULL };
	static const char *const first[] = { "--verbose", "f", NULL };
	static const char *const apart[] = { "f", "1", "--verbose", "2", NULL };

	CHECK_EQ(parse_for(REST_FILE_WORDS, all), 0);
	CHECK(!strcmp(o.file, "f") && o.at.n == 2 && o.verbose);
	CHECK(!strcmp(o.at.v[0], "1000") && !strcmp(o.at.v[1], "-"));
	CHECK_EQ(parse_for(REST_FILE_WORDS, first), 0);
	CHECK(!strcmp(o.file, "f") && !o.at.n && o.verbose);
	CHECK_EQ(parse_for(REST_FILE_WORDS, apart), -EINVAL);
}
