// SPDX-License-Identifier: Apache-2.0
#include "common/log.h"
#include "common/log_limit.h"
#include "tests/unit/harness.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* the clock goes on when a test says so */
static uint64_t clock_at_ns = NSEC_PER_SEC;

int __wrap_clock_gettime(clockid_t id, struct timespec *ts);

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	(void)id;
	ts->tv_sec = (time_t)(clock_at_ns / NSEC_PER_SEC);
	ts->tv_nsec = (long)(clock_at_ns % NSEC_PER_SEC);
	return 0;
}

static int saved_stderr = -1;
static int pipe_fds[2];

static void capture(void)
{
	CHECK(pipe(pipe_fds) == 0);
	saved_stderr = dup(2);
	CHECK(dup2(pipe_fds[1], 2) == 2);
}

static const char *captured(void)
{
	static char buf[8192];
	ssize_t n;

	CHECK(dup2(saved_stderr, 2) == 2);
	close(pipe_fds[1]);
	n = read(pipe_fds[0], buf, sizeof(buf) - 1);
	CHECK(n >= 0);
	buf[n] = '\0';
	return buf;
}

TEST(log_line_has_a_name_and_an_end)
{
	unsetenv("JOURNAL_STREAM");
	log_init("tester", false);
	capture();
	log_err("a %d", 1);
	log_debug("not shown");
	log_warn("b");
	CHECK(!strcmp(captured(), "tester: a 1\ntester: b\n"));
}

TEST(log_prefix_under_the_journal)
{
	char stream[64];
	struct stat st;

	capture();
	CHECK(fstat(2, &st) == 0);
	snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
		 (uintmax_t)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	log_init("tester", true);
	log_err("e");
	log_warn("w");
	log_info("i");
	log_debug("d");
	CHECK(!strcmp(captured(), "<3>tester: e\n<4>tester: w\n"
				  "<6>tester: i\n<7>tester: d\n"));
}

/* Whose standard error went elsewhere later has the variable all the same. */
TEST(log_no_prefix_in_another_file)
{
	static const char *const streams[] = {
		"8:1", "", "x", "0:1", "1:0", "18446744073709551616:1", ":",
	};

	for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++) {
		setenv("JOURNAL_STREAM", streams[i], 1);
		capture();
		log_init("tester", false);
		log_err("e");
		CHECK(!strcmp(captured(), "tester: e\n"));
	}
}

/* trifold-supervisor says so; the front reads them. */
TEST(log_prefix_for_the_supervisor)
{
	setenv("JOURNAL_STREAM", "0:0", 1);
	capture();
	log_init("tester", false);
	log_err("e");
	CHECK(!strcmp(captured(), "<3>tester: e\n"));
}

TEST(log_long_line_is_cut_and_still_ends)
{
	char longer[4000];
	const char *out;

	memset(longer, 'x', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	unsetenv("JOURNAL_STREAM");
	log_init(longer, false);
	capture();
	log_err("%s", longer);
	out = captured();
	CHECK_EQ(strlen(out), 1024);
	CHECK_EQ(strcspn(out, "\n"), 1023);
}

TEST(log_keeps_errno_and_prints_it)
{
	unsetenv("JOURNAL_STREAM");
	log_init("t", false);
	capture();
	errno = ENOENT;
	log_err("open: %m");
	CHECK_EQ(errno, ENOENT);
	CHECK(!strcmp(captured(), "t: open: No such file or directory\n"));
}

TEST(log_limited_once_a_second)
{
	struct log_limit limit = { 0 }, other = { 0 };

	CHECK(log_limited(&limit));
	CHECK(!log_limited(&limit));
	CHECK(!log_limited(&limit));
	CHECK(log_limited(&other));
	clock_at_ns += NSEC_PER_SEC - 1;
	CHECK(!log_limited(&limit));
	clock_at_ns++;
	CHECK(log_limited(&limit));
	CHECK(!log_limited(&limit));
	clock_at_ns += 5 * NSEC_PER_SEC;
	CHECK(log_limited(&limit));
	CHECK(!log_limited(&limit));
}

static const char *quote(const char *s, size_t len, size_t size)
{
	static char out[64];

	memset(out, 'Z', sizeof(out));
	CHECK(log_quote(s, len, out, size) == out);
	for (size_t i = size; i < sizeof(out); i++)
		CHECK_EQ(out[i], 'Z');
	return out;
}

TEST(log_quote_escapes_all_but_plain_ascii)
{
	CHECK(!strcmp(quote("plain /x~", 9, 64), "plain /x~"));
	CHECK(!strcmp(quote("a\nb\0c", 5, 64), "a\\x0ab\\x00c"));
	CHECK(!strcmp(quote("\x1b[31m\xc3\xa9\x7f", 8, 64),
		      "\\x1b[31m\\xc3\\xa9\\x7f"));
	CHECK(!strcmp(quote("\\x41", 4, 64), "\\x5cx41"));
	CHECK(!strcmp(quote(NULL, 0, 64), ""));
}

TEST(log_quote_cuts_between_characters_at_every_size)
{
	for (size_t size = 0; size <= 20; size++) {
		const char *out = quote("a\nb\nc\nd", 7, size);
		size_t n;

		if (size == 0)
			continue;
		n = strlen(out);
		CHECK(n < size);
		CHECK(!strncmp(out, "a\\x0ab\\x0ac\\x0ad", n));
		CHECK(n % 5 <= 1);
	}
}
