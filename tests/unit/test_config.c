// SPDX-License-Identifier: Apache-2.0
#include "cli/config/config.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "cli/config/env.h"
#include "cli/config/file.h"
#include "tests/unit/harness.h"

static char said[8192];
static struct config c;

static void say(const char *path, uint32_t line, bool warning,
		const char *text)
{
	size_t len = strlen(said);

	CHECK(*path);
	snprintf(said + len, sizeof(said) - len, "%u%s %s\n", line,
		 warning ? "w" : "", text);
}

static int parse(const char *text)
{
	size_t len = strlen(text);
	char *copy = malloc(len + 1);

	CHECK(copy != NULL);
	memcpy(copy, text, len);
	config_fini(&c);
	said[0] = '\0';
	return config_parse(&c, "x.conf", copy, len, say);
}

/* One key of its section; "" or what is wrong with it. */
static const char *value(enum config_id id, const char *v)
{
	static char text[9000];

	snprintf(text, sizeof(text), "[%s]\n%s = %s\n", config_keys[id].section,
		 config_keys[id].name, v);
	CHECK_EQ(parse(text) == 0, said[0] == '\0');
	CHECK_EQ(!!strcmp(c.value[id].text, v), said[0] != '\0');
	return said;
}

TEST(config_has_a_good_table)
{
	for (int i = 0; i < KEY__COUNT; i++) {
		const struct config_key *k = &config_keys[i];
		char buf[160];

		CHECK(k->section && k->name && k->def && k->help);
		CHECK_EQ(config_key_find(k->section, k->name), i);
		/* names are of one section only: see unknown_key() */
		CHECK_EQ(config_key_find(NULL, k->name), i);
		CHECK(!*k->def || !config_key_check(k, k->def, buf, sizeof(buf)));
		CHECK(!k->flag_value || k->kind == KIND_YES);
		for (const char *s = k->help; *s; s += strcspn(s, "\n"),
		     s += *s == '\n')
			CHECK(strcspn(s, "\n") < 78);
	}
	CHECK_EQ(config_key_find("sampling", "endpoint"), KEY__COUNT);
}

TEST(config_judges_numbers)
{
	static const char *const bad[] = {
		"0", "1001", "-1", "+5", "1.5", "1e2", "0x10", "19 # Hz", "x",
		"4294967297", "18446744073709551617", "19,", "1 9",
	};

	CHECK(!*value(KEY_FREQUENCY, "1") && !*value(KEY_FREQUENCY, "1000"));
	CHECK_EQ(config_number(&c, KEY_FREQUENCY), 1000);
	CHECK(!*value(KEY_TIMEOUT, "0"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK(strstr(value(KEY_FREQUENCY, bad[i]),
			     "2 frequency needs a number from 1 to 1000, not"));
		CHECK_EQ(config_number(&c, KEY_FREQUENCY), 19);
	}
	CHECK(strstr(value(KEY_FREQUENCY, "19 # Hz"), "line of its own"));
}

TEST(config_judges_urls)
{
	static const char *const good[] = {
		"http://localhost:4318", "https://a", "http://[::1]:4318/x",
		"https://u:p@host:65535/a:b?c:d", "http://10.0.0.1/", "http://[::1]",
	};
	static const char *const bad[] = {
		"localhost:4318", "ftp://x", "http://", "http:///x", "HTTP//x",
		"http://x:0", "http://x:65536", "http://x:", "http://x:y",
		"http://a b", "http://:80", "http://[::1", "http://::1",
		"http://x:123456789", "grpc://x", "http://u@", "http://x]",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(!*value(KEY_ENDPOINT, good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!*value(KEY_ENDPOINT, bad[i]))
			printf("# taken: %s\n", bad[i]);
		CHECK(strstr(said, "2 endpoint needs http://HOST:PORT"));
	}
}

TEST(config_judges_lists)
{
	static const char *const bad[] = {
		"a", "=b", "a=%", "a=%zz", "a=%00", "a b=c", "a=b;c=d", ",",
		"a=b,c", "a=%0Ab",
	};

	CHECK(!*value(KEY_HEADERS, "a=b, c = d%20e"));
	CHECK(!*value(KEY_ATTRIBUTES, "a.b=c%2Cd"));
	CHECK(*value(KEY_ATTRIBUTES, "%=x"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!*value(KEY_HEADERS, bad[i]))
			printf("# taken: %s\n", bad[i]);
		CHECK(strstr(said, "2 headers needs name=value"));
		/* may be a secret */
		CHECK(strstr(said, "not \"...\""));
	}
}

TEST(config_judges_the_rest)
{
	CHECK(!*value(KEY_COMPRESSION, "none") && !*value(KEY_COMPRESSION, "zstd"));
	CHECK(*value(KEY_COMPRESSION, "gzip none") && *value(KEY_COMPRESSION, "g"));
	CHECK(!*value(KEY_VERBOSE, "yes") && *value(KEY_VERBOSE, "true"));
	CHECK(!*value(KEY_LISTEN, "4328") && !*value(KEY_LISTEN, "[::1]:80"));
	CHECK(strstr(value(KEY_LISTEN, "0.0.0.0:4328"), "HOST:PORT with localhost"));
	CHECK(!*value(KEY_CA, "/etc/passwd"));
	CHECK(strstr(value(KEY_CA, "passwd"), "full path"));
	CHECK(strstr(value(KEY_CA, "/nonexistent"), "No such file"));
	CHECK(strstr(value(KEY_CA, "/etc"), "not a regular file"));
}

/* Any user can see them, so a password has no place there. */
TEST(config_judges_urls_of_debuginfod_servers)
{
	CHECK(!*value(KEY_DEBUGINFOD_URLS, "http://a https://b:8002/x"));
	CHECK(!*value(KEY_DEBUGINFOD_URLS, "environment"));
	CHECK(strstr(value(KEY_DEBUGINFOD_URLS, "http://a x"), "2 debuginfod_urls needs http"));
	CHECK(strstr(value(KEY_DEBUGINFOD_URLS, "http://a http://u:hush@b"),
		     "2 debuginfod_urls needs URLs without user and password"));
	CHECK(!strstr(said, "hush"));
	CHECK(!*value(KEY_DEBUGINFOD_URLS, "http://a/@b"));
	CHECK(strstr(value(KEY_ENDPOINT, "ftp://u:hush@b"), "2 endpoint needs http://HOST:PORT"));
	CHECK(!strstr(said, "hush"));
}

TEST(config_guesses_what_was_meant)
{
	static const struct { const char *text, *want; } t[] = {
		{ "[sampling]\nfrequncy=1", "did you mean frequency?" },
		{ "[sampling]\nFrequency=1", "did you mean frequency?" },
		{ "[export]\nendpoitn=1", "did you mean endpoint?" },
		{ "[expotr]", "did you mean [export]?" },
		{ "[export]\nfrequency=1", "frequency belongs in [sampling]" },
		{ "[export]\nzzz=1", "[export] has no key zzz; `trifold" },
		{ "[zzz]\nx=1", "there is no section [zzz]; `trifold" },
		/* of four letters two may not be wrong, of five they may */
		{ "[tables]\nidwx=1", "[tables] has no key idwx; `trifold" },
		{ "[tables]\nidlxy=1", "did you mean idle?" },
		{ "[tables \"x\"]", "[tables] takes no second name" },
		{ "x=1", "write a [section] before" },
		{ "[log]\nverbose=yes\nverbose=no", "set in line 2 already" },
		{ "[log]\n\xff\x80=yes", "has no key \\xff\\x80" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		CHECK_EQ(parse(t[i].text), -EINVAL);
		if (!strstr(said, t[i].want))
			printf("# %s", said);
		CHECK(strstr(said, t[i].want));
		CHECK_EQ(c.mistakes, 1);
	}
}

TEST(config_tells_no_end_of_mistakes)
{
	static char text[3 * 500 + 1];
	unsigned int lines = 0;

	for (int i = 0; i < 500; i++)
		memcpy(text + 3 * i, "=x\n", 3);
	CHECK_EQ(parse(text), -EINVAL);
	CHECK_EQ(c.mistakes, 500);
	for (const char *s = said; (s = strchr(s, '\n')); s++)
		lines++;
	CHECK_EQ(lines, CONFIG_MISTAKES_MAX + 1);
	CHECK(strstr(said, "the rest is not reported"));
}

TEST(config_hides_secrets)
{
	char out[128];

	CHECK(!*value(KEY_HEADERS, "a=secret"));
	CHECK(!strcmp(config_shown(c.value, KEY_HEADERS, out, sizeof(out)),
		      "(hidden)"));
	CHECK(!*value(KEY_ENDPOINT, "https://me:secret@host:1/p?key=secret"));
	CHECK(!strcmp(config_shown(c.value, KEY_ENDPOINT, out, sizeof(out)),
		      "https://(hidden)@host:1/p"));
	CHECK(!*value(KEY_ENDPOINT, "https://host/@x"));
	CHECK(!strcmp(config_shown(c.value, KEY_ENDPOINT, out, sizeof(out)),
		      "https://host/@x"));
	CHECK(!*value(KEY_SERVICE_NAME, "\xc3\xa4"));
	CHECK(!strcmp(config_shown(c.value, KEY_SERVICE_NAME, out, sizeof(out)),
		      "\\xc3\\xa4"));
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "w");

	CHECK(f != NULL);
	fputs(text, f);
	fclose(f);
}

static const char *origin(enum config_id id)
{
	static char out[PATH_MAX + 16];

	return config_origin(&c, c.value, id, out, sizeof(out));
}

TEST(config_orders_its_sources)
{
	char path[] = "/tmp/trifold-config-XXXXXX", line3[64];
	struct options o = { .n_given = 0 };
	int fd;

	if (geteuid())
		return;		/* root obeys no file of another user's */
	fd = mkstemp(path);
	CHECK(fd >= 0);
	close(fd);
	config_fini(&c);
	write_file(path, "[export]\nheaders = h=file\nendpoint = http://file\n"
		   "[log]\nverbose = yes\n");
	snprintf(line3, sizeof(line3), "%s:3", path);
	unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
	unsetenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT");
	unsetenv("OTEL_EXPORTER_OTLP_HEADERS");
	setenv("OTEL_EXPORTER_OTLP_PROFILES_HEADERS", "", 1);

	CHECK_EQ(config_load(&c, path, &o, say), 0);
	CHECK(!strcmp(origin(KEY_ENDPOINT), line3));
	CHECK(!strcmp(c.env[0], "OTEL_EXPORTER_OTLP_ENDPOINT=http://file"));
	CHECK(!strcmp(c.env[1], "OTEL_EXPORTER_OTLP_HEADERS=h=file") && !c.env[2]);
	CHECK(!strcmp(origin(KEY_FREQUENCY), "default"));
	config_apply(&c, &o);
	CHECK(o.verbose && o.frequency == 19 && o.config == &c);
	config_fini(&c);

	/* other signals may use what the variable of profiles hides */
	setenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT", "http://profiles", 1);
	CHECK_EQ(config_load(&c, path, &o, say), 0);
	CHECK(!strcmp(origin(KEY_ENDPOINT), "OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT"));
	CHECK(!strcmp(c.env[0], "OTEL_EXPORTER_OTLP_ENDPOINT=http://file"));
	config_fini(&c);

	/* an empty variable is none */
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "", 1);
	CHECK_EQ(config_load(&c, path, &o, say), 0);
	CHECK(!strcmp(c.env[0], "OTEL_EXPORTER_OTLP_ENDPOINT=http://file"));
	config_fini(&c);

	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://generic", 1);
	o.given[o.n_given++] = (struct given){ "endpoint", "http://flag" };
	o.given[o.n_given++] = (struct given){ "verbose", "" };
	CHECK_EQ(config_load(&c, path, &o, say), 0);
	CHECK(!strcmp(origin(KEY_ENDPOINT), "--endpoint"));
	CHECK(!strcmp(c.value[KEY_ENDPOINT].text, "http://flag"));
	CHECK(!strcmp(origin(KEY_VERBOSE), "--verbose"));
	CHECK(!strcmp(c.env[0], "OTEL_EXPORTER_OTLP_HEADERS=h=file") && !c.env[1]);
	config_fini(&c);

	o.n_given = 0;
	unsetenv("OTEL_EXPORTER_OTLP_PROFILES_ENDPOINT");
	CHECK_EQ(config_load(&c, path, &o, say), 0);
	CHECK(!strcmp(origin(KEY_ENDPOINT), "OTEL_EXPORTER_OTLP_ENDPOINT"));
	unlink(path);
	unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
}

/* Not by exporterd, when everything runs already. */
TEST(config_refuses_endpoints_that_are_none)
{
	struct options o = { .n_given = 1 };

	o.given[0] = (struct given){ "endpoint", "foo" };
	said[0] = '\0';
	CHECK_EQ(config_load(&c, NULL, &o, say), -EINVAL);
	CHECK(strstr(said, "needs http://HOST:PORT or https://HOST:PORT, not \"foo\""));
	config_fini(&c);
	o.n_given = 0;
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "localhost:4318", 1);
	said[0] = '\0';
	CHECK_EQ(config_load(&c, NULL, &o, say), -EINVAL);
	CHECK(strstr(said, "not \"localhost:4318\""));
	config_fini(&c);
	unsetenv("OTEL_EXPORTER_OTLP_ENDPOINT");
}

TEST(config_refuses_a_key_without_its_certificate)
{
	char path[] = "/tmp/trifold-config-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	config_fini(&c);
	said[0] = '\0';
	write_file(path, "[export]\nclient_key = /etc/passwd\n");
	CHECK_EQ(config_load(&c, path, NULL, say), -EINVAL);
	CHECK(strstr(said, "2 client_key without client_certificate"));
	config_fini(&c);
	/* too large, and missing */
	CHECK_EQ(truncate(path, CONFIG_FILE_MAX + 1), 0);
	said[0] = '\0';
	CHECK_EQ(config_load(&c, path, NULL, say), -EINVAL);
	CHECK(strstr(said, "larger than 65536 bytes"));
	config_fini(&c);
	unlink(path);
	CHECK_EQ(config_load(&c, path, NULL, say), -EINVAL);
	CHECK(strstr(said, "0 cannot be read: No such file"));
	config_fini(&c);
}

/* A variable of exporterd's environment. */
static const char *variable(const char *name)
{
	size_t len = strlen(name);

	for (int i = 0; c.env[i]; i++) {
		if (!strncmp(c.env[i], name, len) && c.env[i][len] == '=')
			return c.env[i] + len + 1;
	}
	return NULL;
}

static const char three[] =
	"[export \"a\"]\nendpoint=http://a\nheaders=h=a\n"
	"[export \"b c\"]\nendpoint=http://b\ntimeout_ms=5\n[export]\n"
	"headers=h=first\n[export \"d\"]\ncompression=none\nendpoint=http://d\n";

TEST(config_knows_further_receivers)
{
	char path[] = "/tmp/trifold-config-XXXXXX";
	int fd = mkstemp(path);

	CHECK(fd >= 0);
	close(fd);
	config_fini(&c);
	write_file(path, three);
	for (char n[] = "TRIFOLD_EXPORTER_2_ENDPOINT"; n[17] <= '8'; n[17]++)
		unsetenv(n);
	/* not even its headers may go to another */
	setenv("TRIFOLD_EXPORTER_3_HEADERS", "h=secret", 1);
	setenv("TRIFOLD_EXPORTER_8_ENDPOINT", "http://x", 1);
	CHECK_EQ(config_load(&c, path, NULL, say), 0);
	CHECK_EQ(c.n_more, 3);
	CHECK_EQ(c.more[0].number, 2);
	CHECK_EQ(c.more[1].number, 4);
	CHECK_EQ(c.more[2].number, 5);
	CHECK(!strcmp(c.more[1].name, "b c"));
	CHECK(!strcmp(variable("TRIFOLD_EXPORTER_2_ENDPOINT"), "http://a"));
	CHECK(!strcmp(variable("TRIFOLD_EXPORTER_2_HEADERS"), "h=a"));
	CHECK(!strcmp(variable("TRIFOLD_EXPORTER_4_TIMEOUT"), "5"));
	CHECK(!variable("TRIFOLD_EXPORTER_4_HEADERS"));
	CHECK(!strcmp(variable("TRIFOLD_EXPORTER_5_COMPRESSION"), "none"));
	CHECK(!strcmp(variable("OTEL_EXPORTER_OTLP_HEADERS"), "h=first"));
	config_fini(&c);

	/* 7 is the last free one */
	setenv("TRIFOLD_EXPORTER_5_ENDPOINT", "http://x", 1);
	setenv("TRIFOLD_EXPORTER_6_ENDPOINT", "http://x", 1);
	CHECK_EQ(config_load(&c, path, NULL, say), 0);
	CHECK_EQ(c.more[2].number, 7);
	config_fini(&c);
	setenv("TRIFOLD_EXPORTER_7_ENDPOINT", "http://x", 1);
	said[0] = '\0';
	CHECK_EQ(config_load(&c, path, NULL, say), -EINVAL);
	CHECK(strstr(said, "9 no number is left"));
	config_fini(&c);
	/* and 8 is one */
	unsetenv("TRIFOLD_EXPORTER_8_ENDPOINT");
	CHECK_EQ(config_load(&c, path, NULL, say), 0);
	CHECK_EQ(c.more[2].number, 8);
	config_fini(&c);
	unsetenv("TRIFOLD_EXPORTER_5_ENDPOINT");
	unsetenv("TRIFOLD_EXPORTER_6_ENDPOINT");
	unsetenv("TRIFOLD_EXPORTER_7_ENDPOINT");
	unsetenv("TRIFOLD_EXPORTER_3_HEADERS");
	unlink(path);
}

TEST(config_judges_further_receivers)
{
	static const struct { const char *text, *want; } t[] = {
		{ "[export \"a\"]", "1 [export \"a\"] needs an endpoint" },
		{ "[export \"a\"]\nendpoint=", "1 [export \"a\"] needs an endpoint" },
		{ "[export \"a\"]\nendpoint=x", "2 endpoint needs http" },
		{ "[export \"a\"]\nendpoint=http://x\n[export \"a\"]",
		  "3 [export \"a\"] is in line 1 already" },
		{ "[export \"a\"]\nendpoint=http://x\nclient_key=/etc/passwd",
		  "3 client_key without client_certificate" },
		{ "[resource \"a\"]\nx=1", "1 [resource] takes no second name" },
		{ "[expotr \"a\"]\nx=1", "1 there is no section [expotr]: did" },
		{ "[export \"a\"]\nendpoint=http://x\nendpoint=http://x",
		  "3 endpoint was set in line 2 already" },
	};
	static char many[40 * 8];
	size_t len = 0;

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		int r = parse(t[i].text);

		if (!strstr(said, t[i].want))
			printf("# %s: %s", t[i].text, said);
		CHECK_EQ(r, -EINVAL);
		CHECK(strstr(said, t[i].want));
		CHECK_EQ(c.mistakes, 1);
	}
	for (int i = 0; i < 8; i++)
		len += (size_t)snprintf(many + len, sizeof(many) - len,
			"[export \"%d\"]\nendpoint=http://%d\n", i, i);
	CHECK_EQ(parse(many), -EINVAL);
	CHECK_EQ(c.n_more, CONFIG_MORE_MAX);
	CHECK(!strcmp(said, "15 there are more than 7 additional receivers\n"));
}

TEST(config_has_a_cache_for_debug_files)
{
	CHECK_EQ(parse("[names]\ndebuginfod_cache=/tmp\ndebuginfod_cache_size=0\n"), 0);
	CHECK_EQ(config_env_make(&c), 0);
	CHECK(!strcmp(variable("TRIFOLD_DEBUGINFOD_CACHE"), "/tmp"));
	CHECK(!strcmp(variable("TRIFOLD_DEBUGINFOD_CACHE_SIZE"), "0"));
	/* the default one need not be there */
	CHECK_EQ(parse("[names]\ndebuginfod_cache=/var/cache/trifold-exporterd\n"), 0);
	CHECK_EQ(parse("[names]\ndebuginfod_cache=/etc/passwd\n"), -EINVAL);
	CHECK_EQ(parse("[names]\ndebuginfod_cache=/tmp/nothing-there\n"), -EINVAL);
	CHECK_EQ(parse("[names]\ndebuginfod_cache_size=65537\n"), -EINVAL);
}

TEST(config_has_a_spool_for_the_first_receiver_only)
{
	CHECK_EQ(parse("[export]\nspool=/tmp\nspool_size=7\n"), 0);
	CHECK(!strcmp(c.value[KEY_SPOOL].text, "/tmp"));
	CHECK_EQ(config_env_make(&c), 0);
	CHECK(!strcmp(variable("TRIFOLD_EXPORTER_SPOOL"), "/tmp"));
	CHECK(!strcmp(variable("TRIFOLD_EXPORTER_SPOOL_SIZE"), "7"));
	CHECK_EQ(parse("[export]\nspool=/etc/passwd\n"), -EINVAL);
	CHECK_EQ(parse("[export]\nspool=tmp\n"), -EINVAL);
	CHECK_EQ(parse("[export]\nspool_size=0\n"), -EINVAL);
	CHECK_EQ(parse("[export \"b\"]\nendpoint=http://b\nspool=/tmp\n"),
		 -EINVAL);
	CHECK(!strcmp(said, "3 spool is of the first receiver only: set it in "
		      "[export]\n"));
	CHECK_EQ(parse("[export]\nendpoint=http://b\n"), 0);
	CHECK_EQ(config_env_make(&c), 0);
	CHECK(!variable("TRIFOLD_EXPORTER_SPOOL"));
}

static const char sample[] =
	"[export \"two\"]\nendpoint=http://a:1\nheaders=a=b\n"
	"[sampling]\nfrequency=97\n[export]\nendpoint=http://u:p@[::1]:1/x\n"
	"headers=a=%20b,c=d\nca=/etc/passwd\n[log]\nverbose=yes\n";

TEST(config_survives_truncation_and_bit_flips)
{
	char text[sizeof(sample)], out[64];

	for (size_t n = 0; n < sizeof(sample); n++) {
		memcpy(text, sample, n);
		text[n] = '\0';
		parse(text);
	}
	for (size_t i = 0; i < 8 * (sizeof(sample) - 1); i++) {
		memcpy(text, sample, sizeof(sample));
		text[i / 8] ^= (char)(1 << i % 8);
		parse(text);
		for (int k = 0; k < KEY__COUNT; k++)
			config_shown(c.value, k, out, sizeof(out));
	}
	config_fini(&c);
}
