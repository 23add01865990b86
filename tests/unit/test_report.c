// SPDX-License-Identifier: Apache-2.0
#include "cli/status/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/status/report_json.h"
#include "tests/unit/harness.h"

static struct status st;
static struct own_processes list;

static char *printed(void (*print)(FILE *to))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	CHECK(f != NULL);
	print(f);
	CHECK_EQ(fclose(f), 0);
	return text;
}

static void as_table(FILE *to)
{
	report_table(&st, &list, to);
}

static void as_json(FILE *to)
{
	CHECK_EQ(report_json(&st, &list, to), 0);
}

/* Paths come from whoever was profiled; the hub may lie about their end. */
TEST(report_names_what_is_in_quarantine)
{
	char *text;

	memset(&st, 0, sizeof(st));
	st.hub.exes_failed = 5;
	strcpy(st.quarantine.path[0], "/bin/x\033[2J\"");
	memset(st.quarantine.path[1], 'y', QUARANTINE_PATH);
	text = printed(as_table);
	CHECK(strstr(text, "\n  /bin/x\\x1b[2J\"\n  ...yyy") != NULL);
	CHECK(strstr(text, "yyy\n  and 3 more\n") != NULL);
	CHECK(!strchr(text, '\033'));
	free(text);
	text = printed(as_json);
	CHECK(strstr(text, "\"quarantine\":[\"/bin/x\\u001b[2J\\u0022\",\"yyy"));
	CHECK(!strchr(text, '\033'));
	free(text);
}

static const char *summary(struct report_run run)
{
	static char text[768];

	report_summary(&st, &run, text, sizeof(text));
	return text;
}

static void all_delivered(uint64_t n)
{
	memset(&st, 0, sizeof(st));
	st.loader.bpf[BPF_TAKEN] = st.loader.bpf[BPF_SENT] = n;
	st.loader.drained = st.loader.forwarded = n;
	st.totals.received = st.totals.handed = n;
	st.totals.outcomes.samples[BATCH_DELIVERED] = n;
	st.frequency = 100;
	st.loader.cpus = 2;
	st.loader.covered_ns = 20000000000;
}

static struct report_run at_99_hz(bool partial)
{
	return (struct report_run){ .frequency = 99, .cpus = 2, .partial = partial };
}

TEST(report_says_how_busy_it_was)
{
	all_delivered(119);
	CHECK_STR(summary(at_99_hz(false)),
		  "119 samples, none lost; 1.2 of 20.0 CPU-seconds busy (6 %)");
	CHECK_STR(summary(at_99_hz(true)),
		  "119 samples, none lost; 1.2 s of CPU time in 10.0 s");
	/* both by the account, not by how long the command ran */
	st.loader.covered_ns = 15000000000;
	CHECK_STR(summary(at_99_hz(true)),
		  "119 samples, none lost; 1.2 s of CPU time in 7.5 s");
	CHECK_STR(summary((struct report_run){ 0 }), "119 samples, none lost");
	st.totals.handed = 116;
	st.totals.outcomes.samples[BATCH_DELIVERED] = 116;
	st.totals.hub_dropped = 2;
	CHECK_STR(summary((struct report_run){ 0 }),
		  "119 samples, 2 lost (hub_dropped 2), difference 1");
}

/* The account's own time: what is lost was busy, what is trifold's own is counted apart. */
TEST(report_takes_samples_and_time_from_one_account)
{
	struct report_run run = { 0 };

	all_delivered(1000);
	st.totals.outcomes.samples[BATCH_DELIVERED] = 600;
	st.totals.outcomes.samples[BATCH_GAVE_UP] = 100;
	st.totals.handed = 700;
	st.totals.own = 300;
	report_run_note(&run, &st);
	CHECK_STR(summary(run), "1000 samples, 100 lost (gave_up 100), 300 of trifold itself left out; "
		  "7.0 of 20.0 CPU-seconds busy (35 %)");
	st.totals.former_covered_ms = 20000;
	CHECK(strstr(summary(run), "; 7.0 of 40.0 CPU-seconds busy (18 %)") != NULL);
	/* loaderd's report is older than the hub's */
	st.loader.bpf[BPF_TAKEN] = 299;
	CHECK(strstr(summary(run), "; 0.0 of 40.0 CPU-seconds busy (0 %)") != NULL);
}

TEST(report_says_never_more_than_all)
{
	struct report_run run = { 0 };

	all_delivered(2180);
	report_run_note(&run, &st);
	CHECK_STR(summary(run), "2180 samples, none lost; 20.0 of 20.0 CPU-seconds busy (100 %)");
	st.loader.covered_ns = 0;
	CHECK_STR(summary(run), "2180 samples, none lost");
}

TEST(report_says_which_time_was_not_sampled)
{
	all_delivered(119);
	st.loader.covered_ns = 15000000000;
	st.loader.missed_ns = 3000000000;
	st.totals.former_missed_ms = 1500;
	CHECK_STR(summary(at_99_hz(false)), "119 samples, none lost; 1.2 of 15.0 CPU-seconds busy (8 %); "
		  "4.5 CPU-seconds not sampled");
	st.loader.missed_ns = 40000000;
	st.totals.former_missed_ms = 0;
	CHECK(!strstr(summary(at_99_hz(false)), "not sampled"));
}

/* Each message about loss is true at its moment. */
TEST(report_of_what_was_not_recorded_or_waited_for)
{
	struct report_run run = { .stopped = true };

	all_delivered(384);
	st.totals.outcomes.samples[BATCH_DELIVERED] = 8;
	st.totals.handed = 8;
	st.hub.pending = 376;
	CHECK_STR(summary(run), "384 samples, none lost, 376 under way when it was stopped");
	run.unwritten = true;
	CHECK_STR(summary(run), "384 samples, all lost: no recording was written");
	run.elsewhere = true;
	CHECK_STR(summary(run), "384 samples, none lost, 376 under way when it was stopped; "
		  "no recording was written");
	all_delivered(384);
	CHECK_STR(summary((struct report_run){ .unwritten = true }),
		  "384 samples, all lost: no recording was written");
}

/* SIGHUP: samples of before and after stand for different times. */
TEST(report_does_not_say_how_busy_it_was_at_two_frequencies)
{
	struct report_run run = { 0 };

	all_delivered(119);
	st.frequency = 0;
	report_run_note(&run, &st);
	CHECK_STR(summary(run), "119 samples, none lost");
	st.frequency = 99;
	report_run_note(&run, &st);
	st.frequency = 0;		/* loaderd is started again */
	report_run_note(&run, &st);
	CHECK_STR(summary(run),
		  "119 samples, none lost; 1.2 of 20.0 CPU-seconds busy (6 %)");
	st.frequency = 49;
	report_run_note(&run, &st);
	CHECK_STR(summary(run), "119 samples, none lost");
	st.frequency = 99;
	report_run_note(&run, &st);
	CHECK_STR(summary(run), "119 samples, none lost");
}

TEST(report_is_silent_about_no_quarantine)
{
	char *text;

	memset(&st, 0, sizeof(st));
	text = printed(as_table);
	CHECK(!strstr(text, "uarantine"));
	free(text);
	text = printed(as_json);
	CHECK(strstr(text, "\"quarantined\":0,\"quarantine\":[]") != NULL);
	free(text);
}

TEST(report_names_each_receiver)
{
	struct receiver *r = st.exporter.receivers;
	char *text;

	memset(&st, 0, sizeof(st));
	text = printed(as_table);
	CHECK(!strstr(text, "Receiver"));
	free(text);
	strcpy(r[0].url, "http://a/\033[2J");
	r[0].number = 1;
	r[0].delivered = 12;
	memset(r[1].url, 'b', RECEIVER_URL);
	r[1].number = 4;
	r[1].gave_up = 3;
	text = printed(as_table);
	CHECK(strstr(text, "\nReceiver 1: http://a/\\x1b[2J\n") != NULL);
	CHECK(strstr(text, "\nReceiver 4: bbb") != NULL);
	CHECK(strstr(text, "lost: gave_up") != NULL);
	CHECK(!strchr(text, '\033'));
	free(text);
	text = printed(as_json);
	CHECK(strstr(text, "\"receivers\":[{\"number\":1,\"url\":\"http://a/\\u001b[2J\","
		     "\"delivered\":12,") != NULL);
	CHECK(strstr(text, "bbb\",\"delivered\":0,") != NULL);
	CHECK(strstr(text, "\"gave_up\":3") != NULL);
	free(text);
}

/* --- a hub that lies ----------------------------------------------------------- */

static uint64_t report_random(void)
{
	static uint64_t x = 1;

	x = x * 6364136223846793005ULL + 1442695040888963407ULL;
	return x >> 11 ^ x << 40;
}

/* Any bytes, mostly ones, or numbers that are too large or too small by one. */
static void any_status(int kind)
{
	static const uint64_t odd[] = { 0, 1, UINT64_MAX, 1ULL << 63, INT64_MAX, UINT32_MAX };
	uint64_t *word = (uint64_t *)&st;

	for (size_t i = 0; i < sizeof(st) / 8; i++) {
		word[i] = report_random();
		if (kind % 3 == 1)
			word[i] = UINT64_MAX;
		else if (kind % 3 == 2)
			word[i] = odd[word[i] % 6];
	}
	/* others are refused by hub_client.c */
	st.loader_up &= 1;
	st.exporter_up &= 1;
	st.partial &= 1;
}

static void check_line(const char *text)
{
	for (; *text; text++)
		CHECK(((unsigned char)*text >= 0x20 || *text == '\n') && *text != 0x7f);
}

/* A number of JSON is finite: no text is of these. */
static void check_no_nan(const char *text)
{
	CHECK(!strstr(text, ":nan") && !strstr(text, ":-nan") && !strstr(text, ":inf") &&
	      !strstr(text, ":-inf"));
}

TEST(report_of_a_hub_that_lies)
{
	char line[4096];

	for (int i = 0; i < 300; i++) {
		struct report_run run = { 0 };
		struct profile_account account;
		char *text;

		any_status(i);
		text = printed(as_table);
		check_line(text);
		free(text);
		text = printed(as_json);
		check_line(text);
		check_no_nan(text);
		free(text);
		report_run_note(&run, &st);
		report_summary(&st, &run, line, sizeof(line));
		check_line(line);
		report_progress(&st, report_random(), line, sizeof(line));
		check_line(line);
		report_reasons(&st, line, sizeof(line));
		check_line(line);
		report_account(&st, &account);
	}
}

/* BPF, processes that report, those that ended, and those that do not report: each once. */
TEST(report_sums_all_that_trifold_costs)
{
	struct own_process found[] = {
		{ .name = "trifold-loaderd", .cpu_ns = 999999999 },
		{ .name = "trifold-opener", .cpu_ns = 999999999 },
		{ .name = "trifold-viewer", .cpu_ns = 300000000 },
		{ .name = "trifold-supervisor", .cpu_ns = 5000000 },
		{ .name = "trifold-symbolizerd", .cpu_ns = 999999999 },
	};
	char *text;

	memset(&st, 0, sizeof(st));
	st.loader.bpf[BPF_RUN_NS] = 100000000;
	st.loader.cpu_ns = 40000000;
	st.loader.opener.cpu_ns = 7000000;
	st.hub.cpu_ns = 20000000;
	st.hub.worker_cpu_ns = 500000000;
	st.exporter.cpu_ns = 3000000;
	st.loader.cpus = 2;
	st.uptime_ns = 39000000000;
	list = (struct own_processes){ .v = found, .n = 5 };
	text = printed(as_table);
	CHECK(strstr(text, "all of trifold: CPU, s                0.975    1.25 % of this host\n") != NULL);
	free(text);
	text = printed(as_json);
	CHECK(strstr(text, "\"cpu_ns\":975000000,") != NULL);
	free(text);
	/* the hub is new, the others are not: of which time it is a share is not known */
	st.loader.start_ns = 1;
	st.hub.start_ns = 3600000000000;
	text = printed(as_table);
	CHECK(strstr(text, "all of trifold: CPU, s                0.975\n") != NULL);
	free(text);
	list = (struct own_processes){ 0 };
}
