// SPDX-License-Identifier: Apache-2.0
/* What loaderd is asked to load, and how often: by honest hosts, users and loaderds, and others. */
#include "symbolizerd/tables/runtimes_wanted.h"

#include <errno.h>
#include <stdlib.h>

#include "ipc/runtimes.h"
#include "tests/unit/harness.h"

#define BIT(r)		(1ULL << (r))
#define STEP_NS		(100 * NSEC_PER_MSEC)

static struct runtimes_wanted w;
static struct loader_stats loader;	/* a loaderd's */
static uint32_t files[RUNTIME__MAX];
static uint64_t now, asks, loads, said;
static bool more;	/* loaderd waits for other answers */
static uint64_t refuses;	/* the kernel loads none of them */
static uint32_t walked[RUNTIME__MAX], n_walked, native;

static void begin(void)
{
	w = (struct runtimes_wanted){ 0 };
	loader = (struct loader_stats){ 0 };
	for (uint32_t r = 0; r < RUNTIME__MAX; r++)
		files[r] = 0;
	now = 1000 * NSEC_PER_SEC;
	asks = loads = refuses = said = n_walked = 0;
	more = false;
	for (uint32_t r = 1; r < RUNTIME__MAX; r++) {
		if (runtime_info(r)->flags & RUNTIME_WALKS)
			walked[n_walked++] = r;
		else
			native = r;
	}
	CHECK(n_walked >= 2 && native);
	runtimes_wanted_begin(&w);
}

static void tell(void)
{
	said |= runtimes_wanted_answer(&w, &loader, now);
}

/* As loaderd takes it. */
static void load(uint64_t mask)
{
	asks++;
	loader.runtimes_wanted = mask;
	loader.variant_error = 0;
	if (mask & refuses)
		loader.variant_error = E2BIG;
	else if (mask != loader.runtimes)
		loads++;
	if (!loader.variant_error)
		loader.runtimes = mask;
}

/* A file is about to be sent, or a second has passed: what is asked for is loaded. */
static bool look(void)
{
	uint64_t mask;

	if (!runtimes_wanted_ask(&w, files, more, now, &mask))
		return false;
	load(mask);
	return true;
}

static void seconds(uint32_t n)
{
	for (; n; n--) {
		now += NSEC_PER_SEC;
		look();
		tell();
	}
}

TEST(nothing_is_loaded_for_a_host_without_runtimes)
{
	begin();
	files[native] = 100;
	seconds(100);
	loader.cpus = 2;
	seconds(100);
	CHECK_EQ(asks, 0);
}

TEST(it_is_loaded_before_the_first_entry)
{
	begin();
	files[walked[0]] = 1;
	CHECK(look());
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]));
	/* also the next one, as long as nothing is sampled */
	files[walked[1]] = 1;
	CHECK(look());
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]) | BIT(walked[1]));
	files[walked[1]] = 9;
	CHECK(!look());
	loader.cpus = 2;
	seconds(1000);
	CHECK_EQ(loads, 2);
}

TEST(those_of_the_first_files_cost_one_load)
{
	begin();
	more = true;
	files[walked[0]] = 1;
	CHECK(!look());
	now += RUNTIMES_GATHER_NS / 2;
	files[walked[1]] = 1;
	CHECK(!look());
	more = false;	/* it samples with the next answer */
	CHECK(look());
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]) | BIT(walked[1]));
	CHECK_EQ(loads, 1);
	/* others take long: it may begin without them */
	begin();
	more = true;
	files[walked[0]] = 1;
	CHECK(!look());
	now += RUNTIMES_GATHER_NS;
	CHECK(look());
	CHECK_EQ(loads, 1);
	/* while it samples nothing waits for files */
	loader.cpus = 2;
	tell();
	files[walked[1]] = 1;
	now += RUNTIMES_EVERY_NS;
	CHECK(look());
	CHECK_EQ(loads, 2);
}

TEST(while_it_samples_it_waits_for_the_answer_and_a_while)
{
	uint64_t mask;

	begin();
	loader.cpus = 2;
	tell();
	files[walked[0]] = 1;
	CHECK(runtimes_wanted_ask(&w, files, more, now, &mask));
	now += 100 * NSEC_PER_SEC;
	files[walked[1]] = 1;
	tell();		/* of before */
	CHECK(!look());
	load(mask);
	tell();
	CHECK(look());
	tell();
	files[walked[0]] = 0;
	now += RUNTIMES_REST_NS;
	CHECK(look());
	tell();
	files[walked[0]] = 1;
	CHECK(!look());
	now += RUNTIMES_EVERY_NS;
	CHECK(look());
}

TEST(it_is_given_up_after_a_rest)
{
	begin();
	loader.cpus = 2;
	files[walked[0]] = 2;
	seconds(3);
	files[walked[0]] = 0;
	seconds(RUNTIMES_REST_NS / NSEC_PER_SEC - 1);
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]));
	seconds(2);
	CHECK_EQ(loader.runtimes, 0);
	CHECK_EQ(loads, 2);
}

TEST(what_the_kernel_refuses_is_left_out_said_once_and_tried_again)
{
	begin();
	loader.cpus = 2;
	files[walked[0]] = files[walked[1]] = 1;
	files[walked[1]] = 0;
	seconds(5);
	refuses = BIT(walked[1]);
	files[walked[1]] = 1;
	seconds(5);
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]));
	CHECK_EQ(said, BIT(walked[1]));
	said = 0;
	asks = 0;
	tell();
	seconds(3000);
	CHECK(!said);
	/* each try, and that it is left out again */
	CHECK(asks <= 2 * 3000 / (RUNTIMES_RETRY_NS / NSEC_PER_SEC) + 2);
	CHECK(asks >= 4);
	refuses = 0;
	seconds(RUNTIMES_RETRY_NS / NSEC_PER_SEC + 5);
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]) | BIT(walked[1]));
}

/* All of them are new at once: the one that is refused does not take others with it. */
TEST(of_several_only_the_one_that_is_refused_is_left_out)
{
	uint64_t all = 1;

	for (uint32_t bad = 0; bad < n_walked; bad++) {
		begin();
		more = true;
		all = 1;
		for (uint32_t k = 0; k < n_walked; k++) {
			files[walked[k]] = 1;
			CHECK(!look());
			all |= BIT(walked[k]);
		}
		refuses = BIT(walked[bad]);
		more = false;
		CHECK(look());
		tell();
		loader.cpus = 2;
		seconds(60);
		CHECK_EQ(loader.runtimes, all & ~refuses);
		CHECK_EQ(said, refuses);
	}
}

/* A loaderd of before knows fewer: it says nothing is wrong, and loads what it knows. */
TEST(what_loaderd_does_not_know_is_left_out)
{
	uint64_t mask;

	begin();
	loader.cpus = 2;
	tell();
	files[walked[0]] = files[walked[1]] = 1;
	for (uint32_t i = 0; i < 100; i++) {
		now += NSEC_PER_SEC;
		if (runtimes_wanted_ask(&w, files, more, now, &mask)) {
			load(mask & ~BIT(walked[1]));
			loader.runtimes_wanted = mask;
		}
		tell();
	}
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]));
	CHECK_EQ(said, BIT(walked[1]));
	CHECK(asks <= 4);
	files[walked[0]] = 0;
	for (uint32_t i = 0; i < 100; i++) {
		now += NSEC_PER_SEC;
		if (runtimes_wanted_ask(&w, files, more, now, &mask))
			load(mask);
		tell();
	}
	CHECK_EQ(loader.runtimes, 0);
}

TEST(another_hub_goes_on_with_what_is_loaded)
{
	begin();
	loader.cpus = 2;
	loader.runtimes = 1 | BIT(walked[0]) | BIT(walked[1]);
	files[walked[0]] = 1;
	tell();
	seconds(50);
	CHECK_EQ(loads, 0);
	seconds(20);
	CHECK_EQ(loader.runtimes, 1 | BIT(walked[0]));
	CHECK_EQ(loads, 1);
}

/* A user makes files that look like runtimes, and takes them away. */
TEST(files_that_come_and_go_cost_few_loads)
{
	const uint64_t hour = 3600 * NSEC_PER_SEC;

	for (uint32_t period = 1; period < 2000; period *= 3) {
		uint64_t end;

		begin();
		loader.cpus = 2;
		tell();
		end = now + hour;
		for (uint32_t i = 0; now < end; i++) {
			for (uint32_t k = 0; k < n_walked; k++)
				files[walked[k]] = (i / period + k) % 2;
			now += STEP_NS;
			look();
			if (i % 10 == 0)
				tell();
		}
		CHECK(loads <= 2 * n_walked * (hour / RUNTIMES_REST_NS + 1));
		CHECK(loads <= hour / RUNTIMES_EVERY_NS);
	}
}

/* What it says is not believed further than it can make us ask. */
TEST(a_loaderd_that_lies_is_not_asked_more_often)
{
	uint64_t all = 1, last = 0, mask;
	uint32_t asked = 0;

	begin();
	for (uint32_t k = 0; k < n_walked; k++)
		all |= BIT(walked[k]);
	srand(7);
	loader.cpus = 1;
	tell();
	for (uint32_t i = 0; i < 100000; i++) {
		loader.cpus = 1 + rand() % 4;
		loader.runtimes = rand() % 3 ? all : (uint64_t)rand() << 33 ^ rand();
		loader.runtimes_wanted = rand() % 2 ? w.asked : (uint64_t)rand();
		loader.variant_error = rand() % 2 ? UINT64_MAX : 0;
		files[walked[0]] = rand() % 2;
		files[walked[1]] = rand() % 2;
		tell();
		now += STEP_NS;
		if (!runtimes_wanted_ask(&w, files, more, now, &mask))
			continue;
		CHECK(!(mask & ~all));
		CHECK(!last || now - last >= RUNTIMES_EVERY_NS);
		last = now;
		asked++;
	}
	CHECK(asked);
}
