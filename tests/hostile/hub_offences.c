// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the real symbolizerd: does every malformed message cost its sender the
 * connection, one offence in the statistics, and nothing else?
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

static struct place place;

/* --- strangers --------------------------------------------------------------- */

TEST(hub_refuses_strangers)
{
	struct conn c, status;
	struct status st;

	if (getuid() != 0)
		exit(TEST_SKIP);
	hub_begin(&place);
	status_connect(&status, &place);
	NEED(seteuid(1) == 0);
	NEED(conn_connect(&c, place_path(&place, "loader"), PEER_HUB,
			  OTHER_ID) == 0);
	expect_closed(&c);
	NEED(conn_connect(&c, place_path(&place, "export"), PEER_HUB,
			  OTHER_ID) == 0);
	expect_closed(&c);
	NEED(conn_connect(&c, place_path(&place, "status"), PEER_HUB,
			  OTHER_ID) == 0);
	expect_closed(&c);
	NEED(seteuid(0) == 0);
	status_until(&status, &st, has_offences, 3);
	hub_end(&place, &status, &st);
}

/* --- offences ------------------------------------------------------------------------ */

/* A datagram as somebody without conn_send() would make it. */
struct raw {
	const char *name;
	uint16_t version, type;
	int32_t len;			/* said in the header, minus real */
	size_t payload;			/* real bytes */
	unsigned int fds;
	bool hello;			/* say hello before */
	bool bare;			/* but not what files there are */
	bool bye;			/* and good-bye */
	uint64_t id;
	uint8_t bytes[128];		/* first ones */
};

#define V	MSG_VERSION
static const struct raw loader_raw[] = {
	{ "version", V + 1, MSG_LOADER_STATS, .hello = true,
	  .payload = sizeof(struct msg_loader_stats) },
	{ "type 0", V, 0, .hello = true },
	{ "type unknown", V, 999, .hello = true },
	{ "type of a worker", V, MSG_JOB_DONE, .fds = 1, .hello = true,
	  .payload = sizeof(struct msg_job_done) },
	{ "type of exporterd", V, MSG_BATCH_DONE, .hello = true,
	  .payload = sizeof(struct msg_batch_done) },
	{ "no hello", V, MSG_LOADER_STATS,
	  .payload = sizeof(struct msg_loader_stats) },
	{ "bye without hello", V, MSG_BYE, .len = 0 },
	{ "length too large in header", V, MSG_LOADER_STATS, .len = 1,
	  .payload = sizeof(struct msg_loader_stats), .hello = true },
	{ "length too small in header", V, MSG_LOADER_STATS, .len = -1,
	  .payload = sizeof(struct msg_loader_stats), .hello = true },
	{ "payload too short", V, MSG_LOADER_STATS, .hello = true,
	  .payload = sizeof(struct msg_loader_stats) - 1 },
	{ "payload too long", V, MSG_LOADER_STATS, .hello = true,
	  .payload = sizeof(struct msg_loader_stats) + 1 },
	{ "larger than any message", V, MSG_EXE, .hello = true, .id = 1,
	  .payload = MSG_LEN_MAX + 1, .fds = 1 },
	{ "descriptor missing", V, MSG_EXE, .hello = true, .id = 1,
	  .payload = sizeof(struct msg_exe) },
	{ "descriptor too many", V, MSG_EXE, .hello = true, .fds = 2, .id = 1,
	  .payload = sizeof(struct msg_exe) },
	{ "descriptors beyond all bounds", V, MSG_EXE, .hello = true,
	  .fds = 9, .payload = sizeof(struct msg_exe), .id = 1 },
	{ "unasked descriptor", V, MSG_LOADER_STATS, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_loader_stats) },
	{ "executable without id", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe) },
	{ "executable with half a room", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe), .id = 1,
	  .bytes = { [offsetof(struct msg_exe, no_room)] = 2 } },
	{ "executable of half a host", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe), .id = 1,
	  .bytes = { [offsetof(struct msg_exe, host)] = 2 } },
	{ "executable that begins by half", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe), .id = 1,
	  .bytes = { [offsetof(struct msg_exe, begins)] = 2 } },
	{ "NUL in a path", V, MSG_EXE, .hello = true, .fds = 1, .id = 1,
	  .payload = sizeof(struct msg_exe) + 8 },
	{ "executable before all entries", V, MSG_EXE, .hello = true,
	  .bare = true, .fds = 1, .id = 1, .payload = sizeof(struct msg_exe) },
	{ "entries in no memfd", V, MSG_KNOWN, .hello = true, .bare = true,
	  .fds = 1, .payload = sizeof(struct msg_known) },
	{ "entries beyond the map", V, MSG_KNOWN, .hello = true, .bare = true,
	  .fds = 1, .payload = sizeof(struct msg_known),
	  .bytes = { 0xff, 0xff, 0xff, 0xff } },
	{ "entries twice", V, MSG_KNOWN, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_known) },
	{ "slab in no memfd", V, MSG_SLAB, .hello = true, .bare = true,
	  .fds = 1, .payload = sizeof(struct msg_slab) },
	{ "slab after all entries", V, MSG_SLAB, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_slab) },
	{ "mapped numbers in no memfd", V, MSG_MAPPED, .hello = true,
	  .fds = 1 },
	{ "more settled than was sent", V, MSG_LOADER_STATS, .hello = true,
	  .payload = sizeof(struct msg_loader_stats), .id = 99 },
	{ "cgroup that nobody asked for", V, MSG_CGROUP, .hello = true,
	  .payload = sizeof(struct msg_cgroup) },
	{ "cgroup of too many pieces", V, MSG_CGROUP, .hello = true,
	  .payload = sizeof(struct msg_cgroup),
	  .bytes = { REQUEST_CGROUP, 0, 0, 0, CGROUP_PIECES + 1 } },
	{ "cgroup's name without end", V, MSG_CGROUP, .hello = true,
	  .payload = sizeof(struct msg_cgroup),
	  .bytes = { REQUEST_CGROUP, 0, 0, 0, 1,
		     [offsetof(struct request_cgroup, piece)
		      ... offsetof(struct request_cgroup, piece) +
		      CGROUP_PIECE - 1] = 'x' } },
	{ "executable after bye", V, MSG_EXE, .hello = true, .bye = true,
	  .fds = 1, .payload = sizeof(struct msg_exe), .id = 1 },
	{ "second bye", V, MSG_BYE, .hello = true, .bye = true },
};

static const struct raw exporter_raw[] = {
	{ "outcome without hello", V, MSG_BATCH_DONE,
	  .payload = sizeof(struct msg_batch_done) },
	{ "hello of a loaderd", V, MSG_HELLO_LOADER, .fds = 2,
	  .payload = sizeof(struct msg_hello_loader) },
	{ "hello of version 0", V, MSG_HELLO_EXPORTER,
	  .payload = sizeof(struct msg_hello_exporter) },
	{ "hello with too much", V, MSG_HELLO_EXPORTER,
	  .payload = sizeof(struct msg_hello_exporter),
	  .bytes = { BATCH_VERSION, 0, 0, 0, 0, 0, 0, 0,
		     [offsetof(struct msg_hello_exporter, queued_samples) + 7] = 0xff } },
	{ "hello that wants two of it", V, MSG_HELLO_EXPORTER,
	  .payload = sizeof(struct msg_hello_exporter),
	  .bytes = { BATCH_VERSION, 0, 0, 0, 2 } },
	{ "hello that asks twice", V, MSG_HELLO_EXPORTER,
	  .payload = sizeof(struct msg_hello_exporter),
	  .bytes = { BATCH_VERSION, 0, 0, 0, 0, 0, 0, 0,
		     [offsetof(struct msg_hello_exporter, debuginfod)] = 2 } },
	{ "hello with words in between", V, MSG_HELLO_EXPORTER,
	  .payload = sizeof(struct msg_hello_exporter),
	  .bytes = { BATCH_VERSION, 0, 0, 0, 0, 0, 0, 0,
		     [offsetof(struct msg_hello_exporter, pad)] = 1 } },
	{ "debug file in no memory", V, MSG_DEBUGINFO, .hello = true, .fds = 1, .id = 1,
	  .payload = sizeof(struct msg_debuginfo), .bytes = { 1 } },
	{ "debug file that nobody sent", V, MSG_DEBUGINFO_WANTED, .hello = true,
	  .payload = sizeof(struct msg_debuginfo_wanted) },
	{ "status", V, MSG_STATUS, .hello = true,
	  .payload = sizeof(struct msg_status) },
	{ "second hello", V, MSG_HELLO_EXPORTER, .hello = true,
	  .payload = sizeof(struct msg_hello_exporter),
	  .bytes = { BATCH_VERSION } },
	{ "outcome of nothing", V, MSG_BATCH_DONE, .hello = true,
	  .payload = sizeof(struct msg_batch_done), .bytes = { 1 } },
	{ "outcome that is none", V, MSG_BATCH_DONE, .hello = true,
	  .payload = sizeof(struct msg_batch_done),
	  .bytes = { 0, 0, 0, 0, 0, 0, 0, 0, BATCH__OUTCOMES } },
	{ "batch", V, MSG_BATCH, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_batch) },
	{ "statistics too long", V, MSG_EXPORTER_STATS, .hello = true,
	  .payload = sizeof(struct exporter_stats) + 1 },
};
#define N(a)	(sizeof(a) / sizeof((a)[0]))

static void send_raw(int fd, const struct raw *raw)
{
	struct msg_hdr hdr = {
		.version = raw->version, .type = raw->type,
		.len = (uint32_t)((int64_t)raw->payload + raw->len),
		.id = raw->id,
	};
	static uint8_t payload[MSG_LEN_MAX + 64];
	struct iovec iov[] = { { &hdr, sizeof(hdr) },
			       { payload, raw->payload } };
	union {
		struct cmsghdr h;
		char buf[CMSG_SPACE(16 * sizeof(int))];
	} control = { 0 };
	struct msghdr mh = { .msg_iov = iov, .msg_iovlen = 2 };

	memset(payload, 0, sizeof(payload));
	memcpy(payload, raw->bytes, sizeof(raw->bytes));
	if (raw->fds) {
		mh.msg_control = &control;
		mh.msg_controllen = CMSG_SPACE(raw->fds * sizeof(int));
		control.h.cmsg_level = SOL_SOCKET;
		control.h.cmsg_type = SCM_RIGHTS;
		control.h.cmsg_len = CMSG_LEN(raw->fds * sizeof(int));
		for (unsigned int i = 0; i < raw->fds; i++)
			((int *)(void *)CMSG_DATA(&control.h))[i] = 1;
	}
	NEED(sendmsg(fd, &mh, MSG_NOSIGNAL) >= 0);
}

static void loader_offends(const struct raw *raw)
{
	struct fake_loader l = { 0 };

	loader_connect(&l, &place);
	if (raw->hello && raw->bare)
		loader_hello_only(&l);
	else if (raw->hello)
		loader_hello(&l);
	if (raw->bye)
		loader_bye(&l);
	send_raw(l.conn.fd, raw);
	expect_closed(&l.conn);
	loader_drop(&l);
}

static void exporter_offends(const struct raw *raw)
{
	struct conn c;

	if (raw->hello)
		exporter_connect(&c, &place, 0, NULL);
	else
		NEED(conn_connect(&c, place_path(&place, "export"), PEER_HUB,
				  hub_uid()) == 0);
	send_raw(c.fd, raw);
	expect_closed(&c);
}

TEST(hub_survives_every_malformed_message)
{
	uint64_t offences = 0;
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t i = 0; i < N(loader_raw); i++) {
		printf("# loader: %s\n", loader_raw[i].name);
		loader_offends(&loader_raw[i]);
		offences++;
	}
	for (size_t i = 0; i < N(exporter_raw); i++) {
		printf("# export: %s\n", exporter_raw[i].name);
		exporter_offends(&exporter_raw[i]);
		offences++;
	}
	status_until(&status, &st, has_offences, offences);
	NEED(st.hub.offences == offences);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == offences);
	NEED(account_now(&st).difference == 0);
}

TEST(hub_survives_headers_cut_short)
{
	struct msg_hdr hdr = { .version = MSG_VERSION, .type = MSG_BYE };
	struct conn c, status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t n = 1; n < sizeof(hdr); n++) {
		NEED(conn_connect(&c, place_path(&place, "loader"), PEER_HUB,
				  hub_uid()) == 0);
		NEED(send(c.fd, &hdr, n, MSG_NOSIGNAL) == (ssize_t)n);
		expect_closed(&c);
	}
	status_until(&status, &st, has_offences, sizeof(hdr) - 1);
	hub_end(&place, &status, &st);
}

TEST(status_client_may_only_subscribe)
{
	static const struct raw raws[] = {
		{ "bye", V, MSG_BYE, .len = 0 },
		{ "batch", V, MSG_BATCH, .fds = 1,
		  .payload = sizeof(struct msg_batch) },
		{ "outcome", V, MSG_BATCH_DONE,
		  .payload = sizeof(struct msg_batch_done) },
		{ "status", V, MSG_STATUS,
		  .payload = sizeof(struct msg_status) },
		{ "subscription too short", V, MSG_SUBSCRIBE, .payload = 7,
		  .bytes = { BATCH_VERSION, 0, 0, 0, 1 } },
		{ "subscription too long", V, MSG_SUBSCRIBE, .payload = 9,
		  .bytes = { BATCH_VERSION, 0, 0, 0, 1 } },
		{ "subscription with a descriptor", V, MSG_SUBSCRIBE,
		  .fds = 1, .payload = sizeof(struct msg_subscribe),
		  .bytes = { BATCH_VERSION, 0, 0, 0, 1 } },
	};
	struct conn c, status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t i = 0; i < N(raws); i++) {
		printf("# status: %s\n", raws[i].name);
		status_connect(&c, &place);
		send_raw(c.fd, &raws[i]);
		expect_closed(&c);
	}
	status_until(&status, &st, has_offences, N(raws));
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == N(raws));
}

/* --- a loaderd whose hello lies -------------------------------------------------------- */

enum lie {
	LIE_VERSION, LIE_FREQUENCY, LIE_VALID, LIE_PARTIAL, LIE_CHECKPOINT,
	LIE_IDLE, LIE_FILE, LIE_PIPE, LIE_NO_CPUS, LIE_CPUS, LIE_CPUS_BEYOND,
	LIE_COUNTS_SHRINK, LIE_COUNTS_SHORT, LIE_COUNTS_PIPE, LIES
};

/* fd: of the samples, and of what BPF counts. */
static void tell_lie(struct msg_hello_loader *m, int *fd, enum lie lie)
{
	int ends[2];

	switch (lie) {
	case LIE_NO_CPUS:
		m->cpus = 0;
		break;
	case LIE_CPUS:		/* more than the memory has */
		m->cpus = LOADER_CPUS + 1;
		break;
	case LIE_CPUS_BEYOND:
		m->cpus = UINT32_MAX;
		break;
	case LIE_COUNTS_SHRINK:
		fd[1] = memfd_create("file", MFD_CLOEXEC);
		NEED(fd[1] >= 0 && ftruncate(fd[1], 65536) == 0);
		break;
	case LIE_COUNTS_SHORT:
		fd[1] = memfd_create("file", MFD_CLOEXEC | MFD_ALLOW_SEALING);
		NEED(fd[1] >= 0 &&
		     fcntl(fd[1], F_ADD_SEALS, F_SEAL_SHRINK) == 0);
		break;
	case LIE_COUNTS_PIPE:
		NEED(pipe(ends) == 0);
		fd[1] = ends[0];
		break;
	case LIE_VERSION:
		m->record_version++;
		break;
	case LIE_FREQUENCY:
		m->frequency = 0;
		break;
	case LIE_VALID:
		m->account = ACCOUNT__MAX;
		break;
	case LIE_PARTIAL:
		m->partial = 2;
		break;
	case LIE_CHECKPOINT:
		m->account = ACCOUNT_SAME;
		m->checkpoint.word[offsetof(struct hub_totals, handed) / 8] =
			UINT64_MAX;
		break;
	case LIE_IDLE:
		m->idle_s = 0;
		break;
	case LIE_FILE:
		*fd = memfd_create("file", MFD_CLOEXEC);
		NEED(*fd >= 0);
		break;
	default:		/* readable, but no socket */
		NEED(pipe(ends) == 0 && write(ends[1], "x", 1) == 1);
		*fd = ends[0];
		break;
	}
}

TEST(hub_survives_lying_hellos)
{
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (int lie = 0; lie < LIES; lie++) {
		struct msg_hello_loader m = {
			.record_version = REC_VERSION, .frequency = 20,
			.idle_s = 1, .cpus = LOADER_CPUS,
		};
		struct fake_loader l = { 0 };
		int fd[2];

		loader_connect(&l, &place);
		loader_count(&l);
		fd[0] = l.hubs;
		fd[1] = l.counts_fd;
		tell_lie(&m, fd, (enum lie)lie);
		NEED(conn_send(&l.conn, MSG_HELLO_LOADER, 0, &m, sizeof(m),
			       NULL, 0, fd, 2) == 0);
		expect_closed(&l.conn);
		loader_drop(&l);
	}
	status_until(&status, &st, has_offences, LIES);
	hub_end(&place, &status, &st);
	NEED(st.hub.offences == LIES);
}

/* --- records ------------------------------------------------------------------------------ */

TEST(hub_counts_senseless_samples)
{
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, EXE_NONE, 1) };
	struct fake_loader l = { 0 };
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_sample(&l, record(0, 1), words);
	loader_sample(&l, record(1, 0), words);	/* not a kernel frame */
	two_samples(&l);
	status_until(&status, &st, has_received, 4);
	NEED(st.totals.hub_bad == 2);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	NEED(account_now(&st).difference == 0);
	NEED(st.totals.outcomes.samples[BATCH_GAVE_UP] == 2);
	loader_drop(&l);
}

/* A good record and then something in the same datagram: what the record says,
 * and how many bytes there are. */
static const struct {
	const char *name;
	uint32_t len;
	size_t bytes;
} malformed[] = {
	{ "longer than the datagram", 24, 16 },
	{ "much longer", UINT32_MAX - 7, 16 },
	{ "empty", 0, 16 },
	{ "odd", 12, 16 },
	{ "shorter than its head", 4, 16 },
	{ "half a head", 8, 4 },
	{ "a byte", 8, 1 },
	{ "more than a datagram may have", 16, SAMPLES_BYTES },
};

static size_t make_malformed(uint8_t *data, size_t i)
{
	uint32_t head[2] = { malformed[i].len, REC_KSYM };
	struct ksym_rec good = {
		.len = sizeof(good), .kind = REC_KSYM, .number = 1,
		.name = "good",
	};

	memset(data, 0, SAMPLES_BYTES + sizeof(good));
	memcpy(data, &good, sizeof(good));
	memcpy(data + sizeof(good), head, sizeof(head));
	return sizeof(good) + malformed[i].bytes;
}

TEST(hub_drops_loaderd_with_a_malformed_datagram)
{
	static uint8_t data[SAMPLES_BYTES + sizeof(struct ksym_rec)];
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	for (size_t i = 0; i < N(malformed); i++) {
		struct fake_loader l = { 0 };

		printf("# record: %s\n", malformed[i].name);
		loader_connect(&l, &place);
		loader_hello(&l);
		two_samples(&l);
		loader_put(&l, data, make_malformed(data, i));
		expect_closed(&l.conn);
		loader_drop(&l);
	}
	status_until(&status, &st, has_offences, N(malformed));
	NEED(st.hub.offences == N(malformed));
	NEED(st.totals.received == 2 * N(malformed));
	hub_end(&place, &status, &st);
}

/* Records that can be told apart, but say nothing: each is an offence, and the
 * samples beside them are taken. */
TEST(hub_goes_on_behind_a_senseless_record)
{
	static uint64_t data[3 * RECORD_MAX / 8];
	struct fake_loader l = { 0 };
	struct trace_rec good = record(0, 0);
	struct conn status;
	struct status st;
	uint8_t *to = (uint8_t *)data;
	const struct trace_rec bad[] = {
		{ .len = 16 }, { .len = 80, .kind = 99 },
		{ .len = sizeof(struct ksym_rec), .kind = REC_KSYM },
		{ .len = RECORD_MAX + 8, .kind = REC_SAMPLE },
	};

	good.len = sizeof(good);
	good.kind = REC_SAMPLE;
	good.version = REC_VERSION;
	for (size_t i = 0; i < N(bad); i++) {
		memcpy(to, &bad[i], 16);
		memcpy(to + bad[i].len, &good, sizeof(good));
		to += bad[i].len + sizeof(good);
	}
	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_put(&l, data, (size_t)(to - (uint8_t *)data));
	status_until(&status, &st, has_received, N(bad));
	NEED(st.hub.offences == N(bad) && st.loader_up);
	NEED(st.totals.received == N(bad) && st.totals.hub_bad == 0);
	loader_drop(&l);
	hub_end(&place, &status, &st);
}

TEST(hub_refuses_a_second_loaderd)
{
	struct fake_loader l = { 0 }, other = { 0 };
	struct conn status;
	struct status st;

	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_connect(&other, &place);
	expect_closed(&other.conn);
	loader_drop(&other);
	two_samples(&l);
	status_until(&status, &st, has_received, 2);
	NEED(st.hub.offences == 1 && st.loader_up);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	loader_drop(&l);
}

/* --- files ---------------------------------------------------------------------------------- */

/* state: the hub's answer for this file (owned), which has a text */
static void no_table(int text, unsigned int state)
{
	struct file_key key = { .ino = 3, .size = 5 };
	struct fake_loader l = { 0 };
	struct file_entry e;
	struct conn status;
	struct status st;

	NEED(write(text, "hello", 5) == 5);
	hub_begin(&place);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_exe(&l, 2, &key, "/tmp/text", text);
	NEED(loader_answer(&l, 2, &e) == MSG_ENTRY);
	NEED(e.exe == EXE_FIRST && e.state == state);
	status_until(&status, &st, has_jobs, 1);
	NEED(st.hub.worker_deaths == 0 && st.hub.exes_failed == 0);
	loader_bye(&l);
	hub_end(&place, &status, &st);
	loader_drop(&l);
}

TEST(hub_says_when_there_is_no_table)
{
	char path[] = "/tmp/trifold-hub-text-XXXXXX";
	int text = mkostemp(path, O_CLOEXEC);

	no_table(text, FILE_BARE);
	unlink(path);
	/* without a name it is memory for code */
	no_table(memfd_create("text", MFD_CLOEXEC), FILE_CODE);
}
