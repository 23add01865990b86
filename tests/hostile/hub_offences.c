// SPDX-License-Identifier: Apache-2.0
/*
 * Runs the real symbolizerd with a make-believe loaderd and exporterd: does a
 * batch say what the records said, do the accounts balance whoever dies, and
 * does every malformed message cost its sender the connection, one offence in
 * the statistics, and nothing else?
 *
 * Usage: hub_offences [SYMBOLIZERD]; default ../bin/trifold-symbolizerd from
 * here.  As root the hub becomes another user, as it should; else it stays.
 */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"
#include "symbolizerd/record.h"
#include "tests/hostile/hub_peer.h"
#include "tests/unit/harness.h"

static char binary[4096];
static struct place place;

/* A symbol that the symbolizer must find again in this very file. */
int hub_test_marker(int x);
__attribute__((__noinline__)) int hub_test_marker(int x)
{
	return x * 7 + 1;
}

/* --- helpers ------------------------------------------------------------------ */

static void begin(void)
{
	place_make(&place);
	hub_exec(&place, binary);
}

/* SIGTERM; the last status of a client, and exit status 0. */
static void end(struct conn *status, struct status *last)
{
	struct msg m;
	int r;

	kill(place.hub, SIGTERM);
	NEED(hub_wait(&place) == 0);
	while (status && (r = conn_recv(status, &m)) == 0)
		memcpy(last, m.buf, sizeof(*last));
	if (status)
		conn_close(status);
	place_remove(&place);
}

static void end_quietly(void)
{
	end(NULL, NULL);
}

static bool has_offences(const struct status *st, uint64_t n)
{
	return st->hub.offences >= n;
}

static bool has_received(const struct status *st, uint64_t n)
{
	return st->totals.received >= n;
}

static bool has_delivered(const struct status *st, uint64_t n)
{
	return st->totals.outcomes.samples[BATCH_DELIVERED] >= n;
}

static bool has_exporter_deaths(const struct status *st, uint64_t n)
{
	return st->totals.exporter_deaths >= n;
}

static bool has_jobs(const struct status *st, uint64_t n)
{
	return st->hub.worker_jobs >= n && st->hub.exes_waiting == 0;
}

static bool loader_is_down(const struct status *st, uint64_t n)
{
	return !st->loader_up && st->totals.loader_deaths >= n;
}

static struct trace_rec record(uint16_t n_kernel, uint16_t n_user)
{
	return (struct trace_rec){
		.stop = STOP_COMPLETE, .tgid = 4711, .tid = 4712,
		.start_ns = NSEC_PER_SEC, .exec_id = 3, .cgroup_id = 99,
		.exe = 5, .n_kernel = n_kernel, .n_user = n_user, .cpu = 1,
		.comm = "worker/1",
	};
}

static void two_samples(struct fake_loader *l)
{
	uint64_t words[] = { FRAME_WORD(FRAME_ANON, 0, 0x1234) };

	loader_sample(l, record(0, 1), words);
	loader_sample(l, record(0, 1), words);
	loader_wake(l);
}

static struct account account_of(const struct status *st)
{
	struct account a;

	account_sum(st, &a);
	return a;
}

/* --- what a batch says ----------------------------------------------------------- */

static const char *str(const struct batch *b, uint32_t i)
{
	static char bufs[4][256];
	static unsigned int turn;
	char *buf = bufs[turn++ % 4];
	size_t len;
	const char *s = batch_str(b, i, &len);

	snprintf(buf, sizeof(bufs[0]), "%.*s", (int)len, s);
	return buf;
}

static const struct batch_frame *frame(const struct batch *b, uint32_t i)
{
	const struct batch_stack *st = &b->stacks[b->samples[0].stack];

	NEED(i < st->n);
	return &b->frames[b->stack_frames[st->first + i]];
}

static const char *function(const struct batch *b, uint32_t i)
{
	return str(b, b->functions[frame(b, i)->function].name);
}

static const char *exe(const struct batch *b, uint32_t i)
{
	return str(b, b->exes[frame(b, i)->exe].path);
}

/* The file offset of an address of this program, from its own mappings. */
static uint64_t file_offset(const void *addr)
{
	FILE *f = fopen("/proc/self/maps", "r");
	unsigned long start, stop, off, a = (unsigned long)addr;
	char line[512];

	NEED(f != NULL);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, "%lx-%lx %*s %lx", &start, &stop, &off) == 3 &&
		    a >= start && a < stop) {
			fclose(f);
			return a - start + off;
		}
	}
	NEED(!"the address is mapped");
	return 0;
}

static void say_container(struct fake_loader *l)
{
	static const char path[] = "/system.slice/docker-0123456789abcdef"
		"0123456789abcdef0123456789abcdef0123456789abcdef.scope";
	struct msg_cgroup m = { .cgroup_id = 99, .path_len = sizeof(path) - 1 };

	NEED(conn_send(&l->conn, MSG_CGROUP, 0, &m, sizeof(m), path,
		       m.path_len, NULL, 0) == 0);
}

static const struct file_key self_key = { .ino = 17, .size = 4242, .dev = 9 };

static void send_known_frames(struct fake_loader *l, uint64_t place_of_marker)
{
	uint64_t w[7 + KEY_WORDS] = {
		FRAME_WORD(FRAME_KERNEL, 1, 16),
		FRAME_WORD(FRAME_KERNEL, 2, 32),
		FRAME_WORD(FRAME_NATIVE, 5, place_of_marker),
		FRAME_WORD(FRAME_FILE, 0, place_of_marker),
	};

	memcpy(&w[4], &self_key, sizeof(self_key));
	w[4 + KEY_WORDS] = FRAME_WORD(FRAME_NATIVE, EXE_VDSO, 64);
	w[5 + KEY_WORDS] = FRAME_WORD(FRAME_ANON, 0, 0) | 0x7f1234567890;
	w[6 + KEY_WORDS] = FRAME_WORD(FRAME_CUT, 0, 0);
	loader_ksym(l, 1, "do_syscall_64");
	loader_ksym(l, 2, "ext4_map_blocks [ext4]");
	loader_sample(l, record(2, 5 + KEY_WORDS), w);
	loader_wake(l);
}

static void check_known_frames(const struct batch *b, uint64_t marker)
{
	static const uint8_t no_id[FILE_ID_LEN];

	NEED(b->stacks[b->samples[0].stack].n == 7);
	NEED(!strcmp(function(b, 0), "do_syscall_64"));
	NEED(!strcmp(exe(b, 0), "[kernel]"));
	NEED(frame(b, 0)->address == 16);
	NEED(!strcmp(function(b, 1), "ext4_map_blocks"));
	NEED(!strcmp(exe(b, 1), "[ext4]"));
	NEED(frame(b, 1)->kind == BATCH_FRAME_KERNEL);
	for (uint32_t i = 2; i < 4; i++) {
		NEED(!strcmp(function(b, i), "hub_test_marker"));
		NEED(!strcmp(exe(b, i), "/opt/marker"));
		NEED(frame(b, i)->kind == BATCH_FRAME_NATIVE);
		NEED(frame(b, i)->address == marker);
		NEED(memcmp(b->exes[frame(b, i)->exe].file_id, no_id,
			    sizeof(no_id)) != 0);
	}
	NEED(!strcmp(exe(b, 4), "[vdso]"));
	NEED(frame(b, 5)->kind == BATCH_FRAME_UNKNOWN);
	NEED(frame(b, 5)->address == 0x7f1234567890);
	NEED(frame(b, 6)->kind == BATCH_FRAME_CUT);
}

static void check_process(const struct batch *b)
{
	const struct batch_sample *s = &b->samples[0];
	const struct batch_resource *r = &b->resources[s->resource];
	const struct batch_attr *a = &b->attrs[s->attr];
	uint64_t real = clock_ns(CLOCK_REALTIME);
	uint64_t boot = clock_ns(CLOCK_BOOTTIME);

	NEED(s->stop == STOP_COMPLETE);
	NEED(r->pid == 4711 && !r->kernel);
	NEED(!strcmp(str(b, r->exe_path), "/opt/marker"));
	NEED(!strcmp(str(b, r->exe_name), "marker"));
	NEED(strlen(str(b, r->container_id)) == 64);
	NEED(!strcmp(str(b, r->comm), "worker/1"));
	NEED(a->tid == 4712 && a->cpu == 1);
	NEED(!strcmp(str(b, a->thread_name), "worker/1"));
	NEED(real - b->times[s->first] < 60 * NSEC_PER_SEC);
	/* one second after boot, give or take the clocks' reading */
	NEED(real - boot + NSEC_PER_SEC - r->start_ns + NSEC_PER_SEC / 10 <
	     NSEC_PER_SEC / 5);
	NEED(b->hdr->frequency == 20);
}

TEST(hub_turns_records_into_a_batch)
{
	uint64_t marker = file_offset((const void *)(uintptr_t)hub_test_marker);
	int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;
	struct msg m;

	begin();
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	say_container(&l);
	send_known_frames(&l, marker);
	loader_exe(&l, 5, &self_key, "/opt/marker", self);
	expect(&l.conn, MSG_TABLE, &m);
	NEED(fcntl(m.fds[0], F_GET_SEALS) & F_SEAL_WRITE);
	msg_close_fds(&m);
	exporter_batch(&exporter, &b);
	NEED(b.msg.samples == 1);
	check_known_frames(&b.b, marker);
	check_process(&b.b);
	exporter_done(&exporter, b.id, 1, BATCH_DELIVERED);
	loader_bye(&l);
	end(&status, &st);
	NEED(st.totals.outcomes.samples[BATCH_DELIVERED] == 1);
	NEED(st.hub.worker_jobs == 1 && st.hub.worker_deaths == 0);
	NEED(st.hub.offences == 0);
	NEED(account_of(&st).difference == 0);
	NEED(account_of(&st).under_way == 0);
	NEED(account_of(&st).taken == 1);
	loader_drop(&l);
}

/* --- deaths ------------------------------------------------------------------------ */

TEST(hub_sends_again_when_exporter_dies)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;
	uint64_t id;

	begin();
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	exporter_batch(&exporter, &b);
	batch_release(&b);
	id = b.id;
	conn_close(&exporter);
	status_until(&status, &st, has_exporter_deaths, 1);
	exporter_connect(&exporter, &place, 0, NULL);
	exporter_batch(&exporter, &b);
	NEED(b.id == id && b.msg.samples == 2);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	loader_bye(&l);
	end(&status, &st);
	NEED(st.totals.requeued == 2 && st.totals.handed == 2);
	NEED(account_of(&st).delivered == 2);
	NEED(account_of(&st).difference == 0);
	NEED(account_of(&st).under_way == 0);
	loader_drop(&l);
}

TEST(hub_killed_loses_only_what_it_alone_had)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;

	begin();
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	exporter_batch(&exporter, &b);
	while (l.kept.handed < 2)
		loader_keep_checkpoint(&l);
	kill(place.hub, SIGSTOP);
	two_samples(&l);		/* stay in the ring */
	kill(place.hub, SIGKILL);
	NEED(hub_wait(&place) == SIGKILL);
	loader_drop(&l);
	conn_close(&exporter);

	hub_exec(&place, binary);
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_say_stats(&l);
	exporter_connect(&exporter, &place, 2, NULL);
	two_samples(&l);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	exporter_batch(&exporter, &b);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	loader_bye(&l);
	end(&status, &st);
	NEED(st.totals.hub_deaths == 1);
	NEED(st.totals.lost_hub == 2);
	NEED(account_of(&st).taken == 6);
	NEED(account_of(&st).delivered == 4);
	NEED(account_of(&st).difference == 0);
	NEED(account_of(&st).under_way == 0);
	loader_drop(&l);
}

TEST(hub_outlives_loaderd)
{
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct fake_batch b;
	struct status st;
	uint64_t n = 0;

	begin();
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	loader_drop(&l);		/* without a word */
	status_until(&status, &st, loader_is_down, 1);
	l = (struct fake_loader){ 0 };
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	while (n < 4) {
		exporter_batch(&exporter, &b);
		exporter_done(&exporter, b.id, b.msg.samples, BATCH_DELIVERED);
		n += b.msg.samples;
		batch_release(&b);
	}
	loader_bye(&l);
	end(&status, &st);
	NEED(st.totals.loader_deaths == 1 && st.totals.former_taken == 2);
	NEED(account_of(&st).taken == 4 && account_of(&st).delivered == 4);
	NEED(account_of(&st).difference == 0);
	NEED(account_of(&st).under_way == 0);
	loader_drop(&l);
}

TEST(hub_without_exporter_gives_up_at_the_end)
{
	struct fake_loader l = { 0 };
	struct conn status;
	struct status st;

	begin();
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	status_until(&status, &st, has_received, 2);
	loader_bye(&l);
	end(&status, &st);
	NEED(st.totals.outcomes.samples[BATCH_GAVE_UP] == 2);
	NEED(account_of(&st).difference == 0);
	NEED(account_of(&st).under_way == 0);
	loader_drop(&l);
}

static pid_t child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
	f = fopen(path, "r");
	if (f && fscanf(f, "%d", &child) != 1)
		child = 0;
	if (f)
		fclose(f);
	return child;
}

TEST(hub_ends_with_its_zygote)
{
	struct conn status;
	pid_t zygote;
	int r;

	begin();
	status_connect(&status, &place);
	zygote = child_of(place.hub);
	if (zygote <= 0 || kill(zygote, SIGKILL) < 0) {
		end_quietly();
		exit(TEST_SKIP);
	}
	r = hub_wait(&place);
	NEED(WIFEXITED(r) && WEXITSTATUS(r) == 1);
	conn_close(&status);
	place_remove(&place);
}

TEST(zygote_ends_with_its_hub)
{
	struct conn status;
	pid_t zygote;

	begin();
	status_connect(&status, &place);
	zygote = child_of(place.hub);
	kill(place.hub, SIGKILL);
	NEED(hub_wait(&place) == SIGKILL);
	place_remove(&place);
	if (zygote <= 0)
		exit(TEST_SKIP);
	for (int i = 0; i < 100 && kill(zygote, 0) == 0; i++)
		usleep(20000);
	NEED(kill(zygote, 0) < 0 && errno == ESRCH);
}

TEST(hub_refuses_strangers)
{
	struct conn c, status;
	struct status st;

	if (getuid() != 0)
		exit(TEST_SKIP);
	begin();
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
	end(&status, &st);
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
	bool bye;			/* and good-bye */
	uint8_t bytes[sizeof(struct msg_exe) + 8];	/* first ones */
};

#define V	MSG_VERSION
static const struct raw loader_raw[] = {
	{ "version", V + 1, MSG_LOADER_STATS, .hello = true,
	  .payload = sizeof(struct msg_loader_stats) },
	{ "type 0", V, 0, .hello = true },
	{ "type unknown", V, 999, .hello = true },
	{ "type of a worker", V, MSG_JOB_DONE, .fds = 2, .hello = true,
	  .payload = sizeof(struct msg_job_done) },
	{ "type of exporterd", V, MSG_BATCH_DONE, .hello = true,
	  .payload = sizeof(struct msg_batch_done) },
	{ "no hello", V, MSG_LOADER_STATS,
	  .payload = sizeof(struct msg_loader_stats) },
	{ "bye without hello", V, MSG_BYE, .len = 0 },
	{ "length too large in header", V, MSG_EXE_DROPPED, .len = 1,
	  .payload = sizeof(struct msg_exe_dropped), .hello = true },
	{ "length too small in header", V, MSG_EXE_DROPPED, .len = -1,
	  .payload = sizeof(struct msg_exe_dropped), .hello = true },
	{ "payload too short", V, MSG_LOADER_STATS, .hello = true,
	  .payload = sizeof(struct msg_loader_stats) - 1 },
	{ "payload too long", V, MSG_LOADER_STATS, .hello = true,
	  .payload = sizeof(struct msg_loader_stats) + 1 },
	{ "larger than any message", V, MSG_EXE, .hello = true,
	  .payload = MSG_LEN_MAX + 1, .fds = 1 },
	{ "descriptor missing", V, MSG_EXE, .hello = true,
	  .payload = sizeof(struct msg_exe), .bytes = { 5 } },
	{ "descriptor too many", V, MSG_EXE, .hello = true, .fds = 2,
	  .payload = sizeof(struct msg_exe), .bytes = { 5 } },
	{ "descriptors beyond all bounds", V, MSG_EXE, .hello = true,
	  .fds = 9, .payload = sizeof(struct msg_exe), .bytes = { 5 } },
	{ "unasked descriptor", V, MSG_EXE_DROPPED, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe_dropped), .bytes = { 5 } },
	{ "executable 0", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe) },
	{ "executable beyond EXE_MAX", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe), .bytes = { 0, 0, 0, 1 } },
	{ "path longer than its message", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe), .bytes = { 5, 0, 0, 0, 1 } },
	{ "path shorter than its message", V, MSG_EXE, .hello = true,
	  .fds = 1, .payload = sizeof(struct msg_exe) + 8,
	  .bytes = { 5, 0, 0, 0, 7 } },
	{ "NUL in a path", V, MSG_EXE, .hello = true, .fds = 1,
	  .payload = sizeof(struct msg_exe) + 8, .bytes = { 5, 0, 0, 0, 8 } },
	{ "number 0 retired", V, MSG_EXE_DROPPED, .hello = true,
	  .payload = sizeof(struct msg_exe_dropped) },
	{ "cgroup path longer than its message", V, MSG_CGROUP, .hello = true,
	  .payload = sizeof(struct msg_cgroup),
	  .bytes = { 0, 0, 0, 0, 0, 0, 0, 0, 1 } },
	{ "executable after bye", V, MSG_EXE, .hello = true, .bye = true,
	  .fds = 1, .payload = sizeof(struct msg_exe), .bytes = { 5 } },
	{ "second bye", V, MSG_BYE, .hello = true, .bye = true },
};

static const struct raw exporter_raw[] = {
	{ "outcome without hello", V, MSG_BATCH_DONE,
	  .payload = sizeof(struct msg_batch_done) },
	{ "hello of a loaderd", V, MSG_HELLO_LOADER, .fds = 3,
	  .payload = sizeof(struct msg_hello_loader) },
	{ "hello of version 0", V, MSG_HELLO_EXPORTER,
	  .payload = sizeof(struct msg_hello_exporter) },
	{ "hello with too much", V, MSG_HELLO_EXPORTER,
	  .payload = sizeof(struct msg_hello_exporter),
	  .bytes = { BATCH_VERSION, 0, 0, 0, 0, 0, 0, 0,
		     0, 0, 0, 0, 0, 0, 0, 0xff } },
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
	if (raw->hello)
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

	begin();
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
	end(&status, &st);
	NEED(st.hub.offences == offences);
	NEED(account_of(&st).difference == 0);
}

TEST(hub_survives_headers_cut_short)
{
	struct msg_hdr hdr = { .version = MSG_VERSION, .type = MSG_BYE };
	struct conn c, status;
	struct status st;

	begin();
	status_connect(&status, &place);
	for (size_t n = 1; n < sizeof(hdr); n++) {
		NEED(conn_connect(&c, place_path(&place, "loader"), PEER_HUB,
				  hub_uid()) == 0);
		NEED(send(c.fd, &hdr, n, MSG_NOSIGNAL) == (ssize_t)n);
		expect_closed(&c);
	}
	status_until(&status, &st, has_offences, sizeof(hdr) - 1);
	end(&status, &st);
}

TEST(status_client_must_not_speak)
{
	struct raw raw = { "status", V, MSG_BYE, .len = 0 };
	struct conn c, status;
	struct status st;

	begin();
	status_connect(&status, &place);
	status_connect(&c, &place);
	send_raw(c.fd, &raw);
	expect_closed(&c);
	status_until(&status, &st, has_offences, 1);
	end(&status, &st);
}

/* --- a loaderd whose hello lies -------------------------------------------------------- */

enum lie {
	LIE_VERSION, LIE_FREQUENCY, LIE_RING_BYTES, LIE_RING_ODD,
	LIE_VALID, LIE_CHECKPOINT, LIE_NO_SEALS, LIE_POS, LIE_WAKE_FILE, LIES
};

static void tell_lie(struct msg_hello_loader *m, int *fds, enum lie lie)
{
	switch (lie) {
	case LIE_VERSION:
		m->record_version++;
		break;
	case LIE_FREQUENCY:
		m->frequency = 0;
		break;
	case LIE_RING_BYTES:
		m->ring_bytes *= 2;
		break;
	case LIE_RING_ODD:
		m->ring_bytes--;
		break;
	case LIE_VALID:
		m->checkpoint_valid = 2;
		break;
	case LIE_CHECKPOINT:
		m->checkpoint_valid = 1;
		m->checkpoint.handed = UINT64_MAX;
		break;
	case LIE_NO_SEALS:
		fds[0] = memfd_create("loose", MFD_CLOEXEC);
		NEED(ftruncate(fds[0], TRACE_RING_BYTES + 4096) == 0);
		break;
	case LIE_POS:
		fds[1] = fds[2];
		break;
	default:
		fds[2] = fds[1];
		break;
	}
}

TEST(hub_survives_lying_hellos)
{
	struct conn status;
	struct status st;

	begin();
	status_connect(&status, &place);
	for (int lie = 0; lie < LIES; lie++) {
		struct msg_hello_loader m = {
			.record_version = REC_VERSION, .frequency = 20,
			.ring_bytes = TRACE_RING_BYTES,
		};
		struct fake_loader l = { 0 };
		int fds[3];

		loader_connect(&l, &place);
		fds[0] = l.ring.data_fd;
		fds[1] = l.ring.pos_fd;
		fds[2] = l.wake;
		tell_lie(&m, fds, (enum lie)lie);
		NEED(conn_send(&l.conn, MSG_HELLO_LOADER, 0, &m, sizeof(m),
			       NULL, 0, fds, 3) == 0);
		expect_closed(&l.conn);
		loader_drop(&l);
	}
	status_until(&status, &st, has_offences, LIES);
	end(&status, &st);
	NEED(st.hub.offences == LIES);
}

/* --- records ------------------------------------------------------------------------------ */

TEST(hub_counts_senseless_samples)
{
	uint64_t words[] = { FRAME_WORD(FRAME_NATIVE, EXE_NONE, 1) };
	struct fake_loader l = { 0 };
	struct conn status;
	struct status st;

	begin();
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_sample(&l, record(0, 1), words);
	loader_sample(&l, record(1, 0), words);	/* not a kernel frame */
	two_samples(&l);
	status_until(&status, &st, has_received, 4);
	NEED(st.totals.hub_bad == 2);
	loader_bye(&l);
	end(&status, &st);
	NEED(account_of(&st).difference == 0);
	NEED(st.totals.outcomes.samples[BATCH_GAVE_UP] == 2);
	loader_drop(&l);
}

TEST(hub_drops_loaderd_with_a_malformed_ring)
{
	struct fake_loader l = { 0 };
	struct conn status;
	struct status st;
	uint32_t *room;

	begin();
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	room = trace_producer_reserve(&l.ring, 16);
	NEED(room != NULL);
	room[0] = 24;			/* more than there is */
	room[1] = REC_SAMPLE;
	trace_producer_commit(&l.ring, 16);
	loader_wake(&l);
	expect_closed(&l.conn);
	loader_drop(&l);
	status_until(&status, &st, has_offences, 1);
	NEED(st.totals.received == 2);
	end(&status, &st);
}

TEST(hub_refuses_a_second_loaderd)
{
	struct fake_loader l = { 0 }, other = { 0 };
	struct conn status;
	struct status st;

	begin();
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
	end(&status, &st);
	loader_drop(&l);
}

/* --- files ---------------------------------------------------------------------------------- */

TEST(hub_says_when_there_is_no_table)
{
	int text = memfd_create("text", MFD_CLOEXEC);
	struct file_key key = { .ino = 3, .size = 5 };
	struct fake_loader l = { 0 };
	struct msg_table_none none;
	struct conn status;
	struct status st;
	struct msg m;

	NEED(write(text, "hello", 5) == 5);
	begin();
	status_connect(&status, &place);
	loader_connect(&l, &place);
	loader_hello(&l);
	loader_exe(&l, 2, &key, "/tmp/text", text);
	expect(&l.conn, MSG_TABLE_NONE, &m);
	memcpy(&none, m.buf, sizeof(none));
	NEED(none.exe == 2 && none.reason != JOB_OK &&
	     none.reason < JOB__VERDICTS);
	status_until(&status, &st, has_jobs, 1);
	NEED(st.hub.worker_deaths == 0 && st.hub.exes_failed == 0);
	loader_bye(&l);
	end(&status, &st);
	loader_drop(&l);
}

TEST(exporter_can_finish_batches_in_any_order)
{
	struct fake_batch a, b;
	struct fake_loader l = { 0 };
	struct conn exporter, status;
	struct status st;

	begin();
	status_connect(&status, &place);
	exporter_connect(&exporter, &place, 0, NULL);
	loader_connect(&l, &place);
	loader_hello(&l);
	two_samples(&l);
	exporter_batch(&exporter, &a);
	two_samples(&l);
	exporter_batch(&exporter, &b);
	exporter_done(&exporter, b.id, 2, BATCH_DELIVERED);
	exporter_done(&exporter, a.id, 1, BATCH_DELIVERED);
	exporter_done(&exporter, a.id, 1, BATCH_REJECTED);
	status_until(&status, &st, has_delivered, 3);
	NEED(st.totals.outcomes.samples[BATCH_REJECTED] == 1);
	NEED(st.hub.outstanding == 0);
	loader_bye(&l);
	end(&status, &st);
	loader_drop(&l);
}

static bool find_binary(const char *self)
{
	char path[2048];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (self) {
		snprintf(binary, sizeof(binary), "%s", self);
	} else if (n > 0) {
		path[n] = '\0';
		snprintf(binary, sizeof(binary), "%s/../bin/%s", dirname(path),
			 "trifold-symbolizerd");
	}
	return access(binary, X_OK) == 0;
}

struct test_case *test_list;
struct test_case **test_tail = &test_list;

static int run(const struct test_case *t)
{
	int status = 1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		t->fn();
		exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	int n = 0, failed = 0;

	if (!find_binary(argc > 1 ? argv[1] : NULL)) {
		printf("1..0 # SKIP %s is not there\n", binary);
		return TEST_SKIP;
	}
	for (struct test_case *t = test_list; t; t = t->next) {
		int r;

		if (argc > 2 && strcmp(argv[2], t->name))
			continue;
		r = run(t);
		printf("%sok %d - %s%s\n", r && r != TEST_SKIP ? "not " : "",
		       ++n, t->name, r == TEST_SKIP ? " # SKIP" : "");
		failed += r && r != TEST_SKIP;
	}
	printf("1..%d\n", n);
	return failed ? 1 : 0;
}
