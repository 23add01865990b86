// SPDX-License-Identifier: Apache-2.0
#include "exporterd/config.h"

#include <string.h>
#include <unistd.h>

#include "tests/unit/exporter_env.h"
#include "tests/unit/harness.h"

static void check_refused(const char *what)
{
	int r = load();

	if (r != 2)
		printf("# \"%s\" accepted\n", what);
	CHECK_EQ(r, 2);
}

TEST(config_defaults)
{
	CHECK_EQ(load(), 0);
	CHECK_STR(c.endpoints[0].url, "http://localhost:4318/v1development/profiles");
	CHECK_STR(c.hub, "/run/hub");
	CHECK_EQ(c.hub_uid, 7);
	CHECK_EQ(c.endpoints[0].timeout_ms, 10000);
	CHECK_EQ(c.endpoints[0].compression, COMPRESSION_GZIP);
	CHECK_EQ(c.endpoints[0].headers.n, 0);
	CHECK_EQ(c.recorder_fd, (uintmax_t)-1);
	CHECK_STR(get(&c.resource.pairs, "os.type"), "linux");
	CHECK(strcmp(get(&c.resource.pairs, "host.name"), "(none)") != 0);
}

TEST(config_base_url_gets_the_path)
{
	static const char *const cases[][2] = {
		{ "http://h:1", "http://h:1/v1development/profiles" },
		{ "http://h:1/", "http://h:1/v1development/profiles" },
		{ "https://h/a/b/", "https://h/a/b/v1development/profiles" },
		{ "https://h/a//", "https://h/a/v1development/profiles" },
		{ "http://[::1]:4318", "http://[::1]:4318/v1development/profiles" },
		{ "http://h/a?k=v", "http://h/a/v1development/profiles?k=v" },
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set("ENDPOINT", cases[i][0]);
		CHECK_EQ(load(), 0);
		CHECK_STR(c.endpoints[0].url, cases[i][1]);
	}
}

TEST(config_profiles_endpoint_is_taken_as_it_is)
{
	set("ENDPOINT", "http://other:1");
	set("PROFILES_ENDPOINT", "http://h:2/api/x/v1/profiles/../y");
	CHECK_EQ(load(), 0);
	CHECK_STR(c.endpoints[0].url, "http://h:2/api/x/v1/profiles/../y");
	/* empty is unset */
	set("PROFILES_ENDPOINT", "");
	CHECK_EQ(load(), 0);
	CHECK_STR(c.endpoints[0].url, "http://other:1/v1development/profiles");
}

TEST(config_options_win_over_variables)
{
	set("PROFILES_ENDPOINT", "http://env/x");
	CHECK_EQ(LOAD("--endpoint", "http://opt:5"), 0);
	CHECK_STR(c.endpoints[0].url, "http://opt:5/v1development/profiles");
	CHECK_EQ(LOAD("--endpoint", "http://opt:5", "--profiles-endpoint",
		      "http://p/q"), 0);
	CHECK_STR(c.endpoints[0].url, "http://p/q");
}

TEST(config_refuses_what_is_no_url)
{
	static const char *const bad[] = {
		"localhost:4318", "h", "ftp://h/", "unix:///run/x", "http://",
		"http:// h", "http://h:99999", "http://h/\n", " http://h",
		"file:///etc/passwd",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set("ENDPOINT", bad[i]);
		check_refused(bad[i]);
	}
}

TEST(config_log_shows_no_secrets)
{
	set("PROFILES_ENDPOINT", "https://user:secret@h/p?token=secret#x");
	CHECK_EQ(load(), 0);
	CHECK_STR(c.endpoints[0].url, "https://user:secret@h/p?token=secret#x");
	CHECK_STR(c.endpoints[0].shown_url, "https://h/p");
}

TEST(config_headers)
{
	set("HEADERS", "Generic=1");
	set("PROFILES_HEADERS", " api-key = a%20b%3D , X-Two=b=c,,x-two=d ");
	CHECK_EQ(LOAD("--header", "Authorization=Basic %20=="), 0);
	CHECK_EQ(c.endpoints[0].headers.n, 3);
	CHECK_STR(get(&c.endpoints[0].headers, "api-key"), "a b=");
	/* names are compared without case; the last one counts */
	CHECK_STR(get(&c.endpoints[0].headers, "X-Two"), "d");
	/* an option is taken as it is */
	CHECK_STR(get(&c.endpoints[0].headers, "Authorization"), "Basic %20==");
}

TEST(config_header_option_replaces_variable)
{
	set("HEADERS", "A=1,B=2");
	CHECK_EQ(LOAD("--header", "a=3"), 0);
	CHECK_EQ(c.endpoints[0].headers.n, 2);
	CHECK_STR(get(&c.endpoints[0].headers, "A"), "3");
}

TEST(config_refuses_broken_headers)
{
	static const char *const bad[] = {
		"novalue", "=v", "a=%", "a=%4", "a=%zz", "a=%00", "a b=c",
		"a=x%0d%0aInjected:%201", "a=1;prop=2", "n\xc3\xa4me=1",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set("HEADERS", bad[i]);
		check_refused(bad[i]);
	}
	unsetenv(VAR "HEADERS");
	CHECK_EQ(LOAD("--header", "a=x\r\nb: c"), 2);
	CHECK_EQ(LOAD("--header", "no-equals"), 2);
}

static void write_headers(const char *path, const char *text, size_t n)
{
	FILE *f = fopen(path, "w");

	CHECK(f && fwrite(text, 1, n, f) == n && !fclose(f));
}

TEST(config_headers_of_a_file)
{
	char path[] = "/tmp/trifold-headers-XXXXXX", *big = calloc(1, 9000);
	int fd = mkstemp(path);

	CHECK(fd >= 0 && big);
	close(fd);
	setenv("TRIFOLD_EXPORTER_HEADERS_FILE", path, 1);
	write_headers(path, "authorization=Bearer%20x,a=2\n", 29);
	set("HEADERS", "a=1,b=3");
	CHECK_EQ(load(), 0);
	CHECK_STR(get(&c.endpoints[0].headers, "authorization"), "Bearer x");
	CHECK_STR(get(&c.endpoints[0].headers, "a"), "2");
	CHECK_STR(get(&c.endpoints[0].headers, "b"), "3");
	write_headers(path, "", 0);
	CHECK_EQ(load(), 0);
	write_headers(path, "novalue", 7);
	CHECK_EQ(load(), 2);
	write_headers(path, "a=b\nc=d", 7);	/* no line in a header */
	CHECK_EQ(load(), 2);
	memset(big, 'a', 9000);
	big[1] = '=';
	write_headers(path, big, 8192);
	CHECK_EQ(load(), 0);
	write_headers(path, big, 8193);
	CHECK_EQ(load(), 2);
	unlink(path);
	CHECK_EQ(load(), 2);
	unsetenv("TRIFOLD_EXPORTER_HEADERS_FILE");
	free(big);
}

TEST(config_names_of_each_receiver)
{
	CHECK_EQ(load(), 0);
	CHECK(!c.endpoints[0].bare);
	setenv("TRIFOLD_EXPORTER_NAMES", "no", 1);
	setenv("TRIFOLD_EXPORTER_2_ENDPOINT", "http://second:2", 1);
	set("ENDPOINT", "http://first:1");
	CHECK_EQ(load(), 0);
	CHECK(c.endpoints[0].bare && !c.endpoints[1].bare);
	setenv("TRIFOLD_EXPORTER_NAMES", "yes", 1);
	setenv("TRIFOLD_EXPORTER_2_NAMES", "no", 1);
	CHECK_EQ(load(), 0);
	CHECK(!c.endpoints[0].bare && c.endpoints[1].bare);
	setenv("TRIFOLD_EXPORTER_2_GUESSES", "yes", 1);
	CHECK_EQ(load(), 0);
	CHECK(!c.endpoints[0].guesses && c.endpoints[1].guesses);
	CHECK(!c.endpoints[0].nameless && !c.endpoints[1].nameless);
	setenv("TRIFOLD_EXPORTER_PLACEHOLDERS", "no", 1);
	setenv("TRIFOLD_EXPORTER_2_PLACEHOLDERS", "yes", 1);
	CHECK_EQ(load(), 0);
	CHECK(c.endpoints[0].nameless && !c.endpoints[1].nameless);
	setenv("TRIFOLD_EXPORTER_GUESSES", "1", 1);
	CHECK_EQ(load(), 2);
	unsetenv("TRIFOLD_EXPORTER_GUESSES");
	setenv("TRIFOLD_EXPORTER_2_NAMES", "false", 1);
	CHECK_EQ(load(), 2);
}

TEST(config_headers_of_its_own_cannot_be_set)
{
	set("HEADERS", "otlp-profiles-development-version=2,content-type=x,"
	    "Content-Encoding=br,transfer-encoding=chunked,ok=1");
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.endpoints[0].headers.n, 1);
	CHECK_STR(get(&c.endpoints[0].headers, "ok"), "1");
}

TEST(config_timeout)
{
	static const struct { const char *s; long want; } cases[] = {
		{ "500", 500 }, { "0", 0 }, { "-1", 10000 }, { "x", 10000 },
		{ "", 10000 }, { "5s", 10000 },
		{ "99999999999999999999", 10000 },
	};

	set("TIMEOUT", "77");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		set("PROFILES_TIMEOUT", cases[i].s);
		CHECK_EQ(load(), 0);
		CHECK_EQ(c.endpoints[0].timeout_ms, *cases[i].s ? cases[i].want : 77);
	}
}

TEST(config_compression_and_protocol)
{
	set("COMPRESSION", "none");
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.endpoints[0].compression, COMPRESSION_NONE);
	set("PROFILES_COMPRESSION", "gzip");
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.endpoints[0].compression, COMPRESSION_GZIP);
	set("PROFILES_COMPRESSION", "zstd");
	CHECK_EQ(load(), 0);
	CHECK_EQ(c.endpoints[0].compression, COMPRESSION_ZSTD);
	set("PROFILES_COMPRESSION", "GZIP");
	CHECK_EQ(load(), 2);
	set("PROFILES_COMPRESSION", "");
	set("COMPRESSION", "br");
	CHECK_EQ(load(), 2);
	unsetenv(VAR "COMPRESSION");
	set("PROTOCOL", "grpc");
	CHECK_EQ(load(), 2);
	set("PROFILES_PROTOCOL", "http/protobuf");
	CHECK_EQ(load(), 0);
	set("PROFILES_PROTOCOL", "http/json");
	CHECK_EQ(load(), 2);
	set("PROFILES_PROTOCOL", "carrier-pigeon");
	CHECK_EQ(load(), 0);
}

TEST(config_certificates)
{
	set("CERTIFICATE", "/dev/null");
	CHECK_EQ(load(), 0);
	CHECK_STR(c.endpoints[0].ca, "/dev/null");
	set("PROFILES_CERTIFICATE", "/nonexistent/ca.pem");
	CHECK_EQ(load(), 2);
	set("PROFILES_CERTIFICATE", "relative.pem");
	CHECK_EQ(load(), 2);
	set("PROFILES_CERTIFICATE", "");
	set("CLIENT_KEY", "/dev/null");
	CHECK_EQ(load(), 2);
	set("CLIENT_CERTIFICATE", "/dev/null");
	CHECK_EQ(load(), 0);
}

TEST(config_resource_attributes)
{
	setenv("OTEL_RESOURCE_ATTRIBUTES",
	       "service.name=a, k%2C1 = v%3D1 ,os.type=mine,empty=", 1);
	CHECK_EQ(load(), 0);
	CHECK_STR(get(&c.resource.pairs, "service.name"), "a");
	CHECK_STR(get(&c.resource.pairs, "k,1"), "v=1");
	CHECK_STR(get(&c.resource.pairs, "os.type"), "mine");
	CHECK_STR(get(&c.resource.pairs, "empty"), "");
	setenv("OTEL_SERVICE_NAME", "b", 1);
	CHECK_EQ(load(), 0);
	CHECK_STR(get(&c.resource.pairs, "service.name"), "b");
}

TEST(config_resource_attributes_are_all_or_nothing)
{
	static const char *const bad[] = {
		"good=1,bad", "good=1,k=%zz", "good=1,%z=1", "good=1,=x" };
	size_t detected;

	CHECK_EQ(load(), 0);
	detected = c.resource.pairs.n;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("OTEL_RESOURCE_ATTRIBUTES", bad[i], 1);
		CHECK_EQ(load(), 0);
		CHECK_STR(get(&c.resource.pairs, "good"), "(none)");
		CHECK_EQ(c.resource.pairs.n, detected);
	}
}

TEST(config_without_network_needs_no_endpoint)
{
	set("ENDPOINT", "nonsense");
	set("PROTOCOL", "grpc");
	CHECK_EQ(LOAD("--no-network", "--recorder-fd", "5"), 0);
	CHECK_EQ(c.n_endpoints, 0);
	CHECK_EQ(c.recorder_fd, 5);
}

TEST(config_refuses_wrong_use)
{
	static const char *const none[] = { "exporterd" };

	exporter_config_fini(&c);
	CHECK_EQ(exporter_config_load(&c, 1, (char **)none), 2);
	CHECK_EQ(LOAD("--uid", "5"), 2);
	CHECK_EQ(LOAD("--uid", "-5", "--gid", "5"), 2);
	CHECK_EQ(LOAD("--uid", "4294967295", "--gid", "5"), 2);
	CHECK_EQ(LOAD("--hub", "relative"), 2);
	CHECK_EQ(LOAD("stray"), 2);
	CHECK_EQ(LOAD("--bogus"), 2);
	CHECK_EQ(LOAD("--version"), (uintmax_t)-1);
}

static void set_more(const char *name, const char *value)
{
	char full[128];

	snprintf(full, sizeof(full), "TRIFOLD_EXPORTER_%s", name);
	setenv(full, value, 1);
}

static void unset_more(const char *name)
{
	char full[128];

	snprintf(full, sizeof(full), "TRIFOLD_EXPORTER_%s", name);
	unsetenv(full);
}

TEST(config_more_endpoints_are_added_to_the_first)
{
	set("ENDPOINT", "http://first:1");
	set("HEADERS", "api-key=first");
	set("TIMEOUT", "77");
	set("COMPRESSION", "none");
	set("CERTIFICATE", "/dev/null");
	set_more("2_ENDPOINT", "http://second:2/base/");
	set_more("8_ENDPOINT", "https://u:p@eighth");
	set_more("8_HEADERS", "X-Key=a%20b");
	set_more("8_TIMEOUT", "88");
	set_more("8_COMPRESSION", "none");
	set_more("8_CERTIFICATE", "/dev/zero");
	set_more("8_CLIENT_CERTIFICATE", "/dev/full");
	set_more("8_CLIENT_KEY", "/dev/random");
	CHECK_EQ(LOAD("--header", "b=first"), 0);
	CHECK_EQ(c.n_endpoints, 3);
	CHECK_EQ(c.endpoints[0].number, 1);
	CHECK_STR(c.endpoints[0].url, "http://first:1/v1development/profiles");
	CHECK_STR(c.endpoints[0].base, "http://first:1");
	CHECK_EQ(c.endpoints[0].headers.n, 2);
	/* nothing of the first goes to another */
	CHECK_EQ(c.endpoints[1].number, 2);
	CHECK_STR(c.endpoints[1].url,
		  "http://second:2/base/v1development/profiles");
	CHECK_EQ(c.endpoints[1].headers.n, 0);
	CHECK_EQ(c.endpoints[1].timeout_ms, 10000);
	CHECK_EQ(c.endpoints[1].compression, COMPRESSION_GZIP);
	CHECK(!c.endpoints[1].ca);
	CHECK_EQ(c.endpoints[2].number, 8);
	CHECK_STR(c.endpoints[2].shown_url,
		  "https://eighth/v1development/profiles");
	CHECK_EQ(c.endpoints[2].headers.n, 1);
	CHECK_STR(get(&c.endpoints[2].headers, "X-Key"), "a b");
	CHECK_EQ(c.endpoints[2].timeout_ms, 88);
	CHECK_EQ(c.endpoints[2].compression, COMPRESSION_NONE);
	CHECK_STR(c.endpoints[2].ca, "/dev/zero");
	CHECK_STR(c.endpoints[2].cert, "/dev/full");
	CHECK_STR(c.endpoints[2].key, "/dev/random");
}

TEST(config_another_endpoint_alone_comes_first)
{
	/* of a first one that is not there, not even mistakes matter */
	set("HEADERS", "nonsense");
	set("PROTOCOL", "grpc");
	set_more("2_ENDPOINT", "http://127.0.0.1:9");
	set_more("2_HEADERS", "authorization=Bearer%20k");
	set_more("3_ENDPOINT", "");
	CHECK_EQ(LOAD("--header", "a=b"), 0);
	CHECK_EQ(c.n_endpoints, 1);
	CHECK_EQ(c.endpoints[0].number, 2);
	CHECK_STR(c.endpoints[0].url,
		  "http://127.0.0.1:9/v1development/profiles");
	CHECK_EQ(c.endpoints[0].headers.n, 1);
	CHECK_STR(get(&c.endpoints[0].headers, "authorization"), "Bearer k");
	CHECK_EQ(LOAD("--no-network"), 0);
	CHECK_EQ(c.n_endpoints, 0);
}

TEST(config_refuses_bad_values_of_more_endpoints)
{
	static const char *const bad[][2] = {
		{ "2_ENDPOINT", "localhost:1" }, { "2_HEADERS", "x" },
		{ "2_CERTIFICATE", "relative" },
		{ "2_CLIENT_KEY", "/dev/null" },
		{ "1_ENDPOINT", "http://h" }, { "9_ENDPOINT", "http://h" },
		{ "02_ENDPOINT", "http://h" }, { "2_HEADER", "a=b" },
		{ "2", "http://h" }, { "ENDPOINT", "http://h" },
		{ "2_ENDPOINTS", "http://h" }, { "2_COMPRESSION", "lz4" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set_more("2_ENDPOINT", "http://h");
		set_more(bad[i][0], bad[i][1]);
		check_refused(bad[i][0]);
		unset_more(bad[i][0]);
	}
}

TEST(config_has_a_spool_when_it_is_named)
{
	unsetenv("TRIFOLD_EXPORTER_2_ENDPOINT");
	CHECK_EQ(load(), 0);
	CHECK(!c.spool);
	set_more("SPOOL", "/var/spool/a");
	CHECK_EQ(load(), 0);
	CHECK_STR(c.spool, "/var/spool/a");
	CHECK_EQ(c.spool_bytes, 256 << 20);
	set_more("SPOOL_SIZE", "3");
	CHECK_EQ(LOAD("--spool", "/b"), 0);
	CHECK_STR(c.spool, "/b");
	CHECK_EQ(c.spool_bytes, 3 << 20);
	CHECK_EQ(LOAD("--spool", "/b", "--spool-size", "65536"), 0);
	CHECK_EQ(c.spool_bytes, 65536ULL << 20);
	/* nothing is sent, so nothing is kept */
	CHECK_EQ(LOAD("--no-network"), 0);
	CHECK(!c.spool);
}

TEST(config_refuses_a_bad_spool)
{
	static const char *const bad[][2] = {
		{ "SPOOL", "relative" }, { "SPOOL", "/" }, { "SPOOL_SIZE", "0" },
		{ "SPOOL_SIZE", "65537" }, { "SPOOL_SIZE", "1x" },
		{ "SPOOLS", "/a" }, { "2_SPOOL", "/a" }, { "SPOO", "/a" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		set_more("SPOOL", "");
		set_more("SPOOL_SIZE", "");
		set_more(bad[i][0], bad[i][1]);
		check_refused(bad[i][0]);
		unset_more(bad[i][0]);
	}
	unsetenv("TRIFOLD_EXPORTER_SPOOL");
	unsetenv("TRIFOLD_EXPORTER_SPOOL_SIZE");
	CHECK_EQ(load(), 0);
	CHECK(!c.spool);
}

TEST(config_has_a_cache_with_debuginfod_servers)
{
	static const char *const bad[][2] = {
		{ "", "relative" }, { "", "/" }, { "_SIZE", "65537" }, { "_SIZE", "1x" },
		{ "_SIZE", "-1" },
	};

	CHECK_EQ(load(), 0);
	CHECK(!c.debuginfod.cache);
	setenv("TRIFOLD_DEBUGINFOD_URLS", "http://h", 1);
	CHECK_EQ(load(), 0);
	CHECK_STR(c.debuginfod.cache, "/var/cache/trifold-exporterd");
	CHECK(!c.debuginfod.cache_asked);
	CHECK_EQ(c.debuginfod.cache_bytes, 1024ULL << 20);
	setenv("TRIFOLD_DEBUGINFOD_CACHE", "/c", 1);
	setenv("TRIFOLD_DEBUGINFOD_CACHE_SIZE", "3", 1);
	CHECK_EQ(load(), 0);
	CHECK_STR(c.debuginfod.cache, "/c");
	CHECK(c.debuginfod.cache_asked);
	CHECK_EQ(c.debuginfod.cache_bytes, 3 << 20);
	setenv("TRIFOLD_DEBUGINFOD_CACHE_SIZE", "0", 1);
	CHECK_EQ(load(), 0);
	CHECK(!c.debuginfod.cache && c.debuginfod.n == 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char name[64];

		setenv("TRIFOLD_DEBUGINFOD_CACHE", "", 1);
		setenv("TRIFOLD_DEBUGINFOD_CACHE_SIZE", "", 1);
		snprintf(name, sizeof(name), "TRIFOLD_DEBUGINFOD_CACHE%s", bad[i][0]);
		setenv(name, bad[i][1], 1);
		CHECK_EQ(load(), 2);
	}
	CHECK_EQ(LOAD("--no-network"), 0);
	CHECK(!c.debuginfod.cache);
}

TEST(endpoint_knows_this_host)
{
	static const char *const here[] = {
		"http://localhost:1/x", "http://127.0.0.1", "https://127.9.8.7/",
		"http://[::1]:4318", "http://LocalHost/",
	};
	static const char *const there[] = {
		"http://128.0.0.1", "http://localhost.example", "http://[::2]/",
		"http://1270.0.0.1/", "http://h", "nonsense", "",
		"http://127.0.0.1.example/",
	};

	for (size_t i = 0; i < sizeof(here) / sizeof(here[0]); i++)
		CHECK(endpoint_is_loopback(here[i]));
	for (size_t i = 0; i < sizeof(there) / sizeof(there[0]); i++)
		CHECK(!endpoint_is_loopback(there[i]));
}
