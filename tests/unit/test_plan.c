// SPDX-License-Identifier: Apache-2.0
/* Plans: what the front writes, and what the supervisor takes. */
#include "cli/supervisor/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/front/make_plan.h"
#include "profile/formats/formats.h"
#include "tests/unit/harness.h"

static struct plan_words w;
static char *none[] = { (char *)"/trifold", (char *)"record", NULL };

/* One word for this program; 0 or -EPROTO. */
static int word(enum program id, const char *text, char *const *argv)
{
	plan_words_init(&w);
	plan_words_add(&w, id, "%s", text);
	return plan_check(&w.plan, w.plan.bytes, argv);
}

TEST(only_listed_words_pass)
{
	static const struct {
		enum program id;
		const char *good;
	} good[] = {
		{ PROGRAM_HUB, "--interval=5" },
		{ PROGRAM_EXPORTER, "--no-network" },
		{ PROGRAM_EXPORTER, "OTEL_SERVICE_NAME=x" },
		{ PROGRAM_EXPORTER, "TRIFOLD_EXPORTER_2_ENDPOINT=e" },
		{ PROGRAM_LOADER, "--filter-pid=12" },
		{ PROGRAM_VIEWER, "TRIFOLD_VIEWER_KEY=0" },
		{ PROGRAM_RECORDER, "--format=html" },
		{ PROGRAM_RECORDER, "--output=trifold.html" },
	};
	static const struct {
		enum program id;
		const char *bad;
	} bad[] = {
		/* another user, another program's, another descriptor */
		{ PROGRAM_HUB, "--uid=0" }, { PROGRAM_LOADER, "--gid=0" },
		{ PROGRAM_LOADER, "--interval=5" },
		{ PROGRAM_LOADER, "--filter-below=1" },
		{ PROGRAM_LOADER, "--hub=/tmp/mine" },
		{ PROGRAM_EXPORTER, "--recorder-fd=9" },
		{ PROGRAM_RECORDER, "--owner-uid=1000" },
		{ PROGRAM_RECORDER, "--seal-uid=0" },
		/* what a loader of programs obeys */
		{ PROGRAM_EXPORTER, "LD_PRELOAD=/tmp/x.so" },
		{ PROGRAM_EXPORTER, "GCONV_PATH=/tmp" },
		{ PROGRAM_HUB, "OTEL_X=1" }, { PROGRAM_RECORDER, "PATH=/tmp" },
		{ PROGRAM_EXPORTER, "NOTIFY_SOCKET=/x" },
		/* not quite */
		{ PROGRAM_EXPORTER, "--no-network=1" },
		{ PROGRAM_EXPORTER, "--no-networks" },
		{ PROGRAM_EXPORTER, "OTEL_" }, { PROGRAM_HUB, "--interval" },
		{ PROGRAM_HUB, "" }, { PROGRAM_HUB, "interval=5" },
		{ PROGRAM_FRONT, "--interval=5" },
		{ PROGRAM_LAUNCHER, "--interval=5" },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK_EQ(word(good[i].id, good[i].good, none), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(word(bad[i].id, bad[i].bad, none), -EPROTO);
}

TEST(root_writes_only_where_the_user_said)
{
	char *argv[] = { (char *)"/trifold", (char *)"record",
			 (char *)"--output", (char *)"/tmp/a", NULL, NULL };
	char *joined[] = { (char *)"/trifold", (char *)"run",
			   (char *)"--output=/tmp/b", NULL };
	char *behind[] = { (char *)"/trifold", (char *)"record", (char *)"--",
			   (char *)"x", (char *)"--output", (char *)"/c", NULL };

	CHECK_EQ(word(PROGRAM_RECORDER, "--output=/tmp/a", argv), 0);
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=/tmp/b", joined), 0);
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=/tmp/b", argv), -EPROTO);
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=trifold.html", argv), -EPROTO);
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=/c", behind), -EPROTO);
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=/etc/cron.d/x", none),
		 -EPROTO);
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=trifold.x/../../etc/x", none),
		 -EPROTO);
	/* the last one counts, as for the front; an option without a value */
	argv[2] = (char *)"--output=/x";
	argv[3] = (char *)"--output";
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=/x", argv), 0);
	argv[4] = (char *)"/y";
	CHECK_EQ(word(PROGRAM_RECORDER, "--output=/x", argv), -EPROTO);
	CHECK_STR(plan_option(argv, "--output"), "/y");
	CHECK(!plan_option(argv, "--out") && !plan_option(none, "--output"));
}

TEST(sizes_and_numbers_are_checked)
{
	plan_words_init(&w);
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes, none), 0);
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes - 1, none), -EPROTO);
	plan_words_add(&w, PROGRAM_HUB, "--interval=5");
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes, none), 0);
	w.plan.bytes--;		/* the string has no end */
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes, none), -EPROTO);
	for (unsigned int i = 0; i < PLAN_WORDS_MAX + 1; i++)
		plan_words_add(&w, PROGRAM_HUB, "--interval=5");
	CHECK(w.full);
	plan_words_init(&w);
	for (unsigned int i = 0; i < PLAN_WORDS_MAX; i++)
		plan_words_add(&w, PROGRAM_HUB, "--interval=5");
	CHECK(!w.full);
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes, none), 0);
	/* one more, by hand */
	memcpy(w.room + w.plan.bytes, "0--interval=5", 14);
	w.plan.bytes += 14;
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes, none), -EPROTO);
}

TEST(words_are_found_again)
{
	const char *s;

	plan_words_init(&w);
	plan_words_add(&w, PROGRAM_LOADER, "--idle=%u", 9u);
	plan_words_add(&w, PROGRAM_HUB, "--interval=5");
	plan_words_add(&w, PROGRAM_LOADER, "--filter-pid=1");
	s = plan_next(&w.plan, PROGRAM_LOADER, NULL);
	CHECK_STR(s, "--idle=9");
	s = plan_next(&w.plan, PROGRAM_LOADER, s);
	CHECK_STR(s, "--filter-pid=1");
	CHECK(!plan_next(&w.plan, PROGRAM_LOADER, s));
	CHECK(!plan_next(&w.plan, PROGRAM_VIEWER, NULL));
}

static bool has(enum program id, const char *text)
{
	for (const char *s = plan_next(&w.plan, id, NULL); s;
	     s = plan_next(&w.plan, id, s)) {
		if (!strcmp(s, text))
			return true;
	}
	return false;
}

static char *nothing[] = { NULL };

TEST(exporter_sees_its_variables_only)
{
	static struct config c = { .env = { (char *)"OTEL_B=ours" } };
	struct options o = { .config = &c, .rest = nothing, .interval = 5 };
	const struct target t = { .kind = TARGET_ALL };
	const struct live_page page = { .on = false };

	clearenv();
	setenv("OTEL_A", "1", 1);
	setenv("OTEL_B", "theirs", 1);
	setenv("https_proxy", "p", 1);
	setenv("SSL_CERT_FILE", "f", 1);
	setenv("SSL_CERT_FILE_X", "f", 1);
	setenv("TRIFOLD_EXPORTER_2_ENDPOINT", "e", 1);
	setenv("LD_PRELOAD", "x", 1);
	CHECK_EQ(make_plan(&w, &o, &t, &page, true), 0);
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes, none), 0);
	CHECK(has(PROGRAM_EXPORTER, "OTEL_A=1"));
	CHECK(has(PROGRAM_EXPORTER, "OTEL_B=ours"));
	CHECK(has(PROGRAM_EXPORTER, "https_proxy=p"));
	CHECK(has(PROGRAM_EXPORTER, "SSL_CERT_FILE=f"));
	CHECK(has(PROGRAM_EXPORTER, "TRIFOLD_EXPORTER_2_ENDPOINT=e"));
	CHECK(!has(PROGRAM_EXPORTER, "OTEL_B=theirs"));
	CHECK(!has(PROGRAM_EXPORTER, "LD_PRELOAD=x"));
	CHECK(!has(PROGRAM_EXPORTER, "SSL_CERT_FILE_X=f"));
	CHECK(!has(PROGRAM_EXPORTER, "--no-network"));
	for (int i = 0; i < PLAN_WORDS_MAX; i++) {
		char name[32];

		snprintf(name, sizeof(name), "OTEL_%d", i);
		setenv(name, "1", 1);
	}
	CHECK_EQ(make_plan(&w, &o, &t, &page, true), -E2BIG);
}

TEST(a_recording_is_planned)
{
	char *rest[] = { (char *)"sleep", (char *)"1", NULL };
	struct options o = {
		.rest = rest, .interval = 5, .frequency = 97, .output = "/x.html",
		.format = format_named("html"), .duration_ms = 1500, .verbose = true,
	};
	struct target t = { .kind = TARGET_COMMAND };
	const struct live_page page = { .on = false };
	char *argv[] = { (char *)"/trifold", (char *)"--output",
			 (char *)"/x.html", NULL };

	clearenv();
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	CHECK_EQ(plan_check(&w.plan, w.plan.bytes, argv), 0);
	CHECK_EQ(w.plan.flags, PLAN_RECORD | PLAN_COMMAND | PLAN_BELOW |
		 PLAN_VERBOSE);
	CHECK_EQ(w.plan.duration_ms, 1500);
	CHECK(has(PROGRAM_RECORDER, "--command=sleep 1"));
	CHECK(has(PROGRAM_RECORDER, "--format=html"));
	CHECK(has(PROGRAM_RECORDER, "--output=/x.html"));
	CHECK(has(PROGRAM_LOADER, "--frequency=97"));
	CHECK(has(PROGRAM_EXPORTER, "--no-network"));
	o.rest = nothing;
	t = (struct target){ .kind = TARGET_PIDS, .pids = { { 12, 13 }, 2 },
			     .what = "processes 12, 13" };
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	CHECK(has(PROGRAM_LOADER, "--filter-pid=13"));
	CHECK(has(PROGRAM_RECORDER, "--command=processes 12, 13"));
	CHECK_EQ(w.plan.flags, PLAN_RECORD | PLAN_VERBOSE);
}
