// SPDX-License-Identifier: Apache-2.0
/* Plans: what the front makes of its options. */
#include "cli/record/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "cli/front/make_plan.h"
#include "profile/formats/formats.h"
#include "tests/unit/harness.h"

static struct plan w;

TEST(a_plan_has_limits)
{
	static char big[ASK_WORDS_MAX];

	plan_init(&w);
	for (unsigned int i = 0; i < PLAN_WORDS_MAX; i++)
		plan_add(&w, PROGRAM_HUB, "--interval=5");
	CHECK(!w.full);
	plan_add(&w, PROGRAM_HUB, "--interval=5");
	CHECK(w.full);
	plan_init(&w);
	memset(big, 'x', sizeof(big) - 1);
	plan_add(&w, PROGRAM_HUB, "%s", big);
	CHECK(w.full && !w.len);
}

/* Would the supervisor take it? */
static void check_allowed(void)
{
	for (int id = 0; id < PROGRAM__COUNT; id++) {
		for (const char *s = NULL; (s = plan_next(&w, id, s));)
			CHECK(ask_allows(id, s));
	}
}

TEST(words_are_found_again)
{
	const char *s;

	plan_init(&w);
	plan_add(&w, PROGRAM_LOADER, "--idle=%u", 9u);
	plan_add(&w, PROGRAM_HUB, "--interval=5");
	plan_add(&w, PROGRAM_LOADER, "--filter-pid=1");
	s = plan_next(&w, PROGRAM_LOADER, NULL);
	CHECK_STR(s, "--idle=9");
	s = plan_next(&w, PROGRAM_LOADER, s);
	CHECK_STR(s, "--filter-pid=1");
	CHECK(!plan_next(&w, PROGRAM_LOADER, s));
	CHECK(!plan_next(&w, PROGRAM_VIEWER, NULL));
}

static bool has(enum program id, const char *text)
{
	for (const char *s = plan_next(&w, id, NULL); s;
	     s = plan_next(&w, id, s)) {
		if (!strcmp(s, text))
			return true;
	}
	return false;
}

static char *nothing[] = { NULL };

TEST(exporter_sees_its_variables_only)
{
	static struct config c = { .env = { (char *)"OTEL_B=ours", (char *)"OTEL_CD=ours" } };
	struct options o = { .config = &c, .rest = nothing, .interval = 5,
			     .cpu_share = 7, .lines_share = 3 };
	const struct target t = { .kind = TARGET_ALL };
	const struct live_page page = { .on = false };

	clearenv();
	setenv("OTEL_A", "1", 1);
	setenv("OTEL_B", "theirs", 1);
	setenv("OTEL_C", "theirs", 1);
	setenv("https_proxy", "p", 1);
	setenv("SSL_CERT_FILE", "f", 1);
	setenv("SSL_CERT_FILE_X", "f", 1);
	setenv("TRIFOLD_EXPORTER_2_ENDPOINT", "e", 1);
	setenv("LD_PRELOAD", "x", 1);
	CHECK_EQ(make_plan(&w, &o, &t, &page, true), 0);
	check_allowed();
	CHECK(has(PROGRAM_HUB, "--cpu-share=7"));
	CHECK(has(PROGRAM_HUB, "--lines-share=3"));
	CHECK(has(PROGRAM_HUB, "--always-on"));
	CHECK(has(PROGRAM_EXPORTER, "OTEL_A=1"));
	CHECK(has(PROGRAM_EXPORTER, "OTEL_B=ours"));
	CHECK(has(PROGRAM_EXPORTER, "https_proxy=p"));
	CHECK(has(PROGRAM_EXPORTER, "SSL_CERT_FILE=f"));
	CHECK(has(PROGRAM_EXPORTER, "TRIFOLD_EXPORTER_2_ENDPOINT=e"));
	CHECK(!has(PROGRAM_EXPORTER, "OTEL_B=theirs"));
	CHECK(has(PROGRAM_EXPORTER, "OTEL_C=theirs"));
	CHECK(!has(PROGRAM_EXPORTER, "LD_PRELOAD=x"));
	CHECK(!has(PROGRAM_EXPORTER, "SSL_CERT_FILE_X=f"));
	CHECK(!has(PROGRAM_EXPORTER, "--no-network"));
	/* `trifold run` that records, too */
	o.output = "x.html";
	o.format = format_named("html");
	CHECK_EQ(make_plan(&w, &o, &t, &page, true), 0);
	CHECK(has(PROGRAM_HUB, "--lines-share=3") && !has(PROGRAM_HUB, "--always-on"));
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
		.rest = rest, .interval = 5, .frequency = 97, .output = "trifold.html",
		.format = format_named("html"), .duration_ms = 1500, .verbose = true,
	};
	struct target t = { .kind = TARGET_COMMAND };
	const struct live_page page = { .on = false };

	clearenv();
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	check_allowed();
	CHECK(!has(PROGRAM_HUB, "--always-on"));
	CHECK_EQ(w.flags, PLAN_RECORD | PLAN_COMMAND | PLAN_BELOW |
		 PLAN_VERBOSE);
	CHECK_EQ(w.duration_ms, 1500);
	CHECK(has(PROGRAM_RECORDER, "--command=sleep 1"));
	CHECK(has(PROGRAM_RECORDER, "--format=html"));
	CHECK(has(PROGRAM_RECORDER, "--output=trifold.html"));
	CHECK(has(PROGRAM_LOADER, "--frequency=97"));
	CHECK(has(PROGRAM_EXPORTER, "--no-network"));
	CHECK(has(PROGRAM_EXPORTER, "--recorder-fd=3"));
	CHECK(has(PROGRAM_HUB, "--debug") && has(PROGRAM_LOADER, "--debug"));
	o.rest = nothing;
	t = (struct target){ .kind = TARGET_PIDS, .pids = { { 12, 13 }, 2 },
			     .what = "processes 12, 13" };
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	CHECK(has(PROGRAM_LOADER, "--filter-pid=13"));
	CHECK(has(PROGRAM_RECORDER, "--command=processes 12, 13"));
	CHECK_EQ(w.flags, PLAN_RECORD | PLAN_VERBOSE);
	o.output = "-";
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	CHECK_EQ(w.flags, PLAN_RECORD | PLAN_VERBOSE | PLAN_PIPED);
}

TEST(exporter_without_a_receiver_has_a_network_for_debuginfod_servers_alone)
{
	static struct config c;
	struct options o = { .config = &c, .rest = nothing, .interval = 5 };
	const struct target t = { .kind = TARGET_ALL };
	const struct live_page page = { .on = false };

	clearenv();
	setenv("DEBUGINFOD_URLS", "http://x", 1);
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	CHECK(has(PROGRAM_EXPORTER, "--no-network") && !has(PROGRAM_EXPORTER, "--no-receiver"));
	c.value[KEY_DEBUGINFOD_URLS].text = "http://x";
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	check_allowed();
	CHECK(!has(PROGRAM_EXPORTER, "--no-network") && has(PROGRAM_EXPORTER, "--no-receiver"));
	/* `trifold record` has no configuration */
	o.config = NULL;
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	CHECK(has(PROGRAM_EXPORTER, "--no-network"));
	setenv("TRIFOLD_DEBUGINFOD_URLS", "environment", 1);
	CHECK_EQ(make_plan(&w, &o, &t, &page, false), 0);
	CHECK(has(PROGRAM_EXPORTER, "--no-receiver") && !has(PROGRAM_EXPORTER, "--no-network"));
	CHECK(has(PROGRAM_EXPORTER, "TRIFOLD_DEBUGINFOD_URLS=environment"));
	CHECK_EQ(make_plan(&w, &o, &t, &page, true), 0);
	CHECK(!has(PROGRAM_EXPORTER, "--no-receiver"));
}
