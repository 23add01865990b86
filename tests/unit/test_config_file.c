// SPDX-License-Identifier: Apache-2.0
#include "cli/config/file.h"

#include <string.h>

#include "tests/unit/harness.h"

/* What was told, one a line. */
static struct told {
	char text[4096];
	size_t len;
	unsigned int n, lines;
} told;

static void tell(const char *kind, uint32_t line, const char *a, const char *b)
{
	size_t left = sizeof(told.text) - told.len;
	int n = snprintf(told.text + told.len, left, "%s %u %s|%s\n", kind,
			 line, a ? a : "-", b ? b : "-");

	told.n++;
	CHECK(line > 0 && line <= told.lines);
	if (n > 0 && (size_t)n < left)
		told.len += (size_t)n;
}

static void on_section(void *arg, uint32_t line, const char *s, const char *n)
{
	CHECK(arg == &told);
	CHECK(!s || *s);
	CHECK(!n || *n);
	tell("section", line, s, n);
}

static void on_key(void *arg, uint32_t line, const char *k, const char *v)
{
	CHECK(arg == &told);
	CHECK(k && *k && v);
	tell("key", line, k, v);
}

static void on_mistake(void *arg, uint32_t line, const char *text)
{
	CHECK(arg == &told);
	tell("mistake", line, text, NULL);
}

static const struct config_file_ops ops = { on_section, on_key, on_mistake };

/* From a heap copy of exact size. */
static void parse(const void *text, size_t len)
{
	char *copy = malloc(len + 1);

	CHECK(copy != NULL);
	memcpy(copy, text, len);
	copy[len] = 'x';		/* ours to overwrite */
	told = (struct told){ .lines = 1 };
	for (size_t i = 0; i < len; i++)
		told.lines += copy[i] == '\n';
	config_file_parse(copy, len, &ops, &told);
	free(copy);
}

#define SAYS(in, want)						\
	do {								\
		parse(in, sizeof(in) - 1);					\
		if (strcmp(told.text, want))				\
			printf("# %s\n", told.text);			\
		CHECK(!strcmp(told.text, want));			\
	} while (0)

static const char good[] =
	"# comment\n\n  [one]\nkey = value with blanks \n\ta=\"  b  \"\r\n"
	"empty =\nequal = a=b # c\n[two \"name\"]\n[ three   \"x y\" ]\nlast=1";

TEST(config_file_reads_all_forms)
{
	SAYS(good, "section 3 one|-\nkey 4 key|value with blanks\n"
	     "key 5 a|  b  \nkey 6 empty|\nkey 7 equal|a=b # c\n"
	     "section 8 two|name\nsection 9 three|x y\nkey 10 last|1\n");
	SAYS("", "");
	SAYS("\n\r\n \n#", "");
}

#define SECTION	"write a section as [name] or [name \"which\"], on a line of its own|-\n"

TEST(config_file_names_mistakes_and_goes_on)
{
	static const char *const sections[] = {
		"[", "[]", "[ ]", "[a", "[a] b", "[a b]", "[a \"b]", "[a \"\"]",
		"[\"a\"]", "[a \"b\" c]", "[[a]]", "[a \"b\"c\"]", "[a]]",
	};

	for (size_t i = 0; i < sizeof(sections) / sizeof(sections[0]); i++) {
		parse(sections[i], strlen(sections[i]));
		CHECK(!strcmp(told.text, "mistake 1 " SECTION "section 1 -|-\n"));
	}
	SAYS("word\nk=v", "mistake 1 write \"key = value\", \"[section]\" or "
	     "\"# comment\"|-\nkey 2 k|v\n");
	SAYS("=v", "mistake 1 there is no key before \"=\"|-\n");
	SAYS("k = \"v", "mistake 1 the quote at the beginning of the value is "
	     "not closed at its end|-\n");
	SAYS("k = \"", "mistake 1 the quote at the beginning of the value is "
	     "not closed at its end|-\n");
	SAYS("k=a\0b\nk=\x1b[2J\n", "mistake 1 remove the control character "
	     "0x00 (column 4)|-\nmistake 2 remove the control character 0x1b "
	     "(column 3)|-\n");
}

TEST(config_file_refuses_long_lines)
{
	char text[CONFIG_LINE_MAX + 8];

	memset(text, 'a', sizeof(text));
	text[1] = '=';
	parse(text, CONFIG_LINE_MAX);
	CHECK_EQ(told.n, 1);
	text[CONFIG_LINE_MAX + 1] = '\n';
	text[CONFIG_LINE_MAX + 3] = '=';
	parse(text, sizeof(text));
	CHECK(!strcmp(told.text, "mistake 1 the line is longer than 8192 "
		      "bytes|-\nkey 2 a|aaaa\n"));
}

TEST(config_file_survives_truncation_and_bit_flips)
{
	char text[sizeof(good)];

	for (size_t n = 0; n < sizeof(good); n++)
		parse(good, n);
	for (size_t i = 0; i < 8 * (sizeof(good) - 1); i++) {
		memcpy(text, good, sizeof(good));
		text[i / 8] ^= (char)(1 << i % 8);
		parse(text, sizeof(good) - 1);
	}
}
