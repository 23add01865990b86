// SPDX-License-Identifier: Apache-2.0
/*
 * A thousand senders and one receiver, with a clock, timers and HTTP of the test's: what
 * arrives in each second while the receiver is away, refuses, and is back.  The random
 * numbers are the same each time.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "common/log.h"
#include "exporterd/sender.h"
#include "tests/unit/harness.h"

#define HOSTS		1000
#define SECOND		1000000000ULL
#define TICK		(SECOND / 100)
#define INTERVAL	(5 * SECOND)
#define LATENCY		(2 * TICK)
#define SECONDS		1500
#define USUAL		(HOSTS / 5)	/* requests a second */

struct host {
	struct sender sender;
	uint64_t timer, answer, batch;	/* when; 0: never */
	uint64_t not_before;		/* the receiver's Retry-After */
	uint64_t id;
};

static struct host hosts[HOSTS];
static uint64_t mono_ns, began, made, outcomes[BATCH__OUTCOMES], early;
static unsigned int requests[SECONDS], taken[SECONDS];
static struct body *body;

/* What the receiver does. */
static uint64_t away_from, away_until;	/* seconds; no connection */
static unsigned int capacity;		/* requests a second; more: 503.  0: no end */
static const char *retry_after;		/* ... with this */

/* --- the test's own clock, timer, HTTP and chance ------------------------------------ */

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags);

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = (time_t)(mono_ns / SECOND);
	ts->tv_nsec = (long)(mono_ns % SECOND);
	return 0;
}

ssize_t __wrap_getrandom(void *buf, size_t len, unsigned int flags)
{
	static uint64_t state = 0x9e3779b97f4a7c15ULL;

	(void)flags;
	CHECK_EQ(len, sizeof(state));
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	memcpy(buf, &state, len);
	return (ssize_t)len;
}

static struct host *host_of_timer(struct timer *t)
{
	return (struct host *)((char *)t - offsetof(struct host, sender.again));
}

static struct host *host_of_http(struct http *h)
{
	return (struct host *)((char *)h - offsetof(struct host, sender.http));
}

int timer_init(struct timer *t, struct evloop *loop, void (*fn)(void *arg), void *arg)
{
	*t = (struct timer){ .loop = loop, .fn = fn, .arg = arg };
	return 0;
}

void timer_fini(struct timer *t)
{
	(void)t;
}

void timer_set(struct timer *t, uint64_t ns, uint64_t repeat_ns)
{
	CHECK_EQ(repeat_ns, 0);
	host_of_timer(t)->timer = mono_ns + ns;
}

void timer_stop(struct timer *t)
{
	host_of_timer(t)->timer = 0;
}

int http_init(struct http *h, struct evloop *loop, const struct http_target *target,
	      void (*done)(void *arg, const struct http_answer *answer), void *arg)
{
	(void)target;
	*h = (struct http){ .curl.loop = loop, .done = done, .arg = arg };
	return 0;
}

void http_fini(struct http *h)
{
	(void)h;
}

int http_post(struct http *h, const void *data, size_t len)
{
	struct host *host = host_of_http(h);

	CHECK(!h->curl.busy && data && len);
	h->curl.busy = true;
	host->answer = mono_ns + LATENCY;
	requests[(mono_ns - began) / SECOND]++;
	if (mono_ns < host->not_before)
		early++;
	return 0;
}

void http_cancel(struct http *h)
{
	h->curl.busy = false;
}

/* --- the fleet --------------------------------------------------------------------------- */

static void outcome(void *arg, const struct sender *s, uint64_t id, uint64_t samples,
		    enum batch_outcome o)
{
	(void)arg;
	CHECK(s && id);
	outcomes[o] += samples;
}

static void begin(void)
{
	static const struct endpoint endpoint = { .number = 1, .shown_url = (char *)"test" };
	static const struct resource resource;

	log_init("fleet", false);
	began = mono_ns = 1000 * SECOND;
	body = body_make((const uint8_t *)"profile", 7, COMPRESSION_NONE);
	CHECK(body);
	for (unsigned int i = 0; i < HOSTS; i++) {
		CHECK_EQ(sender_init(&hosts[i].sender, NULL, &endpoint, &resource, outcome,
				     NULL), 0);
		hosts[i].batch = mono_ns + INTERVAL * i / HOSTS;
	}
}

static void host_answers(struct host *h)
{
	uint64_t s = (mono_ns - began) / SECOND;
	struct http_answer a = { .status = 200, .error = "refused" };

	h->answer = 0;
	if (s >= away_from && s < away_until)
		a.status = 0;
	else if (capacity && taken[s] >= capacity)
		a.status = 503;
	else
		taken[s]++;
	if (a.status == 503 && retry_after) {
		snprintf(a.retry_after, sizeof(a.retry_after), "%s", retry_after);
		h->not_before = mono_ns + (uint64_t)atoi(retry_after) * SECOND;
	}
	h->sender.http.curl.busy = false;
	h->sender.http.done(h->sender.http.arg, &a);
}

static void host_samples(struct host *h)
{
	struct item *it;

	h->batch += INTERVAL;
	h->id++;
	it = item_new(body, h->id, 1, 1);
	CHECK(it);
	it->span_ns = INTERVAL;
	made++;
	sender_add(&h->sender, it);
}

static void run(unsigned int seconds)
{
	for (uint64_t end = mono_ns + seconds * SECOND; mono_ns < end; mono_ns += TICK) {
		for (struct host *h = hosts; h < hosts + HOSTS; h++) {
			if (h->answer && h->answer <= mono_ns)
				host_answers(h);
			if (h->timer && h->timer <= mono_ns) {
				h->timer = 0;
				h->sender.again.fn(h->sender.again.arg);
			}
			if (h->batch <= mono_ns)
				host_samples(h);
		}
	}
}

static unsigned int most(unsigned int from, unsigned int until)
{
	unsigned int ret = 0;

	for (unsigned int s = from; s < until; s++)
		ret = requests[s] > ret ? requests[s] : ret;
	return ret;
}

/* The second from which on it is as before. */
static unsigned int caught_up(unsigned int from, unsigned int until)
{
	while (until > from && requests[until - 1] <= USUAL * 5 / 4)
		until--;
	return until;
}

static uint64_t waiting(void)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < HOSTS; i++)
		n += sender_samples(&hosts[i].sender);
	return n;
}

static void end(void)
{
	uint64_t sum = waiting();

	for (int o = 0; o < BATCH__OUTCOMES; o++)
		sum += outcomes[o];
	CHECK_EQ(sum, made);
	for (unsigned int i = 0; i < HOSTS; i++)
		sender_fini(&hosts[i].sender);
	body_put(body);
}

/* --- tests ---------------------------------------------------------------------------------- */

TEST(fleet_comes_back_slowly_after_an_outage)
{
	away_from = 60;
	away_until = 300;
	begin();
	run(900);
	printf("# requests a second: %u before, most %u when it goes, %u while it is away, %u "
	       "after; as before from second %u on\n", most(10, 60), most(60, 70),
	       most(70, 300), most(300, 900), caught_up(300, 900));
	CHECK(most(60, 300) <= 3 * USUAL);
	CHECK(most(300, 900) <= USUAL * 5 / 2);
	CHECK(caught_up(300, 900) < 700);
	CHECK_EQ(outcomes[BATCH_DELIVERED] + waiting(), made);
	end();
}

/* What a memory limiter refuses is no more than it takes. */
TEST(fleet_is_taken_by_a_receiver_with_little_room)
{
	unsigned int all = 0, good = 0;

	away_from = 60;
	away_until = 180;
	capacity = USUAL * 3 / 2;
	begin();
	run(1400);
	for (unsigned int s = 180; s < 1400; s++) {
		all += requests[s];
		good += taken[s];
	}
	printf("# requests a second: most %u, %u of them taken; refused %u of %u; as before from "
	       "second %u on\n", most(180, 1400), capacity, all - good, all,
	       caught_up(180, 1400));
	CHECK(most(180, 1400) <= USUAL * 3);
	CHECK(all - good < good);
	CHECK(caught_up(180, 1400) < 1300);
	CHECK_EQ(outcomes[BATCH_DELIVERED] + waiting(), made);
	end();
}

/* All hosts are told the same: they come when they are told, and not in one moment. */
TEST(fleet_obeys_a_retry_after_and_spreads_it)
{
	away_from = 60;
	away_until = 120;
	capacity = USUAL * 3 / 2;
	retry_after = "20";
	begin();
	run(600);
	printf("# requests a second: most %u; %llu too early\n", most(120, 600),
	       (unsigned long long)early);
	CHECK(most(120, 600) <= USUAL * 3);
	CHECK_EQ(early, 0);
	CHECK_EQ(outcomes[BATCH_DELIVERED] + waiting(), made);
	end();
}
