// SPDX-License-Identifier: Apache-2.0
/* A sender, beside HTTP, a timer and a clock that the test drives. */
#include "exporterd/sender.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "exporterd/request.h"
#include "ipc/sealed.h"
#include "tests/unit/fake_http.h"
#include "tests/unit/harness.h"

#define EVENTS	64

/* --- a sender ---------------------------------------------------------------------- */

static struct sender sender;
static struct kept_batches kept;
static uint64_t outcomes[BATCH__OUTCOMES];
static char url[] = "http://test";
static const struct endpoint endpoint = {
	.number = 1, .url = url, .shown_url = url,
};
static const struct resource resource;

static void outcome(void *arg, const struct sender *s, uint64_t id,
		    uint64_t samples, enum batch_outcome o)
{
	(void)arg;
	CHECK(s == &sender && id > 0);
	outcomes[o] += samples;
}

static void begin(void)
{
	memset(outcomes, 0, sizeof(outcomes));
	posts = 0;
	post_fails = 0;
	CHECK_EQ(sender_init(&sender, NULL, &endpoint, &resource, outcome,
			     NULL), 0);
}

/* Every event of `events` that was added has one outcome. */
static void end(uint64_t events)
{
	uint64_t sum = sender_samples(&sender);

	for (int o = 0; o < BATCH__OUTCOMES; o++)
		sum += outcomes[o];
	CHECK_EQ(sum, events);
	sender_fini(&sender);
	CHECK(!kept.n && !kept.bytes && !kept.first && !kept.last);
}

/* Of n samples of one event each, with names that no compression shrinks. */
static void add(uint64_t id, uint32_t n)
{
	struct batch_builder *b = batch_builder_new(20);
	struct batch batch;
	struct kept_batch *whole;
	struct request q;
	struct item *it;
	size_t len;
	void *mem;
	int fd;

	CHECK(b);
	for (uint32_t i = 0; i < n; i++) {
		char name[300];
		uint32_t frame, fn;

		memset(name, 'a' + (int)(i % 26), sizeof(name));
		len = (size_t)snprintf(name, sizeof(name), "%u", i);
		name[len] = '_';
		fn = batch_function(b, &(struct batch_function){
			.name = batch_string(b, name, sizeof(name)) });
		frame = batch_frame(b, &(struct batch_frame){
			.address = i, .function = fn,
			.kind = BATCH_FRAME_KERNEL });
		batch_event(b, batch_stack(b, &frame, 1), 0, 0, STOP_COMPLETE,
			    1000 + i);
	}
	CHECK_EQ(batch_builder_finish(b, 1000, 2000, &mem, &len), 0);
	batch_builder_free(b);
	CHECK_EQ(batch_open(mem, len, &batch), 0);
	fd = sealed_make("test", &(struct iovec){ mem, len }, 1);
	whole = kept_batch_new(&kept, fd, len);
	CHECK(whole);
	close(fd);
	CHECK_EQ(request_init(&q, &batch, otlp_all(&batch), NULL), 0);
	it = request_item(&q, id, COMPRESSION_NONE, whole, otlp_all(&batch));
	CHECK(it);
	request_fini(&q);
	kept_batch_put(whole);
	free(mem);
	sender_add(&sender, it);
}

static void answer(long status, const char *retry_after)
{
	struct http_answer a = { .status = status, .error = "refused" };

	CHECK(sender.http.curl.busy);
	snprintf(a.retry_after, sizeof(a.retry_after), "%s", retry_after);
	sender.http.curl.busy = false;
	sender.http.done(sender.http.arg, &a);
}

static void wait_for_timer(void)
{
	CHECK(timer_on && !sender.http.curl.busy);
	mono_ns += timer_wait;
	timer_on = false;
	sender.again.fn(sender.again.arg);
}

/* --- tests -------------------------------------------------------------------------- */

TEST(what_is_accepted_is_delivered)
{
	begin();
	add(1, 5);
	add(2, 7);
	CHECK_EQ(posts, 1);
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 5);
	CHECK_EQ(posts, 2);
	answer(204, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 12);
	CHECK(sender_idle(&sender));
	CHECK_EQ(sender.requests, 2);
	end(12);
}

/* A 200 that says how many profiles were rejected (below 128). */
static void answer_partly(uint32_t rejected)
{
	/* partial_success { rejected_profiles } */
	uint8_t body[] = { 0x0a, 2, 0x08, (uint8_t)rejected };

	CHECK(rejected < 128 && sender.http.curl.busy);
	sender.http.curl.busy = false;
	sender.http.done(sender.http.arg, &(struct http_answer){
		.status = 200, .body = body, .len = sizeof(body) });
}

TEST(what_is_refused_in_part_counts_as_the_answer_says)
{
	begin();
	add(1, 6);
	sender.cur->profiles = 3;
	answer_partly(2);
	CHECK_EQ(outcomes[BATCH_DELIVERED], 2);
	CHECK_EQ(outcomes[BATCH_REJECTED], 4);
	add(2, 7);
	sender.cur->profiles = 3;
	answer_partly(3);
	CHECK_EQ(outcomes[BATCH_DELIVERED], 2);
	CHECK_EQ(outcomes[BATCH_REJECTED], 11);
	/* more than there were; and what is less than a sample counts as one */
	add(3, 2);
	CHECK_EQ(sender.cur->profiles, 1);
	answer_partly(2);
	CHECK_EQ(outcomes[BATCH_REJECTED], 13);
	add(4, 1);
	sender.cur->profiles = 9;
	answer_partly(1);
	CHECK_EQ(outcomes[BATCH_REJECTED], 14);
	CHECK_EQ(sender.partial_rejected, 7);
	end(16);
}

TEST(a_refusal_is_final)
{
	begin();
	add(1, 5);
	answer(400, "");
	CHECK_EQ(outcomes[BATCH_REJECTED], 5);
	CHECK(!timer_on && sender_idle(&sender));
	end(5);
}

/* 0.5 s to 2 s at first, twice as much at most each time, at most 60 s; then the last one
 * after SENDER_GIVE_UP_NS. */
TEST(retries_back_off_and_give_up)
{
	uint64_t base = SENDER_FIRST_NS, from;
	unsigned int n = 0;

	begin();
	add(1, 5);
	from = mono_ns;
	while (sender.http.curl.busy) {
		answer(n % 2 ? 503 : 0, "");
		if (!timer_on)
			break;
		CHECK(timer_wait <= base);
		CHECK(timer_wait >= SENDER_FIRST_NS / 4 ||
		      mono_ns + timer_wait == from + SENDER_GIVE_UP_NS);
		base *= 2;
		base = base < SENDER_MAX_NS ? base : SENDER_MAX_NS;
		wait_for_timer();
		n++;
		CHECK_EQ(sender.retries, n);
		CHECK_EQ(outcomes[BATCH_GAVE_UP], 0);
	}
	CHECK(n > 8 && n < 40);
	CHECK_EQ(mono_ns - from, SENDER_GIVE_UP_NS);
	CHECK_EQ(outcomes[BATCH_GAVE_UP], 5);
	/* the receiver is no better for the next: it waits as if it were the same */
	add(2, 3);
	CHECK(!sender.http.curl.busy && timer_on && timer_wait >= SENDER_FIRST_NS / 4);
	CHECK_EQ(sender.backoff.next_ns, SENDER_MAX_NS);
	wait_for_timer();
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 3);
	/* what is accepted ends that */
	mono_ns += SECOND;
	add(3, 2);
	CHECK(sender.http.curl.busy);
	answer(503, "");
	CHECK(timer_on && timer_wait <= SENDER_FIRST_NS);
	wait_for_timer();
	answer(200, "");
	end(10);
}

/* A backend that starts answers 500; one that cannot take this does so, too. */
TEST(an_error_of_the_receiver_is_tried_again_a_few_times)
{
	begin();
	add(1, 5);
	for (unsigned int i = 0; i < SENDER_ERRORS_MAX; i++) {
		answer(500, "");
		wait_for_timer();
	}
	CHECK_EQ(sender.retries, SENDER_ERRORS_MAX);
	answer(500, "");
	CHECK_EQ(outcomes[BATCH_GAVE_UP], 5);
	/* the next has one try, until something is accepted */
	add(2, 3);
	wait_for_timer();
	answer(500, "");
	CHECK_EQ(outcomes[BATCH_GAVE_UP], 8);
	add(3, 2);
	wait_for_timer();
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 2);
	mono_ns += SECOND;
	add(4, 1);
	answer(500, "7");
	CHECK(timer_on && timer_wait >= 7 * SECOND && timer_wait <= 8 * SECOND);
	wait_for_timer();
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 3);
	end(11);
}

/* What waited goes with gaps, each within the time that its batch was sampled in. */
static void catch_up(uint64_t span)
{
	uint64_t sum = 0;

	begin();
	for (uint64_t id = 1; id <= 101; id++) {
		add(id, 1);
		if (id == 1)
			sender.cur->span_ns = span;
		else
			sender.queue.last->span_ns = span;
	}
	answer(503, "");
	wait_for_timer();
	answer(200, "");
	for (uint64_t id = 2; id <= 101; id++) {
		/* from the second on: the first began before it was known */
		if (id > 2) {
			CHECK(timer_on && timer_wait <= span);
			sum += timer_wait;
			wait_for_timer();
		}
		answer(200, "");
		CHECK_EQ(outcomes[BATCH_DELIVERED], id);
	}
	/* twice as fast as they were sampled */
	CHECK(sum > 99 * span * 3 / 10 && sum < 99 * span * 7 / 10);
	/* nothing waits: what comes goes at once */
	mono_ns += span;
	add(200, 1);
	answer(200, "");
	add(201, 1);
	answer(200, "");
	end(103);
}

TEST(what_waited_comes_with_gaps)
{
	catch_up(5 * SECOND);
	/* the longest interval that the configuration takes */
	catch_up(300 * SECOND);
}

/* A batch that is added when a gap is over begins at once: no timer is left that would send
 * it a second time. */
TEST(a_gap_may_end_before_its_timer)
{
	begin();
	for (uint64_t id = 1; id <= 3; id++) {
		add(id, 1);
		if (id > 1)
			sender.queue.last->span_ns = 50 * SECOND;
	}
	answer(503, "");
	wait_for_timer();
	answer(200, "");
	answer(200, "");
	CHECK(timer_on && !sender.http.curl.busy);
	mono_ns += timer_wait;
	add(4, 1);
	CHECK(sender.http.curl.busy && !timer_on);
	/* nor by who is told to end */
	sender_drain(&sender, mono_ns + 5 * SECOND);
	CHECK(!timer_on);
	answer(200, "");
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 4);
	end(4);
}

/* Who is told to end waits for no gap. */
TEST(draining_has_no_gaps)
{
	begin();
	for (uint64_t id = 1; id <= 4; id++) {
		add(id, 1);
		if (id > 1)
			sender.queue.last->span_ns = 50 * SECOND;
	}
	answer(503, "");
	wait_for_timer();
	answer(200, "");
	answer(200, "");
	CHECK(timer_on && !sender.http.curl.busy);
	sender_drain(&sender, mono_ns + 10 * SECOND);
	CHECK(timer_on && !timer_wait);
	wait_for_timer();
	answer(200, "");
	answer(200, "");
	CHECK(sender_idle(&sender));
	end(4);
}

TEST(retry_after_is_obeyed_as_far_as_it_makes_sense)
{
	static const char *const absurd[] = {
		"999999999999999999999999", "86400", "601",
		"Fri, 31 Dec 9999 23:59:59 GMT",
	};
	const uint64_t most = SENDER_RETRY_AFTER_MAX_NS;

	begin();
	add(1, 5);
	answer(429, "30");
	/* and a tenth more at most, however often it was tried */
	for (int i = 0; i < 3; i++) {
		CHECK(timer_on && timer_wait >= 30 * SECOND && timer_wait <= 33 * SECOND);
		wait_for_timer();
		answer(503, i < 2 ? "30" : "4");
	}
	CHECK(timer_on && timer_wait >= 4 * SECOND && timer_wait <= 5 * SECOND);
	wait_for_timer();
	answer(429, "-5");
	CHECK(timer_on && timer_wait <= 2 * SECOND);
	wait_for_timer();
	answer(429, "soon");
	CHECK(timer_on && timer_wait <= 4 * SECOND);
	wait_for_timer();
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 5);
	mono_ns += SECOND;
	/* there is a bound, and what waits for so long is tried then */
	for (uint64_t i = 0; i < 4; i++) {
		add(2 + i, 1);
		answer(503, absurd[i]);
		CHECK(timer_on && timer_wait >= most && timer_wait <= most + most / 10);
		wait_for_timer();
		answer(200, "");
		CHECK_EQ(outcomes[BATCH_DELIVERED], 6 + i);
		mono_ns += SECOND;
	}
	/* ... and given up if that was of no use; but the next waits as well */
	add(6, 1);
	add(7, 1);
	answer(503, "86400");
	wait_for_timer();
	answer(503, "86400");
	CHECK_EQ(outcomes[BATCH_GAVE_UP], 1);
	CHECK(timer_on && timer_wait >= most && timer_wait <= most + most / 10);
	wait_for_timer();
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 10);
	end(11);
}

/* For ten minutes a receiver asks for ten minutes: what memory holds is not lost. */
TEST(a_long_retry_after_loses_nothing_that_fits)
{
	uint64_t from, id = 1;

	begin();
	add(id, 1);
	from = mono_ns;
	answer(503, "600");
	while (timer_on && timer_wait > 5 * SECOND) {
		mono_ns += 5 * SECOND;
		timer_wait -= 5 * SECOND;
		add(++id, 1);
	}
	CHECK(id > 100 && id < QUEUE_ITEMS);
	CHECK_EQ(posts, 1);
	while (!sender_idle(&sender)) {
		if (timer_on)
			wait_for_timer();
		CHECK(mono_ns - from >= 600 * SECOND);
		answer(200, "");
	}
	CHECK_EQ(outcomes[BATCH_DELIVERED], id);
	end(id);
}

/* Six times 500, and at last with a Retry-After: the next batch waits for that. */
TEST(who_gives_up_does_what_the_receiver_asks)
{
	begin();
	add(1, 5);
	for (unsigned int i = 0; i < SENDER_ERRORS_MAX; i++) {
		answer(500, "");
		wait_for_timer();
	}
	add(2, 3);
	answer(500, "60");
	CHECK_EQ(outcomes[BATCH_GAVE_UP], 5);
	CHECK(!sender.http.curl.busy && timer_on);
	CHECK(timer_wait >= 60 * SECOND && timer_wait <= 66 * SECOND);
	wait_for_timer();
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 3);
	end(8);
}

TEST(a_request_that_cannot_be_sent_is_tried_again)
{
	begin();
	post_fails = 1;
	add(1, 5);
	CHECK_EQ(posts, 1);
	CHECK(timer_on);
	post_fails = 0;
	wait_for_timer();
	CHECK_EQ(posts, 2);
	answer(200, "");
	CHECK_EQ(outcomes[BATCH_DELIVERED], 5);
	end(5);
}

/* A receiver that takes at most `limit` bytes. */
static void serve(size_t limit)
{
	for (int n = 0; sender.http.curl.busy; n++) {
		CHECK(n < 1000);
		answer(sender.cur->body->raw_len > limit ? 413 : 200, "");
	}
	CHECK(!timer_on);
}

TEST(what_is_too_large_is_halved)
{
	size_t whole;
	unsigned int before;

	begin();
	add(1, EVENTS);
	whole = sender.cur->body->raw_len;
	serve(whole / 3);
	CHECK_EQ(outcomes[BATCH_DELIVERED], EVENTS);
	CHECK(sender_idle(&sender));
	CHECK(posts > 4 && posts < 12);
	/* the next of this size is halved before it is tried */
	before = posts;
	add(2, EVENTS);
	CHECK(sender.cur->body->raw_len <= whole / 2 + 1000);
	serve(whole / 3);
	CHECK_EQ(outcomes[BATCH_DELIVERED], 2 * EVENTS);
	CHECK(posts - before < before);
	/* ... and not any more after a while */
	mono_ns += SENDER_TOO_LARGE_NS;
	add(3, EVENTS);
	CHECK_EQ(sender.cur->body->raw_len, whole);
	serve(whole);
	CHECK_EQ(outcomes[BATCH_DELIVERED], 3 * EVENTS);
	end(3 * EVENTS);
}

TEST(a_sample_that_alone_is_too_large_is_refused)
{
	begin();
	add(1, 1);
	answer(413, "");
	CHECK_EQ(outcomes[BATCH_REJECTED], 1);
	CHECK(sender_idle(&sender) && !timer_on);
	end(1);
}

/* ... which says nothing of the size of single samples. */
TEST (what_is_no_longer_kept_is_refused_as_a_whole) {
	begin();
	add(1, EVENTS);
	kept_batch_put(sender.cur->batch);
	sender.cur->batch = NULL;
	answer(413, "");
	CHECK_EQ(outcomes[BATCH_REJECTED], EVENTS);
	CHECK_EQ(sender.singles, 0);
	CHECK(sender_idle(&sender) && !timer_on);
	end(EVENTS);
}

/* It is not the size, whatever the receiver says: no 2 * 64 requests. */
TEST(a_receiver_that_finds_everything_too_large_is_given_up_soon)
{
	begin();
	add(1, EVENTS);
	serve(0);
	CHECK_EQ(outcomes[BATCH_REJECTED], EVENTS);
	CHECK(posts <= 6 + 2 * SENDER_SINGLES_MAX);
	CHECK(sender_idle(&sender));
	end(EVENTS);
}

TEST(what_waits_too_long_is_pushed_out)
{
	begin();
	add(1, 1);
	for (uint64_t i = 0; i < QUEUE_ITEMS + 3; i++)
		add(2 + i, 1);
	CHECK_EQ(outcomes[BATCH_QUEUE_FULL], 3);
	CHECK_EQ(sender_samples(&sender), QUEUE_ITEMS + 1);
	sender_give_up(&sender);
	CHECK_EQ(outcomes[BATCH_GAVE_UP], QUEUE_ITEMS + 1);
	CHECK_EQ(sender_bytes(&sender), 0);
	end(QUEUE_ITEMS + 4);
}

TEST(draining_ends_in_time)
{
	uint64_t until = mono_ns + 10 * SECOND;

	begin();
	add(1, 4);
	sender_drain(&sender, until);
	answer(503, "");
	while (timer_on) {
		wait_for_timer();
		answer(503, "");
	}
	CHECK_EQ(outcomes[BATCH_GAVE_UP], 4);
	CHECK(sender.retries > 0 && mono_ns <= until);
	end(4);
}

/* Its successor tries again: this one neither waits nor gives up. */
TEST(holding_does_not_try_again)
{
	begin();
	add(1, 4);
	sender_hold(&sender);
	CHECK(!sender_held(&sender));
	answer(503, "");
	CHECK(!timer_on);
	CHECK(sender_held(&sender));
	CHECK_EQ(outcomes[BATCH_GAVE_UP], 0);
	CHECK_EQ(sender_samples(&sender), 4);
	end(4);
}

/* A held sender ends what it has begun, parts included, and nothing else. */
TEST(holding_ends_what_was_begun)
{
	size_t whole;

	begin();
	add(1, EVENTS);
	add(2, 5);
	whole = sender.cur->body->raw_len;
	answer(413, "");
	answer(200, "");
	sender_hold(&sender);
	CHECK(!sender_held(&sender));
	serve(whole);
	CHECK(sender_held(&sender));
	CHECK_EQ(outcomes[BATCH_DELIVERED], EVENTS);
	CHECK_EQ(sender_samples(&sender), 5);
	end(EVENTS + 5);
}
