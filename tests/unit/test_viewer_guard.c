// SPDX-License-Identifier: Apache-2.0
#include "viewer/server/guard.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>
#include <zlib.h>

#include "tests/unit/harness.h"
#include "viewer/server/body.h"
#include "common/listen.h"
#include "viewer/server/params.h"

#define SECOND	1000000000ULL

TEST(guard_takes_names_of_loopback_with_our_port_only)
{
	static const char *const good[] = {
		"localhost:4328", "127.0.0.1:4328", "[::1]:4328",
		"LOCALHOST:4328",
	};
	static const char *const bad[] = {
		"", "localhost", "localhost:43280", "localhost:432",
		"evil.example:4328", "localhost.evil.example:4328",
		"127.0.0.2:4328", "127.0.0.1", "localhost:4328 ", "::1:4328",
		"localhost:4328@evil.example", "localhost:04328",
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(guard_host(good[i], 4328));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!guard_host(bad[i], 4328));
	CHECK(guard_host("localhost", 80));
	CHECK(guard_origin("http://localhost:4328", 4328));
	CHECK(!guard_origin("https://localhost:4328", 4328));
	CHECK(!guard_origin("http://localhost:8080", 4328));
	CHECK(!guard_origin("null", 4328));
	CHECK(!guard_origin("", 4328));
	CHECK(guard_site("same-origin") && guard_site("none"));
	CHECK(!guard_site("same-site") && !guard_site("cross-site"));
}

TEST(guard_knows_its_key)
{
	char key[PAGE_KEY_LEN + 1], other[PAGE_KEY_LEN + 1], text[64];

	CHECK_EQ(page_key_new(key), 0);
	CHECK_EQ(page_key_new(other), 0);
	CHECK(page_key_is(key) && strcmp(key, other));
	snprintf(text, sizeof(text), "Bearer %s", key);
	CHECK(guard_key(text, key));
	CHECK(!guard_key(text, other));
	CHECK(!guard_key(key, key));
	snprintf(text, sizeof(text), "Bearer %s0", key);
	CHECK(!guard_key(text, key));
	CHECK(!guard_key("Bearer ", key) && !guard_key("", key) &&
	      !guard_key("Bear", key));
	CHECK(!page_key_is("") && !page_key_is("x"));
	for (size_t i = 0; i < PAGE_KEY_LEN; i++) {
		snprintf(text, sizeof(text), "Bearer %s", key);
		text[7 + i] = text[7 + i] == '0' ? '1' : '0';
		CHECK(!guard_key(text, key));
	}
}

TEST(listen_takes_loopback_only)
{
	struct listeners l;
	uint16_t port;
	int family;

	CHECK_EQ(listen_parse("4328", &family, &port), 0);
	CHECK(family == AF_UNSPEC && port == 4328);
	CHECK_EQ(listen_parse("[::1]:9", &family, &port), 0);
	CHECK(family == AF_INET6 && port == 9);
	CHECK_EQ(listen_parse("127.0.0.1:65535", &family, &port), 0);
	CHECK(family == AF_INET && port == 65535);
	CHECK_EQ(listen_parse("localhost:0", &family, &port), 0);
	CHECK_EQ(listen_parse("0.0.0.0:4328", &family, &port), -EINVAL);
	CHECK_EQ(listen_parse("192.0.2.1:4328", &family, &port), -EINVAL);
	CHECK_EQ(listen_parse("65536", &family, &port), -EINVAL);
	CHECK_EQ(listen_parse("", &family, &port), -EINVAL);
	CHECK_EQ(listen_parse("localhost:", &family, &port), -EINVAL);
	CHECK_EQ(listen_parse("80x", &family, &port), -EINVAL);
	CHECK_EQ(listen_check(0), 0);
	CHECK_EQ(listen_open(AF_UNSPEC, 0, &l), 0);
	CHECK(l.n >= 1 && l.port);
	for (int i = 0; i < l.n; i++)
		CHECK_EQ(listen_check(l.fd[i]), l.port);
	port = l.port;
	{
		struct listeners again;

		CHECK_EQ(listen_open(AF_UNSPEC, port, &again), -EADDRINUSE);
	}
	listen_close(&l);
}

/* --- bodies ---------------------------------------------------------------------- */

static size_t gzip(const void *data, size_t len, uint8_t *out, size_t cap)
{
	z_stream z = { .next_in = (uint8_t *)data, .avail_in = (uInt)len,
		       .next_out = out, .avail_out = (uInt)cap };

	CHECK_EQ(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9,
			      Z_DEFAULT_STRATEGY), Z_OK);
	CHECK_EQ(deflate(&z, Z_FINISH), Z_STREAM_END);
	deflateEnd(&z);
	return cap - z.avail_out;
}

/* In pieces of `step` bytes; the result of the whole. */
static int feed(enum coding packed, const uint8_t *data, size_t len, size_t step,
		size_t max, size_t want)
{
	struct viewer_body b;
	int r = 0;

	CHECK_EQ(body_init(&b, packed, max), 0);
	for (size_t at = 0; at < len && r == 0; at += step)
		r = body_add(&b, data + at, len - at < step ? len - at : step);
	if (r == 0)
		r = body_end(&b);
	CHECK(b.bytes.len <= max);
	if (r == 0)
		CHECK_EQ(b.bytes.len, want);
	for (size_t i = 0; i < b.bytes.len; i++)
		CHECK_EQ(b.bytes.data[i], 'x');
	body_fini(&b);
	return r;
}

TEST(body_ends_at_its_limit)
{
	enum { N = 100000 };
	uint8_t *plain = malloc(N), packed[1024];
	size_t n;

	CHECK(plain != NULL);
	memset(plain, 'x', N);
	n = gzip(plain, N, packed, sizeof(packed));
	for (size_t step = 1; step < 2000; step = 3 * step + 1) {
		CHECK_EQ(feed(BODY_PLAIN, plain, N, 100 * step, N, N), 0);
		CHECK_EQ(feed(BODY_PLAIN, plain, N, 100 * step, N - 1, N), -E2BIG);
		CHECK_EQ(feed(BODY_GZIP, packed, n, step, N, N), 0);
		CHECK_EQ(feed(BODY_GZIP, packed, n, step, N + 1, N), 0);
		CHECK_EQ(feed(BODY_GZIP, packed, n, step, N - 1, N), -E2BIG);
		CHECK_EQ(feed(BODY_GZIP, packed, n - 1, step, N, N), -EPROTO);
		CHECK_EQ(feed(BODY_GZIP, packed, n + 1, step, N, N), -EPROTO);
	}
	CHECK_EQ(feed(BODY_GZIP, plain, N, 100, N, N), -EPROTO);
	CHECK_EQ(feed(BODY_GZIP, plain, 0, 100, N, 0), -EPROTO);
	CHECK_EQ(feed(BODY_PLAIN, plain, 0, 100, N, 0), 0);
	free(plain);
}

TEST(body_takes_zstd_too)
{
	enum { N = 100000 };
	uint8_t *plain = malloc(N), packed[1024];
	size_t n;

	CHECK(plain != NULL);
	memset(plain, 'x', N);
	n = ZSTD_compress(packed, sizeof(packed), plain, N, 3);
	CHECK(!ZSTD_isError(n));
	for (size_t step = 1; step < 2000; step = 3 * step + 1) {
		CHECK_EQ(feed(BODY_ZSTD, packed, n, step, N, N), 0);
		CHECK_EQ(feed(BODY_ZSTD, packed, n, step, N + 1, N), 0);
		CHECK_EQ(feed(BODY_ZSTD, packed, n, step, N - 1, N), -E2BIG);
		CHECK_EQ(feed(BODY_ZSTD, packed, n - 1, step, N, N), -EPROTO);
		CHECK_EQ(feed(BODY_ZSTD, packed, n + 1, step, N, N), -EPROTO);
	}
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(feed(BODY_ZSTD, packed, i, 7, N, 0), -EPROTO);
	CHECK_EQ(feed(BODY_ZSTD, plain, N, 100, N, N), -EPROTO);
	/* two frames are one stream */
	memcpy(packed + n, packed, n);
	CHECK_EQ(feed(BODY_ZSTD, packed, 2 * n, 5, 2 * N, 2 * N), 0);
	/* a window that takes more memory than anybody has to give */
	{
		static const uint8_t large[] = { 0x28, 0xb5, 0x2f, 0xfd, 0x00,
						 0xa0, 0x01, 0x00, 0x00 };

		CHECK_EQ(feed(BODY_ZSTD, large, sizeof(large), 100, N, 0),
			 -EPROTO);
	}
	free(plain);
}

TEST(body_refuses_every_broken_stream)
{
	uint8_t plain[300], packed[512];
	size_t n;

	memset(plain, 'x', sizeof(plain));
	n = gzip(plain, sizeof(plain), packed, sizeof(packed));
	for (size_t i = 0; i < n; i++)
		CHECK_EQ(feed(BODY_GZIP, packed, i, 7, 1000, 0), -EPROTO);
	for (size_t i = 0; i < 8 * n; i++) {
		struct viewer_body b;

		packed[i / 8] ^= (uint8_t)(1 << i % 8);
		CHECK_EQ(body_init(&b, BODY_GZIP, 1000), 0);
		if (body_add(&b, packed, n) == 0 && body_end(&b) == 0)
			CHECK_EQ(b.bytes.len, sizeof(plain));
		CHECK(b.bytes.len <= 1000);
		body_fini(&b);
		packed[i / 8] ^= (uint8_t)(1 << i % 8);
	}
}

/* --- parameters -------------------------------------------------------------------- */

/* "a=b&c=d", without any %XX. */
static const char *ask(const char *text, struct viewer_request *r)
{
	static struct params p;

	p = (struct params){ .n = 0 };
	while (*text) {
		size_t len = strcspn(text, "&"), name = strcspn(text, "=");

		p.v[p.n++] = (struct param){ text, text + name + 1, name,
					     len - name - 1 };
		text += len + (text[len] == '&');
	}
	return params_read(&p, 1000 * SECOND, r);
}

TEST(params_say_what_is_meant)
{
	struct viewer_request r;

	CHECK(!ask("", &r));
	CHECK_EQ(r.q.to_ns, 1000 * SECOND);
	CHECK_EQ(r.q.from_ns, 940 * SECOND);
	CHECK(r.bins == 120 && r.limit == 100 && !r.reverse && !r.has_base);
	CHECK(!ask("from=5000&to=7000&process=a&process=b&pid=7&kind=go&"
		   "kind=kernel&reverse=1&bins=9&limit=3&format=html&"
		   "base_from=1000&base_to=2000&container=", &r));
	CHECK_EQ(r.q.from_ns, 5 * SECOND);
	CHECK_EQ(r.q.to_ns, 7 * SECOND);
	CHECK_EQ(r.q.key[KEY_PROCESS].n, 2);
	CHECK_EQ(r.q.key[KEY_PID].number[0], 7);
	CHECK_EQ(r.q.key[KEY_CONTAINER].n, 1);
	CHECK_EQ(r.q.kinds, 1u << BATCH_FRAME_GO | 1u << BATCH_FRAME_KERNEL);
	CHECK(r.reverse && r.bins == 9 && r.limit == 3 && r.has_base);
	CHECK_EQ(r.base.from_ns, SECOND);
	CHECK_EQ(r.base.key[KEY_PROCESS].n, 2);
	CHECK(!ask("last=10&to=500000", &r));
	CHECK_EQ(r.q.from_ns, 490 * SECOND);
}

TEST(params_refuse_what_means_nothing)
{
	static const char *const bad[] = {
		"from=x", "from=", "from=-1", "from=1&from=2", "from=2&to=1",
		"from=1&last=2", "to=99999999999999999999", "pid=x", "pid=",
		"pid=4294967296", "tid=1.5", "kind=", "kind=ruby", "bins=0",
		"bins=10001", "limit=0", "reverse=2", "base_from=1",
		"base_from=2&base_to=1", "colour=red", "=", "last=0",
		"from=5000&to=5000",
	};
	struct viewer_request r;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (!ask(bad[i], &r))
			printf("# %s\n", bad[i]);
		CHECK(ask(bad[i], &r) != NULL);
	}
}

/* So many values as a query has room for, and one more. */
TEST(params_have_limits)
{
	char text[16 * (SELECT_VALUES_MAX + 1)] = "";
	struct viewer_request r;
	size_t n = 0;

	for (unsigned int i = 0; i < SELECT_VALUES_MAX; i++)
		n += (size_t)sprintf(text + n, "%spid=%u", i ? "&" : "", i + 1);
	CHECK(!ask(text, &r));
	CHECK_EQ(r.q.key[KEY_PID].n, SELECT_VALUES_MAX);
	strcpy(text + n, "&pid=1");
	CHECK_STR(ask(text, &r), "too many values of one filter");
	/* another filter has its own */
	strcpy(text + n, "&tid=1");
	CHECK(!ask(text, &r));
}
