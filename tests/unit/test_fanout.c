// SPDX-License-Identifier: Apache-2.0
/* Batches to receivers by way of a spool, beside HTTP and a clock that the test
 * drives.  To be killed is to be forgotten: nothing is told, the files stay. */
#include "exporterd/fanout.h"

#include <unistd.h>

#include "ipc/sealed.h"
#include "tests/unit/fake_http.h"
#include "tests/unit/harness.h"
#include "tests/unit/spool_sample.h"

#define MIB	(1ULL << 20)
#define DONE_MAX	64

static char url[] = "http://test";
static struct exporter_config cfg = {
	.endpoints = { { .number = 1, .url = url, .shown_url = url },
		       { .number = 2, .url = url, .shown_url = url } },
};
static struct fanout f;
static char dir[64];

static struct {
	uint64_t id, samples;
	enum batch_outcome o;
} done[DONE_MAX];
static unsigned int n_done;

static void on_done(void *arg, uint64_t id, uint64_t samples,
		    enum batch_outcome o)
{
	CHECK(arg == &f && n_done < DONE_MAX);
	done[n_done].id = id;
	done[n_done].samples = samples;
	done[n_done++].o = o;
}

static void on_ended(void *arg)
{
	CHECK(arg == &f);
}

static void start(unsigned int receivers, uint64_t max_bytes)
{
	cfg.n_endpoints = receivers;
	memset(&f, 0, sizeof(f));
	f.outcome = on_done;
	f.ended = on_ended;
	f.arg = &f;
	CHECK_EQ(fanout_init(&f, NULL, &cfg), 0);
	CHECK_EQ(spool_open(&f.spool, dir, max_bytes), 0);
	fanout_start(&f);
}

static void begin(unsigned int receivers, uint64_t max_bytes)
{
	snprintf(dir, sizeof(dir), "/tmp/trifold-fanout-XXXXXX");
	CHECK(mkdtemp(dir));
	n_done = 0;
	posts = 0;
	start(receivers, max_bytes);
}

static void killed(unsigned int receivers)
{
	fanout_fini(&f);
	start(receivers, MIB);
}

/* Nothing is left, in memory and on disk. */
static void end(void)
{
	CHECK_EQ(fanout_samples(&f), 0);
	CHECK(!f.kept.n);
	fanout_fini(&f);
	CHECK_EQ(rmdir(dir), 0);
}

static void add(uint64_t id, uint32_t events)
{
	size_t len;
	void *data = sample_batch(1000000, events, &len);
	int fd = sealed_make("test", &(struct iovec){ data, len }, 1);
	struct batch b;

	CHECK(fd >= 0 && batch_open(data, len, &b) == 0);
	fanout_add(&f, id, fd, &b);
	close(fd);
	free(data);
}

static void try_again(void)
{
	CHECK(timer_on);
	mono_ns += timer_wait;
	timer_on = false;
	f.senders[0].again.fn(f.senders[0].again.arg);
}

/* Goes past the gap in front of a batch that waited. */
static void answer(unsigned int receiver, long status)
{
	struct http_answer a = { .status = status, .error = "refused" };
	struct http *h = &f.senders[receiver].http;

	if (!receiver && !h->curl.busy)
		try_again();
	CHECK(h->curl.busy);
	h->curl.busy = false;
	h->done(h->arg, &a);
}

static void was(unsigned int i, uint64_t id, uint64_t samples,
		enum batch_outcome o)
{
	CHECK(i < n_done);
	CHECK_EQ(done[i].id, id);
	CHECK_EQ(done[i].samples, samples);
	CHECK_EQ(done[i].o, o);
}

TEST(fanout_delivers_an_outage_once_and_in_order_across_kills)
{
	begin(1, MIB);
	for (uint64_t id = 1; id <= 12; id++) {
		if (id == 5 || id == 9) {
			answer(0, 503);
			killed(1);
			/* all of it, from the oldest on */
			CHECK_EQ(fanout_samples(&f), id * (id - 1) / 2);
			CHECK_EQ(f.senders[0].cur->id, 1);
		}
		add(id, (uint32_t)id);
	}
	CHECK_EQ(n_done, 0);
	CHECK_EQ(f.kept.n, 1);			/* memory has one of them */
	answer(0, 503);
	try_again();
	for (uint64_t id = 1; id <= 12; id++) {
		answer(0, 200);
		was((unsigned int)id - 1, id, id, BATCH_DELIVERED);
	}
	CHECK_EQ(n_done, 12);
	CHECK(fanout_idle(&f));
	end();
}

TEST(fanout_takes_no_batch_twice)
{
	begin(1, MIB);
	add(1, 3);
	add(2, 4);
	killed(1);
	add(2, 4);
	CHECK_EQ(n_done, 1);
	was(0, 2, 4, BATCH_GAVE_UP);
	CHECK_EQ(fanout_samples(&f), 7);
	answer(0, 200);
	answer(0, 200);
	was(1, 1, 3, BATCH_DELIVERED);
	was(2, 2, 4, BATCH_DELIVERED);
	CHECK_EQ(n_done, 3);
	end();
}

TEST(fanout_is_patient_for_a_day)
{
	begin(1, MIB);
	add(1, 3);
	for (int i = 0; i < 60; i++) {
		answer(0, 503);
		try_again();
	}
	mono_ns += SPOOL_AGE_NS - 3600 * SECOND;
	answer(0, 503);
	CHECK_EQ(n_done, 0);
	try_again();
	mono_ns += 3600 * SECOND;
	answer(0, 503);
	was(0, 1, 3, BATCH_GAVE_UP);
	end();
}

TEST(fanout_remembers_the_part_that_was_sent)
{
	begin(1, MIB);
	add(1, 8);
	answer(0, 413);
	answer(0, 200);
	was(0, 1, 4, BATCH_DELIVERED);
	killed(1);
	CHECK_EQ(fanout_samples(&f), 4);
	CHECK_EQ(f.senders[0].cur->first, 4);
	answer(0, 200);
	was(1, 1, 4, BATCH_DELIVERED);
	CHECK_EQ(n_done, 2);
	end();
}

TEST(fanout_leaves_the_rest_in_the_spool)
{
	for (int how = 0; how < 3; how++) {
		begin(1, MIB);
		add(1, 3);
		add(2, 4);
		if (how == 0) {			/* SIGTERM, nobody there */
			fanout_drain(&f, now_ns() + SECOND / 10);
			CHECK(!fanout_idle(&f));
			answer(0, 503);
			CHECK(fanout_idle(&f));
		} else if (how == 1) {		/* SIGHUP */
			fanout_leave(&f, now_ns() + SECOND);
			answer(0, 503);
			CHECK(fanout_left(&f));
			fanout_give_up(&f, true);
		} else {			/* a second SIGTERM */
			fanout_drain(&f, now_ns() + SECOND);
			fanout_give_up(&f, false);
			CHECK(fanout_idle(&f));
		}
		CHECK_EQ(n_done, 0);
		CHECK_EQ(f.senders[0].outcomes.samples[BATCH_GAVE_UP], 0);
		killed(1);
		CHECK_EQ(fanout_samples(&f), 7);
		answer(0, 200);
		answer(0, 200);
		CHECK_EQ(n_done, 2);
		end();
	}
}

TEST(fanout_drains_what_a_receiver_takes)
{
	begin(1, MIB);
	add(1, 3);
	add(2, 4);
	fanout_drain(&f, now_ns() + SECOND);
	answer(0, 200);
	CHECK(!fanout_idle(&f));
	answer(0, 200);
	CHECK(fanout_idle(&f));
	end();
}

TEST(fanout_falls_back_to_memory)
{
	begin(1, 1000);				/* less than any batch */
	add(1, 500);
	add(2, 600);
	CHECK_EQ(f.spool.errors, 2);
	CHECK_EQ(fanout_samples(&f), 1100);
	answer(0, 200);
	was(0, 1, 500, BATCH_DELIVERED);
	fanout_give_up(&f, false);
	was(1, 2, 600, BATCH_GAVE_UP);
	end();
}

TEST(fanout_tells_what_the_spool_drops)
{
	size_t len;
	uint64_t file;
	struct exporter_stats st = { 0 };

	free(sample_batch(1000000, 100, &len));
	file = len + sizeof(struct spool_hdr);
	begin(1, 2 * file);
	add(1, 100);
	add(2, 100);
	add(3, 100);
	was(0, 2, 100, BATCH_QUEUE_FULL);
	fanout_stats(&f, &st);
	CHECK_EQ(st.queued, 200);
	CHECK_EQ(st.spool_full, 100);
	CHECK_EQ(st.receivers[0].queue_full, 100);
	CHECK_EQ(st.receivers[0].queued, 200);
	answer(0, 200);
	answer(0, 200);
	CHECK_EQ(n_done, 3);
	end();
}

TEST(fanout_gives_others_no_spool)
{
	begin(2, MIB);
	add(1, 3);
	add(2, 4);
	answer(1, 200);
	answer(1, 200);
	CHECK_EQ(n_done, 0);
	CHECK_EQ(f.senders[1].outcomes.samples[BATCH_DELIVERED], 7);
	killed(2);
	CHECK(sender_idle(&f.senders[1]));
	answer(0, 200);
	answer(0, 200);
	CHECK_EQ(n_done, 2);
	end();
}

static bool native_unnamed;

/* A batch of one native function, which has a name, unless native_unnamed; guessed: its
 * caller is. */
static void add_native(uint64_t id, bool guessed)
{
	struct batch_builder *made = batch_builder_new(19);
	struct batch_function fn = { .name = batch_string(made, "secret_f", 8),
				     .unnamed = native_unnamed };
	struct batch_exe exe = { .path = batch_string(made, "/bin/x", 6),
				 .build_id = batch_string(made, "abcd", 4) };
	struct batch_frame frame = {
		.address = 1, .kind = BATCH_FRAME_NATIVE,
		.exe = batch_exe(made, &exe),
		.function = batch_function(made, &fn),
	};
	struct batch_frame mark = { .address = STOP_NO_ROW, .kind = BATCH_FRAME_GUESS };
	uint32_t v[] = { batch_frame(made, &frame), batch_frame(made, &mark),
			 batch_frame(made, &frame) };
	uint32_t stack = batch_stack(made, v, guessed ? 3 : 1);
	struct batch b;
	size_t len;
	void *data;
	int fd;

	for (uint64_t i = 0; i < 4; i++)
		batch_event(made, stack, 0, 0, guessed ? STOP_GUESSED : STOP_COMPLETE, 1000 + i);
	CHECK_EQ(batch_builder_finish(made, 1000, 2000, &data, &len), 0);
	fd = sealed_make("test", &(struct iovec){ data, len }, 1);
	CHECK(fd >= 0 && batch_open(data, len, &b) == 0);
	fanout_add(&f, id, fd, &b);
	close(fd);
	free(data);
	batch_builder_free(made);
}

static bool sends(unsigned int receiver, const char *what)
{
	const struct body *body = f.senders[receiver].cur->body;

	return memmem(body->data, body->len, what, strlen(what));
}

/* Also in halves, and out of the spool. */
TEST(fanout_leaves_names_out_for_whom_asks)
{
	for (unsigned int bare = 0; bare < 2; bare++) {
		for (unsigned int i = 0; i < 2; i++) {
			cfg.endpoints[i].bare = i == bare;
			cfg.endpoints[i].compression = COMPRESSION_NONE;
		}
		begin(2, MIB);
		add_native(1, false);
		for (unsigned int i = 0; i < 2; i++) {
			CHECK_EQ(sends(i, "secret_f"), i != bare);
			CHECK(sends(i, "/bin/x") && sends(i, "abcd"));
			answer(i, 413);
			CHECK_EQ(f.senders[i].cur->samples, 2);
			CHECK_EQ(sends(i, "secret_f"), i != bare);
			answer(i, 200);
			answer(i, 200);
		}
		CHECK_EQ(n_done, 2);
		CHECK_EQ(f.senders[1].outcomes.samples[BATCH_DELIVERED], 4);
		end();
	}
}

TEST(fanout_sends_no_placeholders_to_whom_does_not_want_them)
{
	native_unnamed = true;
	for (unsigned int without = 0; without < 2; without++) {
		for (unsigned int i = 0; i < 2; i++) {
			cfg.endpoints[i].bare = false;
			cfg.endpoints[i].nameless = i == without;
			cfg.endpoints[i].compression = COMPRESSION_NONE;
		}
		begin(2, MIB);
		add_native(1, false);
		for (unsigned int i = 0; i < 2; i++) {
			CHECK_EQ(sends(i, "secret_f"), i != without);
			answer(i, 413);
			CHECK_EQ(sends(i, "secret_f"), i != without);
			answer(i, 200);
			answer(i, 200);
		}
		CHECK_EQ(n_done, 2);
		end();
	}
	for (unsigned int i = 0; i < 2; i++)
		cfg.endpoints[i].nameless = false;
	native_unnamed = false;
}

TEST(fanout_sends_guesses_to_whom_asks)
{
	for (unsigned int with = 0; with < 2; with++) {
		for (unsigned int i = 0; i < 2; i++) {
			cfg.endpoints[i].bare = false;
			cfg.endpoints[i].guesses = i == with;
			cfg.endpoints[i].compression = COMPRESSION_NONE;
		}
		begin(2, MIB);
		add_native(1, true);
		for (unsigned int i = 0; i < 2; i++) {
			CHECK_EQ(sends(i, "guess-marker"), i == with);
			CHECK_EQ(sends(i, "no_row"), i != with);
			answer(i, 413);
			CHECK_EQ(sends(i, "guess-marker"), i == with);
			answer(i, 200);
			answer(i, 200);
		}
		CHECK_EQ(n_done, 2);
		end();
	}
	for (unsigned int i = 0; i < 2; i++)
		cfg.endpoints[i].guesses = false;
}
