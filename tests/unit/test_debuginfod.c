// SPDX-License-Identifier: Apache-2.0
/* Which debuginfod server is asked for what, and when; with downloads, a timer and
 * a clock that the test drives. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "exporterd/debuginfod.h"
#include "tests/unit/fake_timer.h"
#include "tests/unit/harness.h"

static char url[256];
static int start_fails;

int download_init(struct download *d, struct evloop *loop, struct debug_cache *cache,
		  uint64_t max, unsigned int timeout_s,
		  void (*done)(void *arg, const struct download_result *r),
		  void *arg)
{
	(void)loop;
	(void)timeout_s;
	*d = (struct download){ .cache = cache, .max = max, .done = done, .arg = arg };
	return 0;
}

void download_fini(struct download *d)
{
	(void)d;
}

void download_cancel(struct download *d)
{
	d->curl.busy = false;
}

int download_start(struct download *d, const char *s, const struct msg_debuginfo_wanted *what)
{
	CHECK(!d->curl.busy);
	if (start_fails)
		return start_fails;
	d->what = *what;
	snprintf(url, sizeof(url), "%s", s);
	d->curl.busy = true;
	return 0;
}

/* --- one of two servers, and its answers ---------------------------------------- */

static char first[] = "http://a.example", second[] = "https://b.example:8002/x/";
static struct debuginfod_config config = {
	.urls = { first, second }, .n = 2, .max_bytes = 1 << 20, .timeout_s = 90,
};
static struct debuginfod d;
static struct exporter_stats stats;
static struct { unsigned int n; uint64_t id; int fd; } answer;

static void on_answer(void *arg, uint64_t id, int fd)
{
	CHECK(arg == &d);
	answer.n++;
	answer.id = id;
	answer.fd = fd;
}

static void debuginfod_begin(void)
{
	mono_ns = 1000 * NSEC_PER_SEC;
	stats = (struct exporter_stats){ 0 };
	memset(&answer, 0, sizeof(answer));
	url[0] = '\0';
	start_fails = 0;
	CHECK_EQ(debuginfod_init(&d, NULL, &config, &stats, on_answer, &d), 0);
}

static bool ask(uint64_t id, uint8_t last)
{
	struct msg_debuginfo_wanted w = { .build_id_len = 8 };

	w.build_id[0] = 0xab;
	w.build_id[7] = last;
	return debuginfod_ask(&d, id, &w);
}

static void debuginfod_ends(enum download_end end, int fd, uint64_t retry_after_s)
{
	const struct download_result r = {
		.end = end, .fd = fd, .bytes = end == DOWNLOAD_FOUND ? 100 : 0,
		.retry_after_s = retry_after_s, .error = "for the test",
	};

	CHECK(d.download.curl.busy);
	d.download.curl.busy = false;
	d.download.done(d.download.arg, &r);
}

TEST(servers_are_asked_in_turn)
{
	debuginfod_begin();
	CHECK(ask(7, 1));
	CHECK(!strcmp(url, "http://a.example/buildid/ab00000000000001/debuginfo"));
	CHECK_EQ(answer.n, 0);
	debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	CHECK(!strcmp(url, "https://b.example:8002/x/buildid/ab00000000000001/debuginfo"));
	CHECK_EQ(answer.n, 0);
	debuginfod_ends(DOWNLOAD_FOUND, 42, 0);
	CHECK(answer.n == 1 && answer.id == 7 && answer.fd == 42);
	CHECK(stats.debuginfod_asked == 1 && stats.debuginfod_requests == 2);
	CHECK(stats.debuginfod_found == 1 && stats.debuginfod_not_found == 0);
	CHECK(stats.debuginfod_bytes == 100 && stats.debuginfod_failed == 0);
}

TEST(what_nobody_has_is_not_asked_again_for_an_hour)
{
	debuginfod_begin();
	for (int hour = 0; hour < 2; hour++) {
		CHECK(ask(1, 1));
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
		CHECK(answer.fd == -1);
		mono_ns += 3599 * NSEC_PER_SEC;
		CHECK(ask(2, 1));
		CHECK(!d.download.curl.busy);
		CHECK(answer.id == 2 && answer.fd == -1);
		mono_ns += 2 * NSEC_PER_SEC;
	}
	CHECK(stats.debuginfod_requests == 4 && stats.debuginfod_not_found == 2);
	CHECK_EQ(stats.debuginfod_asked, 2);
}

TEST(another_build_id_is_another_question)
{
	debuginfod_begin();
	CHECK(ask(1, 1));
	debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	CHECK(ask(2, 2));
	CHECK(d.download.curl.busy);
}

TEST(a_server_that_fails_is_left_alone_and_longer_each_time)
{
	uint64_t before = 0;

	debuginfod_begin();
	for (int i = 0; i < 20; i++) {
		uint64_t wait;

		CHECK(ask(1, (uint8_t)i));
		debuginfod_ends(DOWNLOAD_REFUSED, -1, 0);
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
		CHECK(answer.fd == -1);
		/* the first may have it, so that it is not remembered */
		CHECK(ask(3, (uint8_t)i) && d.download.curl.busy);
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
		wait = d.servers[0].until_ns - mono_ns;
		CHECK(wait >= 5 * NSEC_PER_SEC && wait <= 1350 * NSEC_PER_SEC);
		before = wait;
		url[0] = '\0';
		CHECK(ask(2, 100));
		CHECK(!strncmp(url, second, strlen(second)));
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
		mono_ns += wait + NSEC_PER_SEC;
	}
	CHECK(before > 400 * NSEC_PER_SEC);
	CHECK(stats.debuginfod_failed == 20 && stats.debuginfod_not_found == 0);
}

TEST(a_server_says_when)
{
	debuginfod_begin();
	CHECK(ask(1, 1));
	debuginfod_ends(DOWNLOAD_REFUSED, -1, 300);
	CHECK(d.servers[0].until_ns >= mono_ns + 300 * NSEC_PER_SEC);
	debuginfod_ends(DOWNLOAD_REFUSED, -1, 1000000);
	CHECK(d.servers[1].until_ns <= mono_ns + 900 * NSEC_PER_SEC);
	/* nobody may be asked now */
	CHECK(ask(2, 2));
	CHECK(answer.id == 2 && answer.fd == -1 && !d.download.curl.busy);
}

TEST(what_is_too_large_is_not_the_servers_fault)
{
	debuginfod_begin();
	CHECK(ask(1, 1));
	debuginfod_ends(DOWNLOAD_TOO_MUCH, -1, 0);
	CHECK_EQ(d.servers[0].until_ns, 0);
	debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	CHECK(answer.fd == -1);
	CHECK(stats.debuginfod_failed == 1 && stats.debuginfod_not_found == 0);
	mono_ns += 3599 * NSEC_PER_SEC;
	CHECK(ask(2, 1) && !d.download.curl.busy && answer.id == 2);
}

TEST(what_was_cut_off_is_not_asked_again_soon)
{
	debuginfod_begin();
	CHECK(ask(1, 1));
	debuginfod_ends(DOWNLOAD_SPOILT, -1, 0);
	CHECK(d.servers[0].until_ns > mono_ns);
	debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	CHECK(answer.fd == -1);
	mono_ns += 3599 * NSEC_PER_SEC;
	CHECK(ask(2, 1) && !d.download.curl.busy && answer.id == 2);
}

TEST(what_was_handed_over_is_enough_for_a_while)
{
	debuginfod_begin();
	CHECK(ask(1, 1));
	debuginfod_ends(DOWNLOAD_FOUND, 42, 0);
	mono_ns += 599 * NSEC_PER_SEC;
	CHECK(ask(2, 1) && !d.download.curl.busy && answer.id == 2 && answer.fd == -1);
	mono_ns += 2 * NSEC_PER_SEC;
	CHECK(ask(3, 1) && d.download.curl.busy);
}

TEST(requests_are_few)
{
	debuginfod_begin();
	for (int i = 0; i < DEBUGINFOD_REQUESTS; i += 2) {
		CHECK(ask(1, (uint8_t)i));
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	}
	CHECK(!timer_on);
	CHECK(ask(2, 200));
	/* and then one a second */
	for (unsigned int i = 1; i <= 2; i++) {
		CHECK(!d.download.curl.busy && timer_on);
		CHECK_EQ(timer_wait, NSEC_PER_SEC);
		timer_on = false;
		mono_ns += timer_wait;
		d.timer.fn(d.timer.arg);
		CHECK_EQ(stats.debuginfod_requests, DEBUGINFOD_REQUESTS + i);
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	}
	CHECK_EQ(answer.id, 2);
	/* after a minute as many as at the beginning */
	mono_ns += 60 * NSEC_PER_SEC;
	for (int i = 0; i < DEBUGINFOD_REQUESTS; i += 2) {
		CHECK(ask(3, (uint8_t)(100 + i)));
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	}
	CHECK(ask(4, 222) && !d.download.curl.busy);
}

TEST(few_questions_wait)
{
	debuginfod_begin();
	for (int i = 0; i < DEBUGINFOD_QUESTIONS; i++)
		CHECK(ask((uint64_t)i, (uint8_t)i));
	CHECK_EQ(answer.n, 0);
	CHECK(ask(99, 99));
	CHECK(answer.n == 1 && answer.id == 99 && answer.fd == -1);
	for (int i = 0; i < DEBUGINFOD_QUESTIONS - 1; i++) {
		debuginfod_ends(DOWNLOAD_FOUND, 10 + i, 0);
		CHECK(answer.id == (uint64_t)i && answer.fd == 10 + i);
	}
	CHECK(d.n == 1 && d.download.curl.busy);
	debuginfod_forget(&d);
	CHECK(d.n == 0 && !d.download.curl.busy && answer.n == DEBUGINFOD_QUESTIONS);
}

TEST(a_request_that_cannot_begin_ends)
{
	debuginfod_begin();
	start_fails = -ENOMEM;
	CHECK(ask(1, 1));
	CHECK(answer.n == 1 && answer.fd == -1);
}

/* Nobody has this; it is of this owner. */
static void nobody_has(uint32_t owner, uint32_t number)
{
	struct msg_debuginfo_wanted w = { .build_id_len = 12, .owner = owner };

	memcpy(w.build_id, &owner, 4);
	memcpy(w.build_id + 4, &number, 4);
	CHECK(debuginfod_ask(&d, 1, &w));
	while (d.download.curl.busy)
		debuginfod_ends(DOWNLOAD_NOT_THERE, -1, 0);
	mono_ns += NSEC_PER_SEC / 2;
}

/* A user with many build IDs of his own has servers asked again for his. */
TEST(what_is_not_asked_again_is_remembered_by_owner)
{
	uint64_t requests;

	debuginfod_begin();
	for (uint32_t i = 0; i < 10; i++)
		nobody_has(0, i);
	for (uint32_t i = 0; i < 2 * DEBUGINFOD_REMEMBERED; i++) {
		d.used_ns = 0;
		nobody_has(1000, i);
	}
	d.used_ns = 0;
	requests = stats.debuginfod_requests;
	for (uint32_t i = 0; i < 10; i++)
		nobody_has(0, i);
	CHECK_EQ(stats.debuginfod_requests, requests);
	/* the last ones of his, too */
	nobody_has(1000, 2 * DEBUGINFOD_REMEMBERED - 1);
	CHECK_EQ(stats.debuginfod_requests, requests);
	nobody_has(1000, 0);
	CHECK(stats.debuginfod_requests > requests);
}

TEST(what_is_no_build_id_is_refused)
{
	struct msg_debuginfo_wanted w = { .build_id_len = DEBUGINFO_ID_MIN - 1 };

	debuginfod_begin();
	CHECK(!debuginfod_ask(&d, 1, &w));
	w.build_id_len = BUILD_ID_MAX + 1;
	CHECK(!debuginfod_ask(&d, 1, &w));
	w.build_id_len = BUILD_ID_MAX;
	w.useless = 2;
	CHECK(!debuginfod_ask(&d, 1, &w));
	w.useless = 0;
	CHECK(debuginfod_ask(&d, 1, &w));
	CHECK(strlen(url) == strlen(first) + strlen("/buildid//debuginfo") + 2 * BUILD_ID_MAX);
}

/* --- with a cache ---------------------------------------------------------------- */

static char dir[] = "/tmp/trifold-cache-XXXXXX";

static void cache_begin(void)
{
	debuginfod_begin();
	debug_cache_open(&d.cache, dir, 1 << 20, true);
	debug_cache_scan(&d.cache);
	CHECK(d.cache.dir >= 0);
}

/* A file comes, and goes to the cache as download.c has it. */
static void cache_comes(void)
{
	CHECK_EQ(debug_cache_begin(d.download.cache), 0);
	CHECK_EQ(debug_cache_write(d.download.cache, "ELF", 3), 0);
	debuginfod_ends(DOWNLOAD_FOUND, debug_cache_keep(d.download.cache, &d.download.what), 0);
}

static void cache_check_answer(uint64_t id)
{
	char text[4];

	CHECK(answer.id == id && answer.fd >= 0);
	CHECK(pread(answer.fd, text, 4, 0) == 3 && !memcmp(text, "ELF", 3));
	close(answer.fd);
}

static void useless(uint64_t id, uint8_t last)
{
	struct msg_debuginfo_wanted w = { .build_id_len = 8, .useless = 1 };

	w.build_id[0] = 0xab;
	w.build_id[7] = last;
	CHECK(debuginfod_ask(&d, id, &w));
}

/* One that is in the cache. */
static void cache_with_one(void)
{
	CHECK(mkdtemp(dir));
	cache_begin();
	CHECK(ask(1, 1));
	cache_comes();
	cache_check_answer(1);
}

static void cache_end(void)
{
	struct msg_debuginfo_wanted w = { .build_id_len = 8, .build_id = { 0xab, [7] = 1 } };

	debug_cache_drop(&d.cache, &w);
	debuginfod_fini(&d);
	CHECK_EQ(rmdir(dir), 0);
}

TEST(cache_answers_without_a_server_also_after_a_start)
{
	cache_with_one();
	for (uint64_t id = 2; id < 4; id++) {
		CHECK(ask(id, 1) && !d.download.curl.busy);
		cache_check_answer(id);
		CHECK(stats.debuginfod_cached == 1 && stats.debuginfod_requests == (id == 2));
		debuginfod_fini(&d);
		cache_begin();
	}
	/* while a server is asked, and when no more questions may wait */
	for (uint8_t i = 0; i < DEBUGINFOD_QUESTIONS; i++)
		CHECK(ask(9, (uint8_t)(100 + i)));
	CHECK(ask(5, 1) && d.download.curl.busy);
	cache_check_answer(5);
	cache_end();
}

TEST(cached_file_of_no_use_is_asked_for_again)
{
	cache_with_one();
	debuginfod_fini(&d);
	cache_begin();
	useless(2, 1);
	CHECK(d.download.curl.busy && d.cache.n == 0 && answer.n == 0);
	cache_comes();
	cache_check_answer(2);
	/* what the server has is of no use either: not soon again */
	useless(3, 1);
	CHECK(!d.download.curl.busy && answer.id == 3 && answer.fd == -1 && d.cache.n == 0);
	cache_end();
}
