// SPDX-License-Identifier: Apache-2.0
/*
 * An exporterd in an attacker's hand, or what a hub had it pass on, and the real recorder of
 * `trifold record`: each message that is wrong ends that feed and nothing else, memory that is
 * no batch is answered so, and the file has what was right, once.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/record/recorder.h"
#include "common/clock.h"
#include "ipc/conn.h"
#include "ipc/fdpass.h"
#include "ipc/message_hub.h"
#include "ipc/rules.h"
#include "tests/hostile/hub_peer.h"
#include "tests/hostile/mutants.h"
#include "tests/unit/cli_batch.h"

#define WAIT_NS		(20 * NSEC_PER_SEC)

static char dir[] = "/tmp/trifold-recorder-XXXXXX", out[64];
static int control;
static pid_t pid;
static struct conn feed;
static void *batch_bytes;
static size_t batch_len;
static uint64_t samples;

static void become_recorder(int fd)
{
	char self[256], path[512], control_fd[32], output[96], seal[32];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *argv[] = {
		(char *)"trifold", (char *)"recorder", control_fd, output,
		(char *)"--format=folded", (char *)"--frequency=20", seal, NULL,
	};

	NEED(n > 0);
	self[n] = '\0';
	*strrchr(self, '/') = '\0';
	snprintf(path, sizeof(path), "%s/../bin/trifold", self);
	snprintf(control_fd, sizeof(control_fd), "--control-fd=%d", fd);
	snprintf(output, sizeof(output), "--output=%s", out);
	snprintf(seal, sizeof(seal), "--seal-uid=%d", OTHER_ID);
	fcntl(fd, F_SETFD, 0);
	execv(path, argv);
	_exit(127);
}

static void tell(enum record_kind kind, int fd)
{
	const struct record_msg m = { .kind = kind };

	NEED(fdpass_send(control, &m, sizeof(m), fd) == 0);
}

static void new_feed(void)
{
	int fds[2];

	if (feed.fd >= 0)
		conn_close(&feed);
	NEED(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds) == 0);
	tell(RECORD_FEED, fds[1]);
	close(fds[1]);
	conn_init(&feed, fds[0], PEER_RECORDER, CONN_READY);
}

static void begin(void)
{
	struct batch b;
	int fds[2];

	NEED(mkdtemp(dir) && chmod(dir, 0755) == 0);
	snprintf(out, sizeof(out), "%s/out.folded", dir);
	batch_bytes = sample_batch(&b);
	batch_len = ((const struct batch_hdr *)batch_bytes)->bytes;
	samples = batch_n(&b, BATCH_TIMES);
	NEED(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds) == 0);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		become_recorder(fds[1]);
	close(fds[1]);
	control = fds[0];
	feed.fd = -1;
	new_feed();
}

/* The next answer: its outcome, or -1 when the feed was closed. */
static int answer(void)
{
	const uint64_t until = now_ns() + WAIT_NS;
	struct msg m;
	int r;

	while ((r = conn_recv(&feed, &m)) == -EAGAIN && now_ns() < until)
		poll(&(struct pollfd){ feed.fd, POLLIN, 0 }, 1, 100);
	if (r)
		return r == -EAGAIN ? -2 : -1;
	NEED(m.hdr.type == MSG_BATCH_DONE);
	return (int)((const struct msg_batch_done *)m.buf)->outcome;
}

static bool send_batch(enum mutation how, uint64_t bytes, uint64_t n)
{
	const struct msg_batch payload = { .bytes = bytes, .samples = n };
	const struct mutant m = {
		.type = MSG_BATCH, .id = 7, .payload = &payload, .len = sizeof(payload),
		.mem = batch_bytes, .mem_len = batch_len,
	};

	return mutant_send(feed.fd, &m, how);
}

/* It goes on: a good batch is taken on a new feed. */
static void goes_on(void)
{
	new_feed();
	send_batch(MUT_NONE, batch_len, samples);
	NEED(answer() == BATCH_DELIVERED);
}

/* Samples of all lines. */
static unsigned long written(void)
{
	unsigned long sum = 0, n;
	char line[4096];
	FILE *f = fopen(out, "r");

	NEED(f);
	while (fgets(line, sizeof(line), f)) {
		char *last = strrchr(line, ' ');

		NEED(last && sscanf(last, "%lu", &n) == 1);
		sum += n;
	}
	fclose(f);
	return sum;
}

static void end(unsigned long batches)
{
	int status;

	tell(RECORD_END, -1);
	NEED(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && !WEXITSTATUS(status));
	NEED(written() == batches * samples);
	unlink(out);
	rmdir(dir);
	free(batch_bytes);
}

TEST(recorder_ends_a_feed_at_each_message_that_is_wrong)
{
	unsigned long refused = 0, invalid = 0, taken = 0;

	begin();
	for (int how = MUT_NONE + 1; how < MUTATIONS; how++) {
		int got;

		new_feed();
		if (!send_batch((enum mutation)how, batch_len, samples))
			continue;
		got = answer();
		printf("# %s: %d\n", mutation_name((enum mutation)how), got);
		NEED(got == (how < MUT_MEM_UNSEALED ? -1 : BATCH_INVALID));
		if (got == -1)
			refused++;
		if (got == BATCH_INVALID)
			invalid++;
	}
	for (unsigned int t = 0; t < MUTANT_TYPES; t++) {
		new_feed();
		if (!mutant_send_stranger(feed.fd, PEER_EXPORTERD, CONN_READY, t))
			continue;
		NEED(answer() == -1);
		refused++;
	}
	goes_on();
	taken++;
	printf("# %lu refused, %lu invalid\n", refused, invalid);
	end(taken);
}

TEST(recorder_takes_what_is_right_once)
{
	begin();
	/* what the message says is not so */
	send_batch(MUT_NONE, batch_len - 8, samples);
	NEED(answer() == BATCH_INVALID);
	send_batch(MUT_NONE, batch_len, samples + 1);
	NEED(answer() == BATCH_INVALID);
	send_batch(MUT_NONE, UINT64_MAX, UINT64_MAX);
	NEED(answer() == BATCH_INVALID);
	/* the same one, again and again, also by other feeds */
	for (int i = 0; i < 300; i++) {
		send_batch(MUT_NONE, batch_len, samples);
		NEED(answer() == BATCH_DELIVERED);
		if (i % 50 == 0)
			goes_on();
	}
	end(1);
}
