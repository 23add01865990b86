// SPDX-License-Identifier: Apache-2.0
/*
 * Debug files of debuginfod servers: whose the hub asks exporterd for, what it takes from
 * it, and what becomes of one that kills the worker that reads it.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "ipc/conn.h"
#include "ipc/sealed.h"
#include "symbolizerd/worker/worker.h"
#include "tests/hostile/own_hub.h"
#include "tests/unit/harness.h"

#define FILES	40
#define ID_LEN	20

/* --- the worker ------------------------------------------------------------------ */

/* File n is n bytes, has this build ID, and a symbol that says whether there was a debug
 * file that says y; one that says k kills. */
int worker_run(int fd)
{
	struct msg_job_done done = { .build_id_len = ID_LEN, .build_id = { 0xab } };
	struct msg_job job;
	struct stat st;
	char name[8];
	struct conn c;
	int file, part;

	if (!own_job_file(&c, fd, &job, &file) || fstat(file, &st))
		return 1;
	done.exe = job.exe;
	done.build_id[ID_LEN - 1] = (uint8_t)st.st_size;
	switch (own_ask_debug(&c, &done)) {
	case 'k':
		abort();
	case 'y':
		done.debug = JOB_DEBUG_FILE;
		break;
	default:
		done.debug = JOB_DEBUG_MISSING;
	}
	snprintf(name, sizeof(name), "%s%03u", done.debug == JOB_DEBUG_FILE ? "yes" : "not",
		 done.build_id[ID_LEN - 1]);
	for (done.part = JOB_TABLE; done.part <= JOB_SYMBOLS; done.part *= 2) {
		part = done.part == JOB_TABLE ? own_table() : own_symbols_called(name);
		if (job.parts & done.part)
			conn_send(&c, MSG_JOB_DONE, 0, &done, sizeof(done), NULL, 0, &part, 1);
	}
	return 0;
}

/* --- around the hub ---------------------------------------------------------------- */

static struct stage {
	struct conn status, exporter;
	struct fake_loader l;
	uid_t uid[FILES + 1];		/* of each file that was met */
	uint32_t files;
	bool named[FILES + 1];		/* a batch says yes */
	uint32_t asked[FILES + 1], useless[FILES + 1];
	uint64_t id[FILES + 1];		/* of the last question; 0: none, or answered */
	uint32_t n_asked;
} s;

static void ask_nobody(struct hub *hub)
{
	hub->k.debug_files.again_ns = 500000000;
}

static void ask_servers(struct hub *hub)
{
	ask_nobody(hub);
	hub->exporter.servers = true;
}

static void connect_exporter(void)
{
	struct msg_hello_exporter m = { .batch_version = BATCH_VERSION, .debuginfod = 1 };
	struct msg got;

	NEED(!conn_connect(&s.exporter, place_path(&own_place, "export"), PEER_HUB, hub_uid()));
	NEED(!conn_send(&s.exporter, MSG_HELLO_EXPORTER, 0, &m, sizeof(m), NULL, 0, NULL, 0));
	expect(&s.exporter, MSG_HELLO_HUB, &got);
	s.exporter.state = CONN_READY;
}

static void begin(void)
{
	own_begin(&s.status, &s.l, ask_servers);
	connect_exporter();
}

static void send_file(uint32_t n)
{
	char bytes[FILES] = { 0 };

	own_send_file(&s.l, n, bytes, n, s.uid[n]);
}

static uint32_t meet(uid_t uid)
{
	uint32_t n = ++s.files;

	NEED(n <= FILES);
	s.uid[n] = uid;
	send_file(n);
	return n;
}

static void hear_loader(void)
{
	struct msg_open_failed none = { .error = ENOENT };
	struct msg_entry e;
	struct msg m;

	while (conn_recv(&s.l.conn, &m) == 0) {
		memcpy(&e, m.buf, sizeof(e));
		if (loader_slab(&s.l.conn, &m))
			continue;
		if (m.hdr.type == MSG_DEBUG_WANTED)
			NEED(!conn_send(&s.l.conn, MSG_WANTED_NONE, m.hdr.id, &none, sizeof(none),
					NULL, 0, NULL, 0));
		else if (m.hdr.type == MSG_ENTRY && e.entry.state & FILE_ASK)
			send_file((uint32_t)e.key.ino);
		msg_close_fds(&m);
	}
}

static void hear_batch(struct msg *m)
{
	struct msg_batch said;
	const void *map;
	struct batch b;
	size_t len;

	memcpy(&said, m->buf, sizeof(said));
	NEED(!sealed_map(m->fds[0], 64, BATCH_BYTES_MAX, &map, &len) && !batch_open(map, len, &b));
	for (uint32_t i = 0; i < batch_n(&b, BATCH_FUNCTIONS); i++) {
		const char *name = batch_str(&b, b.functions[i].name, &len);

		if (len == 6 && !memcmp(name, "yes", 3))
			s.named[atoi(name + 3)] = true;
	}
	munmap((void *)map, said.bytes);
	exporter_done(&s.exporter, m->hdr.id, said.samples, BATCH_DELIVERED);
}

static void hear_exporter(void)
{
	struct msg_debuginfo_wanted q;
	struct msg m;

	while (conn_recv(&s.exporter, &m) == 0) {
		if (m.hdr.type == MSG_BATCH)
			hear_batch(&m);
		if (m.hdr.type == MSG_DEBUGINFO_WANTED) {
			uint32_t n;

			memcpy(&q, m.buf, sizeof(q));
			n = q.build_id[ID_LEN - 1];
			NEED(q.build_id_len == ID_LEN && q.build_id[0] == 0xab && n <= s.files);
			NEED(!s.id[n]);		/* not before the answer */
			s.id[n] = m.hdr.id;
			s.asked[n]++;
			s.useless[n] += q.useless;
			s.n_asked++;
		}
		msg_close_fds(&m);
	}
}

/* Samples meet all files, and messages are read, until that is so, or for some time. */
static bool go_on(bool (*until)(uint32_t n), uint32_t n, uint64_t ms)
{
	uint64_t end = now_ns() + ms * NSEC_PER_MSEC;

	for (unsigned int i = 0; now_ns() < end; i++) {
		for (uint32_t f = 1; f <= s.files && i % 10 == 0; f++)
			own_sample_file(&s.l, f);
		poll(NULL, 0, 20);
		hear_loader();
		hear_exporter();
		if (until && until(n))
			return true;
	}
	return false;
}

static bool is_asked(uint32_t n)
{
	return s.id[n] != 0;
}

static bool is_named(uint32_t n)
{
	return s.named[n];
}

static bool is_useless(uint32_t n)
{
	return s.id[n] && s.useless[n];
}

#define SOON	20000

/* As exporterd has it from its cache: a file that can only be read. */
static int cached_file(const char *says, int how)
{
	char path[] = "/tmp/trifold-debug-XXXXXX";
	int fd = mkstemp(path), ret;

	NEED(fd >= 0 && write(fd, says, strlen(says)) == (ssize_t)strlen(says));
	ret = open(path, how | O_CLOEXEC);
	NEED(ret >= 0 && !close(fd) && !unlink(path));
	return ret;
}

static void send_debug(uint64_t id, int fd, uint64_t bytes)
{
	struct msg_debuginfo m = { bytes };

	NEED(!conn_send(&s.exporter, MSG_DEBUGINFO, id, &m, sizeof(m), NULL, 0, &fd, 1));
	close(fd);
}

static void answer(uint32_t n, const char *says)
{
	send_debug(s.id[n], cached_file(says, O_RDONLY), strlen(says));
	s.id[n] = 0;
}

static void answer_none(uint32_t n)
{
	NEED(!conn_send(&s.exporter, MSG_DEBUGINFO_NONE, s.id[n], NULL, 0, NULL, 0, NULL, 0));
	s.id[n] = 0;
}

/* --- tests --------------------------------------------------------------------------- */

TEST(hub_takes_a_file_of_the_cache)
{
	struct status st;
	uint32_t n;

	begin();
	n = meet(getuid());
	NEED(go_on(is_asked, n, SOON) && s.useless[n] == 0);
	answer(n, "y");
	NEED(go_on(is_named, n, SOON));
	NEED(s.asked[n] == 1);
	own_end(&s.status, &s.l, &st);
	NEED(st.hub.offences == 0 && st.hub.worker_deaths == 0);
}

/* It says that it asks servers, and sends what nobody wanted: the hub's configuration says
 * that there are none. */
TEST(hub_takes_no_exporters_word_for_servers)
{
	struct status st;
	uint32_t n;

	own_begin(&s.status, &s.l, ask_nobody);
	connect_exporter();
	n = meet(getuid());
	for (uint64_t id = 0; id < 8; id++)
		send_debug(id, cached_file("y", O_RDONLY), 1);
	go_on(NULL, 0, 3000);
	NEED(!s.asked[n] && !s.named[n]);
	own_end(&s.status, &s.l, &st);
	NEED(st.hub.offences == 0);
}

/* Memory that can be changed, what is no file, what is no file to read, and what has
 * another size. */
TEST(hub_refuses_what_a_worker_could_not_read_in_peace)
{
	static const struct { const char *what; int how; uint64_t bytes; } bad[] = {
		{ "a file to write", O_RDWR, 1 }, { "a file to write only", O_WRONLY, 1 },
		{ "a path", O_PATH, 1 }, { "more", O_RDONLY, 2 }, { "nothing", O_RDONLY, 0 },
		{ "unsealed memory", 0, 1 }, { "a directory", 0, 4096 }, { "a pipe", 0, 1 },
	};
	int ends[2];
	struct status st;

	begin();
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int fd = i < 5 ? cached_file("y", bad[i].how) : memfd_create("debug", MFD_CLOEXEC);

		if (i == 5)
			NEED(write(fd, "y", 1) == 1);
		if (i == 6)
			fd = open("/", O_RDONLY | O_DIRECTORY);
		if (i == 7)
			NEED(pipe(ends) == 0 && (fd = ends[0]) >= 0);
		printf("# %s\n", bad[i].what);
		send_debug(1, fd, bad[i].bytes);
		expect_closed(&s.exporter);
		conn_close(&s.exporter);
		connect_exporter();
	}
	own_end(&s.status, &s.l, &st);
	NEED(st.hub.offences == sizeof(bad) / sizeof(bad[0]));
}

/* The others' names come, it is said to be of no use, and another one is read again. */
TEST(hub_survives_a_debug_file_that_kills_the_worker)
{
	struct status st;
	uint32_t hostile, good;

	begin();
	hostile = meet(getuid());
	good = meet(getuid());
	NEED(go_on(is_asked, hostile, SOON));
	answer(hostile, "k");
	NEED(go_on(is_asked, good, SOON));
	answer(good, "y");
	NEED(go_on(is_named, good, SOON) && !s.named[hostile]);
	NEED(go_on(is_useless, hostile, SOON));
	NEED(s.useless[good] == 0 && s.asked[good] == 1);
	answer_none(hostile);
	for (int i = 0; i < 2; i++) {
		uint32_t more = meet(getuid());

		NEED(go_on(is_asked, more, SOON));
		answer(more, "y");
		NEED(go_on(is_named, more, SOON));
	}
	own_end(&s.status, &s.l, &st);
	printf("# %llu workers died\n", (unsigned long long)st.hub.worker_deaths);
	NEED(st.hub.worker_deaths == 1 && st.hub.offences == 0);
}

/* Nobody answers those of the one who has many programs: the other's is asked for. */
TEST(hub_asks_for_others_too)
{
	struct status st;
	uint32_t other;

	if (getuid() != 0) {
		printf("# files of other users need root\n");
		exit(TEST_SKIP);
	}
	begin();
	for (int i = 0; i < FILES - 1; i++)
		meet(12345);
	go_on(NULL, 0, 3000);
	printf("# %u questions under way for who has %u programs\n", s.n_asked, s.files);
	NEED(s.n_asked == 4);
	other = meet(12346);
	NEED(go_on(is_asked, other, SOON));
	NEED(s.n_asked == 5);
	own_end(&s.status, &s.l, &st);
	NEED(st.hub.offences == 0);
}
