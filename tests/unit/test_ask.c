// SPDX-License-Identifier: Apache-2.0
/* What the front may ask for: words of each program.  The rest of a message is
 * tried on the supervisor itself (test_supervise). */
#include "cli/supervisor/ask.h"

#include <errno.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/harness.h"

static struct ask m = { .kind = ASK_START };

/* One word for this program. */
static bool word(enum program id, const char *text)
{
	m.program = id;
	strcpy(m.words, text);
	return ask_check(&m, ASK_BYTES(strlen(text) + 1), 0);
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
		{ PROGRAM_EXPORTER, "--no-receiver" },
		{ PROGRAM_EXPORTER, "TRIFOLD_DEBUGINFOD_URLS=environment" },
		{ PROGRAM_EXPORTER, "DEBUGINFOD_URLS=http://a http://b" },
		{ PROGRAM_LOADER, "--filter-pid=12" },
		{ PROGRAM_LOADER, "--filter-below=12" },
		{ PROGRAM_VIEWER, "--listen-fd=4" },
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
		{ PROGRAM_LOADER, "--hub=/tmp/mine" },
		{ PROGRAM_EXPORTER, "--recorder-fd=9" },
		{ PROGRAM_RECORDER, "--control-fd=4" },
		{ PROGRAM_RECORDER, "SUDO_UID=1000" },
		{ PROGRAM_VIEWER, "--listen-fd=5" },
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
		{ PROGRAM_READER, "--interval=5" },
		{ PROGRAM_FRONT, "--interval=5" },
		/* where root would write; the user's --output is not a front's
		 * word */
		{ PROGRAM_RECORDER, "--output=/etc/cron.d/x" },
		{ PROGRAM_RECORDER, "--output=a.html" },
		{ PROGRAM_RECORDER, "--output=trifold.x/../../etc/x" },
		{ PROGRAM_LAUNCHER, "--interval=5" },
	};

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		CHECK(word(good[i].id, good[i].good));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK(!word(bad[i].id, bad[i].bad));
}

TEST(strings_have_an_end)
{
	static const char two[] = "--interval=5\0--debug";

	m.program = PROGRAM_HUB;
	memcpy(m.words, two, sizeof(two));
	CHECK(ask_check(&m, ASK_BYTES(0), 0));
	CHECK(ask_check(&m, ASK_BYTES(sizeof(two)), 0));
	CHECK(!ask_check(&m, ASK_BYTES(sizeof(two) - 1), 0));
	CHECK(ask_check(&m, ASK_BYTES(13), 0));
	CHECK(!ask_check(&m, ASK_BYTES(14), 0));
	/* an empty word between two */
	m.words[0] = '\0';
	CHECK(!ask_check(&m, ASK_BYTES(sizeof(two)), 0));
}

TEST(descriptors_are_counted)
{
	static const int most[] = { 0, 1, 0, 2, 1, 1, 1 };

	for (uint32_t i = 0; i < PROGRAM_FRONT; i++) {
		m.program = i;
		CHECK(ask_check(&m, ASK_BYTES(0), most[i]));
		CHECK(!ask_check(&m, ASK_BYTES(0), most[i] + 1));
	}
}

TEST(options_are_found_before_the_command)
{
	char *argv[] = { (char *)"/trifold", (char *)"record",
			 (char *)"--output", (char *)"/tmp/a", NULL, NULL };
	char *joined[] = { (char *)"/trifold", (char *)"run",
			   (char *)"--output=/tmp/b", NULL };
	char *behind[] = { (char *)"/trifold", (char *)"record", (char *)"--",
			   (char *)"x", (char *)"--output", (char *)"/c", NULL };

	CHECK_STR(ask_option(argv, "--output"), "/tmp/a");
	CHECK_STR(ask_option(joined, "--output"), "/tmp/b");
	CHECK(!ask_option(behind, "--output"));
	/* the last one counts, as for the front; an option without a value */
	argv[2] = (char *)"--output=/x";
	argv[3] = (char *)"--output";
	CHECK_STR(ask_option(argv, "--output"), "/x");
	argv[4] = (char *)"/y";
	CHECK_STR(ask_option(argv, "--output"), "/y");
	CHECK(!ask_option(argv, "--out"));
}

TEST(messages_go_over_a_socket)
{
	int s[2], fds[ASK_FDS_MAX], n, null[3] = { 0, 1, 2 };
	struct tell t = { .kind = TELL_DIED, .value = 9 }, got;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
	CHECK_EQ(ask_recv(s[1], &got, sizeof(got), fds, &n, MSG_DONTWAIT), 0);
	CHECK_EQ(ask_send(s[0], &t, sizeof(t), null, 2, 0), 0);
	CHECK_EQ(ask_recv(s[1], &got, sizeof(got), fds, &n, 0), sizeof(t));
	CHECK(n == 2 && got.value == 9);
	close(fds[0]);
	close(fds[1]);
	CHECK_EQ(ask_send(s[0], &t, sizeof(t), NULL, 0, 0), 0);
	CHECK_EQ(ask_recv(s[1], &got, sizeof(got) - 1, fds, &n, 0), -EPROTO);
	CHECK_EQ(n, 0);
	close(s[0]);
	CHECK_EQ(ask_recv(s[1], &got, sizeof(got), fds, &n, 0), -EPIPE);
	CHECK_EQ(ask_send(s[1], &t, sizeof(t), NULL, 0, 0), -EPIPE);
	close(s[1]);
}
