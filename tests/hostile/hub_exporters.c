// SPDX-License-Identifier: Apache-2.0
/*
 * The real symbolizerd, with an exporterd that never says what became of a
 * batch, takes none, or never stops to talk: what the hub holds for it is
 * bounded, what is beyond is counted, and others are served.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "symbolizerd/knowledge/batches.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

#define MORE		104	/* batches beyond what the hub knows of */
#define WARM		200	/* ... until its memory is what it needs */
#define GROWTH		(2 << 20)	/* bytes: 4,000 entries have 160 KiB */
#define FLOOD_NS	(3 * NSEC_PER_SEC)

static struct place place;

/* Each loaderd that says hello ends the interval of the one before. */
static void make_batch(struct fake_loader *l, int counts_fd,
		       struct cpu_counts *counts)
{
	*l = (struct fake_loader){ .counts = counts, .counts_fd = counts_fd };
	loader_connect(l, &place);
	loader_hello(l);
	two_samples(l);
	loader_bye(l);
	loader_drop(l);
}

static unsigned int descriptors_of(pid_t pid)
{
	char path[32];
	unsigned int n = 0;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%d/fd", pid);
	d = opendir(path);
	while (d && readdir(d))
		n++;
	if (d)
		closedir(d);
	return n;
}

static void read_all(struct conn *exporter)
{
	struct msg m;

	while (conn_recv(exporter, &m) == 0)
		msg_close_fds(&m);
}

static bool always(const struct status *st, uint64_t unused)
{
	(void)st;
	(void)unused;
	return true;
}

/* reads: it takes the batches, and says nothing; else it takes none. */
static void never_acknowledges(bool reads, uint32_t n, struct status *last)
{
	struct status st, warm = { 0 };
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	unsigned int begin, end;

	hub_begin(&place);
	exporter_connect(&exporter, &place, 0, NULL);
	begin = descriptors_of(place.hub);
	loader_count(&l);
	for (uint32_t i = 0; i < n; i++) {
		make_batch(&l, l.counts_fd, l.counts);
		/* BPF's counts are of one life */
		for (int cpu = 0; cpu < LOADER_CPUS; cpu++)
			l.counts[cpu] = (struct cpu_counts){ .n = { 0 } };
		if (reads)
			read_all(&exporter);
		if (i == WARM) {
			status_connect(&status, &place);
			status_until(&status, &warm, always, 0);
			conn_close(&status);
		}
	}
	status_connect(&status, &place);
	status_until(&status, &st, has_received, 2 * n);
	end = descriptors_of(place.hub);
	printf("# %u batches: %lu samples are held, %lu given up; memory %lu "
	       "-> %lu KiB, descriptors %u -> %u\n", n, st.hub.outstanding,
	       st.totals.outcomes.samples[BATCH_QUEUE_FULL],
	       warm.hub.rss_bytes >> 10, st.hub.rss_bytes >> 10, begin, end);
	NEED(st.exporter_up && st.hub.offences == 0);
	NEED(st.hub.rss_bytes < warm.hub.rss_bytes + GROWTH);
	/* the newest, the samples' socket, what BPF counts, the status */
	NEED(end <= begin + BATCHES_HELD + 4);
	*last = st;
	hub_end(&place, &status, &st);
	NEED(account_now(&st).difference == 0 && st.hub.outstanding == 0);
	conn_close(&exporter);
}

TEST(hub_bounds_what_is_never_acknowledged)
{
	uint32_t n = BATCHES_MAX + MORE;
	struct status st;

	never_acknowledges(true, n, &st);
	NEED(st.hub.outstanding <= 2 * BATCHES_MAX);
	/* the last two may not be in a batch yet */
	NEED(st.totals.outcomes.samples[BATCH_QUEUE_FULL] >= 2 * (MORE - 1));
}

TEST(hub_bounds_what_is_never_taken)
{
	struct status st;

	never_acknowledges(false, 600, &st);
	/* those that lie in the socket, and those that are kept */
	NEED(st.hub.outstanding < 2 * 500);
	NEED(st.totals.outcomes.samples[BATCH_QUEUE_FULL] > 0);
}

static void flood(struct conn *exporter)
{
	static const struct msg_exporter_stats stats;
	struct pollfd p = { exporter->fd, POLLOUT, 0 };
	uint64_t end = now_ns() + 10 * NSEC_PER_SEC;
	int r = 0;

	while ((r == 0 || r == -EAGAIN) && now_ns() < end) {
		if (r)
			poll(&p, 1, 100);
		r = conn_send(exporter, MSG_EXPORTER_STATS, 0, &stats,
			      sizeof(stats), NULL, 0, NULL, 0);
	}
	_exit(r != 0);
}

TEST(hub_serves_others_while_exporterd_floods)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	uint64_t end, received = 0;
	struct status st;
	pid_t pid;

	hub_begin(&place);
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	fflush(stdout);
	pid = fork();
	if (pid == 0)
		flood(&exporter);
	for (end = now_ns() + FLOOD_NS; now_ns() < end; received += 2) {
		two_samples(&l);
		status_until(&status, &st, has_received, received + 2);
	}
	NEED(waitpid(pid, NULL, WNOHANG) == 0);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	printf("# %lu samples came through\n", received);
	NEED(received >= 4 && st.exporter_up && st.loader_up);
	loader_bye(&l);
	conn_close(&exporter);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == 0 && account_now(&st).difference == 0);
	loader_drop(&l);
}
